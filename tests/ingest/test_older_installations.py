"""An older installation, made by ``tests/ingest/older``: its uploads are received anew by one command."""

import os
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.core.management import CommandError, call_command

from benchdash.accounts.models import Project
from benchdash.results.models import Run
from benchdash.results.services import remove_runs
from ingest.models import Upload
from ingest.storage import raw_bytes

pytestmark = pytest.mark.django_db(transaction=True)

OLDER = Path(__file__).parent / "older"
FILES = (OLDER / "media").as_uri()
NAME = f"older_{os.getpid()}"


@pytest.fixture(scope="module")
def older():
    """The address of the database of the older installation."""
    url = urlsplit(os.environ["DATABASE_URL"])
    address = url._replace(path=f"/{NAME}").geturl()
    with psycopg.connect(url.geturl(), autocommit=True) as server:
        server.execute(f"CREATE DATABASE {NAME}")
        with psycopg.connect(address) as database:
            database.execute((OLDER / "database.sql").read_text())
        yield address
        server.execute(f"DROP DATABASE {NAME} WITH (FORCE)")


def import_from(old, files=FILES):
    told = StringIO()
    call_command("import_from", old, f"--files={files}", stdout=told)
    return told.getvalue().splitlines()


def day(number):
    return datetime(2025, 2, number, tzinfo=UTC)


def rows():
    uploads = Upload.objects.order_by("pk").values_list("pk", "state", "received_at", "metadata_digest")
    runs = Run.objects.order_by("pk").values_list("pk", "upload_id", "key", "started_at", "recorded_at")
    return [*uploads, *runs]


def test_projects_and_uploads_are_received_as_they_were(older):
    told = import_from(older)
    assert told[-1] == "1 deleted there, 6 imported, 1 refused"
    nights = Project.objects.get(slug="nights")
    assert (nights.name, nights.is_public) == ("Nights of main", True)
    assert nights.notice == "Measured on one machine."
    assert not Project.objects.get(slug="private").is_public
    assert not Project.objects.filter(slug="leaving").exists()
    uploads = Upload.objects.filter(project=nights).order_by("received_at")
    assert [(one.name, one.state, one.received_at, one.came_alone) for one in uploads] == [
        ("first.txt", "imported", day(1), True),
        ("broken.txt", "refused", day(2), True),
        ("long.txt", "imported", day(4), True),
        ("releases.zip", "imported", day(5), True),
        ("oltp_read_write.txt", "imported", day(6), False),
        ("oltp_read_write.txt", "imported", day(7), False),
    ]
    assert all(one.quiet for one in uploads if one.came_alone)
    assert [len(raw_bytes.read(one.raw)) for one in uploads] == [1511, 33, 6223, 3303, 1512, 1513]


def test_runs_without_a_time_begin_when_their_file_was_received_first(older):
    import_from(older)
    runs = Run.objects.filter(project__slug="nights").order_by("version__sort_key")
    started = runs.values_list("version__version", "started_at", "started_at_is_assumed")
    assert list(started) == [
        ("11.4.1", day(1), True),
        ("11.4.3", datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC), False),
        ("11.5.1", day(6), True),
        ("11.5.2", day(7), True),
    ]


def test_companions_come_along(older):
    import_from(older)
    [companion] = Upload.objects.get(project__slug="nights", name="first.txt").companions.all()
    assert (companion.kind, companion.name) == ("configuration", "my.cnf")
    [run] = Run.objects.filter(project__slug="nights", version__version="11.4.1")
    assert run.content.settings == {"innodb_buffer_pool_size": "1G"}


def test_done_again_it_changes_nothing(older):
    import_from(older)
    before = rows()
    assert import_from(older)[-1] == "1 deleted there, 7 known already"
    assert rows() == before


def test_an_interrupted_import_goes_on_where_it_was(older):
    import_from(older)
    before = [
        (one.name, one.state, one.received_at) for one in Upload.objects.order_by("received_at", "name")
    ]
    # Received, but no more than that; and not received.
    Upload.objects.filter(project__slug="nights", name="first.txt").update(received_at=day(20))
    last = Upload.objects.get(project__slug="private")
    remove_runs(last.project, upload_id=last.pk)
    last.delete()
    assert import_from(older)[-1] == "1 deleted there, 2 imported, 5 known already"
    uploads = Upload.objects.order_by("received_at", "name")
    assert [(one.name, one.state, one.received_at) for one in uploads] == before


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_received(older, tmp_path):
    told = import_from(older, files=tmp_path.as_uri())
    assert told[-1] == (
        "2 amended there after coming in an archive, 1 deleted there, 2 imported, 2 not received, 1 refused"
    )
    assert "nights: upload 4 ('long.txt') was not received" in "\n".join(told)


def test_what_is_no_older_installation_is_refused_with_a_sentence(tmp_path, settings):
    with pytest.raises(CommandError, match="neither the var/ folder"):
        import_from(str(tmp_path))
    (settings.VAR_DIR / "postgresql").mkdir(exist_ok=True)
    with pytest.raises(CommandError, match="this installation itself"):
        import_from(str(settings.VAR_DIR))
