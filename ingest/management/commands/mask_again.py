from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from ingest.management.shared import project_called
from ingest.stored_secrets import MaskedTable, mask_again

_EVERY = 10_000


class Command(BaseCommand):
    help = (
        "Mask secrets in what is stored already, by the rules for new files. Raw files stay as received. "
        "Done again, it changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG", help="only this project")
        parser.add_argument("--dry-run", action="store_true", help="say what would change, store nothing")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = project_called(options["project"]) if options["project"] else None
        for outcome in mask_again(project, store=not options["dry_run"], progress=self._progress):
            self.stdout.write(_in_words(outcome))
        if options["dry_run"]:
            self.stdout.write("nothing was stored")

    def _progress(self, outcome: MaskedTable) -> None:
        if outcome.rows % _EVERY == 0:
            self.stdout.write(
                f"{outcome.table}: {outcome.rows:,} rows looked at, {outcome.changed:,} changed"
            )


def _in_words(outcome: MaskedTable) -> str:
    fields = ", ".join(f"{name} {number:,}" for name, number in sorted(outcome.fields.items()))
    said = f"{outcome.table}: {outcome.changed:,} of {outcome.rows:,} rows changed"
    said += f" ({fields})" if fields else ""
    if outcome.merged:
        said += f", {outcome.merged:,} of them became equal to another row and were merged with it"
    if outcome.left:
        said += f", {outcome.left:,} left as they were, because another row says the same when masked"
    return said
