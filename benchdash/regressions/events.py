"""Events of incidents: written here, read by pages and by ``alerts``."""

from typing import Any

from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.regressions.models import Incident, IncidentEvent

ANALYSIS = ""


def note(
    incident: Incident,
    what: IncidentEvent.What,
    *,
    by: Viewer | None = None,
    by_name: str = ANALYSIS,
    state: str = "",
    reason: str = "",
    detail: dict[str, Any] | None = None,
    quiet: bool = False,
) -> IncidentEvent:
    """Note what happened to an incident. Without ``by`` and ``by_name`` it was analysis.

    Part of the transaction of the change itself.
    """
    user = by.user if by else None
    name = by_name or (str(by.user or by.token or "") if by else ANALYSIS)
    one = event(incident, what, state=state, reason=reason, detail=detail, quiet=quiet)
    one.by, one.by_name = user, name
    one.save()
    return one


def event(
    incident: Incident,
    what: IncidentEvent.What,
    *,
    state: str = "",
    reason: str = "",
    detail: dict[str, Any] | None = None,
    quiet: bool = False,
) -> IncidentEvent:
    """Return something that analysis found to have happened to an incident, to be stored with others."""
    return IncidentEvent(
        incident=incident,
        at=timezone.now(),
        what=what,
        state=state,
        reason=reason,
        detail=detail or {},
        quiet=quiet,
    )
