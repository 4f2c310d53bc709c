"""The admin, the project and the token with which somebody who typed ``make run`` can begin."""

import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchdash.accounts import services
from benchdash.accounts.models import Project, Scope, User

_ADMIN = "admin@localhost"
_PROJECT = "default"
_TOKEN_NAME = "make run"  # noqa: S105 - its name, not the token


@dataclass(frozen=True)
class Access:
    """``password`` is None where the admin has chosen another than the one that we made."""

    user: str
    password: str | None
    project: str
    token: str

    def as_json(self) -> dict[str, Any]:
        return {
            "admin": {"user": self.user, "password": self.password},
            "project": self.project,
            "token": self.token,
        }


def remembered(file: Path) -> Access | None:
    """The access that the last start wrote into ``run.json``, whether it still works or not."""
    try:
        known = json.loads(file.read_text())
        return Access(known["admin"]["user"], known["admin"]["password"], known["project"], known["token"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def make_access(known: Access | None) -> Access:
    """What is known and still works stays; the rest is made anew."""
    return Access(user=_ADMIN, password=_password(known), project=_PROJECT, token=_token(known))


def _password(known: Access | None) -> str | None:
    admin = User.objects.filter(email=_ADMIN).first()
    if admin and known:
        return known.password if known.password and admin.check_password(known.password) else None
    password = secrets.token_urlsafe(12)
    if admin:
        admin.set_password(password)
        admin.save(update_fields=["password"])
    else:
        User.objects.create_superuser(_ADMIN, password, name="Admin")
    return password


def _token(known: Access | None) -> str:
    project = Project.objects.filter(slug=_PROJECT).first() or services.create_project(_PROJECT)
    if known:
        token = services.find_token(known.token)
        if token and token.project_id == project.pk:
            return known.token
    _, secret = services.create_token(project, _TOKEN_NAME, [Scope.UPLOAD])
    return secret
