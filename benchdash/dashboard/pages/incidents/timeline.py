"""Events of an incident, acts and words of people about it, oldest first."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from benchdash.dashboard.shell.markdown import comment_html
from benchdash.regressions.event_words import event_words
from benchdash.regressions.models import Incident, IncidentEvent

_What = IncidentEvent.What
_AT_ONCE: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Entry:
    """``who`` is empty where it was analysis, and where the viewer may not know.

    ``html`` is that of a comment, ``words`` what happened otherwise.
    """

    at: datetime
    who: str
    words: str = ""
    reason: str = ""
    html: str = ""
    anchor: str = ""


def timeline(incident: Incident, *, is_member: bool) -> list[Entry]:
    """Return the history of an incident; who does what and why, and what they say, is for members."""
    events = list(incident.events.all())
    entries = [
        Entry(
            event.at,
            event.by_name if is_member else "",
            event_words(event),
            reason=event.reason if is_member and event.by_name else "",
        )
        for event in events
        if is_member or event.what != _What.ASSIGNED
    ]
    entries = _joined(entries)
    if is_member:
        entries += [
            Entry(said.at, said.author_name, html=comment_html(said.text), anchor=f"comment-{said.pk}")
            for said in incident.comments.all()
        ]
    return sorted([*_beginnings(incident, events), *entries], key=lambda entry: entry.at)


def _joined(entries: Iterable[Entry]) -> list[Entry]:
    """Make one entry of what somebody did at once, for one reason."""
    joined: list[Entry] = []
    for entry in entries:
        last = joined[-1] if joined else None
        is_at_once = last is not None and entry.at - last.at < _AT_ONCE
        if last and is_at_once and entry.who and (entry.who, entry.reason) == (last.who, last.reason):
            joined[-1] = replace(last, words=f"{last.words}, {entry.words}")
        else:
            joined.append(entry)
    return joined


def _beginnings(incident: Incident, events: Iterable[IncidentEvent]) -> Iterator[Entry]:
    """Yield what the incident itself remembers, where it is older than its events."""
    known = {event.what for event in events}
    for at, what in ((incident.detected_at, _What.DETECTED), (incident.confirmed_at, _What.CONFIRMED)):
        if at and what not in known:
            yield Entry(at, "", what.label)
