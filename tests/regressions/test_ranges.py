"""Between which versions an incident began, and which one to measure next."""

from datetime import timedelta

import pytest

from benchdash.regressions.models import Incident
from benchdash.regressions.ranges import range_of
from benchdash.regressions.services import analyse_touched
from tests.builders import make_project, make_record, make_runs
from tests.regressions.nights import night_time

pytestmark = pytest.mark.django_db


def commit(number):
    return f"{number:040x}"


def measure(project, levels, **fields):
    """Commits 1, 2, 3 ... of main, an hour apart each; ``levels`` are {number: tps}."""
    records = [
        make_record(
            tps,
            version="11.4",
            branch="main",
            commit=commit(number),
            committed_at=night_time(0) + timedelta(hours=number),
            started_at=night_time(1) + timedelta(hours=number),
            **fields,
        )
        for number, tps in levels.items()
    ]
    return make_runs(records, project=project)


def weekly(until, since_level=1000, to_level=700):
    """Every tenth commit; the level changes between 200 and 210."""
    numbers = range(10, until + 1, 10)
    return {n: (since_level if n <= 200 else to_level) * (1 + n // 10 % 3 / 100) for n in numbers}


def test_the_commits_between_are_those_that_another_machine_knows():
    project = make_project()
    measure(project, weekly(270), hardware="bench-03")
    measure(project, dict.fromkeys(range(201, 206), 500.0), hardware="laptop", workload="oltp_insert")
    analyse_touched()
    found = range_of(Incident.objects.get())
    assert (found.since.commit, found.until.commit) == (commit(200), commit(210))
    assert [one.commit for one in found.between] == [commit(n) for n in range(201, 206)]
    assert found.next_to_measure.commit == commit(203)


def test_where_no_version_lies_between_there_is_none_to_measure():
    project = make_project()
    measure(project, weekly(270))
    analyse_touched()
    found = range_of(Incident.objects.get())
    assert (found.between, found.next_to_measure) == ([], None)


def test_of_releases_those_of_the_line_lie_between():
    project = make_project()
    levels = [100, 101, 99] * 4 + [70, 71, 69] * 3
    numbers = [*range(1, 13), *range(15, 24)]
    records = [
        make_record(tps, version=f"10.6.{number}", started_at=night_time(1) + timedelta(days=number))
        for number, tps in zip(numbers, levels, strict=True)
    ]
    make_runs(records, project=project)
    for number in (13, 14):
        make_runs([make_record(1, version=f"10.6.{number}", hardware="laptop")], project=project)
    analyse_touched()
    found = range_of(Incident.objects.get())
    assert [one.version for one in found.between] == ["10.6.13", "10.6.14"]
    assert found.next_to_measure.version == "10.6.13"
