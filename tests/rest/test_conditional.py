"""An answer is not sent again to whom has it."""

import pytest

from tests.builders import make_project, make_record, make_run, make_runs, make_upload


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
