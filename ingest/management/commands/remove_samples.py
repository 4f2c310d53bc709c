from typing import Any

from django.core.management.base import BaseCommand

from benchdash.accounts.access import NOBODY
from benchdash.accounts.models import Project
from ingest.removal import delete_project


class Command(BaseCommand):
    help = "Remove the sample projects with all that is in them. They are not loaded again into this var/."

    def handle(self, *_args: Any, **_options: Any) -> None:
        samples = list(Project.objects.filter(is_sample=True).order_by("slug"))
        for project in samples:
            delete_project(project, by=NOBODY)
            self.stdout.write(f"removed sample project {project.slug}")
        if not samples:
            self.stdout.write("there is no sample project")
