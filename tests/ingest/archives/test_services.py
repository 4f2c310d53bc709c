"""Archives: received, imported file by file, mended, deleted; what became of each file is told."""

import gzip
import json
import re
import tarfile
import threading
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections

from benchdash.accounts.access import NOBODY
from benchdash.accounts.models import AuditEntry
from benchdash.database.locks import alone_with
from benchdash.results.models import Measurement, Run
from ingest import tasks
from ingest.archives import services as archive_services
from ingest.models import ArchiveFile, Companion, Upload
from ingest.removal import delete_project
from ingest.storage import raw_bytes
from tests.builders import make_project, make_token
from tests.ingest import sending
from tests.ingest.packing import tar_of, zip_of
from tests.ingest.sending import NIGHTS, URL, client_of
from tests.results.concurrency import at_once
from tests.small_disks import fill, mounted
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db

SMALL_DATUM = Path(__file__).parents[4] / "shared/data/third_party/small_datum"
REPORT = (NIGHTS / "000/oltp_read_only.txt").read_bytes()
OTHER = (NIGHTS / "001/oltp_read_only.txt").read_bytes()
CUT = REPORT[:700]
SAID = {"product": "MariaDB", "hardware": "box", "pattern": "{version}/{workload}.txt"}


def send(api, packed, name="results.tar", **fields):
    return sending.send(api, packed, name, **{**SAID, **fields})


def sent(api, packed, **fields):
    """The archive as it is after its job."""
    answer = send(api, packed, **fields)
    assert answer.status_code == 202, answer.content
    return imported(api, answer.json()["id"])


def imported(api, number):
    tasks.import_upload(number)
    return api.get(f"{URL}{number}/").json()


def states(archive):
    return {file["name"]: (file["state"], file["runs"]) for file in archive["files"]}


def runs():
    """(version, workload, configuration) of every run."""
    rows = Run.objects.order_by("version__sort_key", "workload__name")
    return list(rows.values_list("version__version", "workload__name", "configuration__name"))


# --- received, then imported --------------------------------------------------------------------------------


def test_an_archive_is_answered_at_once_and_its_files_are_imported_by_a_job(api):
    packed = tar_of({"10.6.1/reads.txt": REPORT, "10.6.2/reads.txt": OTHER})
    answer = send(api, packed)
    assert answer.status_code == 202
    assert answer.json()["state"] == "queued"
    assert Run.objects.count() == 0

    archive = imported(api, answer.json()["id"])
    assert (archive["state"], archive["format"]) == ("imported", "tar")
    assert archive["progress"] == {"done": 2, "total": 2}
    assert archive["counts"] == {"imported": 2}
    assert states(archive) == {"10.6.1/reads.txt": ("imported", 1), "10.6.2/reads.txt": ("imported", 1)}
    assert runs() == [("10.6.1", "reads", "default"), ("10.6.2", "reads", "default")]
    file = api.get(archive["files"][0]["url"]).json()
    assert (file["name"], file["state"], file["sha256"] != archive["sha256"]) == (
        "reads.txt",
        "imported",
        True,
    )


def test_archives_of_any_kind_and_name_are_imported_and_downloaded_out_of_the_storage(api, stored_files):
    for number, pack in enumerate((tar_of, zip_of, lambda files: gzip.compress(tar_of(files)))):
        packed = pack({f"10.6.{number}/reads.txt": REPORT})
        archive = sent(api, packed, name="results")
        assert archive["state"] == "imported"
        assert (archive["size"], archive["sha256"]) == (len(packed), sha256(packed).hexdigest())
        download = api.get(archive["raw"])
        assert download["Content-Length"] == str(len(packed))
        assert b"".join(download.streaming_content) == packed
    assert Run.objects.count() == 3


def test_an_archive_that_is_missing_waits_and_is_imported_when_it_is_there_again(api, stored_files):
    answer = send(api, tar_of({"10.6.1/reads.txt": REPORT}))
    raw = Upload.objects.get(pk=answer.json()["id"]).raw
    (stored_files / raw.storage_name).rename(stored_files / "away")
    archive = imported(api, answer.json()["id"])
    assert archive["state"] == "queued"
    assert archive["progress"] == {"done": 0, "total": 1}
    assert (Upload.objects.get().attempts, Upload.objects.get().misses) == (0, 1)
    (stored_files / "away").rename(stored_files / raw.storage_name)
    assert imported(api, archive["id"])["state"] == "imported"


