import json
from io import BytesIO
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry, Role, Scope
from benchdash.accounts.services import find_token, revoke_token
from benchdash.results.models import Hardware, Measurement, Product, Run, Series, TouchedSeries, Workload
from benchdash.results.sessions import START_UNKNOWN
from benchdash.throttling import UploadThrottle
from ingest.metadata.fields import ALL_FIELDS
from ingest.models import Companion, RawFile, Upload
from tests.builders import PASSWORD, make_project, make_token, make_upload, make_user
from tests.ingest.receiving.test_copies import FORMS
from tests.ingest.sending import ANOTHER, DRIVERS, FIXTURES, NIGHTS, SAID, SYSBENCH, URL, client_of, send
from tests.results.concurrency import at_once

pytestmark = pytest.mark.django_db


def field_errors(response):
    assert response.status_code == 400, response.content
    assert response["Content-Type"] == "application/problem+json"
    return {error["field"]: error["message"] for error in response.json()["errors"]}


def a_table(columns, *, start=1000):
    """A table of queries per second with so many columns, and so many runs; equal ones are of one start."""
    names = ",".join(f"Driver-{n}.0" for n in range(1, columns + 1))
    values = ",".join(str(start + n) for n in range(1, columns + 1))
    return f"query,{names}\nDO 1,{values}\n".encode()


# --- imported -----------------------------------------------------------------------------------------------


def test_an_upload_is_answered_with_what_was_understood(api, project, settings):
    settings.SITE_URL = "https://bench.example.org"
    response = send(api, **SAID)
    upload, run = Upload.objects.get(), Run.objects.get()
    assert response.status_code == 201
    assert response["Location"] == response.json()["url"]
    assert response.json() == {
        "id": upload.pk,
        "url": f"https://bench.example.org/api/v1/uploads/{upload.pk}/",
        "page": f"https://bench.example.org/p/{project.slug}/uploads/{upload.pk}/",
        "state": "imported",
        "format": "sysbench",
        "sha256": "a838fe8f132efd4b9340c16920080582ded036a2d951f193b458a4db5f63ede3",
        "duplicate": False,
        "runs": [
            {
                "id": run.pk,
                "url": f"https://bench.example.org/api/v1/runs/{run.pk}/",
                "product": "MariaDB",
                "version": "10.11.19",
                "workload": "oltp_read_only",
                "threads": 8,
                "readings": 17,
            }
        ],
        "copies": [],
        "warnings": [
            "new product 'MariaDB'",
            "new hardware 'box'",
            "new workload 'oltp_read_only'",
            START_UNKNOWN,
        ],
    }
    assert upload.project == run.project == project
    assert upload.token.name == "nightly"
    assert TouchedSeries.objects.count() == 17


def test_the_same_upload_again_is_the_same_upload(api, django_assert_num_queries):
    first = send(api, **SAID)
    with django_assert_num_queries(7):
        second = send(api, **SAID, name="another name.txt")
    assert (first.status_code, second.status_code) == (201, 200)
    assert second.json() == first.json() | {"duplicate": True}
    assert (Upload.objects.count(), Run.objects.count(), RawFile.objects.count()) == (1, 1, 1)


def test_the_same_file_said_to_be_something_else_is_another_upload_of_one_content(api):
    assert send(api, **SAID).status_code == 201
    assert send(api, **{**SAID, "version": "10.11.20"}).status_code == 201
    assert (Upload.objects.count(), Run.objects.count(), RawFile.objects.count()) == (2, 2, 1)


def test_a_table_gives_a_run_for_every_cell(api):
    response = send(api, DRIVERS, hardware="box", started_at="2012-11-20T10:00:00Z")
    assert response.status_code == 201
    assert response.json()["format"] == "qps_table"
    found = {(run["product"], run["version"], run["workload"]) for run in response.json()["runs"]}
    assert found == {
        ("MariaDB-JDBC", "1.1.7", "DO 1"),
        ("MariaDB-JDBC", "1.1.7", "SELECT 1"),
        ("Drizzle-JDBC", "1.3", "DO 1"),
        ("Drizzle-JDBC", "1.3", "SELECT 1"),
    }


def test_a_large_upload_takes_as_many_statements_as_a_small_one(api, django_assert_num_queries):
    send(api, a_table(1), hardware="box")
    with django_assert_num_queries(16):
        assert len(send(api, a_table(2, start=3000), hardware="box").json()["runs"]) == 2
    with django_assert_num_queries(16):
        assert len(send(api, a_table(300, start=5000), hardware="box").json()["runs"]) == 300


def test_the_answer_lists_the_runs_as_the_upload_does(api):
    answer = send(api, a_table(12), hardware="box").json()
    assert answer["runs"] == api.get(f"/api/v1/uploads/{answer['id']}/").json()["runs"]


def test_the_project_is_that_of_the_token_unless_it_is_named(api, project):
    assert send(api, **SAID, project="mine").status_code == 201
    assert Upload.objects.get().project == project


