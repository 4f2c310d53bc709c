"""One measurement in several forms is one run, whatever becomes of its files."""

import itertools
from functools import partial
from io import StringIO

import pytest
from django.core.management import call_command

from benchdash.accounts.access import NOBODY
from benchdash.results import corrections
from benchdash.results.models import Measurement, Run
from ingest import services, tasks
from ingest.metadata.upload_metadata import read_metadata
from ingest.models import Copy, Upload
from ingest.receiving.arrivals import Arrival
from ingest.receiving.dry_runs import dry_run
from ingest.receiving.reception import receive, receive_one
from ingest.receiving.reimports import reimport
from ingest.storage.raw_bytes import RawData
from tests.builders import make_project
from tests.results.concurrency import at_once

pytestmark = pytest.mark.django_db

SAID = {"product": "MariaDB Connector/J", "version": "2.7.9", "hardware": "box"}
JSON = b"""[{"benchmark": "bench.Select.one", "mode": "avgt", "threads": 1, "forks": 1,
    "warmupIterations": 1, "measurementIterations": 3,
    "primaryMetric": {"score": 58.49812345678, "scoreError": 7.45801234567, "scoreUnit": "us/op",
        "scoreConfidence": [51.04011111111, 65.95613580245],
        "rawData": [[58.0123456, 58.4123456, 59.0696791]]},
    "secondaryMetrics": {}}]"""
CSV = (
    b'"Benchmark","Mode","Threads","Samples","Score","Score Error (99.9%)","Unit"\n'
    b'"bench.Select.one","avgt",1,3,58.498123,7.458012,"us/op"\n'
)
SCSV = CSV.replace(b",", b";").replace(b"58.498", b"58,498").replace(b"7.458", b"7,458")
FORMS = {"json": JSON, "csv": CSV, "scsv": SCSV}


@pytest.fixture
def project():
    return make_project()


def arrival(data, *, name="result.txt", **said):
    metadata, warnings = read_metadata({**SAID, **said})
    return Arrival(name, RawData(data), metadata, (), warnings)


def send(project, data, **said):
    return receive_one(project, by=NOBODY, arrival=arrival(data, **said)).upload


def table(*rows, separator="\t"):
    """Queries per second by query, of one connector."""
    lines = (("query", "MariaDB-JDBC-1.1.7"), *rows)
    return "\n".join(separator.join(map(str, line)) for line in lines).encode()


ROWS = (("DO 1", 12026), ("SELECT 1", 12774), ("SELECT 2", 30804))


def copies_of(upload):
    return sorted(upload.copies.values_list("run__upload_id", flat=True))


def number_of_runs(upload):
    return Run.objects.filter(upload_id=upload.pk).count()


# --- forms of one run ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", list(itertools.permutations(FORMS)))
def test_forms_of_one_jmh_run_are_one_run_whichever_comes_first(project, order):
    uploads = {form: send(project, FORMS[form]) for form in order}
    run = Run.objects.get()
    assert run.upload_id == uploads["json"].pk
    assert Measurement.objects.get().value == pytest.approx(58498.12345678)
    assert run.interval_samples.count() == 1
    assert copies_of(uploads["csv"]) == copies_of(uploads["scsv"]) == [uploads["json"].pk]
    assert copies_of(uploads["json"]) == []


def test_forms_that_come_in_one_batch_are_one_run(project):
    received = receive(project, by=NOBODY, arrivals=[arrival(data) for data in FORMS.values()])
    assert [one.upload.state for one in received] == ["imported"] * 3
    assert [one.duplicate for one in received] == [False] * 3
    assert (Run.objects.count(), Copy.objects.count()) == (1, 2)


def test_a_better_form_takes_the_place_of_the_run_that_is_there_and_keeps_what_was_said_of_it(project):
    send(project, CSV)
    before = Run.objects.get()
    corrections.exclude_run(before, by=NOBODY, reason="the disk was full")
    send(project, JSON)
    run = Run.objects.get()
    assert (run.pk, run.excluded_reason) == (before.pk, "the disk was full")
    assert run.recorded_at == before.recorded_at


