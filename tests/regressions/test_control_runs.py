"""Nights with a control server beside the one that is tested, on a machine with a noisy neighbour."""

import json
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from benchdash.alerts.services import owe_alerts, send_owed_alerts
from benchdash.alerts.subscriptions import subscribe
from benchdash.charts.plotly import plotly
from benchdash.regressions.analysis.control_runs import control_levels
from benchdash.regressions.analysis.places import place_histories
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.morning.mornings import morning_of
from benchdash.regressions.queries import incidents
from benchdash.regressions.services import analyse_touched
from benchdash.regressions.watched_metrics import MetricRules
from benchdash.results.controls import control_build
from benchdash.results.models import Series
from benchdash.results.place import Place
from ingest.formats.source import Source
from ingest.formats.sysbench import sysbench
from tests.builders import START, make_project, make_record, make_runs, make_token
from tests.dashboard.page_text import text_of
from tests.sysbench_text import sysbench_report

pytestmark = pytest.mark.django_db

MEASURED = Path(__file__).parents[3] / "shared/control"
NEAR = timedelta(days=5)


def time_of(night):
    return START + timedelta(days=night)


@cache
def measured_nights():
    """All runs, their nights a day apart: they were measured back to back."""
    records = []
    for night in sorted(path for path in MEASURED.iterdir() if path.is_dir()):
        start = None
        for path in sorted(night.glob("*.txt")):
            meta = json.loads(path.with_suffix(".meta.json").read_text())
            started_at = datetime.fromisoformat(meta["started_at"])
            start = min(start or started_at, started_at)
            [run] = sysbench.parse(Source(path.read_bytes())).runs
            records.append(
                make_record(
                    key=f"{night.name} {path.name}",
                    product="PostgreSQL",
                    version=meta["version"],
                    build=control_build("") if meta["role"] == "control" else "",
                    branch="nightly",
                    workload=meta["workload"],
                    threads=meta["threads"],
                    started_at=time_of(int(night.name)) + (started_at - start),
                    tags=(f"session:{night.name}",),
                    readings=run.readings,
                )
            )
    return records


def found_of(project, build):
    """The nights at which confirmed incidents of a build begin."""
    confirmed = incidents(project).filter(status="confirmed", change_points__series__build=build).distinct()
    return sorted((one.started_at - START).days for one in confirmed)


def switches_found(nights):
    truth = json.loads((MEASURED / "truth.json").read_text())
    switches = [one["night"] for one in truth["switches"]]
    return [one for one in switches if any(abs(one - night) <= NEAR.days for night in nights)]


@pytest.mark.skipif(not MEASURED.exists(), reason="the measured nights are not here")
def test_beside_a_control_the_switches_of_a_noisy_machine_are_found_and_nothing_else_is():
    project = make_project()
    make_runs(measured_nights(), project=project)
    analyse_touched()
    found = found_of(project, "")
    assert len(switches_found(found)) == len(found) >= 5
    assert {one.kind for one in Incident.objects.filter(change_points__series__build="")} == {
        "regression",
        "improvement",
    }


@pytest.mark.skipif(not MEASURED.exists(), reason="the measured nights are not here")
def test_without_the_control_most_of_them_are_lost_in_the_noise():
    project = make_project()
    make_runs([one for one in measured_nights() if not one.build], project=project)
    analyse_touched()
    assert len(switches_found(found_of(project, ""))) <= 3