def test_meta_of_our_own_files_says_it_all(api):
    sample = Path("ingest/samples/watch/nightly/mariadb-10.11.19/055/oltp_read_only.txt")
    meta = sample.with_suffix(".meta.json").read_text()
    response = send(api, sample.read_bytes(), meta=meta)
    assert response.status_code == 201
    assert response.json()["warnings"] == [
        "the machine has no name and is called 'AMD EPYC, 2 cores, 24 GiB' after its facts",
        "new product 'MariaDB'",
        "new hardware 'AMD EPYC, 2 cores, 24 GiB'",
        "new workload 'oltp_read_only'",
    ]
    run = Run.objects.get()
    assert run.content.settings["tmp_memory_table_size"] == "0"
    assert run.environment.facts["kernel"] == "6.18.44-fc-v595"
    assert run.options["night"] == 55
    assert run.started_at.isoformat() == "2026-11-20T16:01:17.728000+00:00"
    assert not run.started_at_is_assumed


def test_nights_of_one_workload_do_not_differ_in_their_options(api):
    for night in ("000", "055"):
        sample = Path(f"ingest/samples/watch/nightly/mariadb-10.11.19/{night}/oltp_read_only.txt")
        response = send(api, sample.read_bytes(), meta=sample.with_suffix(".meta.json").read_text())
        assert response.status_code == 201
    assert not [warning for warning in response.json()["warnings"] if "options" in warning]


def test_a_time_without_an_offset_and_an_unknown_field_are_warned_of(api):
    response = send(api, **SAID, started_at="2026-11-20T10:00:00", verison="10.6", colour="red")
    meant = "the field 'verison' is not known and was ignored; did you mean 'version'?"
    assert {meant, "'started_at' has no offset and is taken as UTC"} < set(response.json()["warnings"])
    assert Run.objects.get().started_at.isoformat() == "2026-11-20T10:00:00+00:00"


def test_all_fields_reach_the_run(api):
    response = send(
        api,
        **SAID,
        threads="8",
        build="debug",
        commit="ABCDEF0123",
        committed_at="2026-11-19T10:00:00Z",
        branch="main",
        configuration="big",
        counterpart="client host",
        started_at="2026-11-20T10:00:00Z",
        repetition="2",
        tags=["night", "x"],
        session="7",
        notes="a note",
        options='{"tables": 4}',
        configuration_file=SimpleUploadedFile("my.cnf", b"[mysqld]\nport=1\ninnodb_flush_method=fsync\n"),
        companion=[SimpleUploadedFile("vmstat.txt", b"procs"), SimpleUploadedFile("lscpu.txt", b"CPU")],
    )
    assert response.status_code == 201, response.content
    run = Run.objects.get()
    assert (run.version.build, run.version.commit, run.branch) == ("debug", "abcdef0123", "main")
    assert run.version.committed_at.isoformat() == "2026-11-19T10:00:00+00:00"
    assert (run.configuration.name, run.content.settings) == ("big", {"innodb_flush_method": "fsync"})
    assert (run.counterpart, run.repetition, run.tags, run.notes) == (
        "client host",
        2,
        ["session:7", "night", "x"],
        "a note",
    )
    assert run.options["tables"] == 4
    assert sorted(Companion.objects.values_list("kind", "name")) == [
        ("companion", "lscpu.txt"),
        ("companion", "vmstat.txt"),
        ("configuration", "my.cnf"),
    ]


def test_other_companions_make_another_upload(api):
    assert send(api, **SAID, companion=SimpleUploadedFile("a", b"1")).status_code == 201
    assert send(api, **SAID, companion=SimpleUploadedFile("b", b"1")).status_code == 200
    assert send(api, **SAID, companion=SimpleUploadedFile("a", b"2")).status_code == 201
    assert send(api, **SAID, configuration_file=SimpleUploadedFile("a", b"1")).status_code == 201


def test_a_configuration_file_that_is_no_text_is_kept_and_warned_of(api):
    response = send(api, **SAID, configuration_file=SimpleUploadedFile("my.cnf", b"\0\1"))
    assert response.status_code == 201
    assert response.json()["warnings"][0] == (
        "the configuration file 'my.cnf' is kept and was not read: "
        "line 1: a NUL byte: this is not a text file"
    )


# --- dry run ------------------------------------------------------------------------------------------------


def rows():
    ours = (Upload, RawFile, Companion, Run, Series, Measurement, Product, Hardware, Workload)
    return [model.objects.count() for model in (*ours, AuditEntry, TouchedSeries)]


@pytest.mark.parametrize(
    "said", [{"metric": "rss_mb [MB, lower]"}, {"meta": '{"metric": "rss_mb [MB, lower]"}'}]
)
def test_the_sender_says_what_the_numbers_of_a_table_are(api, said):
    table = b"| Server | MariaDB-10.6 | MariaDB-10.11 |\n|---|---|---|\n| small | 1200 | 1300 |\n"
    without = send(api, table, "table.md", hardware="box", dry_run="1")
    assert "name the metric in the field 'metric'" in str(without.json()["errors"])
    response = send(api, table, "table.md", hardware="box", **said)
    assert response.status_code == 201, response.content
    found = Measurement.objects.order_by("value").values_list("series__metric", "value")
    assert list(found) == [("rss_mb", 1200), ("rss_mb", 1300)]


def test_a_dry_run_tells_all_and_stores_nothing(api, django_capture_on_commit_callbacks):
    before = rows()
    with django_capture_on_commit_callbacks() as callbacks:
        response = send(api, **SAID, dry_run="true", companion=SimpleUploadedFile("a", b"1"))
    assert response.status_code == 200
    body = response.json()
    assert (body["id"], body["url"], body["state"], body["duplicate"]) == (None, None, "dry_run", False)
    assert body["runs"] == [
        {
            "id": None,
            "url": None,
            "product": "MariaDB",
            "version": "10.11.19",
            "workload": "oltp_read_only",
            "threads": 8,
            "readings": 17,
        }
    ]
    assert body["warnings"] == [
        "new product 'MariaDB'",
        "new hardware 'box'",
        "new workload 'oltp_read_only'",
        START_UNKNOWN,
    ]
    assert rows() == before
    assert callbacks == []


