"""Nights with a control server beside the one that is tested, on a machine with a noisy neighbour."""

import json
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.regressions.analysis.control_runs import control_levels
from benchdash.regressions.analysis.places import place_histories
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.queries import incidents
from benchdash.regressions.services import analyse_touched
from benchdash.results.controls import control_build
from benchdash.results.models import Series
from benchdash.results.place import Place
from ingest.formats.source import Source
from ingest.formats.sysbench import sysbench
from tests.builders import START, make_project, make_record, make_runs

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


def nights(tested, control=(), *, noise=0.0):
    """A night of both a day, the control a minute later; levels of 1 are 1000 tps."""
    records = []
    for build, levels, delay in (("", tested, 0), (control_build(""), control, 1)):
        for night, level in enumerate(levels):
            wiggle = 1 + 0.004 * ((night * 7919 + delay * 31) % 11 - 5) / 5
            records.append(
                make_record(
                    1000 * level * wiggle,
                    key=f"{build} {night}",
                    build=build,
                    branch="main",
                    started_at=time_of(night) + timedelta(minutes=delay),
                )
            )
    return records


def kinds():
    return list(Incident.objects.filter(status="confirmed").values_list("kind", flat=True))


def test_a_step_of_the_machine_that_the_control_shares_is_no_change_of_the_server():
    machine = [1.0] * 20 + [0.8] * 10
    make_runs(nights(machine, machine))
    analyse_touched()
    assert kinds() == ["environment"]
    assert {one.series.build for one in ChangePoint.objects.all()} == {"control"}


def test_a_step_of_the_server_beside_a_steady_control_is_a_regression():
    make_runs(nights([1.0] * 20 + [0.8] * 10, [1.0] * 30))
    analyse_touched()
    assert kinds() == ["regression"]


def test_a_control_that_recovers_is_an_incident_of_its_own_at_the_same_product():
    make_runs(nights([], [1.0] * 20 + [0.8] * 15 + [1.0] * 10))
    analyse_touched()
    assert kinds() == ["environment", "environment"]


def test_the_control_is_laid_on_the_groups_in_whose_sessions_it_ran():
    project = make_project()
    records = nights([1.0] * 3, [0.9] * 3)
    late = make_record(
        500.0, key="late", build="control", branch="main", started_at=time_of(1) + timedelta(hours=5)
    )
    tagged = [
        make_record(800.0, key="far", build="control", started_at=time_of(9), tags=("session:three",)),
        make_record(1000.0, key="three", branch="main", started_at=time_of(3), tags=("session:three",)),
    ]
    make_runs([*records, late, *tagged], project=project)
    place = Place.of(Series.objects.get(metric="tps", build="", branch="main"))
    histories = place_histories(place)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        (levels,) = control_levels(place, histories).values()
    assert len(queries) == 2
    assert len(levels) == 4


def test_a_control_is_not_looked_at_beside_another():
    make_runs(nights([1.0] * 3, [0.9] * 3))
    place = Place.of(Series.objects.get(build="control"))
    assert control_levels(place, place_histories(place)) == {}
