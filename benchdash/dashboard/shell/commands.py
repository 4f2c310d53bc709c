"""Commands that can be copied from a page and typed as they are, but for the token and the file."""

from typing import Final

from django.conf import settings

_FIELDS: Final = {
    "product": "MariaDB",
    "version": "10.11.7",
    "hardware": "bench-01",
    "workload": "oltp_read_only",
}


def upload_command(token: str = "TOKEN", *, project: str = "") -> str:  # noqa: S107 - a place for one
    """Return the command that sends one file to this installation with curl."""
    parts = [f"curl -H 'Authorization: Bearer {token}'", "-F file=@result.txt"]
    fields = {"project": project, **_FIELDS} if project else _FIELDS
    parts += [f"-F {name}={value}" for name, value in fields.items()]
    return " \\\n  ".join([*parts, f"{settings.SITE_URL}/api/v1/uploads/"])


def reimport_command(project: str, format_: str = "") -> str:
    """Return the command that reads kept files again on the server, of one format if it is known."""
    only = f" --format {format_}" if format_ else ""
    return f"manage.py reimport --project {project}{only} --dry-run"