def test_a_dry_run_of_a_bad_file_says_why_and_keeps_nothing(api):
    response = send(api, b"", **SAID, dry_run="1")
    assert response.status_code == 422
    assert response.json()["errors"] == [{"line": None, "message": "the file is empty"}]
    assert response.json()["id"] is None
    assert rows() == [0] * len(rows())


def test_a_dry_run_knows_a_duplicate(api):
    send(api, **SAID)
    assert send(api, **SAID, dry_run="true").json()["duplicate"] is True


# --- refused ------------------------------------------------------------------------------------------------

BAD_FILES = {
    "empty": b"",
    "blank": b" \n\n",
    "binary": b"\x7fELF\0\0\0",
    "utf-16": "sysbench 1.0.20".encode("utf-16"),
    "latin-1": b"caf\xe9 sysbench",
    "foreign": b"Dear diary,\ntoday was slow.\n",
    "truncated": SYSBENCH[: len(SYSBENCH) // 2],
    "aborted": (FIXTURES / "sysbench/aborted-ctrl-c.txt").read_bytes(),
    "json": b'{"a": 1',
    "of a run to come": b'{"time": "2198-12-31T23:00:00Z", "tps": 730.96, "qps": 11695.41, "threads": 4}\n',
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_is_refused_with_a_sentence_and_stays_listed(api, kind):
    response = send(api, BAD_FILES[kind], **SAID)
    assert response.status_code == 422
    assert response["Content-Type"] == "application/problem+json"
    (error,) = response.json()["errors"]
    assert error.keys() == {"line", "message"}
    assert error["message"]
    assert Run.objects.count() == Product.objects.count() == 0
    (listed,) = api.get(URL).json()["results"]
    assert (listed["state"], listed["files"][0]["errors"]) == ("refused", [error])
    assert listed["url"] == response.json()["url"]
    assert b"".join(api.get(f"{URL}{listed['id']}/raw/").streaming_content) == BAD_FILES[kind]


def test_a_refused_file_sent_again_is_read_again(api):
    refused = send(api, b"", **SAID)
    again = send(api, b"", **SAID)
    assert (refused.status_code, again.status_code) == (422, 422)
    assert again.json() == refused.json()
    assert Upload.objects.count() == 1


def test_a_file_that_is_now_understood_is_imported_when_it_is_sent_again(api):
    # As if an older benchdash had refused it.
    send(api, **SAID)
    Run.objects.all().delete()
    Upload.objects.update(state="refused", errors=[{"line": 3, "message": "?"}], format="")
    response = send(api, **SAID)
    assert response.status_code == 201
    assert response.json()["duplicate"] is False
    assert Upload.objects.get().errors == []
    assert Run.objects.count() == 1


def test_a_file_whose_names_are_too_long_for_the_history_is_refused(api):
    table = b"query," + b"D" * 150 + b"-1.0\nDO 1,100\n"
    response = send(api, table, hardware="box")
    assert response.status_code == 422
    assert "characters, more than 100" in response.json()["errors"][0]["message"]


# --- malformed requests -------------------------------------------------------------------------------------


def test_what_neither_request_nor_file_says_is_asked_for_and_nothing_is_kept(api):
    errors = field_errors(send(api))
    assert errors.keys() == {"product", "version", "hardware", "workload"}
    assert rows() == [0] * len(rows())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("threads", "many"),
        ("threads", "0"),
        ("commit", "xyz"),
        ("started_at", "yesterday"),
        ("committed_at", "1"),
        ("started_at", "2199-01-01T00:00:00Z"),
        ("committed_at", "2199-01-01T00:00:00Z"),
        ("repetition", "-1"),
        ("options", "{"),
        ("map", "[]"),
        ("meta", '{"threads":'),
        ("format", "excel"),
        ("product", "x" * 101),
        ("workload", "a\0b"),
        ("control", "perhaps"),
        ("dry_run", "perhaps"),
        ("configuration_file", "[mysqld]"),
        ("meta.threads", "many"),
    ],
)
def test_a_malformed_field_is_named(api, field, value):
    outer, _, key = field.partition(".")
    given = {outer: json.dumps({key: value}) if key else value}
    assert field_errors(send(api, **{**SAID, **given})).keys() == {field}
    assert rows() == [0] * len(rows())


def test_a_file_must_be_sent_and_only_one(api):
    assert field_errors(api.post(URL, SAID, format="multipart")) == {"file": "is required"}
    assert field_errors(api.post(URL, {**SAID, "file": "text"}, format="multipart")) == {
        "file": "is required"
    }
    two = [SimpleUploadedFile("a", b"1"), SimpleUploadedFile("b", b"2")]
    assert field_errors(api.post(URL, {**SAID, "file": two}, format="multipart")) == {
        "file": "one file at a time"
    }