def test_an_archive_that_finds_no_room_waits_and_is_imported_when_there_is_some(
    api, stored_files, settings, tmp_path
):
    answer = send(api, tar_of({"10.6.1/reads.txt": REPORT}))
    (tmp_path / "temporary").mkdir()
    with mounted(tmp_path / "temporary") as settings.FILE_UPLOAD_TEMP_DIR:
        fill(settings.FILE_UPLOAD_TEMP_DIR, leaving=0)
        archive = imported(api, answer.json()["id"])
    assert archive["state"] == "queued"
    assert "the disk of this installation is full" in Upload.objects.get().errors[0]["message"]
    assert (Upload.objects.get().attempts, Upload.objects.get().misses) == (0, 1)
    settings.FILE_UPLOAD_TEMP_DIR = None
    assert imported(api, archive["id"])["state"] == "imported"


def test_a_single_compressed_file_is_an_archive_of_one(api):
    archive = sent(
        api, gzip.compress(REPORT), name="reads.txt.gz", pattern=None, version="10.6.1", workload="r"
    )
    assert states(archive) == {"reads.txt": ("imported", 1)}


def test_one_bad_file_does_not_stop_the_rest_and_the_list_says_why(api):
    files = {
        "10.6.1/reads.txt": REPORT,
        "10.6.1/cut.txt": CUT,
        "10.6.1/picture.txt": b"\x89PNG\r\n\x1a\n\0\0",
        "10.6.2/reads.txt": OTHER,
        "notes/README.md": b"how it was measured\n",
        "../outside.txt": REPORT,
    }
    archive = sent(api, tar_of(files))
    assert archive["state"] == "partial"
    assert archive["counts"] == {"imported": 2, "refused": 3, "ignored": 1}
    assert states(archive)["10.6.2/reads.txt"] == ("imported", 1)
    reasons = {file["name"]: file["errors"] for file in archive["files"] if file["errors"]}
    assert reasons["../outside.txt"] == [{"line": None, "message": "its name leads out of the archive"}]
    assert reasons["notes/README.md"] == [{"line": None, "message": "it does not fit the pattern"}]
    assert reasons["10.6.1/cut.txt"][0]["message"]
    assert reasons["10.6.1/picture.txt"][0]["message"]


def test_a_file_of_which_nobody_says_the_version_is_refused_alone(api):
    files = {"reads.txt": REPORT, "writes.txt": OTHER, "writes.meta.json": b'{"version": "10.6.2"}'}
    archive = sent(api, tar_of(files), pattern="{workload}.txt")
    assert states(archive) == {"reads.txt": ("refused", 0), "writes.txt": ("imported", 1)}
    assert "version is required" in archive["files"][0]["errors"][0]["message"]


def test_metas_of_folders_and_files_are_read_and_the_nearest_counts(api):
    files = {
        "meta.json": json.dumps({"version": "10.6.1", "configuration": "far"}),
        "a/meta.json": json.dumps({"configuration": "near"}),
        "a/reads.txt": REPORT,
        "a/writes.txt": OTHER,
        "a/writes.meta.json": json.dumps({"version": "10.6.2"}),
        "b/reads.txt": OTHER,
        "b/meta.json": "{",
    }
    archive = sent(api, zip_of(files), pattern="*/{workload}.txt")
    assert runs() == [("10.6.1", "reads", "near"), ("10.6.2", "writes", "near")]
    assert "'b/meta.json' is not valid JSON" in archive["files"][-1]["errors"][0]["message"]


