"""What is answered to somebody who is known is kept by nobody else."""

import pytest
from django.test import Client

from tests.builders import PASSWORD, make_project, make_run, make_token, make_upload, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("nightly", public=True, raw_files_are_public=True)


@pytest.fixture
def addresses(project):
    run, upload = make_run(project=project), make_upload(project)
    series = run.measurements.first().series_id
    return [
        "/",
        "/nothing/",
        "/p/nightly/",
        f"/p/nightly/runs/{run.pk}/",
        "/p/nightly/versions.csv",
        f"/p/nightly/uploads/{upload.pk}/raw/",
        "/api/v1/runs/",
        "/api/v1/nothing/",
        f"/api/v1/series/{series}/points/",
        f"/api/v1/uploads/{upload.pk}/",
        f"/api/v1/uploads/{upload.pk}/raw/",
        "/api/schema/",
        "/api/docs/",
    ]


def signed_in(project):
    client = Client()
    client.force_login(make_user(member_of=project))
    return client


def with_token(project):
    return Client(headers={"authorization": f"Bearer {make_token(project)}"})


@pytest.mark.parametrize("who", [signed_in, with_token])
def test_answers_to_a_session_or_a_token_are_stored_nowhere(project, addresses, who):
    client = who(project)
    told = {address: client.get(address)["Cache-Control"] for address in addresses}
    assert told == dict.fromkeys(addresses, "private, no-store")


def test_answers_say_that_they_depend_on_token_and_session(project, addresses):
    clients = [Client(), signed_in(project), with_token(project)]
    varied = {(address, client): client.get(address)["Vary"] for address in addresses for client in clients}
    wrong = {key: vary for key, vary in varied.items() if not {"Authorization", "Cookie"} <= words(vary)}
    assert wrong == {}


def words(vary):
    return set(vary.split(", "))


def test_refusals_are_not_stored_either(project):
    client = Client(headers={"authorization": "Bearer bd_unknown"})
    refused = client.get("/api/v1/runs/")
    assert (refused.status_code, refused["Cache-Control"]) == (401, "private, no-store")


def test_the_answer_that_makes_a_session_is_not_stored():
    make_user(password=PASSWORD)
    answer = Client().post("/sign-in/", {"username": "alice@example.org", "password": PASSWORD})
    assert (answer.status_code, answer["Cache-Control"]) == (302, "private, no-store")


def test_what_anyone_may_read_may_be_stored(client, project):
    assert not client.get("/p/nightly/").has_header("Cache-Control")


def test_who_has_an_answer_already_can_still_ask_whether_it_holds(project):
    run = make_run(project=project)
    address = f"/api/v1/series/{run.measurements.first().series_id}/points/"
    client = with_token(project)
    tag = client.get(address)["ETag"]
    again = client.get(address, headers={"if-none-match": tag})
    assert (again.status_code, again["Cache-Control"]) == (304, "private, no-store")
    upload = make_upload(project)
    assert client.get(f"/api/v1/uploads/{upload.pk}/raw/")["ETag"] == f'"{upload.raw.sha256}"'