def test_a_file_in_the_place_of_a_text_is_no_text(api):
    files = {name: SimpleUploadedFile("a", b"1") for name in ("project", "product", "dry_run", "x")}
    assert send(api, **{**SAID, "project": files["project"]}).status_code == 404
    assert field_errors(send(api, **{**SAID, "product": files["product"]})).keys() == {"product"}
    assert field_errors(send(api, **{**SAID, "dry_run": files["dry_run"]})).keys() == {"dry_run"}
    assert (
        send(api, **SAID, x=files["x"]).json()["warnings"][0] == "the field 'x' is not known and was ignored"
    )


def test_a_field_given_twice_and_differently_is_refused(api):
    assert field_errors(send(api, **{**SAID, "version": ["1", "2"]})).keys() == {"version"}
    assert send(api, **{**SAID, "version": ["1", "1"]}).status_code == 201


def test_ten_thousand_fields_are_refused(api):
    response = send(api, **{f"x{n}": "1" for n in range(10_000)})
    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        (b'{"file": "x"}', "application/json", 415),
        (b"file=x", "application/x-www-form-urlencoded", 415),
        (b"x", "text/plain", 415),
        (b"x", "multipart/form-data", 400),
        (b"x", "multipart/form-data; boundary=y", 400),
        (b"", "multipart/form-data; boundary=y", 400),
        (
            b'--y\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc',
            "multipart/form-data; boundary=y",
            None,
        ),
        (b"--y\r\nContent-Disposition: \xff\r\n\r\nabc\r\n--y--", "multipart/form-data; boundary=y", 400),
        (b"x", "", 415),
    ],
)
def test_a_body_that_is_no_form_is_refused(api, body, content_type, status):
    response = api.generic("POST", URL, body, content_type=content_type)
    assert response.status_code == status or (status is None and response.status_code in {400, 422})
    assert response["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "..\\..\\boot.ini",
        "a\r\nSet-Cookie: x=1.txt",
        "-rf",
        "\u202etxt.exe",
        "x" * 5000,
        "--password=hunter2.txt",
        '"; filename="b.html',
        "\N{SNOWMAN}.txt",
        "<script>alert(1)</script>",
        " ",
    ],
)
def test_a_hostile_file_name_becomes_a_harmless_one(api, name):
    response = send(api, name=name, **SAID)
    assert response.status_code in {201, 400}
    for upload in Upload.objects.all():
        assert 0 < len(upload.name) <= 255
        assert not {"/", "\\", "\r", "\n", "\0", "\u202e"} & set(upload.name)
        assert "hunter2" not in upload.name
        download = api.get(f"{URL}{upload.pk}/raw/")
        assert download["Content-Disposition"].startswith("attachment")
        assert "\n" not in download["Content-Disposition"]


TEXTS = st.text(max_size=30) | st.sampled_from(
    ["\0", "{}", "[]", "null", "1e999", '{"a":"\\u0000"}', "9" * 400, "-1"]
)


@hypothesis_settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    fields=st.dictionaries(
        st.sampled_from([*ALL_FIELDS, "project", "dry_run", "x"]) | st.text(max_size=10),
        TEXTS,
        max_size=5,
    ),
    data=st.binary(max_size=60) | st.sampled_from([SYSBENCH, DRIVERS]),
)
def test_no_request_makes_a_500(api, fields, data):
    fields = {
        name: value
        for name, value in fields.items()
        if name
        and "\n" not in name
        and "\r" not in name
        and '"' not in name
        and name not in {"file", "client", "data"}  # what the helper itself is given
    }
    response = send(api, data, **{**SAID, **fields})
    # 202: four bytes may be the beginning of an archive.
    assert response.status_code in {200, 201, 202, 400, 404, 422}
    if response.status_code >= 400:
        assert response["Content-Type"] == "application/problem+json"
        assert response.json()["errors"]


# --- who may upload -----------------------------------------------------------------------------------------


def test_nobody_uploads_anonymously(project):
    response = send(APIClient(), **SAID)
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["errors"][0]["message"]


def test_a_token_that_is_wrong_or_revoked_is_no_token(project):
    secret = make_token(project)
    assert send(client_of("bd_wrong"), **SAID).status_code == 401
    assert send(client_of(secret), **SAID).status_code == 201
    revoke_token(find_token(secret), by=Viewer())
    assert send(client_of(secret), **SAID).status_code == 401


def test_a_token_needs_the_scope(project):
    response = send(client_of(make_token(project, Scope.READ)), **SAID)
    assert response.status_code == 403
    assert "'upload'" in response.json()["errors"][0]["message"]


def test_another_project_is_forbidden_if_it_is_public_and_unknown_if_it_is_private(api):
    make_project("open", public=True)
    make_project("secret")
    assert send(api, **SAID, project="open").status_code == 403
    hidden, absent = send(api, **SAID, project="secret"), send(api, **SAID, project="absent")
    assert (hidden.status_code, absent.status_code) == (404, 404)
    assert hidden.json() == absent.json()
    assert Upload.objects.count() == 0
    for slug in ("a\0b", "a/b", "x" * 300):
        assert send(api, **SAID, project=slug).status_code == 404
        assert api.get(URL, {"project": slug}).status_code == 404


