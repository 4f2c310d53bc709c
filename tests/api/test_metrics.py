"""The metrics of a project: listed, declared and changed."""

from datetime import timedelta

import pytest

from benchdash.accounts.models import AuditEntry
from benchdash.results.models import ProjectMetric, Series
from benchdash.results.readings import Reading
from tests.builders import START, make_run
from tests.schema_check import schema

pytestmark = pytest.mark.django_db

LIST = "/api/v1/metrics/?project=quartz"


@pytest.fixture
def world(make_world):
    world = make_world(public=True)
    own = Reading("rss_mb", 512, "", "unknown", is_own=True)
    make_run(project=world.project, readings=[own])
    return world


def listed(world, who="rita", query=""):
    answer = world.clients[who].get(LIST + query)
    assert answer.status_code == 200, answer.json()
    return {one["name"]: one for one in answer.json()["results"]}


def test_own_and_known_metrics_are_listed(world):
    metrics = listed(world)
    assert metrics["rss_mb"] == {
        "id": ProjectMetric.objects.get().pk,
        "name": "rss_mb",
        "unit": "",
        "direction": "unknown",
        "watched": False,
        "smallest_change": None,
        "smallest_change_absolute": None,
        "aggregation": "mean",
        "kind": "level",
        "is_own": True,
        "series": 1,
    }
    tps = metrics["tps"]
    assert (tps["unit"], tps["direction"], tps["watched"], tps["is_own"]) == ("1/s", "higher", True, False)


def test_a_list_comes_in_pages(world):
    first = world.clients["rita"].get(f"{LIST}&limit=1").json()
    assert [one["name"] for one in first["results"]] == ["rss_mb"]
    rest = world.clients["rita"].get(first["next"]).json()
    assert [one["name"] for one in rest["results"]] == ["tps"]
    assert rest["next"] is None


def test_saying_a_direction_turns_the_series_and_watches_them(world):
    answer = world.clients["bob"].patch(
        f"/api/v1/metrics/{ProjectMetric.objects.get().pk}/",
        {"unit": "MB", "direction": "lower", "smallest_change_absolute": 10, "reason": "less is better"},
    )
    assert answer.status_code == 200, answer.json()
    assert answer.json() == {**listed(world)["rss_mb"], "watched": True, "unit": "MB"}
    series = Series.objects.get(metric="rss_mb")
    assert (series.unit, series.direction) == ("MB", "lower")
    assert series.touched.quiet
    entry = AuditEntry.objects.get(action="metric changed")
    assert (entry.subject, entry.reason) == ("rss_mb", "less is better")
    assert entry.detail == {
        "unit": "not said → MB",
        "direction": "unknown → lower",
        "smallest_change_absolute": "not said → 10.0",
    }


def test_a_metric_is_declared_before_a_file_brings_it(world):
    body = {"project": "quartz", "name": "recall", "unit": "1", "direction": "higher"}
    answers = [world.clients["bob"].post("/api/v1/metrics/", body) for _ in range(2)]
    assert [one.status_code for one in answers] == [201, 200]
    make_run(project=world.project, readings=[Reading("recall", 0.9, "", "unknown", is_own=True)])
    assert listed(world)["recall"]["direction"] == "higher"
    assert Series.objects.get(metric="recall").direction == "higher"


def test_of_a_known_metric_only_what_is_watched_and_matters_is_said(world):
    patch = world.clients["bob"].patch
    answer = patch(LIST, {"name": "tps", "watched": False, "smallest_change": 0.1})
    assert answer.status_code == 200, answer.json()
    assert (answer.json()["watched"], answer.json()["smallest_change"]) == (False, 0.1)
    assert (answer.json()["unit"], answer.json()["is_own"]) == ("1/s", False)
    refused = patch(LIST, {"name": "tps", "direction": "lower"})
    assert refused.status_code == 400
    assert refused.json()["errors"] == [
        {"field": "direction", "message": "benchdash knows 'tps' itself; its direction cannot be changed"}
    ]
    assert patch(LIST, {"name": "tps", "watched": None}).json()["watched"] is True


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "nothing", "direction": "lower"}, "name"),
        ({"name": "rss_mb", "direction": "sideways"}, "direction"),
        ({"name": "rss_mb", "smallest_change": 0}, "smallest_change"),
        ({"name": "rss_mb", "smallest_change_absolute": -1}, "smallest_change_absolute"),
        ({"name": "rss_mb", "watched": "perhaps"}, "watched"),
    ],
)
def test_what_cannot_be_said_is_refused(world, body, field):
    answer = world.clients["bob"].patch(LIST, body)
    assert answer.status_code == 400
    assert [one["field"] for one in answer.json()["errors"]] == [field]
    assert ProjectMetric.objects.get().direction == "unknown"


def test_a_difference_is_told_and_not_judged_until_the_direction_is_said(world):
    for version, rss in (("10.6.1", 500), ("10.6.2", 550)):
        for repetition in range(5):
            make_run(
                project=world.project,
                readings=[Reading("index_size", rss + repetition, "MB", "unknown", is_own=True)],
                version=version,
                workload="load",
                started_at=START + timedelta(days=repetition),
            )

    def cell():
        query = "project=quartz&metric=index_size&workload=load&base="
        versions = world.clients["rita"].get("/api/v1/versions/?project=quartz&version=10.6.1").json()
        table = world.clients["rita"].get(f"/api/v1/compare/?{query}{versions['results'][0]['id']}").json()
        return table["direction"], table["rows"][0]["cells"][0]

    direction, told = cell()
    assert (direction, told["verdict"], round(told["ratio"], 2)) == ("unknown", "unknown", 1.1)
    assert told["p"] < 0.001
    assert told["low"] > 1
    answer = world.clients["bob"].patch(LIST, {"name": "index_size", "direction": "lower"})
    assert answer.status_code == 200
    assert cell()[0] == "lower"
    assert cell()[1]["verdict"] == "worse"


def test_the_schema_describes_it():
    paths = schema()["paths"]
    assert set(paths["/api/v1/metrics/"]) == {"get", "post", "patch"}
    assert set(paths["/api/v1/metrics/{id}/"]) == {"get", "patch"}
