import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.accounts.access import NOBODY
from benchdash.results.models import Measurement, Run
from ingest.errors import FieldsError
from ingest.models import Companion, RawFile, Upload
from ingest.receiving import reception
from ingest.receiving.arrivals import CompanionFile
from ingest.receiving.reception import known_uploads, receive, receive_one
from ingest.storage.raw_bytes import RawData
from tests.builders import make_project
from tests.ingest.sending import SYSBENCH, arrival

pytestmark = pytest.mark.django_db


def accept(project, *arrivals):
    return receive(project, by=NOBODY, arrivals=arrivals)


def states(results):
    return [result.upload.state for result in results]


def test_files_sent_together_are_imported_as_each_alone_would_be(project):
    alone = make_project()
    arrivals = [arrival(version=f"10.11.{number}") for number in range(3)]
    for one in arrivals:
        accept(alone, one)
    results = accept(project, *arrivals)
    assert states(results) == ["imported"] * 3
    assert not any(result.duplicate for result in results)

    def stored(project):
        uploads = Upload.objects.filter(project=project).order_by("pk")
        return [
            (one.name, one.format, one.state, one.done, one.metadata, one.metadata_digest, one.raw.sha256)
            for one in uploads
        ], [
            [
                (run.key, run.version.version, run.threads, run.options, run.measurements.count())
                for run in Run.objects.filter(upload_id=one.pk)
            ]
            for one in uploads
        ]

    assert stored(project) == stored(alone)


def test_a_bad_file_does_not_stop_the_rest(project):
    results = accept(
        project, arrival(version="1"), arrival(b"hello\n"), arrival(hardware=None), arrival(version="2")
    )
    assert results[1].upload.state == "refused"
    assert isinstance(results[2], FieldsError)
    assert states([results[0], results[3]]) == ["imported"] * 2
    assert Run.objects.count() == 2


def test_a_file_that_the_history_cannot_hold_is_refused_and_the_rest_is_stored(project):
    unstorable = SYSBENCH.replace(b"sysbench 1.0.20", b"sysbench " + b"x" * 400 + b" run\nsysbench 1.0.20")
    results = accept(project, arrival(version="1"), arrival(unstorable, workload=None))
    assert states(results) == ["imported", "refused"]
    assert Run.objects.count() == 1


def test_the_same_file_twice_in_a_batch_and_in_the_next_is_one_upload(project):
    first, second = accept(project, arrival(), arrival())
    [third] = accept(project, arrival())
    assert [first.duplicate, second.duplicate, third.duplicate] == [False, True, True]
    assert first.upload.pk == second.upload.pk == third.upload.pk
    assert Run.objects.count() == 1


def test_the_same_content_under_two_versions_is_kept_once(project):
    accept(project, arrival(version="1"), arrival(version="2"))
    assert (RawFile.objects.count(), Upload.objects.count()) == (1, 2)


def test_a_deleted_upload_in_a_batch_is_restored(project):
    [first] = accept(project, arrival())
    Upload.objects.update(state=Upload.State.DELETED)
    Run.objects.all().delete()
    [again] = accept(project, arrival())
    assert (again.upload.pk, again.upload.state) == (first.upload.pk, "imported")
    assert Measurement.objects.exists()


def test_a_companion_is_kept_once_beside_its_file(project):
    conf = CompanionFile(Companion.Kind.CONFIGURATION, "my.cnf", RawData(b"[mysqld]\nport = 1\nbig = 1\n"))
    [result] = accept(project, arrival(companions=[conf, conf]))
    assert [one.name for one in result.upload.companions.all()] == ["my.cnf"]
    assert Run.objects.get().content.settings == {"big": "1"}


def test_a_large_file_is_left_to_a_job(project, settings):
    settings.UPLOAD_IMPORT_AT_ONCE_BYTES = 10
    assert states(accept(project, arrival())) == ["queued"]


def test_an_upload_that_came_in_meanwhile_counts_once(project, monkeypatch):
    [first] = accept(project, arrival())
    asked = []

    def known_later(*sent):
        """As if it had been committed between the question and the answer."""
        asked.append(sent)
        return known_uploads(*sent) if len(asked) > 1 else {}

    monkeypatch.setattr(reception, "known_uploads", known_later)
    again, new = accept(project, arrival(), arrival(version="2"))
    assert (again.upload.pk, again.duplicate) == (first.upload.pk, True)
    assert new.upload.state == "imported"
    assert Run.objects.count() == 2


def test_a_batch_takes_a_constant_number_of_statements(project):
    def statements(number, start):
        arrivals = [arrival(version=f"10.{start}.{minor}") for minor in range(number)]
        with CaptureQueriesContext(connection) as queries:
            accept(project, *arrivals)
        return len(queries)

    statements(1, start=0)
    assert statements(20, start=1) == statements(2, start=2)


# --- the same bytes with other metadata ---------------------------------------------------------------------


def twin_warnings(received):
    return [warning for warning in received.upload.warnings if "is the same file" in warning]


def test_the_same_bytes_with_other_metadata_name_the_earlier_upload(project):
    first = receive_one(project, by=NOBODY, arrival=arrival(tags=["a"]))
    assert twin_warnings(first) == []
    again = receive_one(
        project, by=NOBODY, arrival=arrival(hardware="box-2", notes="x" * 50, repetition=2, tags=["b"])
    )
    assert not again.duplicate
    [warning] = twin_warnings(again)
    day = f"{first.upload.received_at:%Y-%m-%d}"
    assert warning == (
        f"upload {first.upload.pk} of {day} ('t8.txt') is the same file with other metadata: "
        "hardware was 'box' and is 'box-2', "
        f"notes was not said and is '{'x' * 40}…', repetition was not said and is '2', "
        "1 more differ; if it was said wrongly then, change or delete that upload"
    )
    # Sent again, neither says more.
    assert receive_one(project, by=NOBODY, arrival=arrival(tags=["a"])).duplicate


def test_the_same_bytes_with_other_files_beside_them_name_the_earlier_upload(project):
    receive_one(project, by=NOBODY, arrival=arrival())
    beside = [CompanionFile("companion", "x.txt", RawData(b"x"))]
    [warning] = twin_warnings(receive_one(project, by=NOBODY, arrival=arrival(companions=beside)))
    assert "other files lay beside it" in warning


@pytest.mark.parametrize("state", ["refused", "deleted"])
def test_what_counts_for_nothing_is_no_twin(project, state):
    first = receive_one(project, by=NOBODY, arrival=arrival())
    Upload.objects.filter(pk=first.upload.pk).update(state=state)
    assert twin_warnings(receive_one(project, by=NOBODY, arrival=arrival(hardware="box-2"))) == []


def test_another_project_has_no_twin_of_it(project):
    receive_one(make_project(), by=NOBODY, arrival=arrival(hardware="box-2"))
    assert twin_warnings(receive_one(project, by=NOBODY, arrival=arrival())) == []


def test_files_of_a_batch_name_no_twins_whichever_came_first(project):
    receive_one(project, by=NOBODY, arrival=arrival())
    for number in (1, 3):
        received = accept(project, arrival(repetition=number), arrival(repetition=number + 1))
        assert [twin_warnings(one) for one in received] == [[], []]


def test_a_large_file_names_its_twin_too(project, settings):
    first = receive_one(project, by=NOBODY, arrival=arrival())
    settings.UPLOAD_IMPORT_AT_ONCE_BYTES = 0
    [warning] = twin_warnings(receive_one(project, by=NOBODY, arrival=arrival(hardware="box-2")))
    assert warning.startswith(f"upload {first.upload.pk} of ")