def test_a_member_uploads_with_a_session_and_a_csrf_token(project):
    user = make_user(password=PASSWORD, member_of=project)
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    refused = client.post(URL, {"file": BytesIO(SYSBENCH), "project": "mine", **SAID})
    assert refused.status_code == 403
    assert refused["Content-Type"] == "application/problem+json"
    client.cookies["csrftoken"] = "a" * 32
    by_header = client.post(
        URL, {"file": BytesIO(SYSBENCH), "project": "mine", **SAID}, headers={"X-CSRFToken": "a" * 32}
    )
    assert by_header.status_code == 201
    by_field = client.post(
        URL, {"file": BytesIO(SYSBENCH), "project": "mine", **SAID, "csrfmiddlewaretoken": "a" * 32}
    )
    assert (by_field.status_code, by_field.json()["warnings"]) == (200, by_header.json()["warnings"])
    assert Upload.objects.get().user == user


def test_a_user_must_name_the_project_and_may_upload_there(project):
    client = APIClient()
    client.force_login(make_user(member_of=project))
    assert field_errors(send(client, **SAID)).keys() == {"project"}
    client.force_login(make_user("reader", member_of=project, role=Role.READER))
    assert send(client, **SAID, project="mine").status_code == 403
    client.force_login(make_user("stranger"))
    assert send(client, **SAID, project="mine").status_code == 404


def test_a_file_beyond_the_limit_is_too_large(api, settings):
    settings.UPLOAD_MAX_BYTES = 1000
    response = send(api, **SAID)
    assert response.status_code == 413
    assert response["Content-Type"] == "application/problem+json"
    assert Upload.objects.count() == 0


def test_a_request_beyond_the_limit_is_answered_without_understanding_it(api, settings):
    settings.UPLOAD_MAX_BYTES = 1000
    body = b"x" * (9 * 2**20)
    response = api.generic("POST", URL, body, content_type="multipart/form-data; boundary=y")
    assert response.status_code == 413
    response = APIClient().generic("PATCH", f"{URL}1/", body, content_type="application/json")
    assert response.status_code == 413


def test_too_many_uploads_are_slowed_down(api, monkeypatch):
    monkeypatch.setitem(UploadThrottle.THROTTLE_RATES, "uploads", "2/hour")
    assert [send(api, **SAID).status_code for _ in range(3)] == [201, 200, 429]
    response = send(api, **SAID)
    assert response["Content-Type"] == "application/problem+json"
    assert int(response["Retry-After"]) > 0


# --- reading uploads ----------------------------------------------------------------------------------------


def test_an_upload_tells_its_state_its_files_and_its_metadata(api):
    created = send(api, **SAID, companion=SimpleUploadedFile("vmstat.txt", b"procs")).json()
    upload = api.get(f"{URL}{created['id']}/").json()
    assert upload["progress"] == {"done": 1, "total": 1}
    assert upload["files"] == [{"name": "result.txt", "state": "imported", "runs": 1, "errors": []}]
    assert upload["runs"] == created["runs"]
    assert upload["metadata"] == SAID
    assert upload["warnings"] == created["warnings"]
    assert (upload["project"], upload["state"], upload["size"]) == ("mine", "imported", len(SYSBENCH))
    (companion,) = upload["companions"]
    assert b"".join(api.get(companion["raw"]).streaming_content) == b"procs"
    assert b"".join(api.get(upload["raw"]).streaming_content) == SYSBENCH


def test_a_raw_file_is_a_download_and_never_a_page(api):
    page = b"<html><script>alert(1)</script></html>"
    refused = send(api, page, name="a.html", **SAID).json()
    response = api.get(f"{URL}{refused['id']}/raw/")
    assert response["Content-Type"] == "application/octet-stream"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Disposition"] == 'attachment; filename="a.html"'
    understood = send(api, **SAID).json()
    assert api.get(f"{URL}{understood['id']}/raw/")["Content-Type"] == "text/plain; charset=utf-8"


def test_a_missing_workload_is_told_with_the_one_that_the_numbers_point_to(api):
    data = (NIGHTS / "000/oltp_read_only.txt").read_bytes()
    said = {name: value for name, value in SAID.items() if name != "workload"}
    assert field_errors(send(api, data, **said)) == {
        "workload": "is required: the file does not say it; its ratio of reads, writes and other is that of "
        "oltp_read_only: send workload=oltp_read_only"
    }
    data = (NIGHTS / "000/oltp_point_select.txt").read_bytes()
    assert field_errors(send(api, data, **said))["workload"].endswith(
        "is that of oltp_point_select, select_random_points or select_random_ranges"
    )
    assert not Upload.objects.exists()


def test_a_raw_file_that_is_missing_is_told_with_a_sentence(api, stored_files):
    upload = send(api, **SAID).json()
    address, place = f"{URL}{upload['id']}/raw/", stored_files / Upload.objects.get().raw.storage_name
    assert b"".join(api.get(address).streaming_content) == SYSBENCH
    place.unlink()
    missing = api.get(address)
    assert missing.status_code == 404
    assert missing.json()["errors"] == [{"message": "the file is not in the storage of this machine"}]
    place.mkdir()
    away = api.get(address)
    assert (away.status_code, away["Retry-After"]) == (503, "5")
    assert away.json()["errors"] == [{"message": "the storage of files does not answer now"}]


def test_lists_come_in_pages(api, project, django_assert_num_queries):
    uploads = [make_upload(project) for _ in range(5)]
    seen, url = [], f"{URL}?limit=2&project=mine"
    while url:
        page = api.get(url).json()
        assert len(page["results"]) <= 2
        seen += [item["id"] for item in page["results"]]
        url = page["next"]
    assert seen == [upload.pk for upload in reversed(uploads)]
    with django_assert_num_queries(3):
        api.get(URL)


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=x", "limit=-1", "cursor=x", "limit=99999999999999999999", "state=odd"]
)
def test_a_malformed_query_is_named(api, query):
    assert field_errors(api.get(f"{URL}?{query}")).keys() == {query.partition("=")[0]}


