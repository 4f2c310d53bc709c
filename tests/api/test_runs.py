"""One run, and leaving it out."""

import pytest

from benchdash.accounts.models import AuditEntry
from benchdash.results.models import Run, TouchedSeries
from benchdash.results.readings import HIGHER, Reading
from benchdash.results.records import SampleTable
from tests.builders import make_project, make_run, make_series

pytestmark = pytest.mark.django_db


def test_a_run_tells_all_that_is_known_of_it(anonymous, settings):
    project = make_project("amber", public=True)
    score = Reading("score", 50.0, "ops/s", HIGHER, low=48.0, high=52.0)
    run = make_run(
        project=project,
        readings=[score],
        build="debug",
        commit="abcdef1" + 33 * "0",
        branch="main",
        configuration="big",
        configuration_text="[mysqld]\ninnodb_buffer_pool_size=8G\n",
        settings={"innodb_buffer_pool_size": "8G"},
        counterpart="net",
        environment={"kernel": "6.1"},
        options={"tables": 8},
        tags=("nightly",),
        notes="after the move",
        warnings=("half the usual time",),
        duration_s=60.0,
        repetition=2,
        started_at_is_assumed=True,
    )
    answer = anonymous.get(f"/api/v1/runs/{run.pk}/").json()
    assert answer == {
        "id": run.pk,
        "url": f"{settings.SITE_URL}/api/v1/runs/{run.pk}/",
        "project": "amber",
        "product": "MariaDB",
        "version": "10.6.23",
        "version_id": run.version_id,
        "build": "debug",
        "control": False,
        "commit": "abcdef1" + 33 * "0",
        "branch": "main",
        "hardware": "box",
        "configuration": "big",
        "counterpart": "net",
        "workload": "oltp_read_only",
        "threads": 4,
        "repetition": 2,
        "started_at": "2026-03-02T04:00:00Z",
        "started_at_assumed": True,
        "duration": 60.0,
        "upload": {"id": run.upload_id, "url": f"{settings.SITE_URL}/api/v1/uploads/{run.upload_id}/"},
        "session": None,
        "tags": ["nightly"],
        "warnings": ["half the usual time"],
        "excluded": False,
        "excluded_reason": None,
        "readings": [
            {
                "metric": "score",
                "value": 50.0,
                "unit": "ops/s",
                "direction": "higher",
                "low": 48.0,
                "high": 52.0,
                "series": run.measurements.get().series_id,
                "printed_unit": "ops/s",
                "printed_factor": 1.0,
            }
        ],
        "options": {"tables": 8},
        "notes": "after the move",
        "environment": {"kernel": "6.1"},
        "configuration_content": {
            "id": run.content_id,
            "text": "[mysqld]\ninnodb_buffer_pool_size=8G\n",
            "settings": {"innodb_buffer_pool_size": "8G"},
        },
    }


def test_a_run_of_which_little_is_known_says_so(anonymous):
    run = make_run(project=make_project(public=True), threads=None)
    answer = anonymous.get(f"/api/v1/runs/{run.pk}/").json()
    assert (answer["threads"], answer["duration"], answer["commit"]) == (None, None, None)
    assert (answer["environment"], answer["configuration_content"]) == (None, None)


def test_the_interval_samples_are_tables_by_source(anonymous):
    table = SampleTable("sysbench", ("time", "tps"), ((1.0, 100.0), (2.0, None)))
    run = make_run(project=make_project(public=True), samples=(table,))
    assert anonymous.get(f"/api/v1/runs/{run.pk}/intervals/").json() == {
        "sysbench": {"columns": ["time", "tps"], "rows": [[1.0, 100.0], [2.0, None]]}
    }
    without = make_run(project=make_project(public=True))
    assert anonymous.get(f"/api/v1/runs/{without.pk}/intervals/").json() == {}


def exclude(client, run, **body):
    return client.patch(f"/api/v1/runs/{run.pk}/", {"excluded": True, **body})


def test_a_run_is_excluded_with_a_reason_and_its_series_are_due(make_world):
    world = make_world(public=True)
    TouchedSeries.objects.all().delete()
    answer = exclude(world.clients["bob"], world.run, reason="the machine was busy")
    assert answer.status_code == 200
    body = answer.json()
    assert (body["excluded"], body["excluded_reason"]) == (True, "the machine was busy")
    assert (body["preview"], body["changes"]["runs"]) == (False, 1)
    assert list(TouchedSeries.objects.values_list("series", flat=True)) == [world.series.pk]
    entry = AuditEntry.objects.get(action="run excluded")
    assert (entry.user.email, entry.reason) == ("bob@example.org", "the machine was busy")


