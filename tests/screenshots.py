"""Take the pictures of the documentation again: ``make screenshots``.

A benchdash of its own, in a folder that goes away, loads the sample projects; Chromium looks at their pages
in each of ``LOOKS``. The pictures are ``docs/images/<name><look>.png``; names as arguments choose some.
"""

import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

from benchdash.results.controls import CONTROL
from tests.chromium import PROGRAM, WINDOW, running_chromium
from tests.ingest.packing import tar_of
from tests.palettes import in_few_colours
from tests.waiting import wait_until

CHECKOUT = Path(__file__).parents[1]
IMAGES = CHECKOUT / "docs" / "images"
SAMPLE = CHECKOUT / "ingest" / "samples" / "releases" / "sysbench" / "mariadb-10.11.19" / "oltp_read_only"
LARGEST_BYTES = 150_000
NIGHTS_BESIDE_A_CONTROL = CHECKOUT.parent / "shared" / "control"
"""Each night is a folder of reports, whose meta files tell the runs of the control by their role."""
# At one place the size alone was varied, without repeats.
BUFFER_POOLS = [
    ("setting", "innodb_buffer_pool_size"),
    ("base", "512M"),
    ("workload", "oltp_read_only"),
]
_LOADED = "The sample projects are there"
_NOT_LOADED = "The sample projects could not be loaded"
_NOTHING_DUE = "\nbenchdash_series_touched 0\n"
_ANALYSED_WITHIN_S = 600
_CHARTS_IN_WINDOW_ARE_DRAWN = """() => [...document.querySelectorAll("figure.chart")].every(
  (chart) => {
    const { top, bottom } = chart.getBoundingClientRect();
    return "drawn" in chart.dataset || top > innerHeight || bottom < 0;
  }
)"""


def main():
    if not PROGRAM.exists():
        sys.exit("the pictures are taken with Chromium: apt-get install chromium")
    with running_benchdash() as benchdash, running_chromium() as chromium:
        IMAGES.mkdir(exist_ok=True)
        for picture in [*pictures(benchdash), *pictures_beside_a_control(benchdash, chromium)]:
            if sys.argv[1:] and picture.name not in sys.argv[1:]:
                continue
            for look in LOOKS:
                file = IMAGES / f"{picture.name}{look.suffix}.png"
                file.write_bytes(taken(picture, look, chromium, benchdash))
                size = file.stat().st_size
                assert size <= LARGEST_BYTES, f"{file} has {size} bytes"
                sys.stdout.write(f"{file.relative_to(CHECKOUT)}, {size // 1000} kB\n")


# --- what is there to be seen -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Look:
    """``height`` is that of a window, at least."""

    suffix: str
    theme: str
    width: int
    height: int = 0


LOOKS = (
    Look("", "light", WINDOW["width"]),
    Look("-dark", "dark", WINDOW["width"]),
    Look("-phone", "light", 390, 844),
    Look("-phone-dark", "dark", 390, 844),
)


@dataclass(frozen=True)
class Picture:
    name: str
    address: str
    height: int = WINDOW["height"]
    is_signed_in: bool = False
    # What stands uppermost, by a CSS selector; the page from its beginning where there is none.
    top: str = ""
    # What a person does on the page before it is as the picture shows it.
    act: Callable = lambda page: None


def pictures(benchdash):
    nightly = benchdash.one(
        "series", project="watch", branch="nightly", workload="oltp_read_only", metric="tps"
    )
    run = benchdash.one("runs", project="releases", workload="tpcb-like", configuration="beside-vacuum-full")
    base, other = thread_pool(benchdash)
    both = [("v", base), ("v", other), ("base", base)]
    releases, watch = "/p/releases/compare", "/p/watch"
    return [
        Picture("overview", f"{watch}/", height=860),
        Picture("history", f"{watch}/history/?series={nightly['id']}"),
        Picture("incident", f"{watch}/incidents/{nightly_regression(benchdash)['id']}/"),
        Picture("rule", f"{watch}/how-changes-are-found/"),
        Picture("pair", f"{releases}/pair/?{urlencode({'base': base, 'against': other})}"),
        Picture("matrix", f"{releases}/matrix/?{urlencode(postgresql_versions(benchdash))}"),
        Picture("nights", f"{watch}/compare/matrix/?over=nights&show=16&colours=size"),
        Picture(
            "curves",
            f"{releases}/matrix/?{urlencode([*both, ('open', 'each')])}",
            height=620,
            top=".opened-row",
        ),
        Picture("latency", f"{releases}/matrix/?open=each&charts=percentiles&threads=16", height=1060),
        Picture("settings", f"{releases}/settings/?{urlencode(BUFFER_POOLS)}", height=1000),
        Picture("run", f"/p/releases/runs/{run['id']}/", height=1000, top="figure.chart"),
        Picture("articles", "/p/releases/articles/"),
        Picture("article", "/p/releases/articles/a-pool-of-threads-against-a-thread-for-each-connection/"),
        Picture("upload", "/p/default/uploads/new/", height=1080, is_signed_in=True, act=look_into_files),
        Picture("archive", "/p/default/uploads/new/", is_signed_in=True, act=upload_archive),
    ]


