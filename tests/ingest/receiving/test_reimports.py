from io import StringIO

import pytest
from django.core import mail
from django.core.management import call_command
from django.core.management.base import CommandError

from benchdash.accounts.access import NOBODY
from benchdash.accounts.models import AuditEntry
from benchdash.regressions.services import analyse_touched
from benchdash.results import corrections
from benchdash.results.models import Measurement, Run, Series, TouchedSeries
from ingest import services
from ingest.models import Upload
from ingest.queries import run_summaries
from ingest.receiving.reimports import ChangedReading, ReimportOutcome, readable_uploads, reimport
from tests.builders import make_project
from tests.ingest.sending import SYSBENCH, accept

pytestmark = pytest.mark.django_db


def send(*data, project=None, **said):
    return accept(project or make_project(), *data, **said).upload


def spoil(upload, metric, value):
    """As if an older format had read another value."""
    Measurement.objects.filter(run__upload_id=upload.pk, series__metric=metric).update(value=value)


def value_of(upload, metric):
    return Measurement.objects.get(run__upload_id=upload.pk, series__metric=metric).value


def command(*arguments):
    out = StringIO()
    call_command("reimport", *arguments, stdout=out, stderr=out)
    return out.getvalue()


def test_a_file_read_again_as_before_is_the_same():
    upload = send()
    run = Run.objects.get()
    reread = reimport(upload)
    assert (reread.outcome, reread.changes) == (ReimportOutcome.SAME, ())
    assert Run.objects.get().pk == run.pk
    assert not AuditEntry.objects.filter(action="upload read again").exists()


def test_what_is_derived_of_a_scaling_curve_is_not_read_in_files():
    project = make_project()
    reports = [SYSBENCH.replace(b"Number of threads: 8", b"Number of threads: %d" % n) for n in (1, 2, 4, 8)]
    uploads = [send(report, project=project) for report in reports]
    readings = [run_summaries(upload)[0].readings for upload in uploads]
    analyse_touched()
    assert Series.objects.filter(is_derived=True).count() == 4
    assert [run_summaries(upload)[0].readings for upload in uploads] == readings
    assert [(reread.outcome, reread.changes) for reread in map(reimport, uploads)] == [
        (ReimportOutcome.SAME, ())
    ] * 4
    analyse_touched()
    assert Series.objects.filter(is_derived=True).count() == 4
    assert Measurement.objects.filter(series__is_derived=True).count() == 4


def test_changed_new_and_gone_readings_are_listed_and_the_run_keeps_its_identity():
    upload = send()
    run = Run.objects.get()
    tps, qps = value_of(upload, "tps"), value_of(upload, "qps")
    spoil(upload, "tps", 1.0)
    Series.objects.filter(metric="qps").delete()
    Series.objects.filter(metric="latency_p95").update(metric="latency_p90")
    reread = reimport(upload)
    assert reread.outcome == ReimportOutcome.CHANGED
    p95 = value_of(upload, "latency_p95")
    assert reread.changes == (
        ChangedReading("", "latency_p90", p95, None),
        ChangedReading("", "latency_p95", None, p95),
        ChangedReading("", "qps", None, qps),
        ChangedReading("", "tps", 1.0, tps),
    )
    assert Run.objects.get().pk == run.pk
    assert value_of(upload, "tps") == tps


def test_without_storing_nothing_changes():
    upload = send()
    spoil(upload, "tps", 1.0)
    assert reimport(upload, store=False).outcome == ReimportOutcome.CHANGED
    assert value_of(upload, "tps") == 1.0
    assert not AuditEntry.objects.exists()


def test_what_was_changed_is_in_the_record_of_the_project():
    upload = send()
    spoil(upload, "tps", 1.0)
    reimport(upload)
    entry = AuditEntry.objects.get(action="upload read again")
    assert entry.subject == f"{upload.pk} t8.txt"
    assert entry.detail["changed readings"] == 1
    assert entry.detail["first of them"][0]["before"] == 1.0


