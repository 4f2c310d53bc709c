import threading
from itertools import pairwise

import pytest
from django.apps import apps
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import transaction

from benchdash.accounts.access import BeingDeleted, NotVisible, Viewer
from benchdash.accounts.models import Project, Scope, User
from benchdash.accounts.services import find_token
from benchdash.alerts.services import owe_alerts
from benchdash.alerts.subscriptions import subscribe
from benchdash.regressions.models import Incident
from benchdash.regressions.services import analyse_touched
from benchdash.regressions.triage import comment
from benchdash.results.models import Run
from ingest.models import Companion, RawFile, Removal, Upload
from ingest.receiving.imports import import_by_job, waiting_upload_ids
from ingest.receiving.reception import receive_one
from ingest.removal import begin_removal, carry_on, delete_project
from ingest.tasks import delete_projects
from tests.builders import (
    make_project,
    make_run,
    make_token,
    make_upload,
    make_user,
)
from tests.ingest import sending
from tests.ingest.sending import SAID, arrival, client_of
from tests.large_projects import make_large_project
from tests.regressions.nights import record_nights
from tests.results.concurrency import at_once
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db

BY = Viewer()


def rows():
    """How many rows there are of each of our models; people and removals are of no project."""
    ours = ("accounts", "results", "regressions", "alerts", "ingest")
    models = [model for name in ours for model in apps.get_app_config(name).get_models()]
    return {
        model.__name__: model._default_manager.count() for model in models if model not in (User, Removal)
    }


def full_project():
    """A project with something of every kind."""
    project = make_project()
    alice = make_user(f"alice-{project.slug}", member_of=project)
    make_token(project)
    subscribe(project, alice.email, by=Viewer(user=alice))
    record_nights(
        project,
        [1.0] * 20 + [0.8] * 6,
        workloads=["oltp_read_only"],
        settings={"a": "1"},
        environment={"kernel": "6.1"},
    )
    analyse_touched()
    comment(Incident.objects.get(project=project), by=Viewer(user=alice), text="why?")
    upload = make_upload(project)
    Companion.objects.create(upload=upload, raw=upload.raw, kind="companion", name="vmstat.txt")
    owe_alerts()
    return project


def test_nothing_of_a_deleted_project_is_left_and_nothing_of_others_is_gone():
    full_project()
    before = rows()
    assert all(before[name] for name in ("Run", "Incident", "Alert", "Comment", "Upload", "Companion"))
    delete_project(full_project(), by=BY)
    assert rows() == before