def test_a_form_of_another_version_machine_or_workload_is_a_run_of_its_own(project):
    send(project, JSON)
    send(project, CSV, version="2.7.10")
    send(project, CSV, hardware="another box")
    send(project, CSV, workload="another workload")
    send(project, CSV, counterpart="MariaDB 10.11.19")
    send(project, CSV, branch="main")
    send(make_project(), CSV)
    assert (Run.objects.count(), Copy.objects.count()) == (7, 0)


def test_repeats_with_other_figures_are_no_copies(project):
    send(project, JSON, repetition=1)
    again = JSON.replace(b"58.49812345678", b"58.49912345678")
    send(project, again, repetition=2)
    assert (Run.objects.count(), Copy.objects.count()) == (2, 0)


def test_few_digits_that_are_the_same_prove_nothing(project):
    send(project, table(("DO 1", 200), ("SELECT 1", 150)))
    send(project, table(("DO 1", 200), ("SELECT 1", 150), separator=","))
    assert (Run.objects.count(), Copy.objects.count()) == (4, 0)


def test_of_runs_said_to_be_two_repetitions_more_digits_must_agree(project):
    send(project, table(*ROWS), repetition=1)
    assert copies_of(send(project, table(*ROWS, separator=","), repetition=2)) == []
    full = [(query, rate + 0.1234567) for query, rate in ROWS]
    first = send(project, table(*full), repetition=3)
    assert copies_of(send(project, table(*full, separator=","), repetition=4)) == [first.pk] * 3


def test_the_same_bytes_with_other_notes_are_a_copy_however_few_digits_they_have(project):
    first = send(project, table(("DO 1", 200)))
    assert copies_of(send(project, table(("DO 1", 200)), notes="again")) == [first.pk]


# --- tables within tables -----------------------------------------------------------------------------------


def test_a_table_sent_with_other_spaces_is_a_copy_however_often(project):
    first = send(project, table(*ROWS))
    for separator in (",", "\t\t", ";", " | "):
        send(project, table(*ROWS, separator=separator))
    assert {run.upload_id for run in Run.objects.all()} == {first.pk}
    assert Run.objects.count() == 3


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_table_within_a_larger_one_is_a_copy_whichever_comes_first(project, order):
    tables = [table(*ROWS), table(*ROWS, ("SELECT 3", 11111))]
    uploads = [send(project, tables[number]) for number in order]
    assert sorted(Run.objects.values_list("workload__name", flat=True)) == [
        "DO 1",
        "SELECT 1",
        "SELECT 2",
        "SELECT 3",
    ]
    assert sum(len(copies_of(upload)) for upload in uploads) == 3


def test_a_table_that_agrees_in_part_is_no_copy(project):
    send(project, table(*ROWS))
    send(project, table(*ROWS[:2], ("SELECT 2", 30805), separator=","))
    assert (Run.objects.count(), Copy.objects.count()) == (6, 0)


def test_a_table_of_what_came_in_several_files_is_a_copy(project):
    full = [(query, rate + 0.25) for query, rate in ROWS]
    for row in full:
        send(project, table(row))
    whole = send(project, table(*full))
    assert Run.objects.count() == 3
    assert len(copies_of(whole)) == 3


# --- what becomes of them -----------------------------------------------------------------------------------


def test_the_copy_counts_once_the_upload_that_holds_the_run_is_deleted(project):
    csv, json = send(project, CSV), send(project, JSON)
    before = Run.objects.get()
    services.delete_upload(json, by=NOBODY)
    run = Run.objects.get()
    assert (run.pk, run.upload_id) == (before.pk, csv.pk)
    assert Measurement.objects.get().value == pytest.approx(58498.123)
    assert run.interval_samples.count() == 0
    services.restore_upload(json, by=NOBODY)
    assert Run.objects.get().upload_id == json.pk
    assert copies_of(csv) == [json.pk]


def test_of_two_copies_one_holds_the_run_of_a_deleted_upload_and_the_other_repeats_it(project):
    json, csv, scsv = (send(project, data) for data in (JSON, CSV, SCSV))
    services.delete_upload(json, by=NOBODY)
    assert Run.objects.get().upload_id == csv.pk
    assert copies_of(scsv) == [csv.pk]


def test_nothing_is_left_when_all_forms_are_deleted(project):
    uploads = [send(project, data) for data in FORMS.values()]
    for upload in uploads:
        services.delete_upload(upload, by=NOBODY)
    assert (Run.objects.count(), Copy.objects.count(), Measurement.objects.count()) == (0, 0, 0)