def test_companions_of_the_archive_and_in_it_go_with_its_files(api):
    files = {
        "10.6.1/reads.txt": REPORT,
        "10.6.1/my.cnf": b"[mysqld]\ninnodb_buffer_pool_size = 1G\n",
        "10.6.1/reads.log": b"a log\n",
        "10.6.2/reads.txt": OTHER,
    }
    sent(
        api,
        tar_of(files),
        companion_pattern="{version}/{workload}.log",
        companion=SimpleUploadedFile("notes.txt", b"for all\n"),
    )
    beside = Companion.objects.filter(upload__is_archive=False)
    named = beside.order_by("upload__raw__sha256", "name").values_list(
        "upload__metadata__version", "name", "kind"
    )
    assert sorted(named) == [
        ("10.6.1", "my.cnf", "configuration"),
        ("10.6.1", "notes.txt", "companion"),
        ("10.6.1", "reads.log", "companion"),
        ("10.6.2", "notes.txt", "companion"),
    ]
    assert Run.objects.get(version__version="10.6.1").content.settings == {"innodb_buffer_pool_size": "1G"}


def test_companions_are_known_by_their_content_and_pair_by_stem(api):
    beside = Path(__file__).parents[1] / "fixtures_companions"
    vmstat, iostat = (beside / "vmstat/plain.txt").read_bytes(), (beside / "iostat/extended.txt").read_bytes()
    stem = "mysql/8.0.45/Tier12G_RW_16th"
    files = {f"{stem}.sysbench.txt": REPORT, f"{stem}.iostat.txt": iostat}
    files |= {"mysql/8.0.45/other.log": OTHER, "mysql/8.0.45/other.cpu": vmstat}
    said = {"product": "MySQL", "version": "8.0.45", "workload": "rw", "pattern": None}
    archive = sent(api, tar_of(files), **said)
    assert set(states(archive)) == {f"{stem}.sysbench.txt", "mysql/8.0.45/other.log"}
    named = Companion.objects.order_by("upload__name", "name").values_list("upload__name", "name", "format")
    assert [one for one in named if one[2]] == [
        ("Tier12G_RW_16th.sysbench.txt", "Tier12G_RW_16th.iostat.txt", "iostat"),
        ("other.log", "other.cpu", "vmstat"),
    ]


def test_what_is_said_of_all_files_gives_way_to_what_a_part_of_a_path_means_and_both_to_the_path(api):
    path_map = {
        "version": {"ma101114": {"product": "MariaDB", "version": "10.11.14"}, "my8044": "8.0.44"},
        "path": {"my8044/other.txt": {"version": "8.0.45", "workload": "writes"}},
    }
    files = {"ma101114/reads.txt": REPORT, "my8044/reads.txt": OTHER, "my8044/other.txt": report(2)}
    sent(api, tar_of(files), product="MySQL", path_map=json.dumps(path_map))
    found = Run.objects.values_list("version__product__name", "version__version", "workload__name")
    assert set(found) == {
        ("MariaDB", "10.11.14", "reads"),
        ("MySQL", "8.0.44", "reads"),
        ("MySQL", "8.0.45", "writes"),
    }


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"pattern": "{version}{build}"}, "side by side"),
        ({"path_map": '{"version": 1}'}, "must be a JSON object of objects"),
        ({"companion_pattern": "sb.{range}"}, "'{range}'"),
    ],
)
def test_a_pattern_that_cannot_be_meant_is_a_wrong_field(api, fields, message):
    answer = send(api, tar_of({"10.6.1/reads.txt": REPORT}), **fields)
    [error] = answer.json()["errors"]
    assert (answer.status_code, error["field"]) == (400, *fields)
    assert message in error["message"]
    assert not Upload.objects.exists()


@pytest.mark.parametrize(
    "pattern", ["{version}_{threads}thr.log", "mysql/{build}/{version}_{threads}thr.log"]
)
def test_the_pattern_of_a_single_file_reads_its_name(api, pattern):
    answer = send(api, REPORT, name="8.0.35_64thr.log", pattern=pattern, workload="reads")
    assert answer.status_code == 201
    [run] = answer.json()["runs"]
    assert run["version"] == "8.0.35"
    again = send(api, REPORT, name="x.log", pattern=None, version="8.0.35", threads="64", workload="reads")
    assert again.json()["duplicate"] is True


def test_a_pattern_that_does_not_fit_the_name_of_a_single_file_is_a_wrong_field(api):
    answer = send(api, REPORT, name="reads.txt", pattern="{version}_{threads}thr.log", workload="reads")
    assert answer.status_code == 400
    [error] = answer.json()["errors"]
    assert error == {"field": "pattern", "message": "does not fit the name of the file, 'reads.txt'"}


