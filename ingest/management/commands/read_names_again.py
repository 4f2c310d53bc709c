from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from benchdash.accounts.models import Project
from benchdash.results.services import refresh_statistics
from ingest.management.shared import project_called
from ingest.names_read_again import read_names_again


class Command(BaseCommand):
    help = (
        "Read uploads again of which an older benchdash masked a name (***), or called a branch as git does "
        "(refs/heads/main). Runs keep their identity, incidents what was said of them, and nobody is mailed. "
        "Done again, it changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", help="only this project")
        parser.add_argument("--dry-run", action="store_true", help="say what would change, store nothing")

    def handle(self, *_args: Any, **options: Any) -> None:
        slug, store = options["project"], not options["dry_run"]
        for project in [project_called(slug)] if slug else Project.objects.order_by("slug"):
            read = read_names_again(project, store=store)
            for line in read.renamed:
                self.stdout.write(f"{project.slug}: {line}")
            self.stdout.write(
                f"{project.slug}: {read.uploads:,} uploads read again, {read.runs:,} runs have other names, "
                f"{read.left:,} runs keep a masked one, which their uploads no longer say"
            )
        self.stdout.write("nothing was stored" if options["dry_run"] else "done")
        if store:
            refresh_statistics()
