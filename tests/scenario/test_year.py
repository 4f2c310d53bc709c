"""What a team lives through with the dashboard, from night to night, against what truly happened."""

import pytest
from django.test import Client

from benchdash.regressions.models import Incident
from benchdash.results.wording import NO_BREAK
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
    mornings=(17, 20, 23, 32, 51),
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


def pages_that_fail(year):
    """Pages and answers of the API about what happened that are no answers."""
    api, page = "/api/v1", f"/p/{year.project.slug}"
    addresses = [f"{page}/", f"{page}/incidents/", f"{api}/incidents/?project={year.project.slug}&limit=100"]
    for pk in Incident.objects.values_list("pk", flat=True):
        addresses += [f"{page}/incidents/{pk}/", f"{api}/incidents/{pk}/"]
    answers = {address: Client().get(address).status_code for address in addresses}
    return {address: status for address, status in answers.items() if status != 200}


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


@pytest.mark.slow
def test_eight_weeks_are_told_as_they_were(smtp):
    with lived(EIGHT_WEEKS, smtp) as year:
        assert problems_of(year) == []
        assert pages_that_fail(year) == {}
        assert Verdict(year).false_incidents() == []
        assert {night: one.sentence.replace(NO_BREAK, " ") for night, one in year.mornings.items()} == {
            17: "Last night (20 Nov): 12 of 12 workloads ran on arm-03 and epyc-01;"
            " nothing new, nothing open.",
            20: "Last night (23 Nov): 12 of 12 workloads ran on arm-03 and epyc-01;"
            " 1 new: MariaDB main in 3 workloads −15.5 %, nothing else open.",
            23: "Last night (26 Nov): 10 of 12 workloads ran on arm-03 and epyc-01; nothing new."
            " 1 open since 21 Nov: MariaDB main in 3 workloads −15.1 %."
            " Missing: PostgreSQL on epyc-01 since 24 Nov.",
            32: "Last night (5 Dec): 12 of 12 workloads ran on arm-03 and epyc-01;"
            " nothing worse, 1 recovered, nothing open.",
            51: "Last night (24 Dec): 5 of 12 workloads ran on epyc-01; nothing new."
            " 2 open, the oldest since 7 Dec; the largest: PostgreSQL main in 2 workloads −15.3 %."
            " Missing: arm-03 since 21 Dec.",
        }


@pytest.mark.slow
def test_a_year_is_told_as_it_was_and_false_alarms_stay_within_the_budget(smtp):
    with lived(YEAR, smtp) as year:
        assert problems_of(year) == []
        assert pages_that_fail(year) == {}
        verdict = Verdict(year)
        assert len(verdict.false_incidents()) <= verdict.budget()
