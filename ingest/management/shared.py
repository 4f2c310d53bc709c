"""Code that the commands share: projects by name, and errors in words."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError

from benchdash.accounts.models import Project


def project_called(slug: str) -> Project:
    """Return the project of this slug. Raises CommandError."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise CommandError(f"no project is called {slug!r}")
    return project


def error_in_words(error: Mapping[str, Any]) -> str:
    return f"line {error['line']}: {error['message']}" if error["line"] else str(error["message"])
