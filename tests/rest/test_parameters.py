"""Parameters that mean nothing, or the same everywhere."""

import pytest

from tests.builders import make_project, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    return make_run(project=make_project("amber", public=True))


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
