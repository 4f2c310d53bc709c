"""Incidents in a line of words."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from benchdash.regressions import headlines
from benchdash.regressions.models import ChangePoint, Incident, Silence
from benchdash.results.models import Configuration, Hardware, Product, Series, Workload
from tests.builders import make_project

pytestmark = pytest.mark.django_db

NIGHT_S = 24 * 3600.0


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def last_run_at():
    return timezone.now().replace(hour=4) - timedelta(days=6)


def silence_of(project, last_run_at, *, product="", workload="", configuration="default", **fields):
    machine = Hardware.objects.get_or_create(project=project, name="bench-03")[0]
    of = {
        "product": Product.objects.create(project=project, name=product) if product else None,
        "workload": Workload.objects.create(project=project, name=workload) if workload else None,
        "configuration": Configuration.objects.create(project=project, name=configuration),
    }
    incident = Incident.objects.create(
        project=project,
        kind="silence",
        status="confirmed",
        hardware=machine,
        product=of["product"],
        branch=fields.get("branch", ""),
        started_at=last_run_at + timedelta(days=1),
    )
    fields = {"cadence_s": NIGHT_S, **of, **fields}
    Silence.objects.create(incident=incident, hardware=machine, last_run_at=last_run_at, **fields)
    return incident


def written(time):
    return f"{time:%a} {time.day} {time:%b}"


def test_a_silent_machine_in_words(project, last_run_at):
    incident = silence_of(project, last_run_at)
    day = written(last_run_at)
    assert headlines.silence_words(incident) == (
        f"no results from bench-03 since {day}; it used to report every night"
    )
    assert headlines.what_happened(incident) == f"has sent no results since {day}"
    assert headlines.figure(incident) == f"silent since {day}"
    assert headlines.largest_figure(incident) == ""
    assert headlines.is_for_the_worse(incident)
    assert incident.subject == "bench-03"


def test_a_silent_job_and_a_silent_workload_in_words(project, last_run_at):
    job = silence_of(project, last_run_at, product="MariaDB", branch="main")
    assert headlines.silence_words(job).startswith("no results of MariaDB main on bench-03 since ")
    assert job.subject == "MariaDB main on bench-03"
    job.silence.build, job.silence.configuration.name = "control", "big-buffer"
    job.silence.workload = Workload(name="oltp_read_only")
    assert job.subject == "oltp_read_only of MariaDB main on bench-03"
    assert headlines.silent_name(job.silence) == (
        "oltp_read_only of MariaDB control main (big-buffer) on bench-03"
    )


def test_a_control_is_named_with_its_machine(project, last_run_at):
    incident = silence_of(project, last_run_at, product="MariaDB", branch="main")
    incident.kind = "environment"
    assert incident.subject == "control of MariaDB main on bench-03"


def test_a_silence_that_ended_in_words(project, last_run_at):
    incident = silence_of(project, last_run_at)
    incident.silence.ended_at = last_run_at + timedelta(days=3)
    first, last = written(last_run_at), written(incident.silence.ended_at)
    assert headlines.silence_words(incident) == (
        f"no results from bench-03 between {first} and {last}; it used to report every night,"
        " and reports again"
    )
    assert headlines.what_happened(incident) == f"sent no results between {first} and {last}"


def test_a_day_of_another_year_is_written_with_it():
    assert headlines.day(datetime(2019, 11, 19, 23, 30, tzinfo=UTC)) == "Tue 19 Nov 2019"


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (1 / 24, "every hour"),
        (3 / 24, "every 3 hours"),
        (1, "every night"),
        (1.4, "on most nights"),
        (3.5, "about every 4 days"),
        (7, "every week"),
        (14, "about every 14 days"),
    ],
)
def test_how_often_something_reports_in_words(days, words):
    assert headlines.rhythm(days * NIGHT_S) == words


@pytest.mark.parametrize(
    ("metric", "direction", "before", "after", "figure", "largest"),
    [
        ("tps", "higher", 100, 80, "−20.0 %", "−20.0 % of speed (100.0 to 80.00)"),
        ("latency_p95", "lower", 8, 10, "−20.0 %", "−20.0 % of speed (8.000 to 10.00 ms)"),
        ("rss_mb", "lower", 600, 750, "+25.0 % rss_mb", "+25.0 % (600.0 to 750.0 MB)"),
        ("recall", "higher", 0.8, 0.6, "−25.0 % recall", "−25.0 % (0.8000 to 0.6000)"),
    ],
)
def test_what_is_no_speed_is_written_as_it_was_measured(
    project, metric, direction, before, after, figure, largest
):
    unit = {"rss_mb": "MB", "recall": "", "latency_p95": "ms"}.get(metric, "1/s")
    series = Series(project=project, metric=metric, unit=unit, direction=direction)
    point = ChangePoint(series=series, before=before, after=after, change=after / before - 1)
    incident = Incident(project=project, metric=metric, largest=point)
    incident.median = incident.worst = point.speed_change
    said = f"{headlines.largest_figure(incident)} {headlines.largest_words(incident)}"
    assert headlines.figure(incident).replace("\u00a0", " ") == figure
    assert said.replace("\u00a0", " ") == largest
    assert headlines.is_of_speed(incident) == ("of speed" in largest)
