import pytest
from django.db import connection
from django.utils import timezone

from benchdash.accounts.access import NOBODY
from benchdash.accounts.models import AuditEntry
from benchdash.results.models import Run, TouchedSeries
from benchdash.results.sessions import START_UNKNOWN
from ingest import services
from ingest.errors import FieldsError
from ingest.models import Upload
from tests.builders import make_project
from tests.ingest.sending import SYSBENCH, accept

pytestmark = pytest.mark.django_db


def state_of(upload):
    return Upload.objects.get(pk=upload.pk).state


def test_a_deleted_upload_can_be_restored_by_itself():
    upload = accept(make_project()).upload
    services.delete_upload(upload, by=NOBODY, reason="a mistake")
    assert (state_of(upload), Run.objects.count()) == ("deleted", 0)
    services.restore_upload(upload, by=NOBODY, reason="no mistake")
    assert (state_of(upload), Run.objects.count()) == ("imported", 1)
    assert set(TouchedSeries.objects.values_list("quiet", flat=True)) == {True}
    assert list(AuditEntry.objects.values_list("action", "reason")) == [
        ("upload restored", "no mistake"),
        ("upload deleted", "a mistake"),
    ]
    services.restore_upload(upload, by=NOBODY)
    assert AuditEntry.objects.count() == 2


def test_a_deleted_upload_cannot_be_changed():
    upload = accept(make_project()).upload
    services.delete_upload(upload, by=NOBODY)
    with pytest.raises(FieldsError):
        services.amend_upload(upload, {"version": "1"}, by=NOBODY)


def test_an_excluded_run_stays_excluded_when_its_upload_is_amended():
    upload = accept(make_project()).upload
    Run.objects.update(excluded_at=timezone.now(), excluded_reason="noise")
    services.amend_upload(upload, {"notes": "seen"}, by=NOBODY)
    run = Run.objects.get()
    assert (run.notes, run.excluded_reason) == ("seen", "noise")


def test_amending_tells_the_warnings_of_now():
    project = make_project()
    upload = accept(project, threads=3).upload
    assert any("its sender 3" in warning for warning in upload.warnings)
    upload = services.amend_upload(upload, {"threads": None}, by=NOBODY)
    assert upload.warnings == [START_UNKNOWN]


def test_the_tables_of_raw_files_hold_bytes_once():
    project = make_project()
    for n in range(3):
        accept(project, notes=str(n))
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), sum(size) FROM ingest_rawfile")
        assert cursor.fetchone() == (1, len(SYSBENCH))
