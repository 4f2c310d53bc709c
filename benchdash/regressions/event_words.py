"""What happened to an incident, in words: the same on its page and in the API."""

from datetime import datetime

from benchdash.regressions.headlines import day
from benchdash.regressions.models import IncidentEvent
from benchdash.regressions.triage import ACTIONS

_What = IncidentEvent.What


def event_words(event: IncidentEvent) -> str:
    """Write ``declined``, ``assigned to Alice``, ``snoozed until Tue 1 Dec``."""
    match event.what:
        case _What.STATE:
            if event.detail.get("before") == event.state:
                return f"still {event.get_state_display()}"
            return ACTIONS[event.state].done if event.state in ACTIONS else event.get_what_display()
        case _What.ASSIGNED:
            return f"assigned to {event.detail.get('assignee') or 'nobody'}"
        case _What.SNOOZED:
            return f"snoozed until {until_words(event.detail.get('until'), event.detail.get('version'))}"
        case _What.LINKED:
            bug = event.detail.get("bug")
            return f"linked to the bug {bug}" if bug else "linked to no bug any more"
    return event.get_what_display()


def until_words(until: datetime | str | None, version: str | None) -> str:
    """Write ``Tue 1 Dec``, ``10.11.20``, or both where whichever comes first ends a snooze."""
    time = datetime.fromisoformat(until) if isinstance(until, str) and until else until
    return " or ".join(filter(None, [day(time) if isinstance(time, datetime) else "", version]))
