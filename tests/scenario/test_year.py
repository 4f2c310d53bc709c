"""What a team lives through with the dashboard, from night to night, against what truly happened."""

import pytest

from benchdash.regressions.morning.mornings import morning_of
from tests.scenario.simulation import lived
from tests.scenario.verdict import Verdict
from tests.scenario.world import (
    ARM,
    EPYC,
    OLTP,
    QUERIES,
    XEON,
    Bisect,
    Change,
    Job,
    Outage,
    World,
)

pytestmark = pytest.mark.django_db(transaction=True)

_ON_ARM = (
    Job(ARM, "MariaDB", "main", OLTP[:2], threads=(4,), hour=2),
    Job(ARM, "MariaDB", "main", OLTP[:2], threads=(4,), hour=2, control=True),
    Job(ARM, "Connector/J", "main", QUERIES, threads=(1,), hour=3, counterpart="MariaDB 10.11.19"),
)
EIGHT_WEEKS = World(
    nights=56,
    jobs=(
        Job(EPYC, "MariaDB", "main", OLTP, threads=(4,)),
        Job(EPYC, "PostgreSQL", "main", OLTP[:2], threads=(4,), hour=2),
        *_ON_ARM,
    ),
    changes=(
        Change(0.85, since=18, until=30, product="MariaDB"),
        Change(0.85, since=34, product="PostgreSQL"),
        Change(0.995, since=45, product="MariaDB"),
        Change(0.86, since=40, machine=ARM),
    ),
    outages=(
        Outage(22, 25, EPYC, product="PostgreSQL"),
        Outage(49, 53, ARM),
    ),
)


_POSTGRESQL = Job(EPYC, "PostgreSQL", "main", OLTP[:2], threads=(4,), hour=2)
YEAR = World(
    nights=365,
    jobs=(
        Job(EPYC, "MariaDB", "main", OLTP, threads=(4,)),
        Job(EPYC, "MariaDB", "10.11", OLTP[1:], threads=(4,), hour=3, as_text=True),
        _POSTGRESQL,
        Job(XEON, "MariaDB", "main", OLTP, threads=(4,)),
        Job(XEON, "PostgreSQL", "main", OLTP[:2], threads=(4,), hour=2),
        *_ON_ARM,
    ),
    changes=(
        Change(0.88, since=60, until=95, product="MariaDB"),
        Change(0.91, since=100, until=130, product="MariaDB", branch="10.11"),
        # A loss of one workload that is mended, and comes back.
        Change(0.85, since=120, until=140, again=(165, 200), product="MariaDB", workloads=OLTP[:1]),
        Change(0.88, since=150.5, product="PostgreSQL"),
        Change(0.90, since=212, machine=ARM),
        Change(0.80, since=232, until=290, product="Connector/J", workloads=QUERIES[1:2]),
        Change(1.07, since=250, product="MariaDB", branch="10.11"),
        # Too small to be seen.
        Change(0.99, since=265, product="MariaDB"),
        Change(0.985, since=305, product="PostgreSQL"),
    ),
    outages=(
        Outage(75, 76, EPYC),
        Outage(184, 188, EPYC, product="PostgreSQL"),
        Outage(275, 289, XEON),
        Outage(320, 322, ARM, late=True),
    ),
    bisects=(Bisect(153, 150, _POSTGRESQL),),
)


def problems_of(year):
    verdict = Verdict(year)
    return [
        *verdict.regressions(),
        *verdict.ranges(),
        *verdict.machines(),
        *verdict.recoveries(),
        *verdict.silences(),
        *verdict.threads(),
    ]


def test_eight_weeks_are_told_as_they_were(smtp):
    with lived(EIGHT_WEEKS, smtp, look=morning_of) as year:
        assert problems_of(year) == []
        assert Verdict(year).false_incidents() == []
        assert year.mornings[20].sentence == ""


@pytest.mark.slow
def test_a_year_is_told_as_it_was_and_false_alarms_stay_within_the_budget(smtp):
    with lived(YEAR, smtp, look=morning_of) as year:
        assert problems_of(year) == []
        verdict = Verdict(year)
        assert len(verdict.false_incidents()) <= verdict.budget()
