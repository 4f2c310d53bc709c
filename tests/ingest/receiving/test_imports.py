import threading
from functools import partial

import pytest
from django.db import connections, transaction
from django.utils import timezone

from benchdash.accounts.access import NOBODY
from benchdash.celery import app as celery
from benchdash.results.models import Measurement, Run, TouchedSeries
from ingest import formats, services, tasks
from ingest.errors import FieldsError, FileMissingError, UploadBusyError
from ingest.formats.report import ParsedReport
from ingest.formats.source import Source
from ingest.models import Companion, RawFile, Upload
from ingest.receiving import imports
from ingest.receiving.arrivals import CompanionFile
from ingest.storage.raw_bytes import RawData
from tests.builders import make_project
from tests.ingest.sending import SYSBENCH, accept
from tests.results.concurrency import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def everything_is_large(settings):
    """Files are imported by jobs, and no job is sent: no broker is asked."""
    settings.UPLOAD_IMPORT_AT_ONCE_BYTES = 0


def state_of(upload):
    return Upload.objects.get(pk=upload.pk).state


# --- received, then imported --------------------------------------------------------------------------------


def test_what_is_received_waits_until_it_is_imported(everything_is_large):
    upload = accept(make_project()).upload
    assert (state_of(upload), Run.objects.count()) == ("queued", 0)
    imports.import_upload(upload)
    assert (upload.state, upload.format, upload.done) == ("imported", "sysbench", 1)
    assert upload.finished_at > upload.received_at
    assert Run.objects.count() == 1


def test_importing_twice_changes_nothing(everything_is_large):
    upload = accept(make_project()).upload
    imports.import_upload(upload)
    before = (upload.finished_at, list(upload.warnings), Run.objects.get().recorded_at)
    TouchedSeries.objects.all().delete()
    imports.import_upload(upload)
    imports.import_by_job(upload.pk)
    upload.refresh_from_db()
    assert (upload.finished_at, upload.warnings, Run.objects.get().recorded_at) == before
    assert TouchedSeries.objects.count() == 0


def test_a_quiet_upload_touches_its_series_quietly():
    accept(make_project(), quiet=True)
    assert set(TouchedSeries.objects.values_list("quiet", flat=True)) == {True}


def test_a_fault_of_a_format_refuses_the_file_and_keeps_it(monkeypatch):
    class Faulty:
        def recognise(self, head):
            return head.startswith(b"faulty")

        def parse(self, source):
            return {}["a fault"]

    monkeypatch.setitem(formats.FORMATS, "faulty", Faulty())
    upload = accept(make_project(), b"faulty").upload
    assert upload.state == "refused"
    assert upload.errors == [
        {"line": None, "message": "the file could not be read because of a fault in benchdash; it is kept"}
    ]


def test_of_a_file_that_the_history_cannot_hold_nothing_is_stored(monkeypatch):
    class Twice:
        def recognise(self, head):
            return head.startswith(b"twice")

        def parse(self, source):
            (run,) = formats.parse(Source(SYSBENCH))[1].runs
            return ParsedReport((run, run))

    monkeypatch.setitem(formats.FORMATS, "twice", Twice())
    upload = accept(make_project(), b"twice").upload
    assert upload.state == "refused"
    assert upload.errors == [{"line": None, "message": "two runs of this file have the same key ''"}]
    assert Run.objects.count() == Measurement.objects.count() == 0


def test_a_field_that_is_missing_keeps_a_small_file_out():
    with pytest.raises(FieldsError):
        accept(make_project(), hardware=None)
    assert Upload.objects.count() == RawFile.objects.count() == 0


def test_configuration_files_are_read_in_the_order_in_which_they_came():
    companions = [
        CompanionFile(Companion.Kind.CONFIGURATION, name, RawData(text))
        for name, text in [
            ("a.cnf", b"[mysqld]\nx=1\ny=1\n"),
            ("b.cnf", b"[mysqld]\nx=2\n"),
            ("c", b"[mysqld]\nx=1\ny=1\n"),
        ]
    ]
    accept(make_project(), companions=companions)
    assert Run.objects.get().content.settings == {"x": "2", "y": "1"}
    assert list(Companion.objects.order_by("pk").values_list("name", flat=True)) == ["a.cnf", "b.cnf"]


