from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from benchdash.accounts.access import NOBODY
from benchdash.accounts.models import Project
from benchdash.results.corrections import CorrectionError, unmerge
from benchdash.results.merges import later_runs, merges_of
from benchdash.results.models import Merge
from benchdash.results.wording import counted

_SHOWN_RUNS = 20


class Command(BaseCommand):
    help = (
        "Take a merge of products, versions, machines, configurations or workloads apart again. Without a "
        "number, the merges that can be taken apart are listed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("merge", nargs="?", type=int, help="the number of a merge")
        parser.add_argument("--project", metavar="SLUG", required=True)
        parser.add_argument(
            "--with-later",
            action="store_true",
            help="take the runs along that came in since under the old name",
        )
        parser.add_argument("--reason", default="", help="kept in the audit log")
        parser.add_argument("--dry-run", action="store_true", help="say what would change, store nothing")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"no project is called {options['project']!r}")
        if options["merge"] is None:
            self._list(project)
            return
        merge = merges_of(project).filter(pk=options["merge"]).first()
        if merge is None:
            raise CommandError(f"there is no merge {options['merge']} in {project.slug!r} to take apart")
        self._take_apart(merge, options)

    def _list(self, project: Project) -> None:
        for merge in merges_of(project):
            self.stdout.write(f"{merge.pk}: {merge}, {merge.at:%Y-%m-%d}")
        if not merges_of(project).exists():
            self.stdout.write("no merge can be taken apart")

    def _take_apart(self, merge: Merge, options: dict[str, Any]) -> None:
        self._list_later_runs(merge, with_later=options["with_later"])
        said = str(merge)
        try:
            with transaction.atomic():
                effect = unmerge(merge, by=NOBODY, reason=options["reason"], with_later=options["with_later"])
                transaction.set_rollback(options["dry_run"])
        except CorrectionError as error:
            raise CommandError(str(error)) from error
        moved = (
            f"{counted(effect.runs, 'run')} of {counted(effect.uploads, 'upload')} "
            f"and {counted(effect.series, 'series')}"
        )
        done = "would be taken apart" if options["dry_run"] else "taken apart"
        self.stdout.write(f"{said}: {done}, {moved}")

    def _list_later_runs(self, merge: Merge, *, with_later: bool) -> None:
        found = later_runs(merge)
        number = found.count()
        if not number:
            return
        what = "go along" if with_later else f"stay with '{merge.target}'"
        self.stdout.write(
            f"{counted(number, 'run')} came in under the name '{merge.name}' since, and {what}:"
        )
        for run in found.select_related("workload", "version")[:_SHOWN_RUNS]:
            self.stdout.write(f"  run {run.pk} of upload {run.upload_id}, {run.recorded_at:%Y-%m-%d}: {run}")
        if number > _SHOWN_RUNS:
            self.stdout.write(f"  and {number - _SHOWN_RUNS:,} more")
