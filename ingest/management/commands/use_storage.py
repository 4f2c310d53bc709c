from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ingest.storage.identity import WrongStorageError, use_this_storage


class Command(BaseCommand):
    help = "Make the place that STORAGE_URL names the one of this installation, once its files are there."

    def handle(self, *_args: Any, **_options: Any) -> None:
        try:
            use_this_storage()
        except WrongStorageError as error:
            raise CommandError(str(error)) from None
        self.stdout.write("this is the storage of the installation now")
