"""Commands that can be copied from a page and typed as they are, but for the token and the file."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.conf import settings

from benchdash.accounts.access import Viewer

# The words about the file, until somebody says otherwise.
EXAMPLE_FILE: Final = "result.txt"
EXAMPLE: Final = {
    "product": "MariaDB",
    "version": "10.11.7",
    "hardware": "bench-01",
    "workload": "oltp_read_only",
}


def upload_command(token: str = "TOKEN") -> str:  # noqa: S107 - a place for one
    """Return the command that sends one file to this installation with curl."""
    parts = [f"curl -H 'Authorization: Bearer {token}'", f"-F file=@{EXAMPLE_FILE}"]
    parts += [f"-F {name}={value}" for name, value in EXAMPLE.items()]
    return " \\\n  ".join([*parts, f"{settings.SITE_URL}/api/v1/uploads/"])


@dataclass(frozen=True)
class UploadWay:
    """A way to send files from a shell, with a sentence that helps to choose."""

    label: str
    sentence: str
    command: str


def upload_ways(token: str = "TOKEN") -> Sequence[UploadWay]:  # noqa: S107 - a place for one
    """Return the ways that send a file to this installation, the one that needs least first."""
    client = (
        f"curl -fsSO {settings.SITE_URL}/client/benchdash.py\n"
        f"export BENCHDASH_URL={settings.SITE_URL} BENCHDASH_TOKEN={token}\n"
        f"python3 benchdash.py upload {EXAMPLE_FILE}"
    )
    fields = [f"--{name} {value}" for name, value in EXAMPLE.items()]
    return [
        UploadWay("curl", "One file; nothing has to be installed.", upload_command(token)),
        UploadWay(
            "The client",
            "One file for Python 3.8 or newer. It sends folders, and keeps what the server cannot take now; "
            "auto for the machine tells its name and its facts.",
            " \\\n  ".join([client, *fields]),
        ),
    ]


def folder_command(project: str, viewer: Viewer) -> str:
    """Return the command that imports a folder on the server, exact for those who may know where it lies."""
    manage = "manage.py"
    if viewer.user and viewer.user.is_superuser:
        manage = f"{shlex.quote(sys.executable)} {shlex.quote(str(settings.BASE_DIR / 'manage.py'))}"
    fields = [f"--set {name}={value}" for name, value in EXAMPLE.items()]
    return " \\\n  ".join([f"{manage} import_folder --project {project}", *fields, "FOLDER"])


def reimport_command(project: str, format_: str = "") -> str:
    """Return the command that reads kept files again on the server, of one format if it is known."""
    only = f" --format {format_}" if format_ else ""
    return f"manage.py reimport --project {project}{only} --dry-run"
