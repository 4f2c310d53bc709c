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
from rest_framework.test import APIClient

from benchdash.alerts.models import Alert
from benchdash.alerts.services import owe_alerts, send_owed_alerts
from benchdash.regressions.models import Incident
from benchdash.regressions.services import analyse_touched
from benchdash.results import wording
from ingest.samples import projects
from tests.assistants.conftest import Door
from tests.builders import START, make_project, make_record, make_runs, make_token
from tests.dashboard.page_text import text_of
from tests.test_pipeline import NIGHTS
from tests.verdicts_of_pages import Places

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
