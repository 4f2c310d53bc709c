"""Only some fields of an answer."""

import pytest

from tests.builders import make_project, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    return make_run(project=make_project("amber", public=True))


def test_rows_and_inner_objects_have_only_what_is_asked_for(run, client):
    page = client.get("/api/v1/runs/?fields=id,workload").json()
    assert page == {"results": [{"id": run.pk, "workload": run.workload.name}], "next": None}
    address = f"/api/v1/runs/{run.pk}/"
    whole = client.get(address).json()
    readings = [{"metric": one["metric"], "value": one["value"]} for one in whole["readings"]]
    part = client.get(f"{address}?fields=id, readings.metric,readings.value").json()
    assert part == {"id": run.pk, "readings": readings}
    both = client.get(f"{address}?fields=readings,readings.value,readings.metric").json()
    assert both == {"readings": whole["readings"]}
    series = whole["readings"][0]["series"]
    points = client.get(f"/api/v1/series/{series}/points/?columns=time,value&fields=rows,series.id").json()
    assert points.keys() == {"rows", "series"}
    assert points["series"] == {"id": series}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("fields=workloda", "'workloda' is no field here; did you mean 'workload'?"),
        ("fields=", "'' is no field here; known: "),
        ("fields=id.value", "'value' is no field in `id` here; there is none"),
        ("fields=id.id.id.id", "'id' is no field in `id` here"),
        ("fields=readings.valeu", "'valeu' is no field in `readings` here; did you mean 'value'?"),
        ("fields=%F0%9F%90%8C", "is no field here"),
        ("fields=id&fields=id", "this may be given only once"),
        ("fields=" + ",".join(["id"] * 1000) + ",nothing_like_this", "is no field here; known: "),
        ("fields=%00", "NUL"),
    ],
)
def test_an_unknown_field_is_refused_with_those_that_there_are(run, client, query, message):
    answer = client.get(f"/api/v1/runs/{run.pk}/?{query}")
    assert answer.status_code == 400
    [error] = answer.json()["errors"]
    assert error["field"] == "fields"
    assert message in error["message"]


def test_an_answer_in_csv_has_no_fields(run, client):
    series = run.measurements.get().series_id
    answer = client.get(f"/api/v1/series/{series}/points/?format=csv&fields=rows")
    assert answer.status_code == 400


def test_a_parameter_that_means_nothing_is_refused_and_never_ignored(run, client):
    answer = client.get("/api/v1/runs/?thread=4&product=MariaDB")
    assert answer.status_code == 400
    assert answer.json()["errors"] == [
        {"field": "thread", "message": "'thread' is no parameter here; did you mean 'threads'?"}
    ]
    assert client.get("/api/v1/uploads/?sate=refused").json()["errors"][0]["field"] == "sate"
    assert client.get("/api/v1/runs/?threads=4").status_code == 200
    assert client.head("/api/v1/runs/?thread=4").status_code == 400


def test_whoever_asks_for_json_by_its_name_gets_it_everywhere(run, client):
    assert client.get(f"/api/v1/runs/{run.pk}/?format=json&project=amber").json()["id"] == run.pk
    assert client.get("/api/v1/runs/?format=csv").status_code == 400
