import os
import time
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from benchdash.storage_url import storage_of
from ingest.models import RawFile
from ingest.storage.identity import refuse_another_storage
from ingest.storage.raw_bytes import RawData, keep
from tests.builders import make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(settings, tmp_path):
    settings.STORAGES = {**settings.STORAGES, "default": storage_of(tmp_path.as_uri())}
    return tmp_path


def age(path, **given):
    then = time.time() - timedelta(**given).total_seconds()
    os.utime(path, (then, then))


def test_files_that_no_row_names_go_after_a_day_and_all_others_stay(folder, capsys):
    refuse_another_storage()
    project = make_project()
    keep(project, [RawData(b"x" * 2_000_000)])
    named = folder / RawFile.objects.get().storage_name
    below = named.parent
    old, broken_off, young = below / "old.zst", below / ".partial-abc", below / "young.zst"
    for file in (old, broken_off, young):
        file.write_bytes(b"rolled back")
    for file in (old, broken_off, named, folder / "storage-id"):
        age(file, days=1, minutes=1)
    age(young, hours=23)
    call_command("sweep_files", "--dry-run")
    assert capsys.readouterr().out.endswith("2 files would be deleted\n")
    assert old.exists()
    call_command("sweep_files")
    told = capsys.readouterr().out.splitlines()
    assert sorted(told[:2]) == [str(broken_off.relative_to(folder)), str(old.relative_to(folder))]
    assert told[2] == "2 files were deleted"
    assert {path for path in folder.rglob("*") if path.is_file()} == {named, young, folder / "storage-id"}
    call_command("sweep_files")
    assert capsys.readouterr().out == "0 files were deleted\n"


def test_nothing_is_swept_in_the_storage_of_another_installation(folder):
    refuse_another_storage()
    (folder / "storage-id").write_text("another\n")
    with pytest.raises(CommandError, match="another storage-id"):
        call_command("sweep_files")


def test_an_empty_storage_is_swept_in_no_time(folder, capsys):
    call_command("sweep_files")
    assert capsys.readouterr().out == "0 files were deleted\n"