def test_a_name_in_a_pattern_that_is_no_field_is_warned_of(api):
    files = {"10.6.1/reads.64.txt": REPORT}
    pattern, dry_run = "{versoin}/{workload}.{value}.txt", {"dry_run": "1"}
    warnings = send(api, tar_of(files), pattern=pattern, version="1", **dry_run).json()["warnings"]
    slip, other = [warning for warning in warnings if "is no field of an upload" in warning]
    assert slip.startswith(
        "'{versoin}' in the pattern is no field of an upload, so its text joins the workload"
    )
    assert slip.endswith("('versoin=...'); did you mean '{version}'?")
    assert other.endswith("joins the workload ('value=...')")
    mapped = json.dumps({"value": {"64": {"threads": 64}}, "versoin": {"10.6.1": {"version": "10.6.1"}}})
    answer = send(api, tar_of(files), pattern=pattern, path_map=mapped, **dry_run)
    assert "is no field" not in str(answer.json()["warnings"])


# --- archives that are refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("packed", "reason"),
    [
        (zip_of({"10.6.1/reads.txt": REPORT})[:-30], "the zip archive is cut or damaged"),
        (gzip.compress(tar_of({"10.6.1/reads.txt": REPORT}))[:100], "breaks off"),
        (tar_of({"reads": REPORT}), "the archive holds no file that fits the pattern"),
        (tar_of({"10.6.1/cut.txt": CUT}), "10.6.1/cut.txt: "),
        (gzip.compress(bytes(70 << 20)), "more than 200 times its size"),
    ],
    ids=["cut zip", "cut tar.gz", "no file", "no good file", "bomb"],
)
def test_an_archive_of_which_nothing_can_be_read_is_refused_with_a_sentence(api, packed, reason):
    archive = sent(api, packed)
    assert archive["state"] == "refused"
    assert archive["progress"]["done"] == archive["progress"]["total"]
    answer = api.get(f"{URL}{archive['id']}/").json()
    errors = Upload.objects.get(pk=answer["id"]).errors
    assert reason in errors[0]["message"]


def test_a_cut_archive_gives_what_can_be_read_and_says_where_it_breaks_off(api):
    files = {"10.6.1/reads.txt": REPORT, "10.6.2/reads.txt": OTHER}
    packed = tar_of(files)
    archive = sent(api, packed[: packed.index(OTHER) + 300])
    assert archive["state"] == "partial"
    assert archive["warnings"][0].startswith("the archive breaks off after '10.6.2/reads.txt'")
    assert states(archive) == {"10.6.1/reads.txt": ("imported", 1), "10.6.2/reads.txt": ("refused", 0)}


def test_an_archive_beyond_the_limits_is_refused(api, settings):
    settings.ARCHIVE_MAX_FILES = 1
    archive = sent(api, tar_of({"10.6.1/reads.txt": REPORT, "10.6.2/reads.txt": OTHER}))
    assert archive["state"] == "refused"
    settings.UPLOAD_MAX_BYTES = 1000
    assert send(api, tar_of({"a/reads.txt": REPORT}) + b"x").status_code == 413


# --- the same again -----------------------------------------------------------------------------------------


def test_the_same_archive_again_is_the_same_upload(api):
    packed = tar_of({"10.6.1/reads.txt": REPORT})
    archive = sent(api, packed)
    again = send(api, packed)
    assert again.status_code == 200
    assert (again.json()["id"], again.json()["duplicate"]) == (archive["id"], True)
    assert Run.objects.count() == 1


def test_a_file_sent_alone_before_or_after_is_the_same_upload(api):
    alone = send(api, REPORT, name="reads.txt", version="10.6.1", workload="reads", pattern=None).json()
    archive = sent(api, tar_of({"10.6.1/reads.txt": REPORT, "10.6.2/reads.txt": OTHER}))
    assert archive["files"][0]["id"] == alone["id"]
    assert Run.objects.count() == 2

    listed = {one["id"] for one in api.get(URL, {"project": "mine"}).json()["results"]}
    assert listed == {alone["id"], archive["id"]}
    within = {one["id"] for one in api.get(URL, {"archive": archive["id"]}).json()["results"]}
    assert within == {file["id"] for file in archive["files"]}

    after = send(api, OTHER, name="reads.txt", version="10.6.2", workload="reads", pattern=None)
    assert after.json()["duplicate"] is True
    assert len(api.get(URL, {"project": "mine"}).json()["results"]) == 3


