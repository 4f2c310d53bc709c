from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from benchdash.launcher import run_file
from benchdash.launcher.first_access import ADMIN, reset_admin


class Command(BaseCommand):
    help = (
        f"Give {ADMIN} a new password and show it alone on the last line. The user is made where it is "
        "missing, is an admin from then on, and its sessions end. The run.json of `make run` is told."
    )

    def handle(self, *_: Any, **__: Any) -> None:
        password = reset_admin()
        if run := run_file.read(settings.VAR_DIR):
            run_file.write(settings.VAR_DIR, {**run, "admin": {"user": ADMIN, "password": password}})
        self.stdout.write(f"The new password of {ADMIN}:")
        self.stdout.write(password)
