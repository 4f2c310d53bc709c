from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ingest import storage
from ingest.storage_identity import storage_trouble
from ingest.sweeping import stray_files


class Command(BaseCommand):
    help = (
        "Delete raw files that no upload names and that are older than a day; interrupted uploads leave "
        "them. Not on a restored copy that shares its files with the original."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="name them, delete nothing")

    def handle(self, *_args: Any, **options: Any) -> None:
        if trouble := storage_trouble():
            raise CommandError(trouble)
        number = 0
        for name in stray_files():
            self.stdout.write(name)
            if not options["dry_run"]:
                storage.delete([name])
            number += 1
        self.stdout.write(f"{number} files {'would be' if options['dry_run'] else 'were'} deleted")