def test_the_same_file_twice_in_an_archive_is_one_upload(api):
    files = {"10.6.1/reads.txt": REPORT, "10.6.1/reads.txt.copy": REPORT}
    archive = sent(api, tar_of(files), pattern="{version}/reads.*", workload="reads")
    assert {file["id"] for file in archive["files"]} == {archive["files"][0]["id"]}
    assert Run.objects.count() == 1


# --- mended -------------------------------------------------------------------------------------------------


def test_other_metadata_reads_the_files_again_and_keeps_their_runs(api):
    archive = sent(api, tar_of({"10.6.1/reads.txt": REPORT, "10.6.2/reads.txt": OTHER}))
    before = {run.pk: run.upload_id for run in Run.objects.all()}
    answer = api.patch(
        f"{URL}{archive['id']}/", {"hardware": "bench-02", "reason": "a mistake"}, format="json"
    )
    assert answer.status_code == 202
    assert answer.json()["state"] == "queued"
    again = imported(api, archive["id"])
    assert again["state"] == "imported"
    assert {run.pk: run.upload_id for run in Run.objects.all()} == before
    assert set(Run.objects.values_list("hardware__name", flat=True)) == {"bench-02"}
    assert {file["id"] for file in again["files"]} == {file["id"] for file in archive["files"]}
    assert AuditEntry.objects.filter(action="upload changed").count() == 1


def test_another_pattern_lets_go_of_the_files_that_it_does_not_find(api):
    archive = sent(api, tar_of({"10.6.1/reads.txt": REPORT, "10.6.2/writes.txt": OTHER}))
    assert len(runs()) == 2
    api.patch(f"{URL}{archive['id']}/", {"pattern": "{version}/reads.txt", "workload": "all"}, format="json")
    again = imported(api, archive["id"])
    assert runs() == [("10.6.1", "all", "default")]
    assert states(again) == {"10.6.1/reads.txt": ("imported", 1), "10.6.2/writes.txt": ("ignored", 0)}
    api.patch(
        f"{URL}{archive['id']}/", {"pattern": "{version}/{workload}.txt", "workload": None}, format="json"
    )
    assert states(imported(api, archive["id"]))["10.6.2/writes.txt"] == ("imported", 1)
    assert [version for version, _, _ in runs()] == ["10.6.1", "10.6.2"]


def test_a_file_that_also_came_alone_stays_as_it_is_when_the_archive_is_mended(api):
    alone = send(api, REPORT, name="reads.txt", version="10.6.1", workload="reads", pattern=None).json()
    archive = sent(api, tar_of({"10.6.1/reads.txt": REPORT}))
    api.patch(f"{URL}{archive['id']}/", {"hardware": "bench-02"}, format="json")
    again = imported(api, archive["id"])
    assert again["files"][0]["id"] != alone["id"]
    assert set(Run.objects.values_list("hardware__name", flat=True)) == {"box", "bench-02"}


def test_a_preview_says_what_other_metadata_would_do_and_does_nothing(api):
    archive = sent(api, tar_of({"10.6.1/reads.txt": REPORT, "10.6.2/reads.txt": OTHER}))
    before = list(Measurement.objects.order_by("run", "series").values_list("run", "series", "value"))
    answer = api.patch(f"{URL}{archive['id']}/", {"product": "MySQL", "preview": True}, format="json")
    assert answer.status_code == 200
    told = answer.json()
    assert [run["product"] for run in told["before"]] == ["MariaDB", "MariaDB"]
    assert [run["product"] for run in told["after"]] == ["MySQL", "MySQL"]
    assert told["series_left"] == told["series_entered"] > 0
    assert api.get(f"{URL}{archive['id']}/").json() == archive
    assert list(Measurement.objects.order_by("run", "series").values_list("run", "series", "value")) == before


