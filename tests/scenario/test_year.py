"""What a team lives through with the dashboard, from night to night, against what truly happened."""

import pytest

from benchdash.regressions.morning.mornings import morning_of
from tests.scenario.simulation import lived
from tests.scenario.verdict import Verdict
from tests.scenario.world import ARM, EPYC, OLTP, QUERIES, Change, Job, Outage, World

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


def test_eight_weeks_are_told_as_they_were(smtp):
    with lived(EIGHT_WEEKS, smtp, look=morning_of) as year:
        verdict = Verdict(year)
        assert verdict.regressions() == []
        assert verdict.false_incidents() == []
        assert verdict.machines() == []
        assert verdict.recoveries() == []
        assert verdict.silences() == []
        assert verdict.threads() == []
