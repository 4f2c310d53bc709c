import pytest
from django.apps import apps
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.alerts.services import owe_alerts, subscribe
from benchdash.regressions.models import Incident
from benchdash.regressions.services import analyse_touched, comment
from ingest.models import Companion, RawFile
from ingest.removal import delete_project
from tests.builders import make_project, make_token, make_upload, make_user
from tests.regressions.nights import record_nights

pytestmark = pytest.mark.django_db

BY = Viewer()


def rows():
    """How many rows there are of each of our models; people are no part of a project."""
    ours = ("accounts", "results", "regressions", "alerts", "ingest")
    models = [model for name in ours for model in apps.get_app_config(name).get_models()]
    return {model.__name__: model._default_manager.count() for model in models if model.__name__ != "User"}


def full_project():
    """A project with something of every kind."""
    project = make_project()
    alice = make_user(f"alice-{project.slug}", member_of=project)
    make_token(project)
    subscribe(project, "alice@example.org", by=Viewer(user=alice))
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


def test_its_files_are_deleted_once_that_is_certain(settings, tmp_path, django_capture_on_commit_callbacks):
    settings.MEDIA_ROOT = tmp_path
    project = make_project()
    name = default_storage.save(f"raw/{project.pk}/aa/aaaa", ContentFile(b"a large file"))
    RawFile.objects.create(project=project, sha256="a" * 64, size=12, storage_name=name)
    with django_capture_on_commit_callbacks(execute=True):
        delete_project(project, by=BY)
        assert default_storage.exists(name)
    assert not default_storage.exists(name)


def test_the_log_says_who_deleted_it(caplog):
    caplog.set_level("INFO")
    delete_project(make_project("nightly"), by=Viewer(user=make_user()))
    assert "project nightly was deleted by Alice" in caplog.text


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
