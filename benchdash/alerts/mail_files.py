"""Mails that were written to files because the installation has no mail server."""

import email
import email.policy
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path
from typing import Final

from django.conf import settings

from benchdash.accounts.models import Project

PROJECT_HEADER: Final = "X-Benchdash-Project"
_FILE_BACKEND: Final = "django.core.mail.backends.filebased.EmailBackend"
# Django ends every mail in a file with this line.
_END: Final = b"\n" + b"-" * 79 + b"\n"
# The page shows the newest mails only.
MAX_FILES: Final = 500


@dataclass(frozen=True, slots=True)
class KeptMail:
    """A mail as a person reads it, and the project that it is about."""

    project_id: int
    written_at: datetime
    address: str
    subject: str
    text: str


def mails_are_files() -> bool:
    return settings.EMAIL_BACKEND == _FILE_BACKEND


def kept_mails(project: Project, *, most: int) -> list[KeptMail]:
    """Return the newest mails about a project, newest first."""
    found: list[KeptMail] = []
    for file in _files():
        found += [mail for mail in _mails(file) if mail.project_id == project.pk]
        if len(found) >= most:
            break
    return found[:most]


def _files() -> list[Path]:
    """Return the newest files first: their names begin with the time."""
    folder = Path(settings.EMAIL_FILE_PATH)
    return sorted(folder.glob("*.log"), reverse=True)[:MAX_FILES] if folder.is_dir() else []


def _mails(file: Path) -> Iterator[KeptMail]:
    written_at = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    for raw in file.read_bytes().split(_END):
        message = email.message_from_bytes(raw.lstrip(b"\n"), policy=email.policy.default)
        body = message.get_body(("plain",)) if isinstance(message, EmailMessage) else None
        project = str(message.get(PROJECT_HEADER, ""))
        if body is None or not project.isdecimal():
            continue
        yield KeptMail(
            project_id=int(project),
            written_at=written_at,
            # A folded header begins with a space.
            address=str(message["To"]).strip(),
            subject=str(message["Subject"]).strip(),
            text=str(body.get_content()),
        )