class Door:
    """A nightly script that measures a control beside the server, and knows nothing but the API."""

    def __init__(self, project):
        self.project = project
        self.api = APIClient()
        self.api.credentials(HTTP_AUTHORIZATION=f"Bearer {make_token(project)}")
        self.today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
        self.seen = []

    def nights(self, tested, control, *, of_control=None, looks_from=None):
        """The last nights up to today's, a run of both each; levels of 1 are 1000 tps.

        ``of_control`` are the fields in which the control differs; from night ``looks_from`` on there is a
        look after each run.
        """
        for night, levels in enumerate(zip(tested, control, strict=True)):
            for minute, level in enumerate(levels):
                start = self.today - timedelta(days=len(tested) - 1 - night) + timedelta(minutes=minute)
                fields = of_control if minute and of_control else {"branch": "main"}
                report = sysbench_report(1000 * level * Random(f"{night} {minute}").gauss(1, 0.01))
                answer = self.api.post(
                    "/api/v1/uploads/",
                    {
                        "file": SimpleUploadedFile("result.txt", report.encode()),
                        "product": "MariaDB",
                        "version": "11.4",
                        "hardware": "box",
                        "workload": "oltp_read_only",
                        "started_at": start.isoformat(),
                        **({"control": "true"} if minute else {}),
                        **fields,
                    },
                )
                assert answer.status_code == 201, answer.content
                if looks_from is not None and night >= looks_from:
                    analyse_touched()
                    self.seen.append(self.incidents())
        analyse_touched()
        owe_alerts()
        send_owed_alerts()

    def rows(self):
        """What the overview says of the server and of the control."""
        rows = self.api.get(f"/api/v1/overview/?project={self.project.slug}").json()["rows"]
        return [row["standing"] for row in sorted(rows, key=lambda row: row["build"])]

    def incidents(self):
        return self.api.get(f"/api/v1/incidents/?project={self.project.slug}").json()["results"]


@pytest.fixture
def door():
    project = make_project("servers", public=True)
    subscribe(project, "dba@example.org")
    return Door(project)


def test_a_step_of_the_machine_that_the_control_shares_is_no_change_of_the_server(door, client):
    machine = [1.0] * 20 + [0.8] * 8
    door.nights(machine, machine)
    [incident] = door.incidents()
    assert (incident["kind"], incident["status"]) == ("environment", "confirmed")
    assert {one.series.build for one in ChangePoint.objects.all()} == {"control"}
    assert mail.outbox == []
    page = text_of(client.get(incident["page"]))
    assert "control of MariaDB main on box ran on a machine that became slower" in page


def test_a_history_from_the_door_can_be_read_relative_to_the_control(door, client):
    machine = [1.0, 0.8, 1.0, 0.7, 1.0]
    door.nights(machine, machine)
    series = Series.objects.get(metric="tps", build="")
    url = f"/p/{door.project.slug}/history/"
    [plain] = client.get(url, {"series": series.pk}).context["charts"]
    [beside] = client.get(url, {"series": series.pk, "control": "1"}).context["charts"]
    measured, relative = (plotly(chart.figure)["data"][0]["y"] for chart in (plain, beside))
    assert min(measured) < 0.75 * max(measured)
    assert min(relative) > 0.92 * max(relative)


def test_a_step_of_the_server_beside_a_steady_control_is_a_regression_and_mailed(door):
    door.nights([1.0] * 20 + [0.8] * 8, [1.0] * 28)
    [incident] = door.incidents()
    assert (incident["kind"], incident["status"]) == ("regression", "confirmed")
    assert incident["change"] == pytest.approx(-0.2, abs=0.03)
    assert len(mail.outbox) == 1


def test_a_control_that_falls_and_recovers_is_two_incidents_of_the_machine(door):
    control = [1.0] * 15 + [0.8] * 12 + [1.0] * 10
    door.nights([1.0] * 37, control)
    of_control = [one for one in door.incidents() if one["kind"] == "environment"]
    assert sorted(one["change"] > 0 for one in of_control) == [False, True]
    assert mail.outbox == []


AS_DOCUMENTED = {"version": "10.11.5"}
OF_ONE_COMMIT = {**AS_DOCUMENTED, "branch": "main", "commit": "c0ffee0000"}
MACHINE_LOSES = [1.0] * 20 + [0.9] * 10


