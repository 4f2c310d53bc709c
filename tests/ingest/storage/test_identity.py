import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from benchdash.storage_url import storage_of
from ingest.models import RawFile, RawStorage
from ingest.storage.identity import (
    WrongStorageError,
    refuse_another_storage,
    storage_trouble,
)
from ingest.storage.raw_bytes import RawData, keep
from tests.builders import make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(settings, tmp_path):
    """``folder(name)`` is that of this machine from now on."""

    def choose(name):
        url = (tmp_path / name).as_uri()
        settings.STORAGES = {**settings.STORAGES, "default": storage_of(url)}
        return tmp_path / name

    return choose


def test_the_first_process_gives_the_folder_an_id_that_the_database_knows(folder):
    shared = folder("shared")
    refuse_another_storage()
    identity = RawStorage.objects.get().identity
    assert len(identity) == 32
    assert (shared / "storage-id").read_text() == f"{identity}\n"
    refuse_another_storage()
    assert storage_trouble() == ""
    assert RawStorage.objects.get().identity == identity


def test_a_folder_without_the_id_is_refused_with_what_to_do(folder):
    folder("shared")
    refuse_another_storage()
    own = folder("own")
    with pytest.raises(WrongStorageError) as refused:
        refuse_another_storage()
    assert str(refused.value) == (
        f"STORAGE_URL leads to the folder {own}, which holds no storage-id and is not where this "
        "installation keeps its files: mount the same folder on all machines, or keep files in S3; where the "
        "files were moved by hand, run manage.py use_storage"
    )
    assert not own.exists()


def test_a_folder_with_another_id_is_refused(folder):
    folder("shared")
    refuse_another_storage()
    other = folder("other")
    other.mkdir()
    (other / "storage-id").write_text("another\n")
    with pytest.raises(WrongStorageError, match="holds another storage-id"):
        refuse_another_storage()


def test_an_installation_from_before_learns_of_no_folder_that_lacks_its_files(folder):
    folder("shared")
    keep(make_project(), [RawData(b"x" * 2_000_000)])
    name = RawFile.objects.get().storage_name
    folder("own")
    with pytest.raises(WrongStorageError, match=f"where {name} is missing"):
        refuse_another_storage()
    assert not RawStorage.objects.exists()
    folder("shared")
    refuse_another_storage()
    assert RawStorage.objects.exists()


def test_a_database_that_was_made_anew_takes_the_folder_that_is_there(folder):
    shared = folder("shared")
    refuse_another_storage()
    identity = RawStorage.objects.get().identity
    RawStorage.objects.all().delete()
    refuse_another_storage()
    assert RawStorage.objects.get().identity == identity
    assert [path.name for path in shared.iterdir()] == ["storage-id"]


def test_a_database_or_a_storage_that_does_not_answer_is_no_reason_to_refuse(folder, settings, caplog):
    blocked = folder("blocked")
    blocked.write_text("a file where the folder should be")
    refuse_another_storage()
    assert "is not known" in caplog.text
    caplog.clear()
    folder("shared")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DROP TABLE ingest_rawstorage")
        refuse_another_storage()
        transaction.set_rollback(True)
    assert "is not known" in caplog.text


def test_after_a_move_a_command_makes_the_new_place_that_of_the_installation(folder, capsys):
    shared = folder("shared")
    refuse_another_storage()
    keep(make_project(), [RawData(b"x" * 2_000_000)])
    name = RawFile.objects.get().storage_name
    new = folder("new")
    with pytest.raises(CommandError, match="is missing"):
        call_command("use_storage")
    (new / name).parent.mkdir(parents=True)
    (shared / name).rename(new / name)
    call_command("use_storage")
    assert capsys.readouterr().out == "this is the storage of the installation now\n"
    refuse_another_storage()
    folder("shared")
    with pytest.raises(WrongStorageError, match="another storage-id"):
        refuse_another_storage()


def test_prepare_stops_where_the_folder_is_another(folder):
    folder("shared")
    refuse_another_storage()
    folder("own")
    with pytest.raises(CommandError, match="is not where this installation keeps its files"):
        call_command("prepare")