def test_its_large_files_are_deleted_before_their_rows_so_that_a_crash_forgets_none(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    project = make_project()
    names = [
        default_storage.save(f"raw/{project.pk}/{at}", ContentFile(b"a large file")) for at in ("aa", "bb")
    ]
    for name in names:
        RawFile.objects.create(project=project, sha256=name[-2:] * 32, size=12, storage_name=name)
    # A worker died after it had deleted a file, and before its row went.
    default_storage.delete(names[0])
    delete_project(project, by=BY)
    assert not any(map(default_storage.exists, names))
    assert not RawFile.objects.exists()


def test_the_log_says_who_deleted_it(caplog):
    caplog.set_level("INFO")
    delete_project(make_project("nightly"), by=Viewer(user=make_user()))
    assert "project nightly is deleted by Alice" in caplog.text
    assert "project nightly is gone" in caplog.text


def test_while_it_is_deleted_it_exists_for_nobody_and_its_members_are_told():
    project = make_project("nightly", public=True)
    admin = make_user("admin", is_superuser=True)
    token = find_token(make_token(project))
    begin_removal(project, by=Viewer(user=admin))
    token.project.refresh_from_db()
    for viewer in (BY, Viewer(user=admin), Viewer(token=token)):
        assert not viewer.projects()
        assert not viewer.project_ids(Scope.READ)
    with pytest.raises(NotVisible):
        BY.project("nightly")
    for viewer in (Viewer(user=admin), Viewer(token=token)):
        with pytest.raises(BeingDeleted, match="the project 'nightly' is being deleted"):
            viewer.project("nightly")


def test_to_delete_it_twice_is_to_delete_it_once():
    project = make_project()
    assert begin_removal(project, by=BY) == begin_removal(project, by=BY)


def test_its_name_is_free_when_it_is_gone():
    delete_project(make_project("nightly"), by=BY)
    delete_project(make_project("nightly"), by=BY)
    assert [removal.per_cent for removal in Removal.objects.all()] == [100, 100]


def test_a_turn_ends_after_a_batch_and_the_next_one_goes_on():
    removal = begin_removal(make_large_project("large", runs=2_500, kinds=10), by=BY)
    left = [removal.total]
    while not carry_on(removal, ends_at=0.0):
        removal.refresh_from_db()
        assert removal.per_cent < 100
        assert removal.total - removal.done == sum(model.objects.count() for model in (Run, Upload, RawFile))
        left.append(removal.total - removal.done)
    # 2,501 runs, 11 uploads and 11 files, at most 1,000 of a kind at a time.
    assert [before - after for before, after in pairwise(left) if before != after] == [
        1000,
        1000,
        501,
        11,
        11,
    ]
    assert not Project.objects.exists()


def test_runs_that_an_upload_under_way_still_recorded_are_deleted_too():
    project = make_project()
    make_run(project=project)
    removal = begin_removal(project, by=BY)
    carry_on(removal, ends_at=0.0)
    make_run(project=project)
    carry_on(removal)
    assert not Run.objects.exists()


def test_what_waits_in_it_is_not_imported_any_more():
    project = make_project()
    upload = make_upload(project, state=Upload.State.QUEUED)
    begin_removal(project, by=BY)
    assert waiting_upload_ids() == []
    import_by_job(upload.pk)
    upload.refresh_from_db()
    assert upload.state == Upload.State.QUEUED


def test_uploads_to_it_are_refused_with_a_sentence_and_uploads_to_others_are_not():
    project, other = make_project("nightly"), make_project("other")
    secret, others = make_token(project), make_token(other)
    begin_removal(project, by=BY)
    for fields in ({}, {"project": "nightly"}):
        answer = send(secret, **fields)
        assert answer.status_code == 409
        assert answer["Content-Type"] == "application/problem+json"
        assert answer.json()["detail"] == "the project 'nightly' is being deleted"
    assert send(others).status_code == 201


def send(secret, **fields):
    return sending.send(client_of(secret), **SAID, **fields)


@pytest.mark.django_db(transaction=True)
def test_a_file_that_came_before_the_deletion_began_is_refused_after_it():
    project = make_project("nightly")
    as_it_was = Project.objects.get(pk=project.pk)
    delete_project(project, by=BY)
    with pytest.raises(BeingDeleted):
        receive_one(as_it_was, by=BY, arrival=arrival())


@pytest.mark.django_db(transaction=True)
def test_a_deletion_keeps_no_upload_to_another_project_waiting():
    project, other = make_large_project("large", runs=3_000, kinds=100), make_project("other")
    secret = make_token(other)
    batch = threading.Event(), threading.Event()

    def delete_and_wait():
        with transaction.atomic():
            carry_on(removal)
            batch[0].set()
            assert batch[1].wait(30)

    def upload():
        assert batch[0].wait(30)
        try:
            return send(secret).status_code
        finally:
            batch[1].set()

    removal = begin_removal(project, by=BY)
    assert at_once(delete_and_wait, upload) == [None, 201]


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_is_killed_leaves_the_rest_to_the_next(worker):
    project = make_large_project("large", runs=8_000, kinds=100)
    removal = begin_removal(project, by=BY)
    wait_until(lambda: Removal.objects.get().done > 1000)
    worker.kill()
    assert Project.objects.exists()
    assert not Removal.objects.get().finished_at
    # PostgreSQL notices within moments that a worker is gone; beat asks again and again.
    wait_until(lambda: delete_projects() or Removal.objects.get().finished_at)
    assert not Project.objects.exists()
    removal.refresh_from_db()
    assert removal.done == removal.total


def test_samples_are_removed_by_one_command_and_nothing_else(capsys):
    make_project("watch", is_sample=True)
    make_project("ours")
    call_command("remove_samples")
    call_command("remove_samples")
    assert list(Project.objects.values_list("slug", flat=True)) == ["ours"]
    assert capsys.readouterr().out.splitlines() == [
        "removed sample project watch",
        "there is no sample project",
    ]