def test_deleting_an_archive_takes_the_runs_that_came_with_it_alone_and_restoring_brings_them_back(api):
    send(api, REPORT, name="reads.txt", version="10.6.1", workload="reads", pattern=None)
    packed = tar_of({"10.6.1/reads.txt": REPORT, "11.4.2/reads.txt": OTHER})
    archive = sent(api, packed)
    kept = Run.objects.get(version__version="10.6.1").pk
    preview = api.delete(f"{URL}{archive['id']}/?preview=1").json()
    assert (len(preview["before"]), len(preview["after"])) == (2, 1)
    assert preview["series_left"] > 0
    assert Run.objects.count() == 2

    assert api.delete(f"{URL}{archive['id']}/?reason=wrong").status_code == 204
    assert [run.pk for run in Run.objects.all()] == [kept]
    assert api.get(f"{URL}{archive['id']}/").json()["state"] == "deleted"
    assert AuditEntry.objects.filter(action="upload deleted").count() == 1

    assert send(api, packed).status_code == 202
    again = imported(api, archive["id"])
    assert states(again) == {"10.6.1/reads.txt": ("imported", 1), "11.4.2/reads.txt": ("imported", 1)}
    assert Run.objects.count() == 2
    assert AuditEntry.objects.filter(action="upload restored").count() == 1


def test_a_file_in_two_archives_stays_until_both_are_gone(api):
    one = sent(api, tar_of({"10.6.1/reads.txt": REPORT}))
    two = sent(api, tar_of({"10.6.1/reads.txt": REPORT, "10.6.2/reads.txt": OTHER}))
    api.delete(f"{URL}{one['id']}/")
    assert Run.objects.count() == 2
    api.delete(f"{URL}{two['id']}/")
    assert Run.objects.count() == 0


def test_a_refused_archive_sent_again_is_read_again(api, settings):
    settings.ARCHIVE_MAX_FILES = 0
    packed = tar_of({"10.6.1/reads.txt": REPORT})
    assert sent(api, packed)["state"] == "refused"
    settings.ARCHIVE_MAX_FILES = 10
    assert sent(api, packed)["state"] == "imported"


def test_a_project_is_deleted_with_its_archives(api, project):
    sent(api, tar_of({"10.6.1/reads.txt": REPORT, "10.6.1/cut.txt": CUT}))
    delete_project(project, by=NOBODY)
    assert (Upload.objects.count(), ArchiveFile.objects.count(), Run.objects.count()) == (0, 0, 0)


# --- a dry run ----------------------------------------------------------------------------------------------


def test_a_dry_run_lists_what_each_file_would_become_and_stores_nothing(api):
    send(api, OTHER, name="reads.txt", version="10.6.2", workload="reads", pattern=None)
    files = {
        "10.6.1/reads.txt": REPORT,
        "10.6.1/cut.txt": CUT,
        "10.6.1/reads.vmstat.txt": b"no vmstat\n",
        "10.6.2/reads.txt": OTHER,
        "README.md": b"how it was measured\n",
        "/etc/passwd": b"root\n",
    }
    stored = Upload.objects.count(), Run.objects.count()
    answer = send(api, zip_of(files), dry_run="1")
    assert answer.status_code == 200, answer.content
    told = answer.json()
    assert (told["state"], told["format"], told["duplicate"], told["not_looked_at"]) == (
        "dry_run",
        "zip",
        False,
        0,
    )
    found = {file["name"]: file for file in told["files"]}
    assert {name: file["state"] for name, file in found.items()} == {
        "10.6.1/reads.txt": "would be imported",
        "10.6.1/cut.txt": "refused",
        "10.6.2/reads.txt": "known already",
        "README.md": "ignored",
        "/etc/passwd": "refused",
    }
    understood = found["10.6.1/reads.txt"]
    assert (understood["format"], understood["companions"]) == ("sysbench", ["10.6.1/reads.vmstat.txt"])
    assert [(run["version"], run["workload"]) for run in understood["runs"]] == [("10.6.1", "reads")]
    assert found["10.6.1/cut.txt"]["errors"][0]["message"]
    assert (Upload.objects.count(), Run.objects.count()) == stored


