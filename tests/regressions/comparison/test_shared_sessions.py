"""Which sessions of two versions were one, through recorded runs and tables."""

from datetime import timedelta

import pytest

from benchdash.regressions.comparison.columns import Selector
from benchdash.regressions.comparison.version_table import compare
from tests.builders import START, make_project, make_record, make_runs

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
MOODS = (1.0, 1.5, 0.7, 1.2)


@pytest.fixture
def project():
    return make_project()


def measure(project, version, level, *, after=timedelta(), **fields):
    """A run on each of four days, on which the machine has moods; a session tag may hold its number."""
    for number, mood in enumerate(MOODS):
        tags = tuple(tag.format(number) for tag in fields.get("tags", ()))
        start = START + number * DAY + after
        record = make_record(
            level * mood * (1 + number / 1000),
            version=version,
            **{**fields, "started_at": start, "tags": tags},
        )
        make_runs([record], project=project)


def compared(project, **filters):
    table = compare(
        project,
        metric="tps",
        base=Selector(version="10.6.1"),
        against=[Selector(version="10.6.2")],
        **filters,
    )
    return table.rows[0].comparisons[0]


@pytest.mark.parametrize(("after", "basis"), [(HOUR, "pairs"), (2 * HOUR, "pairs"), (3 * HOUR, "sessions")])
def test_what_was_measured_within_two_hours_of_each_other_is_compared_within(project, after, basis):
    measure(project, "10.6.1", 100)
    measure(project, "10.6.2", 90, after=after)
    assert compared(project).basis == basis
    assert (compared(project).verdict == "worse") == (basis == "pairs")


def test_the_same_tag_is_one_session_within_a_day_and_no_later(project):
    measure(project, "10.6.1", 100, tags=("session:{}",))
    measure(project, "10.6.2", 90, after=9 * HOUR, tags=("session:{}",))
    assert compared(project).basis == "pairs"
    later = make_project()
    measure(later, "10.6.1", 100, tags=("session:{}",))
    measure(later, "10.6.2", 90, after=30 * DAY, tags=("session:{}",))
    assert compared(later).basis == "sessions"


def test_other_tags_are_other_sessions_however_near(project):
    measure(project, "10.6.1", 100, tags=("session:a{}",))
    measure(project, "10.6.2", 90, tags=("session:b{}",))
    assert compared(project).basis == "sessions"


def test_a_filter_does_not_part_sessions_that_other_workloads_join(project):
    """The second version's other workload began soon; this one was measured four hours after the base's."""
    measure(project, "10.6.1", 100)
    measure(project, "10.6.2", 90, after=4 * HOUR)
    assert compared(project).basis == "sessions"
    for after in (HOUR, 3 * HOUR):
        measure(project, "10.6.2", 90, after=after, workload="other")
    assert compared(project, workloads=["oltp_read_only"]).basis == "pairs"


def test_two_machines_share_no_session(project):
    measure(project, "10.6.1", 100)
    measure(project, "10.6.2", 90, hardware="other box")
    assert compared(project).basis == "sessions"