# --- jobs ---------------------------------------------------------------------------------------------------


def test_a_large_file_is_left_to_a_job(everything_is_large, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks() as callbacks:
        upload = accept(make_project()).upload
    assert (upload.state, len(callbacks)) == ("queued", 1)
    tasks.import_upload(upload.pk)
    assert (state_of(upload), Run.objects.count()) == ("imported", 1)


def test_a_lost_doorbell_loses_nothing(everything_is_large):
    uploads = [accept(make_project(), notes=str(n)).upload for n in range(3)]
    tasks.import_waiting()
    assert [state_of(upload) for upload in uploads] == ["imported"] * 3


def test_a_broker_that_is_gone_loses_nothing(
    everything_is_large, django_capture_on_commit_callbacks, monkeypatch
):
    from kombu.exceptions import OperationalError

    def unreachable(*_arguments, **_options):
        raise OperationalError("no broker")

    monkeypatch.setattr(celery, "send_task", unreachable)
    with django_capture_on_commit_callbacks(execute=True):
        upload = accept(make_project()).upload
    tasks.import_waiting()
    assert state_of(upload) == "imported"


def test_a_job_refuses_what_a_request_would_have_asked_for(everything_is_large):
    upload = accept(make_project(), hardware=None).upload
    tasks.import_waiting()
    upload.refresh_from_db()
    assert upload.state == "refused"
    assert upload.errors == [
        {
            "line": None,
            "message": "hardware is required: a file does not say on which machine it was measured",
        }
    ]


def test_a_file_that_makes_every_worker_die_is_given_up(everything_is_large):
    upload = accept(make_project()).upload
    for _ in range(5):
        assert imports._claim(upload.pk)  # a worker that dies right after
    assert state_of(upload) == "importing"
    tasks.import_waiting()
    upload.refresh_from_db()
    assert (upload.state, Run.objects.count()) == ("refused", 0)
    assert upload.errors[0]["message"] == "importing it failed 5 times; the file is kept as it is"


# --- a file that cannot be read -----------------------------------------------------------------------------


def test_a_file_that_is_missing_is_no_failed_attempt_and_is_looked_for_less_and_less(
    everything_is_large, stored_files
):
    upload = accept(make_project()).upload
    place = stored_files / upload.raw.storage_name
    place.rename(stored_files / "away")
    delays = []
    for number in range(imports.MAX_ATTEMPTS + 3):
        imports.import_by_job(upload.pk)
        upload.refresh_from_db()
        assert (upload.state, upload.attempts, upload.misses) == ("queued", 0, number + 1)
        assert upload.errors == [{"line": None, "message": "the file is not in the storage of this machine"}]
        delays.append(round((upload.retry_at - timezone.now()).total_seconds()))
    assert delays == [15, 30, 60, 120, 240, 480, 600, 600]
    assert imports.waiting_upload_ids() == []
    Upload.objects.update(retry_at=timezone.now())
    assert imports.waiting_upload_ids() == [upload.pk]
    (stored_files / "away").rename(place)
    tasks.import_waiting()
    upload.refresh_from_db()
    assert (upload.state, upload.errors, Run.objects.count()) == ("imported", [], 1)


def test_a_companion_that_is_missing_keeps_its_upload_waiting(everything_is_large, stored_files):
    said = CompanionFile(Companion.Kind.OTHER, "vmstat.txt", RawData(b"procs"))
    upload = accept(make_project(), companions=[said]).upload
    (stored_files / upload.companions.get().raw.storage_name).unlink()
    imports.import_by_job(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, upload.attempts, upload.misses) == ("queued", 0, 1)


def test_an_upload_that_waits_for_its_file_is_tried_at_once_when_it_is_sent_anew(
    everything_is_large, stored_files
):
    upload = accept(make_project()).upload
    (stored_files / upload.raw.storage_name).unlink()
    imports.import_by_job(upload.pk)
    upload.refresh_from_db()
    imports.wait_for_job(upload)
    upload.refresh_from_db()
    assert (upload.misses, upload.retry_at, upload.errors) == (0, None, [])


def test_nothing_is_changed_where_the_file_to_be_read_again_is_missing(stored_files):
    upload = accept(make_project()).upload
    (stored_files / upload.raw.storage_name).unlink()
    with pytest.raises(FileMissingError):
        services.amend_upload(upload, {"version": "11.4.2"}, by=NOBODY)
    upload.refresh_from_db()
    assert (upload.state, upload.metadata["version"]) == ("imported", "10.11.19")
    assert Run.objects.count() == 1


def test_an_upload_whose_job_is_gone_is_no_obstacle_to_the_next(everything_is_large):
    project = make_project()
    upload = accept(project).upload
    imports._claim(upload.pk)
    tasks.import_waiting()
    assert state_of(upload) == "imported"


def test_a_large_upload_is_amended_by_a_job(everything_is_large, django_capture_on_commit_callbacks):
    upload = accept(make_project()).upload
    tasks.import_waiting()
    with django_capture_on_commit_callbacks() as callbacks:
        services.amend_upload(upload, {"version": "10.6.1"}, by=NOBODY)
    assert (state_of(upload), len(callbacks)) == ("queued", 1)
    tasks.import_waiting()
    assert (state_of(upload), Run.objects.get().version.version) == ("imported", "10.6.1")


def test_a_large_upload_that_was_amended_into_nonsense_has_no_runs(everything_is_large):
    upload = accept(make_project()).upload
    tasks.import_waiting()
    services.amend_upload(upload, {"format": "jmh_json"}, by=NOBODY)
    tasks.import_waiting()
    assert (state_of(upload), Run.objects.count()) == ("refused", 0)


# --- several processes --------------------------------------------------------------------------------------


class Worker(threading.Thread):
    """Does something in a connection of its own; ``dies`` rolls back what it was doing, as a crash does."""

    def __init__(self, work):
        super().__init__()
        self._work = work
        self.at_work, self.may_end = threading.Event(), threading.Event()
        self.start()
        assert self.at_work.wait(10)

    def run(self):
        try:
            with transaction.atomic():
                self._work()
                self.at_work.set()
                self.may_end.wait(10)
                transaction.set_rollback(True)
        finally:
            connections.close_all()

    def dies(self):
        self.may_end.set()
        self.join()


@pytest.mark.django_db(transaction=True)
def test_a_crash_in_the_middle_of_an_import_leaves_the_upload_waiting(everything_is_large):
    upload = accept(make_project()).upload
    imports._claim(upload.pk)
    worker = Worker(lambda: imports._finish(imports.hold(upload)))
    assert (state_of(upload), Run.objects.count()) == ("importing", 0)
    tasks.import_waiting()  # somebody is at it
    assert (state_of(upload), Run.objects.count()) == ("importing", 0)
    with pytest.raises(UploadBusyError):
        services.delete_upload(upload, by=NOBODY)
    assert accept(upload.project).upload.state == "importing"  # nobody who sends it again has to wait
    worker.dies()
    assert (state_of(upload), Run.objects.count()) == ("importing", 0)
    tasks.import_waiting()
    assert (state_of(upload), Run.objects.count()) == ("imported", 1)


@pytest.mark.django_db(transaction=True)
def test_many_workers_at_once_import_an_upload_once(everything_is_large):
    upload = accept(make_project()).upload
    at_once(*[partial(tasks.import_upload, upload.pk)] * 4)
    assert (state_of(upload), Run.objects.count(), Measurement.objects.count()) == ("imported", 1, 17)


@pytest.mark.django_db(transaction=True)
def test_a_real_worker_imports_a_large_file(worker, everything_is_large):
    upload = accept(make_project()).upload
    worker.wait_until_idle()
    assert (state_of(upload), Run.objects.count()) == ("imported", 1)


@pytest.mark.django_db(transaction=True)
def test_uploads_of_the_same_companions_in_another_order_do_not_deadlock():
    project = make_project()
    files = [RawData(b"a" * 100), RawData(b"b" * 100)]

    def work(order):
        for n in range(10):
            companions = [
                CompanionFile(Companion.Kind.OTHER, "x", RawData(b"%d" % n + f.source)) for f in order
            ]
            accept(project, companions=companions, notes=f"{n} {order is files}")

    at_once(partial(work, files), partial(work, files[::-1]))
    assert Upload.objects.filter(state="imported").count() == 20
    assert RawFile.objects.count() == 21
