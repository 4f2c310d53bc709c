"""The same bytes sent again with other metadata: one measurement that would count twice."""

from collections.abc import Mapping
from typing import Any, Final

from benchdash.accounts.models import Project
from ingest.models import Upload
from ingest.receiving.arrivals import Arrival

_MAX_NAMED: Final = 3
_MAX_SHOWN: Final = 40


def twin_warning(project: Project, arrival: Arrival) -> str:
    """Return a warning that names the newest earlier upload of the same bytes; empty where there is none.

    Refused and deleted uploads count for nothing, so a file that comes again with better words is no twin.
    """
    sha256, digest = arrival.identity
    twins = Upload.objects.filter(project=project, raw__sha256=sha256).exclude(metadata_digest=digest)
    counting = twins.exclude(state__in=(Upload.State.REFUSED, Upload.State.DELETED))
    twin = counting.order_by("-received_at", "-pk").first()
    if twin is None:
        return ""
    return (
        f"upload {twin.pk} of {twin.received_at:%Y-%m-%d} ('{twin.name}') is the same file with other "
        f"metadata: {_difference(twin.metadata, arrival.metadata.as_json())}; "
        "if it was said wrongly then, change or delete that upload"
    )


def _difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    names = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    if not names:
        return "other files lay beside it"
    said = [_said(name, before.get(name), now.get(name)) for name in names[:_MAX_NAMED]]
    if len(names) > _MAX_NAMED:
        said.append(f"{len(names) - _MAX_NAMED} more differ")
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