@pytest.mark.parametrize("of_control", [AS_DOCUMENTED, OF_ONE_COMMIT], ids=["a release", "a commit"])
def test_a_control_that_never_changes_is_ordered_by_time_and_explains_its_machine(door, client, of_control):
    door.nights(MACHINE_LOSES, MACHINE_LOSES, of_control=of_control)
    [incident] = door.incidents()
    assert (incident["kind"], incident["status"]) == ("environment", "confirmed")
    assert incident["change"] == pytest.approx(-0.1, abs=0.02)
    assert Incident.objects.get().started_at.date() == (door.today - timedelta(days=9)).date()
    control = Series.objects.get(metric="tps", build="control")
    assert len(door.api.get(f"/api/v1/series/{control.pk}/points/").json()["rows"]) == 30
    assert [words.split(",")[0] for words in door.rows()] == ["explained by its machine"] * 2
    page = text_of(client.get(f"/p/{door.project.slug}/"))
    assert page.count("explained by its machine, since then") == 2
    assert mail.outbox == []


def test_a_loss_that_was_found_before_the_control_of_its_session_came_in_is_withdrawn(door):
    door.nights(MACHINE_LOSES, MACHINE_LOSES, of_control=AS_DOCUMENTED, looks_from=27)
    of_server, of_both = door.seen[0::2], door.seen[1::2]
    assert any(one["kind"] == "regression" for found in of_server for one in found)
    assert {one["kind"] for found in of_both for one in found if one["status"] != "withdrawn"} == {
        "environment"
    }
    assert mail.outbox == []


def test_a_server_that_did_not_move_with_its_machine_is_not_explained_by_it(door):
    door.nights([1.0] * 30, MACHINE_LOSES, of_control=AS_DOCUMENTED)
    of_server, of_control = door.rows()
    assert "explained" not in of_server
    assert "explained" in of_control


def test_the_row_of_a_control_at_several_thread_counts_has_a_point_for_each_night():
    project = make_project()
    today = timezone.now().replace(minute=0)
    records = [
        make_record(
            1000.0 + night,
            key=f"{threads} {night}",
            build="control",
            branch="main",
            commit="c0ffee0000",
            threads=threads,
            started_at=today - timedelta(days=19 - night),
        )
        for night in range(20)
        for threads in (4, 8)
    ]
    make_runs(records, project=project)
    [row] = morning_of(project).rows
    assert len(row.parts) == 2
    assert len(set(row.curve)) == 20


def nights(tested, control):
    """Runs of both, the control a minute later."""
    return [
        make_record(
            1000 * level,
            key=f"{build} {night}",
            build=build,
            branch="main",
            started_at=time_of(night) + timedelta(minutes=delay),
        )
        for build, levels, delay in (("", tested, 0), ("control", control, 1))
        for night, level in enumerate(levels)
    ]


def test_the_control_is_laid_on_the_groups_in_whose_sessions_it_ran():
    """Night 0 and 1 have one beside them, night 2 one that ran five hours later, night 3 one by its tag."""
    later = make_record(
        500.0, key="later", build="control", branch="main", started_at=time_of(2) + timedelta(hours=5)
    )
    tag = {"branch": "main", "tags": ("session:three",)}
    far = make_record(800.0, key="far", build="control", started_at=time_of(9), **tag)
    last = make_record(1000.0, key="last", started_at=time_of(3), **tag)
    make_runs([*nights([1.0] * 2, [0.9, 0.7]), *nights_at(2, 1000.0), later, far, last])
    place = Place.of(Series.objects.get(metric="tps", build=""))
    histories = place_histories(place)
    with CaptureQueriesContext(connection) as queries:
        (levels,) = control_levels(place, histories, MetricRules()).values()
    assert len(queries) <= 3
    assert levels.tolist() == pytest.approx([900, 700, np.nan, 800], nan_ok=True)


def nights_at(night, tps):
    return [make_record(tps, key=f"at {night}", branch="main", started_at=time_of(night))]


def test_a_control_is_not_looked_at_beside_another():
    make_runs(nights([1.0] * 3, [0.9] * 3))
    place = Place.of(Series.objects.get(metric="tps", build="control"))
    assert control_levels(place, place_histories(place), MetricRules()) == {}
