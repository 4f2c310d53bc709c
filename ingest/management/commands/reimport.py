from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from benchdash.results.services import refresh_statistics
from ingest.formats import FORMATS
from ingest.management.shared import error_in_words, project_called
from ingest.receiving.reimports import ChangedReading, ReimportOutcome, Reread, readable_uploads, reimport

_SHOWN_READINGS = 10
_EVERY = 50
_TOLD_OF = frozenset(ReimportOutcome) - {ReimportOutcome.SAME, ReimportOutcome.STILL_REFUSED}


class Command(BaseCommand):
    help = (
        "Read every kept file again, after a format got better. Runs keep their identity, changed readings "
        "are listed, nothing is doubled and nobody is mailed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", help="only this project")
        parser.add_argument(
            "--format", metavar="F", default="", choices=["", *FORMATS], help="only this format"
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would change, store nothing")

    def handle(self, *_args: Any, **options: Any) -> None:
        uploads = readable_uploads(
            project_called(options["project"]) if options["project"] else None, format_=options["format"]
        )
        total = uploads.count()
        counts: Counter[ReimportOutcome] = Counter()
        for number, upload in enumerate(uploads.iterator(), start=1):
            reread = reimport(upload, store=not options["dry_run"])
            counts[reread.outcome] += 1
            if reread.outcome in _TOLD_OF:
                self._tell(reread)
            if number % _EVERY == 0:
                self.stdout.write(f"{number} of {total} uploads, {number * 100 // total} %")
        if not options["dry_run"]:
            refresh_statistics()
        self.stdout.write(
            ", ".join(f"{number} {outcome}" for outcome, number in counts.items()) or "no upload to read"
        )

    def _tell(self, reread: Reread) -> None:
        upload = reread.upload
        self.stdout.write(f"{upload.project.slug}, upload {upload.pk} {upload.name}: {reread.outcome}")
        for change in reread.changes[:_SHOWN_READINGS]:
            self.stdout.write(f"  {_in_words(change)}")
        if (more := len(reread.changes) - _SHOWN_READINGS) > 0:
            self.stdout.write(f"  and {more} readings more")
        for error in reread.errors:
            self.stdout.write(f"  {error_in_words(error)}")


def _in_words(change: ChangedReading) -> str:
    run = f"run {change.run}, " if change.run else ""
    before = "nothing" if change.before is None else f"{change.before:.10g}"
    after = "nothing" if change.after is None else f"{change.after:.10g}"
    return f"{run}{change.metric}: {before} before, {after} now"
