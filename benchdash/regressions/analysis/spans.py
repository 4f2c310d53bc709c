"""The beginning of an incident in words: the two groups between which it lies."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from benchdash.regressions.models import ChangePoint, Incident
from benchdash.results.models import UNKNOWN_VERSION, ServerVersion

_UNKNOWN = "?"


@dataclass(frozen=True, slots=True)
class Span:
    """``good`` is the last group of the old level and ``changed`` the first of the new one.

    Where both are the same build they are days, and ``build`` says which build it is; else it is empty. Of a
    drift they are the days of its first and last group.
    """

    good: str
    changed: str
    build: str = ""

    def __str__(self) -> str:
        return f"{self.build}{', ' if self.build else ''}{self.good} → {self.changed}"


def span(incident: Incident, *, last_good_at: datetime | None) -> Span:
    """Say between which two groups an incident began.

    ``last_good_at`` is the start of the latest run of the old level, where it is known.
    """
    good, changed = _name(incident.since), _name(incident.until)
    if incident.kind == Incident.Kind.DRIFT:
        return Span(
            _day(incident.started_at), _day(incident.last_at), build=changed if good == changed else ""
        )
    if good != changed:
        return Span(good or _UNKNOWN, changed or _UNKNOWN)
    changed_by = incident.until_at or incident.started_at
    write = _minute if _day(last_good_at) == _day(changed_by) else _day
    return Span(write(last_good_at), write(changed_by), build=changed)


def last_good_at(incident: Incident, change_points: Iterable[ChangePoint]) -> datetime | None:
    """Return the start of the latest run of the old level, where one is kept; see ``span``."""
    times = [one.last_good.started_at for one in change_points if one.last_good]
    return max((time for time in times if time < incident.started_at), default=None)


def _name(version: ServerVersion | None) -> str:
    """Name a version: ``10.6.23 debug 1f3c9a0b2d``; a version text that nobody gave is left out."""
    if version is None:
        return ""
    parts = ["" if version.version == UNKNOWN_VERSION else version.version, version.build]
    return " ".join(filter(None, [*parts, (version.commit or "")[:10]]))


def _day(time: datetime | None) -> str:
    return f"{time.astimezone(UTC).day} {time.astimezone(UTC):%b %Y}" if time else _UNKNOWN


def _minute(time: datetime | None) -> str:
    return f"{_day(time)}, {time.astimezone(UTC):%H:%M} UTC" if time else _UNKNOWN