def test_a_list_can_be_of_one_state(api, project):
    make_upload(project)
    refused = make_upload(project, state="refused")
    assert [item["id"] for item in api.get(f"{URL}?state=refused").json()["results"]] == [refused.pk]


def test_uploads_of_a_private_project_exist_for_its_members_alone(project, api):
    upload = make_upload(project)
    stranger = client_of(make_token(make_project()))
    for client in (APIClient(), stranger):
        assert client.get(URL).json()["results"] == []
        assert client.get(f"{URL}?project=mine").status_code == 404
        for address in (f"{URL}{upload.pk}/", f"{URL}{upload.pk}/raw/"):
            assert client.get(address).status_code == 404
    for method in ("patch", "delete"):
        assert getattr(stranger, method)(f"{URL}{upload.pk}/").status_code == 404
        assert getattr(APIClient(), method)(f"{URL}{upload.pk}/").status_code == 401
    assert api.get(f"{URL}{upload.pk}/").status_code == 200
    assert api.get(f"{URL}{2**70}/").status_code == 404


def test_of_a_public_project_refused_uploads_and_raw_files_are_for_members():
    project = make_project("open", public=True)
    member = client_of(make_token(project))
    good, bad = send(member, **SAID).json(), send(member, b"", **SAID).json()
    stranger = client_of(make_token(make_project()))
    for client in (APIClient(), stranger):
        assert [item["id"] for item in client.get(URL).json()["results"]] == [good["id"]]
        assert client.get(f"{URL}{bad['id']}/").status_code == 404
        assert client.get(f"{URL}{good['id']}/").status_code == 200
    assert APIClient().get(f"{URL}{good['id']}/raw/").status_code == 401
    assert stranger.get(f"{URL}{good['id']}/raw/").status_code == 403
    project.raw_files_are_public = True
    project.save()
    assert APIClient().get(f"{URL}{good['id']}/raw/").status_code == 200
    assert APIClient().get(f"{URL}{bad['id']}/").status_code == 200


# --- copies, controls and sessions --------------------------------------------------------------------------


def test_a_copy_is_answered_with_the_run_that_is_there(api):
    first = send(api, DRIVERS, hardware="box").json()
    assert first["copies"] == []
    response = send(api, DRIVERS.replace(b"\n", b" \n"), hardware="box", name="other spaces.txt")
    answer = response.json()
    runs = {run["id"] for run in first["runs"]}
    assert (response.status_code, answer["state"], answer["duplicate"]) == (201, "imported", False)
    assert {copy["run"] for copy in answer["copies"]} == {run["id"] for run in answer["runs"]} == runs
    assert {copy["of_upload"] for copy in answer["copies"]} == {first["id"]}
    assert Run.objects.count() == len(runs)
    detail = api.get(f"{URL}{answer['id']}/").json()
    assert (detail["copies"], detail["runs"]) == (answer["copies"], answer["runs"])
    assert detail["files"][0]["runs"] == 0
    listed = api.get(URL, {"project": "mine"}).json()["results"]
    assert [one["files"][0]["runs"] for one in listed] == [0, len(runs)]


def points_of(api, **query):
    series = api.get("/api/v1/series/", {"project": "mine", **query}).json()["results"]
    answers = [api.get(f"/api/v1/series/{one['id']}/points/").json() for one in series]
    return [[dict(zip(one["columns"], row, strict=True)) for row in one["rows"]] for one in answers]


@pytest.mark.parametrize("order", [("json", "csv", "scsv"), ("scsv", "csv", "json")])
def test_the_interval_of_a_run_in_three_forms_is_that_of_its_tool(api, order):
    for form in order:
        said = {"product": "MariaDB Connector/J", "version": "2.7.9", "hardware": "box"}
        assert send(api, FORMS[form], f"result.{form}", **said).status_code == 201
    [[point]] = points_of(api, metric="score")
    assert point["n"] == 1
    assert (point["low"], point["high"]) == pytest.approx((51040.11, 65956.14), abs=0.01)


@pytest.mark.parametrize("said", [{"control": "true"}, {"meta": json.dumps({"control": True})}])
def test_a_run_of_the_control_is_kept_apart_by_its_build(api, said):
    answer = send(api, **SAID, build="debug", **said).json()
    run = api.get(f"/api/v1/runs/{answer['runs'][0]['id']}/").json()
    assert (run["control"], run["build"], run["version"]) == (True, "debug control", "10.11.19")
    # A field that says no wins over a meta that says yes.
    other = send(api, **SAID, build="debug", control="false", meta=json.dumps({"control": True})).json()
    run = api.get(f"/api/v1/runs/{other['runs'][0]['id']}/").json()
    assert (run["control"], run["build"], other["copies"]) == (False, "debug", [])


def test_a_control_that_was_not_said_is_mended(api):
    answer = send(api, **SAID).json()
    run = f"/api/v1/runs/{answer['runs'][0]['id']}/"
    api.patch(f"{URL}{answer['id']}/", {"control": True}, format="json")
    assert api.get(run).json()["control"] is True
    api.patch(f"{URL}{answer['id']}/", {"control": None}, format="json")
    assert (api.get(run).json()["control"], api.get(run).json()["build"]) == (False, "")