def test_the_reason_of_an_exclusion_is_for_members(make_world):
    world = make_world(public=True)
    exclude(world.clients["bob"], world.run, reason="the machine was busy")
    for who in ("charlie", "anonymous", "token of another project"):
        answer = world.clients[who].get(f"/api/v1/runs/{world.run.pk}/").json()
        assert (answer["excluded"], answer["excluded_reason"]) == (True, None)
    assert world.clients["rita"].get("/api/v1/runs/").json()["results"][0]["excluded_reason"]


def test_without_a_reason_a_run_is_not_excluded(make_world):
    world = make_world(public=True)
    answer = exclude(world.clients["bob"], world.run)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "reason"
    assert not Run.objects.get(pk=world.run.pk).is_excluded


def test_a_run_is_restored(make_world):
    world = make_world(public=True)
    exclude(world.clients["bob"], world.run, reason="the machine was busy")
    answer = world.clients["bob"].patch(f"/api/v1/runs/{world.run.pk}/", {"excluded": False})
    assert answer.json()["excluded"] is False
    assert world.clients["bob"].get(f"/api/v1/series/{world.series.pk}/").json()["points"] == 3


@pytest.mark.parametrize(("query", "body"), [("?preview=1", {}), ("", {"preview": True})])
def test_a_preview_changes_nothing_and_says_what_would(make_world, query, body):
    world = make_world(public=True)
    TouchedSeries.objects.all().delete()
    answer = world.clients["bob"].patch(f"/api/v1/runs/{world.run.pk}/{query}", {"excluded": True, **body})
    assert answer.json()["preview"] is True
    assert answer.json()["changes"] == {"runs": 1, "uploads": 1, "series": 1, "merged": 0}
    assert answer.json()["excluded"] is True
    assert not Run.objects.get(pk=world.run.pk).is_excluded
    assert not TouchedSeries.objects.exists()
    assert not AuditEntry.objects.filter(action="run excluded").exists()


def test_a_run_takes_few_statements(anonymous, django_assert_max_num_queries):
    project = make_project(public=True)
    make_series([1, 2], project=project)
    run = make_run(project=project, readings={"tps": 1, "qps": 2, "latency_avg": 3, "latency_p95": 4})
    with django_assert_max_num_queries(3):
        assert len(anonymous.get(f"/api/v1/runs/{run.pk}/").json()["readings"]) == 4


def test_the_interval_samples_of_one_source_are_a_table(anonymous):
    tables = (
        SampleTable("sysbench", ("time_s", "tps"), ((1.0, 100.0), (2.0, None))),
        SampleTable("vmstat 2", ("sample", "cpu_user"), ((1.0, 50.0),)),
    )
    run = make_run(project=make_project(public=True), samples=tables)
    address = f"/api/v1/runs/{run.pk}/intervals/"
    assert list(anonymous.get(address, {"source": "vmstat 2"}).json()) == ["vmstat 2"]
    answer = anonymous.get(address, {"source": "sysbench", "format": "csv"})
    assert answer.content.decode().splitlines() == ["time_s,tps", "1.0,100.0", "2.0,"]
    assert answer["Content-Disposition"] == f'attachment; filename="run-{run.pk}-sysbench.csv"'
    answer = anonymous.get(address, {"source": "vmstat 2", "format": "csv"})
    assert answer["Content-Disposition"] == f'attachment; filename="run-{run.pk}-vmstat-2.csv"'


@pytest.mark.parametrize(
    "query", [{"source": "nothing"}, {"format": "csv"}, {"format": "xml"}, {"source": ""}]
)
def test_samples_that_are_not_there_or_not_one_table_are_asked_for_in_vain(anonymous, query):
    tables = (
        SampleTable("sysbench", ("time_s", "tps"), ((1.0, 100.0),)),
        SampleTable("vmstat", ("sample", "cpu_user"), ((1.0, 50.0),)),
    )
    run = make_run(project=make_project(public=True), samples=tables)
    answer = anonymous.get(f"/api/v1/runs/{run.pk}/intervals/", query)
    assert answer.status_code == (200 if query == {"source": ""} else 400)
