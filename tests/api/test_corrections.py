"""Names corrected and things merged over the API."""

import pytest

from benchdash.accounts.models import AuditEntry
from benchdash.results.models import Hardware, Series, ServerVersion, TouchedSeries
from tests.api.conftest import client_of
from tests.builders import make_project, make_run, make_series, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("amber", public=True)


@pytest.fixture
def bob(project):
    return client_of(make_user("bob", member_of=project))


def test_a_renamed_thing_keeps_its_old_name_as_an_alias(project, bob):
    run = make_run(project=project, hardware="bix")
    answer = bob.patch(f"/api/v1/hardware/{run.hardware_id}/", {"name": "box", "reason": "a typing mistake"})
    assert answer.status_code == 200
    body = answer.json()
    assert (body["id"], body["name"], body["aliases"]) == (run.hardware_id, "box", ["bix"])
    assert body["changes"] == {"runs": 1, "uploads": 1, "series": 1, "merged": 0}
    entry = AuditEntry.objects.get(action="hardware renamed")
    assert (entry.subject, entry.reason, entry.user.email) == (
        "bix → box",
        "a typing mistake",
        "bob@example.org",
    )
    assert make_run(project=project, hardware="bix").hardware_id == run.hardware_id


def test_a_name_that_is_taken_is_an_error_of_the_name(project, bob):
    run = make_run(project=project, hardware="bix")
    make_run(project=project, hardware="box")
    answer = bob.patch(f"/api/v1/hardware/{run.hardware_id}/", {"name": "box"})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "name"


def test_a_merged_thing_becomes_part_of_the_other(project, bob):
    run, other = make_run(project=project, hardware="bix"), make_run(project=project, hardware="box")
    answer = bob.post(
        f"/api/v1/hardware/{run.hardware_id}/merge/", {"into": other.hardware_id, "reason": "one machine"}
    )
    assert answer.status_code == 200
    body = answer.json()
    assert (body["id"], body["name"], body["aliases"]) == (other.hardware_id, "box", ["bix"])
    assert body["changes"] == {"runs": 1, "uploads": 1, "series": 1, "merged": 1}
    assert Hardware.objects.count() == 1
    assert Series.objects.get().measurements.count() == 2
    assert AuditEntry.objects.get(action="hardware merged").reason == "one machine"


def test_previews_of_renaming_and_merging_change_nothing(project, bob):
    run, other = make_run(project=project, hardware="bix"), make_run(project=project, hardware="box")
    TouchedSeries.objects.all().delete()
    address = f"/api/v1/hardware/{run.hardware_id}/"
    renamed = bob.patch(f"{address}?preview=1", {"name": "bax"}).json()
    merged = bob.post(f"{address}merge/", {"into": other.hardware_id, "preview": True}).json()
    assert (renamed["preview"], renamed["name"], renamed["changes"]["runs"]) == (True, "bax", 1)
    assert (merged["preview"], merged["aliases"], merged["changes"]["merged"]) == (True, ["bix"], 1)
    assert set(Hardware.objects.values_list("name", flat=True)) == {"bix", "box"}
    assert not TouchedSeries.objects.exists()
    assert not AuditEntry.objects.exists()


def test_things_merge_only_into_others_of_their_project(project, bob):
    run, foreign = make_run(project=project), make_run(project=make_project(public=True))
    for into in (foreign.hardware_id, 999_999, run.hardware_id):
        answer = bob.post(f"/api/v1/hardware/{run.hardware_id}/merge/", {"into": into})
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["field"] == "into"


def test_a_version_is_renamed_into_another_release_line(project, bob):
    run = make_run(project=project, version="10.6.23")
    answer = bob.patch(f"/api/v1/versions/{run.version_id}/", {"version": "10.11.7"})
    assert answer.json()["version"] == "10.11.7"
    assert Series.objects.get(measurements__run=run).line == "10.11"


def test_facts_of_a_version_are_corrected(project, bob):
    run = make_run(project=project, branch="main", commit="abcdef1" + 33 * "0")
    TouchedSeries.objects.all().delete()
    facts = {
        "commit": "ABCDEF2" + 33 * "0",
        "committed_at": "2026-03-01T12:00:00",
        "released_on": "2026-03-09",
    }
    answer = bob.patch(f"/api/v1/versions/{run.version_id}/", {**facts, "reason": "it was amended"})
    assert answer.status_code == 200, answer.content
    version = ServerVersion.objects.get()
    assert version.commit == "abcdef2" + 33 * "0"
    assert version.committed_at.isoformat() == "2026-03-01T12:00:00+00:00"
    assert version.released_on.isoformat() == "2026-03-09"
    assert TouchedSeries.objects.get().quiet
    entry = AuditEntry.objects.get(action="version corrected")
    assert entry.reason == "it was amended"
    assert entry.detail["released_at"] == "None → 2026-03-09 00:00:00+00:00"
    forgotten = bob.patch(f"/api/v1/versions/{run.version_id}/", {"commit": None, "committed_at": None})
    assert (forgotten.json()["commit"], forgotten.json()["committed_at"]) == (None, None)


def test_a_commit_that_a_version_has_already_is_an_error_of_the_commit(project, bob):
    runs = [make_run(project=project, branch="main", commit=commit * 40) for commit in "ab"]
    answer = bob.patch(f"/api/v1/versions/{runs[0].version_id}/", {"commit": "b" * 40})
    assert answer.status_code == 400
    assert answer.json()["errors"] == [
        {"field": "commit", "message": "this build is known at this commit already; merge the two"}
    ]
    malformed = bob.patch(f"/api/v1/versions/{runs[0].version_id}/", {"commit": "xyz"})
    assert malformed.json()["errors"][0]["field"] == "commit"


def test_a_correction_that_fails_halfway_leaves_nothing(project, bob):
    run = make_run(project=project, version="10.6.1")
    make_run(project=project, version="10.6.2")
    body = {"released_on": "2026-03-09", "version": "10.6.2"}
    answer = bob.patch(f"/api/v1/versions/{run.version_id}/", body)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "version"
    assert ServerVersion.objects.get(version="10.6.1").released_on is None


def test_a_series_of_corrections_shows_in_the_audit_log(project, bob):
    series = make_series([1], project=project)
    bob.patch(f"/api/v1/workloads/{series.workload_id}/", {"name": "reads", "reason": "shorter"})
    [entry] = bob.get("/api/v1/audit/?project=amber").json()["results"]
    assert (entry["by"], entry["action"], entry["subject"], entry["reason"]) == (
        "Bob",
        "workload renamed",
        "oltp_read_only → reads",
        "shorter",
    )
    assert bob.get("/api/v1/audit/", {"action": "version renamed"}).json()["results"] == []
