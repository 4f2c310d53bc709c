"""The admin, the project and the token of an installation that ``make run`` started."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from benchdash.accounts import services
from benchdash.accounts.models import Project, Scope, User

ADMIN = "admin@localhost"
_PROJECT = "default"
_TOKEN_NAME = "make run"  # noqa: S105 - its name, not the token


@dataclass(frozen=True)
class Access:
    """How to begin. A part that people have changed or removed is not known, and None."""

    user: str
    password: str | None
    project: str | None
    token: str | None

    def as_json(self) -> dict[str, Any]:
        return {
            "admin": {"user": self.user, "password": self.password},
            "project": self.project,
            "token": self.token,
        }


def remembered(run: Mapping[str, Any]) -> Access | None:
    """Return the access in ``run.json``, whether it still works or not."""
    try:
        return Access(run["admin"]["user"], run["admin"]["password"], run["project"], run["token"])
    except (KeyError, TypeError):
        return None


def make_access(known: Access | None) -> Access:
    """Make an admin, a project and a token in an empty database; of any other, return what still works."""
    if not User.objects.exists() and not Project.objects.exists():
        return _first_access()
    token = services.find_token(known.token) if known and known.token else None
    return Access(
        user=ADMIN,
        password=known.password if known and _is_password_of_admin(known.password) else None,
        project=token.project.slug if token else None,
        token=known.token if known and token else None,
    )


@transaction.atomic
def _first_access() -> Access:
    password = reset_admin()
    project = services.create_project(_PROJECT)
    _, secret = services.create_token(project, _TOKEN_NAME, [Scope.UPLOAD, Scope.READ])
    return Access(user=ADMIN, password=password, project=_PROJECT, token=secret)


def reset_admin() -> str:
    """Return the new password of the admin, who is made where there is none.

    A new password ends the sessions that began with the old one.
    """
    password = secrets.token_urlsafe(12)
    admin = User.objects.filter(email=ADMIN).first() or User(email=ADMIN, name="Admin")
    admin.is_active = admin.is_staff = admin.is_superuser = True
    admin.set_password(password)
    admin.save()
    return password


def _is_password_of_admin(password: str | None) -> bool:
    admin = User.objects.filter(email=ADMIN).first()
    return bool(admin and password and admin.check_password(password))
