"""The warnings of an upload in templates, apart from the names that it brought: ``{% load uploads %}``."""

import re
from collections.abc import Iterable
from typing import Final

from django import template

from benchdash.results.wording import counted, listed

register = template.Library()

_NEW_NAME: Final = re.compile(r"new ([\w ]+) '([^']*)'(?: \(.*\))?")
_MAX_LISTED: Final = 3


@register.filter
def without_new_names(warnings: Iterable[str]) -> list[str]:
    """Return the warnings but new names; one that is like a known name stays, as it may be a slip."""
    return [warning for warning in warnings if not _NEW_NAME.fullmatch(warning)]


@register.filter
def new_names(warnings: Iterable[str]) -> str:
    """Write the new names among warnings: ``product MariaDB; 2 workloads: ro and rw``; empty without any."""
    names: dict[str, list[str]] = {}
    for warning in dict.fromkeys(warnings):
        if new := _NEW_NAME.fullmatch(warning):
            kind = "machine" if new[1] == "hardware" else new[1]
            names.setdefault(kind, []).append(new[2])
    return "; ".join(
        f"{kind} {of_kind[0]}" if len(of_kind) == 1 else f"{counted(len(of_kind), kind)}: {_some(of_kind)}"
        for kind, of_kind in names.items()
    )


def _some(names: list[str]) -> str:
    more = [f"{len(names) - _MAX_LISTED:,} more"] if len(names) > _MAX_LISTED else []
    return listed([*names[:_MAX_LISTED], *more])
