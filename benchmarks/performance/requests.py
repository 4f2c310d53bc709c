"""What is asked of the product: each kind of request, with what it looks at drawn at random."""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from benchmarks.performance import goals
from benchmarks.performance.dataset import METRICS, THREADS, VERSIONS, WORKLOADS
from benchmarks.performance.detail import BRANCH, COMMITS, MACHINE, RELEASES, SETTING
from benchmarks.performance.goals import Goal
from benchmarks.performance.loaded import Loaded
from benchmarks.performance.report import BARE_READ, BARE_VIEW

Address = Callable[[Loaded, random.Random], str]
Body = Callable[[Loaded, random.Random], tuple[bytes, str]]

_NIGHTLY_WORKLOADS = 8


@dataclass(frozen=True, slots=True)
class Kind:
    """``address`` is drawn anew for each request. ``body`` (with its content type) makes it a POST.

    ``points`` is how many a history has, ``readings`` how many one POST carries; ``is_page`` is asked for
    by somebody who signed in, others with a token; ``bare``: no part of the product.
    """

    name: str
    address: Address
    goal: Goal = goals.ANSWER
    body: Body | None = None
    points: int = 0
    readings: int = 0
    is_page: bool = False
    is_bare: bool = False
    heavy: bool = field(default=False)


def _api(path: str, **query: str | int) -> str:
    return f"/api/v1/{path}" + (f"?{urlencode(query)}" if query else "")


def _page(path: str, loaded: Loaded, **query: str | int | list[str]) -> str:
    return f"/p/{loaded.slug}/{path}" + (f"?{urlencode(query, doseq=True)}" if query else "")


def _of(loaded: Loaded, kind: str, pk: int) -> str:
    return _page(f"{kind}/{pk}/", loaded)


def _points(loaded: Loaded, rng: random.Random) -> str:
    return _api(f"series/{rng.choice(loaded.nightly_series)}/points/")


def _matrix(loaded: Loaded, rng: random.Random) -> str:
    """60 workloads by 40 versions at one thread count, against any of the versions."""
    base = {"version": f"10.6.{rng.randint(1, VERSIONS)}", "hardware": "bench-00", "branch": ""}
    return _api("compare/", project=loaded.slug, metric="tps", threads=THREADS[0], base=json.dumps(base))


def _one_curve(loaded: Loaded, rng: random.Random) -> str:
    first, second = rng.sample(range(1, VERSIONS + 1), 2)
    place = {"hardware": "bench-00", "branch": ""}
    return _api(
        "compare/",
        project=loaded.slug,
        metric="tps",
        workload=_workload(rng),
        base=json.dumps({"version": f"10.6.{first}", **place}),
        against=json.dumps({"version": f"10.6.{second}", **place}),
    )


def _workload(rng: random.Random) -> str:
    return f"workload-{rng.randrange(WORKLOADS):02}"


def _version(number: int, hardware: str) -> str:
    """The selector of a release, as JSON."""
    place = {"hardware": hardware, "configuration": "default", "branch": ""}
    return json.dumps({"version": f"10.6.{number}", **place})


def _two_in_detail(rng: random.Random) -> dict[str, str]:
    base, against = sorted(rng.sample(range(VERSIONS - RELEASES + 1, VERSIONS + 1), 2))
    return {"base": _version(base, MACHINE), "against": _version(against, MACHINE)}


def _one_in_detail(loaded: Loaded, rng: random.Random) -> str:
    return rng.choice(list(loaded.detail.workloads))


def _listed(what: str) -> Address:
    """A list of the API, in pages as long as the list allows at most."""
    return lambda loaded, _: _api(f"{what}/", project=loaded.slug, limit=50)


