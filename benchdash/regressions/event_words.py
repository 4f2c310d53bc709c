"""Events of an incident in words: the same on its page and in the API."""

from datetime import datetime

from django.utils import timezone

from benchdash.regressions.headlines import day
from benchdash.regressions.models import IncidentEvent
from benchdash.regressions.triage import ACTIONS
from benchdash.results.wording import change, count

_What = IncidentEvent.What


def event_words(event: IncidentEvent) -> str:
    """Write ``declined``, ``assigned to Alice``, ``split from incident 12``."""
    known = event.detail
    match event.what:
        case _What.STATE:
            if known.get("before") == event.state:
                return f"still {event.get_state_display()}"
            return ACTIONS[event.state].done if event.state in ACTIONS else event.get_what_display()
        case _What.ASSIGNED:
            return f"assigned to {known.get('assignee') or 'nobody'}"
        case _What.SNOOZED:
            until = known.get("until")
            time = datetime.fromisoformat(until) if until else None
            return f"snoozed until {until_words(time, known.get('version', ''))}"
        case _What.LINKED:
            return f"linked to the bug {known['bug']}" if known.get("bug") else "linked to no bug any more"
        case _What.SPREAD if known.get("lost"):
            return f"grown to {change(-known['lost'])}"
        case _What.CONFIRMED | _What.SPREAD | _What.RETURNED if known.get("series"):
            words = "spread to" if event.what == _What.SPREAD else f"{event.what} in"
            return f"{words} {count(known['series'])} series"
        case _What.NARROWED if known.get("since") and known.get("until"):
            return f"narrowed to what lies between {known['since']} and {known['until']}"
        case _What.RECOVERED if known.get("at"):
            words = f"recovered on {day(datetime.fromisoformat(known['at']))}"
            return f"{words}, but not wholly" if known.get("remaining") else words
        case _What.SPLIT | _What.MERGED | _What.FOLDED | _What.UNFOLDED:
            return f"{event.get_what_display()}{_other_incident(event)}"
    return event.get_what_display()


def _other_incident(event: IncidentEvent) -> str:
    """Name the incident that an event is about too."""
    for name in ("from", "into"):
        if event.detail.get(name):
            link = {_What.SPLIT: f" {name}", _What.MERGED: {"from": " with", "into": " into"}[name]}
            return f"{link.get(_What(event.what), ':')} incident {event.detail[name]}"
    return ""


def until_words(until: datetime | None, version: str) -> str:
    """Write ``1 Dec 2026``, ``10.11.20``, or both where whichever comes first ends a snooze."""
    local = timezone.localtime(until) if until else None
    return " or ".join(filter(None, [f"{local.day} {local:%b %Y}" if local else "", version]))