def test_a_copy_of_which_something_else_is_said_is_a_run_of_its_own(project):
    json, csv = send(project, JSON), send(project, CSV)
    services.amend_upload(csv, {"version": "2.7.10"}, by=NOBODY)
    assert (number_of_runs(json), number_of_runs(csv), Copy.objects.count()) == (1, 1, 0)
    services.amend_upload(csv, {"version": "2.7.9"}, by=NOBODY)
    assert (number_of_runs(json), number_of_runs(csv), copies_of(csv)) == (1, 0, [json.pk])


def test_a_copy_counts_once_something_else_is_said_of_the_upload_that_held_its_run(project):
    json, csv = send(project, JSON), send(project, CSV)
    services.amend_upload(json, {"version": "2.7.10"}, by=NOBODY)
    assert {(run.upload_id, run.version.version) for run in Run.objects.select_related("version")} == {
        (json.pk, "2.7.10"),
        (csv.pk, "2.7.9"),
    }
    assert Copy.objects.count() == 0


def test_a_preview_says_that_a_change_makes_a_copy_and_changes_nothing(project):
    send(project, JSON)
    other = send(project, CSV, version="2.7.10")
    preview = services.preview_amend(other, {"version": "2.7.9"}, by=NOBODY)
    assert (preview.series_left, preview.series_entered) == (1, 0)
    assert (Run.objects.count(), Copy.objects.count()) == (2, 0)


def test_read_again_a_copy_and_what_it_repeats_stay_as_they_are(project):
    csv, json = send(project, CSV), send(project, JSON)
    before = list(Run.objects.values_list("pk", "upload_id"))
    assert {reimport(one).outcome for one in (csv, json)} == {"the same"}
    assert list(Run.objects.values_list("pk", "upload_id")) == before
    assert copies_of(csv) == [json.pk]


def test_copies_that_an_older_release_counted_are_found_when_they_are_read_again(project):
    csv, json = send(project, CSV), send(project, JSON, version="2.7.10")
    # As it was stored before copies were known.
    wrong = Run.objects.get(upload_id=json.pk)
    right = Run.objects.get(upload_id=csv.pk)
    Upload.objects.filter(pk=json.pk).update(metadata=csv.metadata)
    corrections.merge(wrong.version, right.version, by=NOBODY)
    assert Run.objects.count() == 2
    out = StringIO()
    call_command("reimport", "--project", project.slug, stdout=out)
    assert "another form of runs that are there" in out.getvalue()
    run = Run.objects.get()
    assert (run.upload_id, copies_of(csv)) == (json.pk, [json.pk])


# --- trying -------------------------------------------------------------------------------------------------


def test_a_dry_run_says_of_which_upload_a_file_is_another_form(project):
    json = send(project, JSON)
    run = Run.objects.get()
    tried = dry_run(project, arrival(CSV))
    assert [(copy.run, copy.of_upload) for copy in tried.copies] == [(run.pk, json.pk)]
    assert [one.id for one in tried.runs] == [run.pk]
    assert (Upload.objects.count(), Copy.objects.count()) == (1, 0)


def test_a_dry_run_says_whose_place_a_better_form_takes(project):
    csv = send(project, CSV)
    tried = dry_run(project, arrival(JSON))
    assert tried.copies == []
    assert [one.id for one in tried.runs] == [None]
    assert f"it tells more than upload {csv.pk}, another form of it, and takes its place" in tried.warnings
    assert Measurement.objects.get().value == pytest.approx(58498.123)


# --- large files and several workers ------------------------------------------------------------------------


def test_large_forms_that_a_job_imports_are_one_run(project, settings):
    settings.UPLOAD_IMPORT_AT_ONCE_BYTES = 10
    uploads = [send(project, data) for data in (CSV, JSON, SCSV)]
    tasks.import_waiting()
    assert Run.objects.get().upload_id == uploads[1].pk
    assert Copy.objects.count() == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("attempt", range(3))
def test_forms_that_come_at_the_same_time_are_one_run(attempt):
    project = make_project()
    json, *_ = at_once(*(partial(send, project, data) for data in FORMS.values()))
    tasks.import_waiting()
    assert Run.objects.get().upload_id == json.pk
    assert Copy.objects.count() == 2
    assert set(Upload.objects.values_list("state", flat=True)) == {"imported"}
