"""A token that is bound to a machine brings runs of this machine, and nothing gets past that."""

import json

import pytest

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Scope, Token
from benchdash.accounts.services import create_token
from benchdash.results.corrections import merge, rename
from benchdash.results.models import Hardware, Run
from ingest import tasks
from ingest.models import Upload
from tests.builders import make_token, make_user
from tests.ingest.packing import tar_of
from tests.ingest.sending import ANOTHER, DRIVERS, NIGHTS, SYSBENCH, client_of, send

pytestmark = pytest.mark.django_db

SAID = {"product": "MariaDB", "version": "10.11.19", "workload": "oltp_read_only"}
REPORT, OTHER = ((NIGHTS / night / "oltp_read_only.txt").read_bytes() for night in ("000", "001"))


@pytest.fixture
def admin(project):
    return Viewer(user=make_user(is_superuser=True))


def bound(project, *scopes, hardware="bench-03"):
    _, secret = create_token(project, "ci", scopes or [Scope.UPLOAD], hardware=hardware)
    return client_of(secret)


def machines():
    return sorted(Run.objects.values_list("hardware__name", flat=True))


def refusal(answer):
    assert answer.status_code == 400, answer.content
    return [(error["field"], error["message"]) for error in answer.json()["errors"]]


def test_who_names_no_machine_sends_runs_of_the_token_s(project):
    assert send(bound(project), **SAID).status_code == 201
    assert machines() == ["bench-03"]
    assert Upload.objects.get().metadata["hardware"] == "bench-03"


@pytest.mark.parametrize("name", ["bench-03", "  bench-03 ", "bench-03\u2003"])
def test_the_machine_of_the_token_may_be_named(project, name):
    assert send(bound(project), **SAID, hardware=name).status_code == 201
    assert send(bound(project), ANOTHER, **SAID, meta=json.dumps({"hardware": name})).status_code == 201
    assert machines() == ["bench-03", "bench-03"]


def test_facts_without_a_name_are_those_of_the_token_s_machine(project):
    meta = {"hardware": {"cpu_model": "AMD EPYC 7543", "cores": 32}}
    assert send(bound(project), **SAID, meta=json.dumps(meta)).status_code == 201
    assert machines() == ["bench-03"]
    assert Hardware.objects.get().facts["cpu_model"] == "AMD EPYC 7543"


OTHERS = {
    "field": {"hardware": "bench-04"},
    "case": {"hardware": "Bench-03"},
    "cyrillic": {"hardware": "b\u0435nch-03"},  # a Cyrillic letter that looks like an e
    "hyphen": {"hardware": "bench\u201103"},
    "meta": {"meta": {"hardware": "bench-04"}},
    "meta beside the field": {"hardware": "bench-03", "meta": {"hardware": "bench-04"}},
    "name in meta": {"meta": {"hardware": {"name": "bench-04"}}},
    "map": {"map": {"*": {"hardware": "bench-04"}}},
    "map in meta": {"meta": {"map": {"*": {"hardware": "bench-04"}}}},
    "path": {"pattern": "{hardware}.txt"},
    "path map": {"path_map": {"fields": {"hardware": "bench-04"}}},
}


@pytest.mark.parametrize("how", OTHERS)
@pytest.mark.parametrize("data", [SYSBENCH, DRIVERS])
def test_another_machine_is_refused_however_it_is_named(project, how, data):
    said = {name: json.dumps(one) if isinstance(one, dict) else one for name, one in OTHERS[how].items()}
    for more in ({}, {"dry_run": "1"}):
        [(_, message), *_] = refusal(send(bound(project), data, **{**SAID, **said, **more}))
        assert "must be 'bench-03', to which the token is bound; '" in message
    assert not Upload.objects.exists()


def test_old_names_of_the_machine_are_its_names_and_those_of_others_are_not(project, admin):
    client = bound(project)
    assert send(client, **SAID).status_code == 201
    assert send(client_of(make_token(project)), ANOTHER, **SAID, hardware="bench-01").status_code == 201
    mine, other = Hardware.objects.get(name="bench-03"), Hardware.objects.get(name="bench-01")
    rename(mine, "bench-3", by=admin)
    for name in ("bench-3", "bench-03"):
        assert send(client, **SAID, hardware=name, dry_run="1").status_code == 200
    rename(other, "bench-1", by=admin)
    for name in ("bench-1", "bench-01"):
        assert refusal(send(client, **SAID, hardware=name))
    # Merged, they are one machine.
    merge(mine, other, by=admin)
    for name in ("bench-1", "bench-01", "bench-3", "bench-03"):
        assert send(client, **SAID, hardware=name, dry_run="1").status_code == 200
    assert send(client, DRIVERS, **SAID).status_code == 201
    assert set(machines()) == {"bench-1"}


