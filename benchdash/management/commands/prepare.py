import json
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from benchdash.launcher import static_files
from benchdash.launcher.first_access import make_access, remembered


class Command(BaseCommand):
    help = (
        "Bring tables and static files up to date and see that there are an admin, a project and a token; "
        "called by `make run`, which reads the last line."
    )

    def handle(self, *_: Any, **__: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        static_files.collect()
        access = make_access(remembered(settings.VAR_DIR / "run.json"))
        self.stdout.write(json.dumps(access.as_json()))
