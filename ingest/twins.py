"""The same bytes sent again with other metadata: one measurement that would count twice."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

_MAX_NAMED: Final = 3
_MAX_SHOWN: Final = 40


class Twin(NamedTuple):
    """The newest earlier upload of the same bytes with other metadata."""

    pk: int
    name: str
    received_at: datetime
    metadata: Mapping[str, Any]


# Refused and deleted uploads count for nothing, so a file that comes again with better words is no twin.
NEWEST_TWIN: Final = """
    SELECT twin.id, twin.name, twin.received_at, twin.metadata
    FROM ingest_upload twin
    WHERE twin.raw_id = raw.id AND twin.metadata_digest <> wanted.digest
        AND twin.state NOT IN ('refused', 'deleted')
    ORDER BY twin.received_at DESC, twin.id DESC LIMIT 1
"""


def twin_warning(twin: Twin, metadata: Mapping[str, Any]) -> str:
    """``metadata`` is what is said of the file now, as JSON."""
    earlier = f"upload {twin.pk} of {twin.received_at:%Y-%m-%d} ('{twin.name}')"
    return (
        f"{earlier} is the same file with other metadata: "
        f"{_difference(twin.metadata, metadata)}; if it was said wrongly then, change or delete that upload"
    )


def _difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    names = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    if not names:
        return "other files lay beside it"
    said = [_said(name, before.get(name), now.get(name)) for name in names[:_MAX_NAMED]]
    if more := len(names) - _MAX_NAMED:
        said += [f"{more} more differ"] if more > 0 else []
    return ", ".join(said)


def _said(name: str, before: Any, now: Any) -> str:
    if any(isinstance(value, dict | list) for value in (before, now)):
        return f"'{name}' differs"
    return f"{name} was {_shown(before)} and is {_shown(now)}"


def _shown(value: Any) -> str:
    if value is None:
        return "not said"
    text = str(value)
    return f"'{text[:_MAX_SHOWN]}…'" if len(text) > _MAX_SHOWN else f"'{text}'"
