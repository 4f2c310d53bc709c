"""Two causes a few nights apart are two incidents, each with a range that holds its commit."""

from datetime import timedelta
from random import Random

import pytest

from benchdash.regressions.models import Incident
from benchdash.regressions.services import analyse_touched
from tests.builders import make_project, make_record, make_runs
from tests.regressions.nights import night_time
from tests.regressions.test_release_lines import Door
from tests.sysbench_text import sysbench_report

pytestmark = pytest.mark.django_db

READS = ("point_select", "read_only", "select_random_ranges")
WRITES = ("update_index", "insert", "delete")
EVERYTHING = (*READS, *WRITES)
FIRST_CAUSE, SECOND_CAUSE, NIGHTS = 16, 19, 27


@pytest.fixture
def door():
    return Door(make_project("servers"))


def commit(night):
    return f"{night + 1:040x}"


def speed(night, workload, first, hardware="bench-03"):
    """1000 tps with a mood of the machine and noise; 10 % less from the night ``first`` on."""
    mood = Random(f"{hardware} {night}").gauss(1, 0.01)
    noise = Random(f"{hardware} {night} {workload}").gauss(1, 0.015)
    return 1000 * (0.9 if night >= first else 1.0) * mood * noise


def nights_of(since, until):
    """The nights whose commits lie in a range, the last one included."""
    nights = {commit(night): night for night in range(NIGHTS)}
    return range(nights[since] + 1, nights[until] + 1)


def test_losses_of_different_workloads_three_nights_apart_are_two_incidents(door):
    begins = {**dict.fromkeys(READS, FIRST_CAUSE), **dict.fromkeys(WRITES, SECOND_CAUSE)}
    confirmed = []
    for night in range(NIGHTS):
        at = (door.now - timedelta(days=NIGHTS - night)).isoformat()
        for workload, first in begins.items():
            door.upload(
                sysbench_report(speed(night, workload, first)),
                version="10.11.19",
                branch="main",
                commit=commit(night),
                committed_at=at,
                started_at=at,
                workload=workload,
            )
        if night > SECOND_CAUSE:
            analyse_touched()
            confirmed.append(sum(one["status"] == "confirmed" for one in door.incidents()))
    assert confirmed == sorted(confirmed)
    first, second = sorted(door.incidents(), key=lambda one: one["started_at"])
    for incident, workloads, cause, other in (
        (first, READS, FIRST_CAUSE, SECOND_CAUSE),
        (second, WRITES, SECOND_CAUSE, FIRST_CAUSE),
    ):
        assert (incident["kind"], incident["status"]) == ("regression", "confirmed")
        assert {change["workload"] for change in incident["change_points"]} == set(workloads)
        nights = nights_of(incident["from_version"]["commit"], incident["to_version"]["commit"])
        assert cause in nights
        assert other not in nights


def measure(project, hardware, begins):
    records = [
        make_record(
            speed(night, workload, first, hardware),
            key=f"{hardware} {night} {workload}",
            version="10.11.19",
            branch="main",
            commit=commit(night),
            committed_at=night_time(night),
            started_at=night_time(night),
            workload=workload,
            hardware=hardware,
        )
        for night in range(NIGHTS)
        for workload, first in begins.items()
    ]
    make_runs(records, project=project)


def found():
    return [
        (
            set(one.change_points.values_list("series__hardware__name", "series__workload__name")),
            nights_of(one.since.commit, one.until.commit),
        )
        for one in Incident.objects.order_by("started_at")
    ]


def test_a_step_of_one_machine_takes_no_commit_along_that_another_shows_two_nights_later():
    project = make_project("servers")
    measure(project, "bench-03", dict.fromkeys(EVERYTHING, FIRST_CAUSE))
    writes = dict.fromkeys(WRITES, FIRST_CAUSE + 2)
    measure(project, "bench-04", {**dict.fromkeys(READS, NIGHTS), **writes})
    analyse_touched()
    (of_machine, its_nights), (of_commit, nights) = found()
    assert of_machine == {("bench-03", workload) for workload in EVERYTHING}
    assert of_commit == {("bench-04", workload) for workload in WRITES}
    assert FIRST_CAUSE in its_nights
    assert FIRST_CAUSE + 2 in nights


def test_one_loss_that_all_workloads_and_machines_show_stays_one_incident():
    project = make_project("servers")
    for hardware in ("bench-03", "bench-04"):
        measure(project, hardware, dict.fromkeys(EVERYTHING, FIRST_CAUSE))
    analyse_touched()
    [(members, nights)] = found()
    assert len(members) == 2 * len(EVERYTHING)
    assert FIRST_CAUSE in nights
