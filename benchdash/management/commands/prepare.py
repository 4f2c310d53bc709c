import json
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from benchdash.launcher import run_file, static_files
from benchdash.launcher.first_access import make_access, remembered
from ingest.storage.identity import WrongStorageError, refuse_another_storage


class Command(BaseCommand):
    help = (
        "Bring tables and static files up to date, and make an admin, a project and a token in an empty "
        "database; called by `make run`, which reads the last line."
    )

    def handle(self, *_: Any, **__: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        try:
            refuse_another_storage()
        except WrongStorageError as error:
            raise CommandError(str(error)) from None
        static_files.collect()
        access = make_access(remembered(run_file.read(settings.VAR_DIR)))
        self.stdout.write(json.dumps(access.as_json()))