def pictures_beside_a_control(benchdash, chromium):
    """A history as it was measured and relative to the control; none where the nights are not here."""
    if not NIGHTS_BESIDE_A_CONTROL.is_dir():
        sys.stdout.write(f"{NIGHTS_BESIDE_A_CONTROL} is not there: its pictures stay as they are\n")
        return []
    request = chromium.new_context(extra_http_headers={"Authorization": f"Bearer {benchdash.token}"}).request
    api = f"{benchdash.url}/api/v1"
    archive = {"name": "nights.tgz", "mimeType": "application/gzip", "buffer": nights_beside_a_control()}
    said = {"hardware": "bench-03", "branch": "nightly"}
    upload = request.post(f"{api}/uploads/", multipart={"file": archive, **said}).json()
    wait_until(
        lambda: request.get(f"{api}/uploads/{upload['id']}/").json()["state"] == "imported",
        within=_ANALYSED_WITHIN_S,
    )
    wait_until(lambda: _NOTHING_DUE in benchdash.text("/metrics"), within=_ANALYSED_WITHIN_S)
    query = {"project": "default", "workload": "oltp_point_select", "metric": "tps"}
    found = request.get(f"{api}/series/?{urlencode(query)}").json()["results"]
    (series,) = (one for one in found if one["build"] != CONTROL)
    address = f"/p/default/history/?series={series['id']}"
    return [
        Picture("without-control", address, is_signed_in=True, top="figure.chart"),
        Picture("control", f"{address}&control=1", is_signed_in=True, top="figure.chart"),
    ]


def nights_beside_a_control():
    """Pack the nights, measured back to back, with the starts of each set one day after the one before."""
    files = {}
    for night in sorted(NIGHTS_BESIDE_A_CONTROL.glob("[0-9]*")):
        metas = {path: json.loads(path.read_text()) for path in sorted(night.glob("*.meta.json"))}
        starts = {path: datetime.fromisoformat(meta["started_at"]) for path, meta in metas.items()}
        began_at = datetime(2026, 9, 1, 2, tzinfo=UTC) + timedelta(days=int(night.name))
        for path, meta in metas.items():
            started_at = began_at + (starts[path] - min(starts.values()))
            own = {"started_at": started_at.isoformat(), "control": meta["role"] == "control"}
            name = f"{night.name}/{path.name}"
            files[name] = json.dumps({**meta, **own}).encode()
            report = path.with_name(path.name.replace(".meta.json", ".txt"))
            files[f"{night.name}/{report.name}"] = report.read_bytes()
    return gzip.compress(tar_of(files))


def thread_pool(benchdash):
    """The two ways in which MariaDB serves many connections, as columns of a comparison."""
    version = benchdash.one("versions", project="releases", product="MariaDB", version="10.11.19")
    return [
        column(benchdash, version, benchdash.configuration("releases", name))
        for name in ("one-thread-per-connection", "pool-of-threads")
    ]


def postgresql_versions(benchdash):
    """All of them but the control, against the oldest."""
    every = benchdash.all("versions", project="releases", product="PostgreSQL")
    versions = [one for one in every if one["build"] != CONTROL]
    in_order = sorted(versions, key=lambda one: [int(part) for part in one["version"].split(".")])
    default = benchdash.configuration("releases", "default")
    columns = [column(benchdash, one, default) for one in in_order]
    return [*(("v", one) for one in columns), ("base", columns[0])]


def column(benchdash, version, configuration):
    hardware = benchdash.one("hardware", project="releases")
    return f"{version['id']}.{hardware['id']}.{configuration}"


def nightly_regression(benchdash):
    """The first loss that was switched on in the nights."""
    found = benchdash.all("incidents", project="watch")
    return min(
        (one for one in found if one["branch"] == "nightly" and one["kind"] == "regression"),
        key=lambda one: one["started_at"],
    )


def look_into_files(page):
    """Files as people name them, and what the page takes them for."""
    files = [
        {
            "name": f"mariadb_10.11.19_RO_{int(path.stem[1:])}thr.log",
            "mimeType": "text/plain",
            "buffer": path.read_bytes(),
        }
        for path in sorted((SAMPLE / "rep1").glob("t??.txt"))
    ]
    page.locator("input[name=file]").set_input_files(files)
    page.locator("[name=hardware]").fill("bench-03")
    page.get_by_text("7 of 7 files are complete").wait_for()