def test_a_dry_run_without_a_pattern_proposes_one_and_says_why_and_it_can_be_sent_so(api):
    files = {"my8044/a.t4.log": REPORT, "my8045/a.t4.log": OTHER}
    proposal = send(api, tar_of(files), dry_run="1", product=None, pattern=None).json()["proposal"]
    assert proposal["pattern"] == "{version}/a.t4.log"
    assert proposal["reasons"]["version"] == "'my8044' is a product with its version"
    sent = {"pattern": proposal["pattern"], "path_map": json.dumps(proposal["path_map"])}
    told = send(api, tar_of(files), dry_run="1", product=None, **sent).json()
    assert {run["version"] for file in told["files"] for run in file["runs"]} == {"8.0.44", "8.0.45"}
    assert told["proposal"] is None


def test_a_dry_run_ends_in_time_and_says_what_it_did_not_look_at(api, settings):
    settings.ARCHIVE_DRY_RUN_SECONDS = 0
    told = send(api, tar_of({"10.6.1/reads.txt": REPORT}), dry_run="1").json()
    assert told["not_looked_at"] == 1
    assert told["files"][0]["state"] == "not looked at"


def test_a_dry_run_of_an_archive_that_cannot_be_read_is_refused(api):
    answer = send(api, zip_of({"10.6.1/reads.txt": REPORT})[:-30], dry_run="1")
    assert answer.status_code == 422
    assert "cut or damaged" in answer.json()["errors"][0]["message"]


# --- who sees what ------------------------------------------------------------------------------------------


def test_reasons_are_for_members(api, client):
    project = make_project("open", public=True)
    member = client_of(make_token(project))
    archive = sent(member, tar_of({"10.6.1/reads.txt": REPORT, "10.6.1/cut.txt": CUT}))
    assert len(archive["files"]) == 2
    public = client.get(f"{URL}{archive['id']}/").json()
    assert states(public) == {"10.6.1/reads.txt": ("imported", 1)}
    assert client.get(f"{URL}{archive['id']}/raw/").status_code in (401, 403)
    raw = member.get(f"{URL}{archive['id']}/raw/")
    assert raw["Content-Type"] == "application/octet-stream"


# --- workers ------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_import_an_archive_once(api):
    files = {f"10.6.{night}/reads.txt": report(night) for night in range(20)}
    number = send(api, tar_of(files)).json()["id"]

    def work():
        tasks.import_waiting()
        tasks.import_upload(number)

    at_once(work, work, work)
    archive = api.get(f"{URL}{number}/").json()
    assert (archive["state"], archive["progress"]) == ("imported", {"done": 20, "total": 20})
    assert (Run.objects.count(), ArchiveFile.objects.count()) == (20, 20)


@pytest.mark.django_db(transaction=True)
def test_an_archive_that_is_being_imported_cannot_be_changed(api):
    archive = sent(api, tar_of({"10.6.1/reads.txt": REPORT}))
    held, done = threading.Event(), threading.Event()

    def work():
        with alone_with("archive", archive["id"]):
            held.set()
            done.wait()
        connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    held.wait()
    answers = [
        api.patch(f"{URL}{archive['id']}/", {"hardware": "b"}, format="json").status_code,
        api.delete(f"{URL}{archive['id']}/").status_code,
    ]
    done.set()
    thread.join()
    assert answers == [409, 409]
    assert api.delete(f"{URL}{archive['id']}/").status_code == 204


def test_a_file_that_makes_workers_die_is_left_out_and_the_rest_is_imported(api):
    files = {f"10.6.{night}/reads.txt": report(night) for night in range(3)}
    number = send(api, tar_of(files)).json()["id"]
    for _ in range(5):  # each began and died before the first file was done
        archive_services._begin(number)
        container_of(number)
    archive = imported(api, number)
    assert states(archive) == {
        "10.6.0/reads.txt": ("refused", 0),
        "10.6.1/reads.txt": ("imported", 1),
        "10.6.2/reads.txt": ("imported", 1),
    }
    assert "failed 5 times" in archive["files"][0]["errors"][0]["message"]


def container_of(number):
    """As far as a worker comes that dies with the first file in its hands."""
    archive = Upload.objects.get(pk=number)
    with (
        raw_bytes.open_seekable(archive.raw) as file,
        archive_services._unpacked(file, archive.name) as container,
    ):
        rules = archive_services.path_rules(archive_services.metadata_from_json(archive.metadata))
        archive_services._note_files(archive, archive_services.FileSet(container, rules))


