from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchdash.accounts.models import Project
from benchdash.regressions.services import Progress, analyse_touched, recompute


class Command(BaseCommand):
    help = (
        "Look at the series that are due, as the worker does; or, with --project or --all, at every place "
        "anew. That mails nobody: what changed is listed quietly."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", help="every place of this project")
        parser.add_argument("--all", action="store_true", help="every place of every project, or of that one")

    def handle(self, *_args: Any, **options: Any) -> None:
        if not options["project"] and not options["all"]:
            self.stdout.write(f"{analyse_touched()} touched series were looked at")
            return
        last = Progress(0, 0, 0)
        told = -1
        for last in recompute(project=self._project(options["project"]), set_aside_too=True):
            if last.per_cent != told:
                told = last.per_cent
                self.stdout.write(f"{last.done} of {last.total} places, {told} %")
                self.stdout.flush()
        if not last.total:
            self.stdout.write("there is nothing to look at")
        if last.failed:
            raise CommandError(
                f"{last.failed} of {last.total} places failed, see the log; the others are done"
            )

    def _project(self, slug: str | None) -> Project | None:
        if slug is None:
            return None
        project = Project.objects.filter(slug=slug).first()
        if project is None:
            raise CommandError(f"no project is called {slug!r}")
        return project