def test_a_refused_file_that_is_understood_now_is_imported(monkeypatch):
    with monkeypatch.context() as earlier:
        earlier.setattr("ingest.formats.FORMATS", {})
        upload = send()
    assert upload.state == Upload.State.REFUSED
    assert reimport(upload).outcome == ReimportOutcome.UNDERSTOOD
    upload.refresh_from_db()
    assert (upload.state, upload.errors, Run.objects.count()) == (Upload.State.IMPORTED, [], 1)


def test_a_file_that_is_no_longer_understood_stays_as_it_was(monkeypatch):
    upload = send()
    before = list(Measurement.objects.order_by("series").values())
    monkeypatch.setattr("ingest.formats.FORMATS", {})
    reread = reimport(upload)
    assert reread.outcome == ReimportOutcome.LEFT
    assert reread.errors[0]["message"]
    assert list(Measurement.objects.order_by("series").values()) == before
    upload.refresh_from_db()
    assert upload.state == Upload.State.IMPORTED


def test_a_file_that_cannot_be_read_now_stays_as_it_was(stored_files):
    upload = send()
    before = run_summaries(upload)
    (stored_files / upload.raw.storage_name).unlink()
    reread = reimport(upload)
    assert reread.outcome is ReimportOutcome.UNAVAILABLE
    assert reread.errors[0]["message"] == "the file is not in the storage of this machine"
    assert run_summaries(upload) == before
    assert command().endswith("1 its file cannot be read now, left as it was\n")


def test_a_refused_file_stays_refused_with_its_reason():
    upload = send(b"hello\n")
    assert reimport(upload).outcome == ReimportOutcome.STILL_REFUSED
    upload.refresh_from_db()
    assert upload.state == Upload.State.REFUSED


def test_an_excluded_run_and_a_renamed_machine_stay_so():
    upload = send()
    run = Run.objects.get()
    corrections.exclude_run(run, by=NOBODY, reason="noise")
    corrections.rename(run.hardware, "bench-01", by=NOBODY, reason="")
    reimport(upload)
    run = Run.objects.get()
    assert run.is_excluded
    assert run.hardware.name == "bench-01"


def test_a_deleted_upload_is_not_read_again():
    upload = send()
    services.delete_upload(upload, by=NOBODY)
    assert not readable_uploads().exists()


def test_nobody_is_mailed_for_what_a_reimport_brings():
    upload = send()
    TouchedSeries.objects.all().delete()
    spoil(upload, "tps", 1.0)
    reimport(upload)
    assert set(TouchedSeries.objects.values_list("quiet", flat=True)) == {True}
    assert mail.outbox == []


def test_the_command_lists_what_changed_and_counts_the_rest():
    project = make_project("nightly")
    same, changed = send(project=project), send(project=project, version="10.11.20")
    send(project=project, version="10.11.21", data=b"hello\n")
    send()  # of another project
    tps = value_of(same, "tps")
    spoil(changed, "tps", 1.0)
    assert command("--project", "nightly", "--dry-run").splitlines() == [
        f"nightly, upload {changed.pk} t8.txt: changed",
        f"  tps: 1 before, {tps:.10g} now",
        "1 the same, 1 changed, 1 still refused",
    ]
    assert value_of(changed, "tps") == 1.0
    command("--project", "nightly")
    assert value_of(changed, "tps") == tps


def test_the_command_reads_the_files_of_one_format():
    upload = send()
    spoil(upload, "tps", 1.0)
    assert command("--format", "jmh_json") == "no upload to read\n"
    assert "1 changed" in command("--format", "sysbench")


def test_a_project_that_does_not_exist_is_an_error():
    with pytest.raises(CommandError, match="no project is called 'nowhere'"):
        command("--project", "nowhere")


def test_how_steady_a_run_was_is_added_to_what_was_stored_before(settings):
    settings.STALL_FEWEST_INTERVALS = 1000
    upload = send()
    assert not Series.objects.filter(metric="stalls_per_min").exists()
    settings.STALL_FEWEST_INTERVALS = 2
    assert reimport(upload).outcome == ReimportOutcome.CHANGED
    assert value_of(upload, "stalls_per_min") == 0
    assert 0 < value_of(upload, "tps_worst") < value_of(upload, "tps")
