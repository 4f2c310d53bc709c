from typing import Any

from django.core.management.base import BaseCommand

from benchdash.accounts.access import NOBODY
from benchdash.accounts.models import Project
from ingest.removal import delete_project


class Command(BaseCommand):
    help = "Delete the sample projects; they are not loaded again."

    def handle(self, *_args: Any, **_options: Any) -> None:
        samples = list(Project.objects.filter(is_sample=True))
        for project in samples:
            delete_project(project, by=NOBODY)
            self.stdout.write(f"{project.slug} was deleted")
        if not samples:
            self.stdout.write("there is no sample project")