@pytest.mark.parametrize("said", [{"session": "monday 2"}, {"meta": json.dumps({"session": "monday 2"})}])
def test_a_run_tells_the_session_that_was_said_of_it(api, said):
    answer = send(api, **SAID, **said).json()
    run = api.get(f"/api/v1/runs/{answer['runs'][0]['id']}/").json()
    assert (run["session"], run["tags"]) == ("monday 2", ["session:monday 2"])
    listed = api.get("/api/v1/runs/", {"project": "mine"}).json()["results"]
    assert [one["session"] for one in listed] == ["monday 2"]


# --- changing and deleting ----------------------------------------------------------------------------------


def test_a_wrong_version_is_mended_and_the_runs_move(api):
    send(api, ANOTHER, **SAID, notes="another run in the same series")
    created = send(api, **SAID).json()
    TouchedSeries.objects.all().delete()
    response = api.patch(f"{URL}{created['id']}/", {"version": "10.6.23", "reason": "typo"}, format="json")
    assert response.status_code == 200
    (run,) = response.json()["runs"]
    assert (run["id"], run["version"]) == (created["runs"][0]["id"], "10.6.23")
    assert response.json()["metadata"]["version"] == "10.6.23"
    touched = TouchedSeries.objects.values_list("series__line", "quiet")
    assert sorted(touched) == [("10.11", True)] * 17 + [("10.6", True)] * 17
    audit = AuditEntry.objects.get(action="upload changed")
    assert (audit.reason, audit.token.name) == ("typo", "nightly")
    assert audit.detail == {"before": {"version": "10.11.19"}, "after": {"version": "10.6.23"}}


def test_an_amended_upload_is_the_one_that_it_is_now(api):
    created = send(api, **SAID).json()
    api.patch(f"{URL}{created['id']}/", {"version": "10.6.23"}, format="json")
    assert send(api, **{**SAID, "version": "10.6.23"}).json()["id"] == created["id"]
    assert send(api, **SAID).status_code == 201


def test_a_preview_of_a_change_changes_nothing(api):
    created = send(api, **SAID).json()
    before = rows()
    response = api.patch(f"{URL}{created['id']}/", {"hardware": "bax", "preview": True}, format="json")
    assert response.status_code == 200
    body = response.json()
    assert (body["series_left"], body["series_entered"]) == (17, 17)
    assert [run["version"] for run in body["before"]] == [run["version"] for run in body["after"]]
    assert body["warnings"] == ["new hardware 'bax'; the nearest known one is 'box'", START_UNKNOWN]
    assert rows() == before
    assert Upload.objects.get().metadata == SAID


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"threads": "many"}, {"threads"}),
        ({"product": None}, {"product"}),
        ({"meta": {"threads": []}}, {"meta.threads"}),
        ({"colour": "red"}, {""}),
        ({}, {""}),
        ([1], {""}),
        ({"version": "1", "reason": 5}, {"reason"}),
        ({"version": "1", "preview": "perhaps"}, {"preview"}),
    ],
)
def test_a_change_that_cannot_be_made_leaves_all_as_it_was(api, changes, fields):
    created = send(api, **SAID).json()
    response = api.patch(f"{URL}{created['id']}/", changes, format="json")
    assert field_errors(response).keys() == fields
    assert Upload.objects.get().metadata == SAID
    assert Run.objects.get().version.version == "10.11.19"


@pytest.mark.parametrize("body", [b"{", b"[" * 100_000, b"\xff", b"null"])
def test_a_change_that_is_no_json_is_refused(api, body):
    created = send(api, **SAID).json()
    response = api.generic("PATCH", f"{URL}{created['id']}/", body, content_type="application/json")
    assert response.status_code == 400


def test_a_change_may_be_sent_as_a_form(api):
    created = send(api, **SAID, notes="x").json()
    response = api.patch(
        f"{URL}{created['id']}/", {"options": '{"tables": 4}', "notes": ""}, format="multipart"
    )
    assert response.status_code == 200
    assert response.json()["metadata"] == {**SAID, "options": {"tables": 4}}


def test_a_change_to_what_is_there_already_is_refused(api):
    first, second = send(api, **SAID).json(), send(api, **{**SAID, "version": "1"}).json()
    errors = field_errors(api.patch(f"{URL}{second['id']}/", {"version": "10.11.19"}, format="json"))
    assert errors == {"": f"upload {first['id']} is the same file with this metadata"}


def test_a_change_after_which_the_file_cannot_be_read_is_refused(api):
    created = send(api, **SAID).json()
    response = api.patch(f"{URL}{created['id']}/", {"format": "jmh_json"}, format="json")
    assert response.status_code == 422
    assert (Upload.objects.get().state, Run.objects.count()) == ("imported", 1)


def test_a_refused_upload_is_mended_by_what_was_missing(api):
    refused = send(api, **SAID, format="jmh_json").json()
    response = api.patch(f"{URL}{refused['id']}/", {"format": None}, format="json")
    assert (response.status_code, response.json()["state"]) == (200, "imported")
    assert Run.objects.count() == 1