def test_a_change_leads_to_no_other_machine(project, admin):
    client = bound(project)
    address = f"/api/v1/uploads/{send(client, **SAID).json()['id']}/"
    for changes in (
        {"hardware": "bench-04"},
        {"meta": {"hardware": "bench-04"}},
        {"map": {"*": {"hardware": "bench-04"}}},
        {"hardware": None, "meta": {"hardware": "bench-04"}},
    ):
        for preview in ({}, {"preview": True}):
            assert refusal(client.patch(address, {**changes, **preview}, format="json"))
    assert client.patch(address, {"hardware": None, "notes": "x"}, format="json").status_code == 200
    assert machines() == ["bench-03"]
    # What a member has moved to another machine is not this token's any more.
    assert (
        client_of(make_token(project)).patch(address, {"hardware": "bench-04"}, format="json").status_code
        == 200
    )
    for answer in (client.patch(address, {"hardware": "bench-03"}, format="json"), client.delete(address)):
        assert answer.status_code == 403
        assert answer.json()["detail"].endswith("this upload is of another machine")
    assert machines() == ["bench-04"]


def test_a_bound_token_that_reads_changes_nothing_of_others(project):
    address = (
        f"/api/v1/uploads/{send(client_of(make_token(project)), **SAID, hardware='bench-03').json()['id']}/"
    )
    client = bound(project, Scope.UPLOAD, Scope.READ)
    assert client.get(address).status_code == 200
    assert client.patch(address, {"notes": "x"}, format="json").status_code == 403
    assert client.delete(address).status_code == 403


def test_who_sends_what_another_token_sent_of_another_machine_does_not_follow_it(project):
    said = {**SAID, "hardware": "bench-04"}
    upload = send(client_of(make_token(project)), **said).json()["id"]
    client = bound(project)
    assert refusal(send(client, **said))
    assert client.get(f"/api/v1/uploads/{upload}/").status_code == 404


def test_the_files_of_an_archive_are_held_to_it_one_by_one(project):
    packed = tar_of(
        {
            "a/t.txt": REPORT,
            "b/t.txt": OTHER,
            "b/t.meta.json": b'{"hardware": "bench-04"}',
            "bench-05/t.txt": ANOTHER,
        }
    )
    path_map = {"hardware": {"a": "bench-03", "b": "bench-03"}}
    fields = {**SAID, "pattern": "{hardware}/t.txt", "path_map": json.dumps(path_map)}
    client = bound(project)
    tried = send(client, packed, "r.tar", **fields, dry_run="1").json()["files"]
    assert sorted(one["state"] for one in tried if one["state"] != "ignored") == [
        *["refused"] * 2,
        "would be imported",
    ]
    address = f"/api/v1/uploads/{send(client, packed, 'r.tar', **fields).json()['id']}/"
    tasks.import_waiting()
    answer = client.get(address).json()
    assert answer["state"] == "partial"
    assert machines() == ["bench-03"]
    assert "'bench-04' is another machine" in json.dumps(answer["files"])
    for fields_of_all in (
        {"path_map": {"fields": {"hardware": "bench-04"}}},
        {"pattern": "{hardware}/*.txt"},
    ):
        said = {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in fields_of_all.items()
        }
        others = tar_of({"bench-06/t.txt": REPORT})
        number = send(client, others, "o.tar", **SAID, **said).json()["id"]
        tasks.import_waiting()
        assert client.get(f"/api/v1/uploads/{number}/").json()["state"] == "refused"
    # Nor does a change of the archive lead elsewhere, whoever makes it: its files are read for this token.
    for who in (client, client_of(make_token(project))):
        assert refusal(who.patch(address, {"hardware": "bench-04"}, format="json"))
    moved = {"path_map": {"hardware": {"a": "bench-04", "b": "bench-04"}}}
    assert client.patch(address, moved, format="json").status_code == 202
    tasks.import_waiting()
    assert machines() == []
    # To others the same archive is one of theirs, of which all is read.
    theirs = send(client_of(make_token(project)), packed, "r.tar", **fields, hardware="bench-03")
    assert theirs.status_code == 202
    tasks.import_waiting()
    assert machines() == ["bench-03", "bench-03", "bench-05"]


def test_a_bound_token_uploads_and_reads_alone(project):
    assert Token(hardware="x", scopes=["upload", "read"]).clean() is None
    for scope in (Scope.TRIAGE, Scope.ADMIN):
        with pytest.raises(Exception, match="uploads and reads, and does nothing else"):
            create_token(project, "ci", [Scope.UPLOAD, scope], hardware="bench-03")
