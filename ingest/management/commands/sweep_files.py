from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ingest.storage import raw_bytes
from ingest.storage.identity import storage_trouble
from ingest.storage.stray_files import stray_files


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
                raw_bytes.delete([name])
            number += 1
        self.stdout.write(f"{number} files {'would be' if options['dry_run'] else 'were'} deleted")