def report(night):
    return (NIGHTS / f"{night:03d}/oltp_read_only.txt").read_bytes()


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_killed_in_the_middle_loses_nothing_and_doubles_nothing(worker, api):
    """The rest is done by the next worker; what a retry finds again counts once."""
    texts = [file.read_bytes() for file in sorted(NIGHTS.glob("*/*.txt"))]
    files = {f"10.6.{number}/reads.txt": text for number, text in enumerate(texts)}
    number = send(api, gzip.compress(tar_of(files), 1)).json()["id"]
    wait_until(lambda: 0 < Upload.objects.get(pk=number).done < len(files))
    worker.kill()
    left = Upload.objects.get(pk=number)
    assert left.state == "importing"
    assert Run.objects.count() < len(files)
    wait_until(lambda: is_free_again(number))
    tasks.import_waiting()
    archive = api.get(f"{URL}{number}/").json()
    assert (archive["state"], archive["progress"]["done"]) == ("imported", len(files))
    assert set(states(archive).values()) == {("imported", 1)}
    assert Run.objects.count() == Upload.objects.filter(is_archive=False).count() == len(set(texts))


def is_free_again(number):
    """PostgreSQL notices within moments that a worker is gone."""
    with alone_with("archive", number) as is_alone:
        return is_alone


PATTERN = (
    "{folder}/x.{{version}}_{{build}}.{{config}}.pk1/{kind}.{{workload}}.range{{range}}.pk1.dop{{threads}}"
)


def packed_folder(folder):
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.add(folder, arcname=folder.name)
    return packed.getvalue()


def meant_versions(folder, product):
    """What the names of builds mean: my8406v2 is MySQL 8.4.6, built again."""
    names = {re.fullmatch(r"x\.([a-z]+\d+(?:v2)?)_.*", one.name)[1] for one in folder.glob("x.*")}
    shape = re.compile(r"my(\d)(\d)(\d+)(v2)?" if product == "MySQL" else r"pg(\d\d)()(\d+)()")
    return {
        name: {
            "version": ".".join([*filter(None, found.groups()[:2]), str(int(found[3]))]),
            **({"build": "v2"} if found[4] else {}),
        }
        for name in names
        if (found := shape.fullmatch(name))
    }


@pytest.mark.skipif(not SMALL_DATUM.is_dir(), reason="the published results of small_datum are not here")
@pytest.mark.parametrize(
    ("name", "product"), [("postgres_2025_02", "PostgreSQL"), ("mysql_2025_11", "MySQL")]
)
@pytest.mark.django_db(transaction=True)
def test_published_results_are_imported_out_of_their_archive_with_all_that_lies_beside(
    worker, api, name, product
):
    folder = SMALL_DATUM / name
    answer = send(
        api,
        packed_folder(folder),
        product=product,
        pattern=PATTERN.format(folder=name, kind="sb.o"),
        path_map=json.dumps({"version": meant_versions(folder, product)}),
        companion_pattern=[
            PATTERN.format(folder=name, kind="sb.vm"),
            name + "/x.{version}_{build}.{config}.pk1/conf.diff",
        ],
    )
    assert answer.status_code == 202, answer.content
    number = answer.json()["id"]
    worker.wait_until_idle(within=120)
    archive = api.get(f"{URL}{number}/").json()
    results = sorted(folder.glob("x.*/sb.o.*"))
    assert archive["state"] == "imported", [f for f in archive["files"] if f["state"] == "refused"]
    assert archive["counts"]["imported"] == len(results)
    assert archive["progress"] == {"done": len(results), "total": len(results)}
    assert Run.objects.count() == len(results)
    meant = {(one["version"], one.get("build", "")) for one in meant_versions(folder, product).values()}
    found = Run.objects.values_list("version__version", "version__build").distinct()
    assert {(version, build if build == "v2" else "") for version, build in found} == meant
    beside = {one.relative_to(folder).as_posix() for one in folder.glob("x.*/sb.vm.*")}
    assert Companion.objects.filter(name__startswith="sb.vm.").count() == len(beside)
    settings = len(list(folder.glob("x.*/conf.diff")))
    kinds = Companion.objects.filter(name="conf.diff").values_list("kind", "raw__sha256").distinct()
    assert all(kind == "configuration" for kind, _ in kinds)
    assert bool(kinds) == bool(settings)
