"""Requests whose cost must not grow with what lies around their answer: no large table is read whole."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.accounts.models import User
from benchdash.regressions.services import analyse_touched
from benchdash.results.models import Run, Series
from tests.builders import START, make_project, make_series

pytestmark = pytest.mark.django_db

LARGE_TABLES = {"results_run", "results_measurement", "results_series"}
NIGHTS = [100.0, 101.0, 99.0, 100.0, 101.0, 99.0, 90.0, 89.0, 91.0, 90.0]


@pytest.fixture
def project():
    project = make_project("amber", public=True)
    for workload in ("oltp_read_only", "oltp_write_only"):
        make_series(NIGHTS, project=project, workload=workload)
        make_series(
            NIGHTS, project=project, workload=workload, branch="main", start=START + timedelta(days=30)
        )
    analyse_touched()
    return project


def read_whole(plan):
    """The large tables that a plan reads from one end to the other."""
    found = {plan["Relation Name"]} if plan["Node Type"] == "Seq Scan" else set()
    return found.union(*map(read_whole, plan.get("Plans", ()))) & LARGE_TABLES


def plans_of(queries):
    """Of each SELECT. Where any index serves, the planner takes it: no table here is large enough else."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        for query in queries:
            if query["sql"].lstrip().startswith(("SELECT", "WITH")):
                cursor.execute("EXPLAIN (FORMAT JSON) " + query["sql"])
                [found] = cursor.fetchone()
                yield query["sql"], (json.loads(found) if isinstance(found, str) else found)[0]["Plan"]


ADDRESSES = (
    "/api/v1/series/{series}/points/",
    "/api/v1/series/?project=amber&workload=oltp_read_only",
    "/api/v1/runs/?project=amber&limit=10",
    "/api/v1/runs/{run}/",
    "/api/v1/incidents/?project=amber",
    '/api/v1/compare/?project=amber&metric=tps&branch=&hardware=box&base={{"version":"10.6.1"}}',
    "/",
    "/p/amber/",
    "/p/amber/history/?series={series}",
    "/p/amber/incidents/",
    "/p/amber/runs/{run}/",
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_large_table_is_read_whole(client, project, address):
    client.force_login(User.objects.create_superuser("alice@example.org", "correct horse battery"))
    series = Series.objects.filter(project=project, branch="").earliest("pk")
    run = Run.objects.filter(project=project).earliest("pk")
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(address.format(series=series.pk, run=run.pk))
    assert answer.status_code == 200, answer.content
    plans = list(plans_of(queries))
    assert plans
    assert {sql: read_whole(plan) for sql, plan in plans if read_whole(plan)} == {}
