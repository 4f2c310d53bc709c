"""The sample projects: real files, through the door of any upload."""

from datetime import UTC, datetime

import pytest
from django.core.management import call_command

from benchdash.accounts.models import Project
from benchdash.results.models import Run, TouchedSeries
from ingest.management.commands.load_samples import loaded_samples
from ingest.models import Upload
from ingest.samples import projects

pytestmark = pytest.mark.django_db


@pytest.fixture
def few_files(settings, tmp_path, monkeypatch):
    """Of every sample the first files only: all of them take half a minute."""
    settings.VAR_DIR = tmp_path
    samples = [
        projects.SampleProject(
            one.slug, one.name, one.notice, lambda last, one=one: iter(list(one.files(last))[:4])
        )
        for one in projects.SAMPLES
    ]
    monkeypatch.setattr("ingest.management.commands.load_samples.SAMPLES", samples)


def test_samples_are_public_quiet_and_say_how_far_to_trust_them(few_files):
    call_command("load_samples")
    for project in Project.objects.all():
        assert project.is_sample
        assert project.is_public
        assert "noisy shared machine" in project.notice
    assert Upload.objects.count() == 8
    assert not Upload.objects.exclude(state=Upload.State.IMPORTED).exists()
    assert not TouchedSeries.objects.filter(quiet=False).exists()


def test_a_removed_sample_is_not_loaded_again(few_files):
    call_command("load_samples")
    assert loaded_samples() == {"watch", "releases"}
    call_command("remove_samples")
    call_command("load_samples")
    assert not Project.objects.exists()


def test_an_interrupted_loading_goes_on_and_sends_nothing_twice(few_files, settings):
    call_command("load_samples")
    before = Upload.objects.count(), Run.objects.count()
    (settings.VAR_DIR / "samples.json").unlink()
    call_command("load_samples")
    assert (Upload.objects.count(), Run.objects.count()) == before


def test_nights_are_one_day_apart_and_name_what_was_switched():
    watch = projects.SAMPLES[0]
    files = watch.files(datetime(2026, 11, 20, 2, tzinfo=UTC))
    nights = [file for file in files if file.file_name.endswith("oltp_read_only.txt")]
    starts = [f"{file.metadata.started_at:%Y-%m-%d}" for file in nights]
    assert len(set(starts)) == 73
    assert starts == sorted(starts)
    assert starts[-1] == "2026-11-20"
    assert {file.metadata.meta["state"] for file in nights} >= {"base", "performance_schema=ON"}


def test_a_project_of_somebody_else_is_left_alone(few_files, capsys):
    Project.objects.create(slug="watch", name="mine")
    call_command("load_samples")
    assert "a project of that name exists" in capsys.readouterr().err
    assert not Run.objects.filter(project__slug="watch").exists()
