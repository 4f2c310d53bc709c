import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from benchdash.accounts.models import Project
from benchdash.results.services import refresh_statistics
from ingest.samples.projects import SAMPLES, SampleProject, load

_EVERY = 50


class Command(BaseCommand):
    help = "Load the sample projects from measured files; those that were removed stay removed."

    def handle(self, *_args: Any, **_options: Any) -> None:
        for sample in SAMPLES:
            if sample.slug not in loaded_samples():
                self._load(sample)

    def _load(self, sample: SampleProject) -> None:
        taken = Project.objects.filter(slug=sample.slug, is_sample=False).exists()
        if taken:
            self.stderr.write(f"sample project {sample.slug}: left out, a project of that name exists")
            return

        def progress(done: int, total: int) -> None:
            if done % _EVERY == 0 or done == total:
                self.stdout.write(f"sample project {sample.slug}: {done} of {total} files")
                self.stdout.flush()

        refused = load(sample, progress=progress)
        refresh_statistics()
        if refused:
            self.stderr.write(f"sample project {sample.slug}: {refused} files were refused, see its uploads")
        _remember(sample.slug)


def loaded_samples() -> set[str]:
    try:
        return set(json.loads(_file().read_text()))
    except FileNotFoundError:
        return set()


def _remember(slug: str) -> None:
    _file().write_text(json.dumps(sorted({*loaded_samples(), slug})))


def _file() -> Path:
    """Beside the data: a new ``var/`` gets its samples anew, and a removed sample is not loaded again."""
    return settings.VAR_DIR / "samples.json"
