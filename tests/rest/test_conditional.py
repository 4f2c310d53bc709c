"""Nothing is sent again, and nothing is overwritten unseen."""

import threading

import pytest
from django.db import connection

from benchdash.accounts.models import Scope
from benchdash.database.locks import alone_with
from tests.api.conftest import client_of
from tests.builders import make_project, make_record, make_run, make_runs, make_token, make_upload


@pytest.mark.django_db
def test_who_has_an_answer_already_is_not_sent_it_again(client):
    project = make_project("amber", public=True)
    make_runs([make_record(number) for number in range(3)], project=project)
    address = "/api/v1/runs/?limit=2"
    first = client.get(address)
    tag = first["ETag"]
    assert first["Cache-Control"] == "private, no-cache"
    assert first["Link"] == f'<{first.json()["next"]}>; rel="next"'
    for header in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = client.get(address, headers={"if-none-match": header})
        assert (again.status_code, again.content) == (304, b""), header
        assert again["ETag"] == tag
        assert again["Cache-Control"] == "private, no-cache"
        assert {"Authorization", "Cookie"} <= set(again["Vary"].split(", "))
        assert {"RateLimit", "RateLimit-Policy", "Link"} <= set(again.headers)
    for header in ('"other"', "garbage", "", '"', tag[:-3], "\U0001f40c".encode().decode("latin-1")):
        assert client.get(address, headers={"if-none-match": header}).status_code == 200, header
    packed = client.get(address, headers={"accept-encoding": "gzip"})
    assert packed["ETag"] == f"W/{tag}"
    both = {"accept-encoding": "gzip", "if-none-match": packed["ETag"]}
    assert client.get(address, headers=both).status_code == 304
    assert client.head(address)["ETag"] == tag
    make_run(project=project)
    assert client.get(address, headers={"if-none-match": tag}).status_code == 200
    assert not client.get("/api/v1/runs/0/").has_header("ETag")


@pytest.mark.django_db
def test_a_raw_file_that_is_there_already_is_not_read(client):
    upload = make_upload(make_project(public=True, raw_files_are_public=True))
    address = f"/api/v1/uploads/{upload.pk}/raw/"
    again = client.get(address, headers={"if-none-match": f'"{upload.raw.sha256}"'})
    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == f'"{upload.raw.sha256}"'
    assert client.get(address)["ETag"] == f'"{upload.raw.sha256}"'


@pytest.mark.django_db
def test_what_was_changed_meanwhile_is_not_overwritten():
    project = make_project("amber")
    run = make_run(project=project, hardware="box")
    client = client_of(make_token(project, Scope.TRIAGE))
    address = f"/api/v1/hardware/{run.hardware_id}/"
    seen = client.get(address)["ETag"]

    def rename(name, header):
        return client.patch(f"{address}?preview=false", {"name": name}, headers={"if-match": header})

    assert rename("first", f"W/{seen}").status_code == 200
    refused = rename("second", seen)
    assert refused.status_code == 412
    assert "If-Match" in refused.json()["detail"]
    assert client.get(address).json()["name"] == "first"
    assert rename("second", '"other"').status_code == 412
    assert rename("second", "garbage").status_code == 412
    assert rename("second", f'"other", {client.get(address)["ETag"]}').status_code == 200
    assert rename("third", "*").status_code == 200
    nothing = client.patch("/api/v1/hardware/0/", {"name": "x"}, headers={"if-match": "*"})
    assert nothing.status_code == 404
    stranger = client_of(make_token(make_project("other"), Scope.TRIAGE))
    assert stranger.patch(address, {"name": "x"}, headers={"if-match": "*"}).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_two_changes_of_what_both_have_seen_do_not_both_happen():
    project = make_project("amber")
    run = make_run(project=project, hardware="box")
    client = client_of(make_token(project, Scope.TRIAGE))
    address = f"/api/v1/hardware/{run.hardware_id}/"
    held, done = threading.Event(), threading.Event()

    def change():
        with alone_with(f"If-Match of {address}"):
            held.set()
            done.wait(10)
        connection.close()

    other = threading.Thread(target=change)
    other.start()
    held.wait(10)
    refused = client.patch(address, {"name": "x"}, headers={"if-match": "*"})
    done.set()
    other.join()
    assert refused.status_code == 409
    assert client.patch(address, {"name": "x"}, headers={"if-match": "*"}).status_code == 200
