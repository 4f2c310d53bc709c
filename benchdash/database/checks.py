"""Django checks of the database."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Warning  # noqa: A004 - Django's name
from django.db import connections


def warn_of_superuser(databases: Sequence[str] | None = None, **_options: Any) -> list[CheckMessage]:
    """Warn of a superuser: an injected statement could then do anything to the server."""
    warnings: list[CheckMessage] = []
    for alias in databases or ():
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT current_user, current_setting('is_superuser') = 'on'")
            role, is_superuser = cursor.fetchone()
        if is_superuser:
            warnings.append(
                Warning(
                    f"benchdash connects to PostgreSQL as the superuser {role!r}.",
                    hint="Give it a role that owns its database and nothing else: docs/security.md.",
                    id="benchdash.W001",
                )
            )
    return warnings