def upload_archive(page):
    """All of one workload, and a file that was cut."""
    files = {
        str(file.relative_to(SAMPLE.parents[1])): file.read_bytes()
        for file in sorted(SAMPLE.rglob("t??.txt"))
    }
    first = min(files)
    archive = gzip.compress(tar_of({**files, first: files[first][:700]}))
    page.locator("input[name=file]").set_input_files(
        {"name": "nights.tgz", "mimeType": "application/gzip", "buffer": archive}
    )
    said = {"product": "MariaDB", "hardware": "bench-03"}
    pattern = "mariadb-{version}/{workload}/rep{repetition}/t{threads}.txt"
    for name, value in {**said, "pattern": pattern}.items():
        page.locator(f"[name={name}]").fill(value)
    page.get_by_role("button", name="Upload", exact=True).click()
    page.locator("#file-rows").wait_for()


# --- taking a picture ---------------------------------------------------------------------------------------


def taken(picture, look, chromium, benchdash):
    height = max(picture.height, look.height)
    context = chromium.new_context(
        base_url=benchdash.url,
        viewport={"width": look.width, "height": height},
        color_scheme=look.theme,
        reduced_motion="reduce",
        storage_state=signed_in(chromium, benchdash) if picture.is_signed_in else None,
    )
    try:
        page = context.new_page()
        page.goto(picture.address)
        picture.act(page)
        if picture.top:
            page.locator(picture.top).first.evaluate("element => element.scrollIntoView()")
        page.wait_for_load_state("networkidle")
        page.wait_for_function(_CHARTS_IN_WINDOW_ARE_DRAWN)
        # Beyond it lies the room for a scroll bar, which headless Chromium does not draw.
        width = page.evaluate("() => document.body.clientWidth")
        png = page.screenshot(clip={"x": 0, "y": 0, "width": width, "height": height})
        return in_few_colours(png, context.new_page())
    finally:
        context.close()


def signed_in(chromium, benchdash):
    """Return the cookies of the administrator, who signs in once: many sign-ins are refused."""
    if benchdash.cookies is None:
        context = chromium.new_context(base_url=benchdash.url)
        page = context.new_page()
        page.goto("/sign-in/")
        page.locator("[name=username]").fill(benchdash.admin["user"])
        page.locator("[name=password]").fill(benchdash.admin["password"])
        page.locator("main").get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/")
        benchdash.cookies = context.storage_state()
        context.close()
    return benchdash.cookies


# --- a benchdash to look at ---------------------------------------------------------------------------------


class Benchdash:
    """A running installation, as it is told of in ``run.json``."""

    def __init__(self, run):
        self.url, self.admin, self.token = run["url"], run["admin"], run["token"]
        self.cookies = None

    def all(self, what, **query):
        return json.loads(self.text(f"/api/v1/{what}/?{urlencode({**query, 'limit': 1000})}"))["results"]

    def one(self, what, **query):
        (found,) = self.all(what, **query)
        return found

    def configuration(self, project, name):
        return next(one["id"] for one in self.all("configurations", project=project) if one["name"] == name)

    def text(self, path):
        with urllib.request.urlopen(self.url + path) as answer:
            return answer.read().decode()


@contextmanager
def running_benchdash():
    """Started by ``make run``'s own launcher on a free port, with loaded and analysed sample projects."""
    with tempfile.TemporaryDirectory(prefix="benchdash-screenshots-") as var:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchdash.launcher"],
            cwd=CHECKOUT,
            env=environment(BENCHDASH_VAR=var, PORT="0"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            wait_for_samples(process)
            benchdash = Benchdash(json.loads((Path(var) / "run.json").read_text()))
            wait_until(lambda: _NOTHING_DUE in benchdash.text("/metrics"), within=_ANALYSED_WITHIN_S)
            yield benchdash
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate()


def environment(**own):
    """That of a person who named no servers and no addresses."""
    named = {"DATABASE_URL", "REDIS_URL", "SITE_URL", "EMAIL_URL", "EMAIL_FROM", "HOST", "SAMPLE", "DEBUG"}
    return {**{name: value for name, value in os.environ.items() if name not in named}, **own}


def wait_for_samples(process):
    for line in process.stdout:
        sys.stdout.write(line)
        if _LOADED in line:
            return
        if _NOT_LOADED in line:
            break
    sys.exit("there is nothing to take pictures of")


if __name__ == "__main__":
    main()
