"""Reading a kept file again, on its page: what would change, then changing it."""

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from benchdash.accounts.access import NOBODY
from benchdash.accounts.models import AuditEntry, Role
from benchdash.dashboard.pages.uploads.change_views import ChangedRow
from benchdash.results import corrections
from benchdash.results.models import Measurement, Run
from ingest.models import Upload
from tests.builders import make_project, make_upload, make_user
from tests.dashboard.page_text import text_of

pytestmark = pytest.mark.django_db

FIXTURES = Path(__file__).parents[3] / "ingest/fixtures"
SYSBENCH = FIXTURES / "sysbench/oltp_read_only-histogram.txt"
JMH = FIXTURES / "jmh_json/average-time.json"
SAID = {"product": "MariaDB", "version": "10.11.19", "hardware": "box", "workload": "oltp_read_only"}


@pytest.fixture
def project():
    return make_project("mine")


@pytest.fixture
def member(client, project):
    user = make_user(member_of=project)
    client.force_login(user)
    return user


def uploaded(client, project, file=SYSBENCH, **said):
    data = SimpleUploadedFile(file.name, file.read_bytes())
    client.post(reverse("dashboard:upload_new", args=[project.slug]), {"file": data, **SAID, **said})
    return Upload.objects.latest("pk")


def address(upload):
    return reverse("dashboard:upload_reread", args=[upload.project.slug, upload.pk])


def spoil(upload, metric, value):
    """As if an older format had read another value."""
    Measurement.objects.filter(run__upload_id=upload.pk, series__metric=metric).update(value=value)


def value_of(upload, metric):
    return Measurement.objects.get(run__upload_id=upload.pk, series__metric=metric).value


def test_what_would_change_is_shown_then_changed(client, project, member):
    upload = uploaded(client, project)
    tps = value_of(upload, "tps")
    spoil(upload, "tps", tps * 2)
    page = text_of(client.get(address(upload)))
    assert "1 reading would change." in page
    assert f"transactions per second 1/s {tps * 2:,.0f} {tps:,.0f} −50.0" in page
    assert value_of(upload, "tps") == tps * 2
    answer = client.post(address(upload), follow=True)
    assert f"Read {upload.name} again: 1 reading changed." in text_of(answer)
    assert "upload read again, 1 changed readings" in text_of(answer)
    assert value_of(upload, "tps") == tps
    assert AuditEntry.objects.get(action="upload read again").user == member


def test_where_nothing_changes_nothing_is_offered(client, project, member):
    upload = uploaded(client, project)
    answer = client.get(address(upload))
    assert "Every reading is as it was" in text_of(answer)
    assert '<button class="button primary" type="submit">Read again' not in answer.content.decode()


def test_the_runs_of_a_file_with_several_are_named(client, project, member):
    upload = uploaded(client, project, JMH, workload="")
    spoil(upload, "score", 1.0)
    page = text_of(client.get(address(upload)))
    assert "6 readings would change." in page
    assert "bench.SimpleQueries.do1 avgt, 1 thread score ns/op 1.000 110,810" in page


def test_a_refused_file_that_is_understood_now_is_imported(client, project, member, monkeypatch):
    with monkeypatch.context() as earlier:
        earlier.setattr("ingest.formats.FORMATS", {})
        upload = uploaded(client, project)
    assert "It is refused as before." in text_of(client.get(address(uploaded_as_refused(client, project))))
    assert "It was refused, and is understood now: 17 readings would come" in text_of(
        client.get(address(upload))
    )
    answer = client.post(address(upload), follow=True)
    assert "is understood now: 17 readings came into the history." in text_of(answer)
    upload.refresh_from_db()
    assert upload.state == "imported"


def uploaded_as_refused(client, project):
    return uploaded(client, project, FIXTURES / "sysbench/aborted-ctrl-c.txt")


def test_a_file_that_is_no_longer_understood_is_left_as_it_was(client, project, member, monkeypatch):
    upload = uploaded(client, project)
    monkeypatch.setattr("ingest.formats.FORMATS", {})
    assert "It is no longer understood, so it would be left as it was." in text_of(
        client.get(address(upload))
    )
    assert "was left as it was." in text_of(client.post(address(upload), follow=True))
    assert Measurement.objects.count() == 17


def test_a_large_file_is_read_again_on_the_server(client, project, member, settings):
    upload = uploaded(client, project)
    settings.UPLOAD_IMPORT_AT_ONCE_BYTES = 100
    page = text_of(client.get(address(upload)))
    assert "manage.py reimport --project mine --format sysbench --dry-run" in page


def test_what_is_deleted_or_an_archive_is_not_read_again(client, project, member):
    for fields in ({"state": Upload.State.DELETED}, {"is_archive": True}, {"state": Upload.State.QUEUED}):
        upload = make_upload(project, **fields)
        assert client.get(address(upload)).status_code == 404
        assert client.post(address(upload)).status_code == 404
        page = client.get(reverse("dashboard:upload", args=["mine", upload.pk]))
        assert "Read again" not in page.content.decode()


def test_reading_again_needs_the_scope(client):
    project = make_project(public=True)
    upload = make_upload(project)
    assert client.get(address(upload))["Location"].startswith("/sign-in/")
    client.force_login(make_user(member_of=project, role=Role.READER))
    assert client.get(address(upload)).status_code == 403
    assert client.post(address(upload)).status_code == 403


@pytest.mark.parametrize(
    ("before", "after", "texts"),
    [
        (100.0, 200.0, ("100.0", "200.0")),
        (59556.1337, 59556.0742, ("59,556.1337", "59,556.0742")),
        (None, 5.0, ("–", "5.000")),
        (5.0, 5.0, ("5.000", "5.000")),
    ],
)
def test_values_are_written_with_the_digits_that_tell_them_apart(before, after, texts):
    assert ChangedRow("", "tps", "1/s", before, after).texts == texts


def test_a_file_that_was_counted_beside_another_form_of_it_is_linked_to_that(client, project, member):
    first, other = uploaded(client, project), uploaded(client, project, version="10.11.20")
    source, target = (Run.objects.get(upload_id=upload.pk).version for upload in (other, first))
    corrections.merge(source, target, by=NOBODY)
    page = text_of(client.get(address(other)))
    assert "It is another form of runs that are there: it would be linked to them" in page
    assert Run.objects.count() == 2
    done = text_of(client.post(address(other), follow=True))
    assert "is another form of runs that are there, and not counted again." in done
    assert Run.objects.get().upload_id == first.pk