READS = (
    Kind(BARE_VIEW, lambda _, __: "/bare/", is_bare=True),
    Kind(BARE_READ, lambda loaded, _: f"/bare/points/{loaded.long[1000]}/", is_bare=True),
    Kind("small JSON: the products", lambda loaded, _: _api("products/", project=loaded.slug)),
    Kind("history of 730 nights", _points, points=730),
    Kind(
        "history of 1,000 points",
        lambda loaded, _: _api(f"series/{loaded.long[1000]}/points/"),
        goal=goals.HISTORY,
        points=1000,
    ),
    Kind(
        "history of 5,000 points",
        lambda loaded, _: _api(f"series/{loaded.long[5000]}/points/"),
        points=5000,
    ),
    Kind(
        "history of 5,000 points, values alone",
        lambda loaded, _: _api(f"series/{loaded.long[5000]}/points/", columns="value"),
        points=5000,
    ),
    Kind("compare 60 workloads x 40 versions", _matrix, heavy=True),
    Kind("compare one workload, two versions", _one_curve),
    Kind(
        "difference of two versions, 48 rows x 4 metrics",
        lambda loaded, rng: _api("difference/", project=loaded.slug, **_two_in_detail(rng)),
        heavy=True,
    ),
    Kind(
        "nights: 48 rows x 20",
        lambda loaded, rng: _api(
            "nights/",
            project=loaded.slug,
            metric="tps",
            branch=BRANCH,
            hardware=MACHINE,
            base=_version(rng.randint(VERSIONS - RELEASES + 1, VERSIONS), MACHINE),
        ),
        heavy=True,
    ),
    Kind(
        "curves of a workload, two versions",
        lambda loaded, rng: _api(
            "curves/",
            project=loaded.slug,
            metric="tps",
            workload=_one_in_detail(loaded, rng),
            **_two_in_detail(rng),
        ),
    ),
    Kind(
        "sweep of a setting, 8 rows x 5 values",
        lambda loaded, rng: _api(
            "sweep/",
            project=loaded.slug,
            setting=SETTING,
            metric="tps",
            hardware=MACHINE,
            workload=_one_in_detail(loaded, rng),
        ),
    ),
    Kind(
        "latency of a workload, two versions",
        lambda loaded, rng: _api(
            "latency/",
            project=loaded.slug,
            workload=_one_in_detail(loaded, rng),
            threads=rng.choice(THREADS),
            **_two_in_detail(rng),
        ),
    ),
    Kind(
        "gate of a commit, 48 rows",
        lambda loaded, rng: _api(
            "gate/",
            project=loaded.slug,
            product="MariaDB",
            branch=BRANCH,
            commit=rng.choice(loaded.detail.commits[COMMITS // 2 :]),
        ),
    ),
    Kind("overview", lambda loaded, _: _api("overview/", project=loaded.slug), heavy=True),
    Kind(
        "series of a workload",
        lambda loaded, rng: _api(
            "series/", project=loaded.slug, workload=_workload(rng), metric="tps", threads=16, limit=50
        ),
    ),
    Kind(
        "newest runs of a workload",
        lambda loaded, rng: _api("runs/", project=loaded.slug, workload=_workload(rng), limit=50),
    ),
    Kind("a run", lambda loaded, rng: _api(f"runs/{rng.choice(loaded.run_ids)}/")),
    Kind(
        "intervals of a run", lambda loaded, rng: _api(f"runs/{rng.choice(loaded.detail.run_ids)}/intervals/")
    ),
    Kind("incidents", _listed("incidents")),
    Kind("an incident", lambda loaded, rng: _api(f"incidents/{rng.choice(loaded.incident_ids)}/")),
    Kind("projects", lambda _, __: _api("projects/")),
    Kind("versions", _listed("versions")),
    Kind("hardware", _listed("hardware")),
    Kind("configurations", _listed("configurations")),
    Kind("workloads", _listed("workloads")),
    Kind("uploads", _listed("uploads")),
    Kind("an upload", lambda loaded, rng: _api(f"uploads/{rng.choice(loaded.detail.upload_ids)}/")),
    Kind("articles", _listed("articles")),
    Kind("subscriptions", _listed("subscriptions")),
    Kind("audit log", _listed("audit")),
)


def _in_detail(path: str, versions: int, **query: str | int) -> Address:
    """A page that compares so many versions of the machine that measured in detail, of one workload."""
    return lambda loaded, rng: _page(
        path,
        loaded,
        v=rng.sample(loaded.detail.columns, versions),
        workload=rng.choice(list(loaded.detail.workloads.values())),
        **query,
    )


def _side_by_side(loaded: Loaded, rng: random.Random) -> str:
    base, against = rng.sample(loaded.detail.columns, 2)
    return _page("compare/pair/", loaded, base=base, against=against)


def _of_releases(path: str, versions: int) -> Address:
    """A page that compares so many of the 40 releases."""
    return lambda loaded, rng: _page(
        path, loaded, v=rng.sample(loaded.detail.releases, versions), metric="tps"
    )


def _plain(path: str) -> Address:
    return lambda loaded, _: _page(path, loaded)


PAGES = tuple(
    Kind(f"page: {name}", address, is_page=True, heavy=heavy)
    for name, address, heavy in (
        ("home", lambda _, __: "/", False),
        ("overview", _plain(""), True),
        ("side by side, 48 rows x 4 metrics", _side_by_side, True),
        ("matrix, 60 workloads x 12 versions", _of_releases("compare/matrix/", 12), True),
        (
            "matrix, 48 rows x 8 nights",
            lambda loaded, rng: _page(
                "compare/matrix/",
                loaded,
                over="nights",
                branch=BRANCH,
                hardware=MACHINE,
                metric="tps",
                base=rng.choice(loaded.detail.columns),
            ),
            True,
        ),
        (
            "matrix of a workload, its row open",
            _in_detail("compare/matrix/", 2, metric="tps", open="each"),
            True,
        ),
        (
            "matrix of a workload, its percentiles",
            _in_detail("compare/matrix/", 2, metric="tps", open="each", charts="percentiles"),
            True,
        ),
        ("one setting varied", _plain("compare/settings/"), True),
        (
            "one setting varied, one workload",
            lambda loaded, rng: _page(
                "compare/settings/",
                loaded,
                setting=SETTING,
                hardware=MACHINE,
                workload=_one_in_detail(loaded, rng),
                metric="tps",
            ),
            True,
        ),
        ("articles", _plain("articles/"), False),
        (
            "an article",
            lambda loaded, rng: _page(f"articles/{rng.choice(loaded.detail.articles)}/", loaded),
            True,
        ),
        (
            "history of 730 nights",
            lambda loaded, rng: _page("history/", loaded, series=rng.choice(loaded.nightly_series)),
            False,
        ),
        (
            "history of 5,000 points",
            lambda loaded, _: _page("history/", loaded, series=loaded.long[5000]),
            True,
        ),
        ("history, nothing chosen", _plain("history/"), True),
        ("incidents", _plain("incidents/"), False),
        (
            "an incident",
            lambda loaded, rng: _page(f"incidents/{rng.choice(loaded.incident_ids)}/", loaded),
            False,
        ),
        ("uploads", _plain("uploads/"), False),
        (
            "an upload",
            lambda loaded, rng: _of(loaded, "uploads", rng.choice(loaded.detail.upload_ids)),
            False,
        ),
        ("add an upload", _plain("uploads/new/"), False),
        ("runs", _plain("runs/"), False),
        ("a run", lambda loaded, rng: _of(loaded, "runs", rng.choice(loaded.run_ids)), False),
        (
            "a run with intervals",
            lambda loaded, rng: _of(loaded, "runs", rng.choice(loaded.detail.run_ids)),
            False,
        ),
        ("versions", _plain("versions/"), False),
        ("hardware", _plain("hardware/"), False),
        ("configurations", _plain("configurations/"), False),
        ("workloads", _plain("workloads/"), False),
        ("groups of workloads", _plain("workloads/groups/"), False),
        ("how changes are found", _plain("how-changes-are-found/"), False),
        ("search", lambda loaded, rng: _page("search/", loaded, q=_workload(rng)), False),
        ("notifications", _plain("notifications/"), False),
        ("audit log", _plain("audit/"), False),
        ("tokens", _plain("tokens/"), False),
        ("project settings", _plain("settings/"), False),
        ("documentation of the API", lambda _, __: "/api/docs/", False),
    )
)


def _nightly_file(readings: int) -> Body:
    """A JSON table of one night: as many readings as asked for, of many workloads."""

    def body(loaded: Loaded, rng: random.Random) -> tuple[bytes, str]:
        metrics = METRICS[: min(readings, len(METRICS))]
        rows = [
            {"workload": f"workload-{at % WORKLOADS:02}", "threads": THREADS[at // WORKLOADS % len(THREADS)]}
            | {metric: round(rng.uniform(100, 10_000), 2) for metric in metrics}
            for at in range(readings // len(metrics))
        ]
        text = json.dumps({"measurements": rows}).replace("}, {", "},\n{")
        return _form(loaded, text.encode(), "night.json", rng)

    return body


def _sysbench_file(text: str) -> Body:
    """One night of one of a few workloads, whose series the uploads before the measured ones made."""

    def body(loaded: Loaded, rng: random.Random) -> tuple[bytes, str]:
        unlike_others = f"{text}# {rng.random()}\n"
        workload = f"workload-{rng.randrange(_NIGHTLY_WORKLOADS):02}"
        return _form(loaded, unlike_others.encode(), "sysbench.txt", rng, workload=workload)

    return body


def _form(loaded: Loaded, content: bytes, name: str, rng: random.Random, **fields: str) -> tuple[bytes, str]:
    """A night that is newer than all others."""
    said: Mapping[str, str] = {
        "project": loaded.slug,
        "product": "MariaDB",
        "version": "10.7.0",
        "hardware": "bench-00",
        "branch": "main",
        "commit": f"{rng.getrandbits(160):040x}",
        **fields,
    }
    boundary = "a-boundary-that-no-file-holds"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        for key, value in said.items()
    ]
    file = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
    end = f"\r\n--{boundary}--\r\n".encode()
    return b"".join([*parts, file, content, end]), f"multipart/form-data; boundary={boundary}"


def writes(sysbench_report: str) -> tuple[Kind, ...]:
    """Uploads; each is a file that nobody sent before."""
    post = lambda _, __: _api("uploads/")  # noqa: E731 - an address like the others
    return (
        Kind("1,000 readings in one POST", post, goal=goals.BATCH, body=_nightly_file(1000), readings=1000),
        Kind("100 readings in one POST", post, goal=goals.BATCH, body=_nightly_file(104), readings=104),
        Kind("one sysbench file", post, goal=goals.FILE, body=_sysbench_file(sysbench_report), readings=15),
    )