def test_a_deleted_upload_has_no_runs_and_is_restored_when_it_is_sent_again(api):
    send(api, ANOTHER, **SAID, notes="another run in the same series")
    created = send(api, **SAID).json()
    TouchedSeries.objects.all().delete()
    preview = api.delete(f"{URL}{created['id']}/?preview=true").json()
    assert (len(preview["before"]), preview["after"], preview["series_left"]) == (1, [], 17)
    assert Run.objects.count() == 2
    response = api.delete(f"{URL}{created['id']}/?reason=wrong+machine")
    assert response.status_code == 204
    assert Run.objects.count() == 1
    assert Upload.objects.get(pk=created["id"]).state == "deleted"
    assert TouchedSeries.objects.count() == 17
    assert AuditEntry.objects.get().reason == "wrong machine"
    assert api.delete(f"{URL}{created['id']}/").status_code == 204
    assert AuditEntry.objects.count() == 1
    restored = send(api, **SAID)
    assert (restored.status_code, restored.json()["id"]) == (201, created["id"])
    assert Run.objects.count() == 2
    assert AuditEntry.objects.filter(action="upload restored").count() == 1


def test_only_who_may_upload_may_change_and_delete(project, api):
    created = send(api, **SAID).json()
    reader = client_of(make_token(project, Scope.READ))
    assert reader.patch(f"{URL}{created['id']}/", {"version": "1"}, format="json").status_code == 403
    assert reader.delete(f"{URL}{created['id']}/").status_code == 403


# --- secrets ------------------------------------------------------------------------------------------------


def all_texts():
    """Every text, array and JSON document in the database; raw bytes are kept as they were received."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
            " AND data_type IN ('text', 'character varying', 'jsonb', 'json', 'ARRAY')"
        )
        for table, column in cursor.fetchall():
            cursor.execute(f'SELECT "{column}"::text FROM "{table}"')
            for (text,) in cursor.fetchall():
                yield f"{table}.{column}", text or ""


def test_no_secret_of_an_upload_is_stored_as_a_field(api):
    command = b"sysbench oltp_read_only --mysql-user=u --mysql-password=hunter2 --threads=8 run\n"
    response = send(
        api,
        command + SYSBENCH,
        name="--password=hunter2.txt",
        **SAID,
        notes="PGPASSWORD=hunter2 pgbench",
        counterpart="mysql://u:hunter2@host/db",
        tags=["secret=hunter2"],
        options='{"mysql-password": "hunter2", "url": "jdbc:x?password=hunter2"}',
        map='{"MariaDB-*": {"build": "debug"}}',
        meta=json.dumps(
            {
                "command": "mariadb-slap -uroot -phunter2",
                "server_config": "[mysqld]\nreport-password = hunter2\n",
                "hardware": {"cpu_model": "x", "api_key": "hunter2"},
                "environment": {"JAVA_OPTS": "-Djavax.net.ssl.keyStorePassword=hunter2"},
                "state": "report_password=hunter2",
                "tool": {"--token=hunter2": 1},
            }
        ),
        configuration_file=SimpleUploadedFile("my.cnf", b"[mysqld]\nreport-password = hunter2\n"),
        companion=SimpleUploadedFile("password=hunter2.txt", b"x"),
        **{"x --password=hunter2": "hunter2"},
    )
    assert response.status_code == 201, response.content
    upload_id = response.json()["id"]
    api.patch(f"{URL}{upload_id}/", {"notes": "token=hunter2", "reason": "password=hunter2"}, format="json")
    refused = send(api, b"password=hunter2\n", **SAID)
    assert refused.status_code == 422
    texts = list(all_texts())
    assert {place for place, _ in texts} >= {
        "results_run.options",
        "ingest_upload.metadata",
        "accounts_auditentry.detail",
    }
    assert [(place, text) for place, text in texts if "hunter2" in text] == []
    for answer in (response, refused, api.get(f"{URL}{upload_id}/"), api.get(URL)):
        assert "hunter2" not in answer.content.decode()
    assert b"hunter2" in b"".join(api.get(f"{URL}{upload_id}/raw/").streaming_content)


# --- two at once --------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_two_identical_uploads_at_the_same_time_are_one(project):
    secret = make_token(project)
    answers = at_once(*[lambda: send(client_of(secret), **SAID)] * 4)
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 201]
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert (Upload.objects.count(), RawFile.objects.count(), Run.objects.count()) == (1, 1, 1)
    assert Measurement.objects.count() == 17


def test_the_history_of_github_action_benchmark_moves_in_with_one_file(api, project):
    data = (FIXTURES / "github_action_benchmark/two-commits.js").read_bytes()
    answer = send(api, data, "data.js", product="parser", hardware="runner", branch="main")
    assert answer.status_code == 201, answer.content
    runs = Run.objects.filter(version__project=project).select_related("version").order_by("started_at")
    assert [(run.version.commit[:6], run.version.version, run.branch) for run in runs] == [
        ("4f0c1d", "4f0c1d2e3a", "main"),
        ("a1b2c3", "a1b2c3d4e5", "main"),
        ("a1b2c3", "a1b2c3d4e5", "main"),
    ]
    assert runs[0].version.committed_at < runs[1].version.committed_at
    assert runs[0].started_at.isoformat() == "2026-02-19T22:10:02.996000+00:00"


def test_each_tool_that_is_read_by_declaration_can_be_sent_with_the_usual_fields(api):
    for path in ("wrk/latency.txt", "redis_benchmark/quiet.txt", "k6/summary-export.json", "fio/random.json"):
        answer = send(api, (FIXTURES / path).read_bytes(), path, product="web", version="1.0", hardware="box")
        assert answer.status_code == 201, (path, answer.content)
