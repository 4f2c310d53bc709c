"""One incident says one figure and one cause, and one comparison one verdict, wherever it is told of."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from itertools import islice
from random import Random
from statistics import median

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db.models import F
from rest_framework.test import APIClient

from benchdash.alerts.digest_mails import digest_context
from benchdash.alerts.models import Alert, Digest
from benchdash.alerts.services import owe_alerts, send_owed_alerts
from benchdash.regressions.comparison.verdict_words import side_of
from benchdash.regressions.models import Incident
from benchdash.regressions.services import analyse_touched
from benchdash.results import wording
from benchdash.results.models import Run
from ingest.samples import projects
from tests.assistants.conftest import Door
from tests.builders import START, make_project, make_record, make_runs, make_series, make_token
from tests.dashboard.page_text import text_of
from tests.test_pipeline import NIGHTS
from tests.verdicts_of_pages import Places, look_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_loop_of_the_browser")]

# performance_schema was switched on before night 26.
FIRST, SWITCHED, LAST = 6, 26, 36
CAUSE = "performance_schema was switched on"


def upload_nights(token):
    api = APIClient()
    api.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    last = datetime.now(UTC).replace(hour=2, minute=0, second=0, microsecond=0) - timedelta(days=1)
    for night in range(FIRST, LAST + 1):
        settings = "innodb_buffer_pool_size=512M\n"
        settings += "performance_schema=ON\n" if night >= SWITCHED else ""
        for file in sorted((NIGHTS / f"{night:03d}").glob("*.txt")):
            meta = json.loads(file.with_suffix(".meta.json").read_text())
            sent = {
                "file": SimpleUploadedFile(file.name, file.read_bytes()),
                "configuration_file": SimpleUploadedFile("my.cnf", f"[mysqld]\n{settings}".encode()),
                "product": "MariaDB",
                "hardware": "bench-03",
                "branch": "main",
                **{name: meta[name] for name in ("version", "workload", "threads")},
                "started_at": (last - timedelta(days=LAST - night)).isoformat(),
            }
            answer = api.post("/api/v1/uploads/", sent)
            assert answer.status_code == 201, answer.content


def told(client, incident):
    """By where it is told: the words about an incident. Of one that is open the two first pages tell, too."""
    slug = incident.project.slug
    page = f"/p/{slug}/incidents/{incident.pk}/"
    series = incident.change_points.filter(series__metric="tps").first().series_id
    first = {
        "front page": lambda: part_about(client, "/", f"/p/{slug}/", "tr"),
        "overview": lambda: part_about(client, f"/p/{slug}/", page, "li"),
    }
    return {
        **{where: words() for where, words in first.items() if not incident.historical},
        "list": part_about(client, f"/p/{slug}/incidents/?tab=everything", page, "tr"),
        "page": text_of(client.get(page)),
        "history": part_about(client, f"/p/{slug}/history/?series={series}", page, "tr"),
    }


def part_about(client, address, page, tag):
    """The words of the first row or item that leads to the incident."""
    content = client.get(address).content.decode()
    parts = re.findall(rf"<{tag}\b.*?</{tag}>", content, re.DOTALL)
    found = next(part for part in parts if f'"{page}"' in part)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", found)).split())


def figure_of(incident):
    return " ".join(wording.change(incident.median).split())


def test_page_list_overview_front_page_history_api_and_mail_say_the_same(client, smtp):
    project = make_project("nightly", public=True)
    call_command("subscribe", "--project=nightly", "dba@example.org")
    upload_nights(make_token(project))
    analyse_touched()
    incident = Incident.objects.get(kind=Incident.Kind.REGRESSION)
    assert -0.25 < incident.median < -0.12

    answer = client.get(f"/api/v1/incidents/{incident.pk}/").json()
    assert answer["change"] == answer["median"] == incident.median
    assert (answer["metric"], answer["cause"]) == ("tps", CAUSE)
    confirmed = [one for one in answer["change_points"] if one["state"] == "confirmed"]
    assert median(one["change"] for one in confirmed if one["metric"] == "tps") == incident.median
    [listed] = client.get("/api/v1/incidents/?project=nightly&kind=regression").json()["results"]
    assert {name: answer[name] for name in listed} == listed

    words = told(client, incident)
    for where, text in words.items():
        assert figure_of(incident) in text, where
    for where in ("front page", "overview", "list", "page"):
        assert CAUSE in words[where], where
    worst = " ".join(wording.change(incident.worst).split())
    for where in ("list", "page"):
        assert f"{worst} " in words[where]
        assert answer["worst_of"]["workload"] in words[where]

    owe_alerts()
    send_owed_alerts()
    assert Alert.objects.get(incident=incident).error == ""
    mail = smtp.mails[0]
    for text in (mail.subject, mail.text, " ".join(mail.html.split())):
        # A subject is written with the signs of a keyboard.
        flat = " ".join(text.split()).replace(wording.MINUS, "-")
        assert figure_of(incident).replace(wording.MINUS, "-") in flat
        assert CAUSE in flat


def test_in_the_sample_project_too(client, settings, tmp_path, monkeypatch):
    settings.VAR_DIR = tmp_path
    watch = projects.SAMPLES[0]
    monkeypatch.setattr(
        "ingest.management.commands.load_samples.SAMPLES",
        [replace(watch, files=lambda last_night: islice(watch.files(last_night), 114))],
    )
    call_command("load_samples")
    analyse_touched()
    incident = Incident.objects.get()
    assert incident.cause == CAUSE
    for where, text in told(client, incident).items():
        assert figure_of(incident) in text, where


# --- old losses -------------------------------------------------------------------------------------------


def test_an_old_loss_that_holds_is_told_wherever_a_morning_is(client):
    project = make_project("nightly", public=True)
    steady = [100.0, 100.4, 99.7, 100.1, 99.9, 100.3, 99.6] * 4
    values = [*steady, *(value * 0.8 for value in steady)]
    start = datetime.now(UTC) - timedelta(days=len(values) - 1, hours=5)
    make_series(values, project=project, branch="main", start=start)
    analyse_touched()
    Incident.objects.update(state=Incident.State.WONTFIX)
    now = datetime.now(UTC)
    digest = Digest(project=project, since=now - timedelta(days=1), until=now)

    def badge():
        return re.search('aria-label="([^"]*)"', client.get("/p/nightly/badge.svg").content.decode())[1]

    def told():
        overview = client.get("/api/v1/overview/?project=nightly").json()
        home = text_of(client.get("/"))
        return {
            "overview": text_of(client.get("/p/nightly/")),
            "overview in the API": overview["headline"],
            "sentence in the API": overview["sentence"],
            "front page": home,
            "badge": badge(),
            "digest": digest_context(digest)["sentence"],
        }

    for where, words in told().items():
        assert "1 old loss still holds" in words, where
    assert badge() == "benchdash: 1 old loss still holds"
    # The sentence goes on alike after what ran, of which the front page knows less.
    overview = client.get("/api/v1/overview/?project=nightly").json()["sentence"].partition("; ")[2]
    assert " ".join(overview.split()) in text_of(client.get("/"))
    # Of a branch that is measured no more nothing holds.
    Run.objects.update(started_at=F("started_at") - timedelta(days=30))
    make_series(steady[:5], project=project, branch="next", start=now - timedelta(days=4, hours=5))
    analyse_touched()
    for where, words in told().items():
        assert "old loss" not in words, where


# --- verdicts ---------------------------------------------------------------------------------------------

RELEASES = ("10.6.1", "10.6.2")


def measure_at_random(project, seed):
    """Two releases in a few workloads at a few thread counts, of which some are slower and some faster."""
    random = Random(seed)
    threads = random.choice([[1], [1, 4, 16], [1, 2, 4, 8, 16, 32]])
    workloads = [f"w{number}" for number in range(random.choice([1, 2, 4, 7]))]
    sessions, repeats = random.choice([1, 2, 3, 5]), random.choice([1, 3])
    noise, moved = random.choice([0.0005, 0.005, 0.03]), random.choice([0.1, 0.5, 0.9])
    factors = [0.8, 0.97, 1.03, 1.3] if random.random() < 0.5 else [0.8, 0.95]
    records = []
    for workload in workloads:
        for count in threads:
            factor = random.choice(factors) if random.random() < moved else 1.0
            for release, level in zip(RELEASES, (1000.0, 1000.0 * factor), strict=True):
                is_measured = not records or release == RELEASES[0] or random.random() < 0.9
                records += [
                    make_record(
                        readings={
                            "tps": count * level * random.gauss(1, noise),
                            "latency_p95": 10 / level * random.gauss(1, noise),
                        },
                        version=release,
                        workload=workload,
                        threads=count,
                        started_at=START + timedelta(days=day + 30 * RELEASES.index(release)),
                        repetition=repetition,
                    )
                    for day in range(sessions if is_measured else 0)
                    for repetition in range(1, repeats + 1)
                ]
    make_runs(records, project=project)
    analyse_touched()


@pytest.fixture(params=range(12))
def places(request, client):
    project = make_project("bench", public=True)
    measure_at_random(project, request.param)
    return Places(client, Door(), project, base=RELEASES[0], other=RELEASES[1])


def test_every_place_says_the_same_of_every_cell(places):
    cells = places.cells()
    for where, told in cells.items():
        assert told == cells["API"], where


def test_every_place_says_the_same_of_a_workload_over_its_thread_counts(places):
    rows = places.rows()
    assert rows["pair"] == rows["matrix of it alone"]


def test_every_place_says_the_same_of_all_together(places):
    means = places.means()
    assert len({told for told in means.values() if told}) == 1, means


def test_no_headline_denies_a_loss_that_is_certain(places):
    cells, headlines = places.cells()["API"], places.headlines()
    assert len(set(headlines.values())) == 1
    [headline] = set(headlines.values())
    if "worse" in cells.values():
        assert "slower" in headline or "worse" in headline, headline
        assert "No difference" not in headline
    verdict, rows = places.gate()
    assert (verdict == "fail") == ("worse" in rows.values())


# --- the newest night ---------------------------------------------------------------------------------------


def measure_nights_at_random(project, seed):
    """A branch in a few workloads: some changed their level, and some fall out in the last night."""
    random = Random(seed)
    nights, noise = random.choice([4, 12, 30, 60]), random.choice([0.001, 0.01])
    start = datetime.now(UTC) - timedelta(days=nights - 1, hours=5)
    for number in range(random.choice([1, 3, 5])):
        level, moved = 1000.0, random.choice([1.0, 1.0, 0.8, 1.25])
        last = random.choice([1.0, 1.0, 0.85, 0.98, 1.2])
        values = [
            level * (moved if night >= nights // 2 else 1) * random.gauss(1, noise) for night in range(nights)
        ]
        values[-1] *= last
        metric = random.choice(["tps", "latency_p95"])
        make_series(values, project=project, branch="main", start=start, metric=metric, workload=f"w{number}")
    analyse_touched()


@pytest.mark.parametrize("seed", range(8))
def test_every_place_says_the_same_of_the_newest_night(client, seed):
    project = make_project("nightly", public=True)
    measure_nights_at_random(project, seed)
    rows = client.get("/api/v1/overview/?project=nightly").json()["rows"]
    assert rows
    now = datetime.now(UTC)
    digest = digest_context(Digest(project=project, since=now - timedelta(days=1), until=now))
    overview = text_of(client.get("/p/nightly/"))
    gate = client.get("/api/v1/gate/?project=nightly&branch=main").json()
    of_gate = {row["series"]: row["cells"][0] for row in gate["rows"]}
    for row in rows:
        page = " ".join(client.get(f"/p/nightly/history/?series={row['series']}").content.decode().split())
        [cell] = re.findall(r'<td class="number"[^>]*>(<a [^>]*title="The newest two.*?)</td>', page)
        assert (look_of(cell) or "unknown") == row["verdict"], row
        assert " ".join(row["standing"].split()) in overview
        assert row["standing"] in [one.standing for one in digest["rows"] if row["workload"] in one.workload]
        # The gate holds the night against the same level, by what it excludes: it is sure, or says less.
        decided = of_gate[row["series"]]["verdict"] if of_gate[row["series"]] else ""
        assert {side_of(decided), side_of(row["verdict"])} != {"better", "worse"}, row
