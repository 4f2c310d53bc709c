"""Numbered flags along a history: a number on the chart, and in the list beneath it what happened there."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final

from benchdash.charts.figure import Position, iso
from benchdash.dashboard.pages.history.histories import HistoryLine, HistoryLook
from benchdash.dashboard.shell import numbers
from benchdash.regressions.headlines import change_words, day
from benchdash.regressions.models import ChangePoint
from benchdash.results.models import Annotation

_MAX_CAUSES: Final = 3
_UNREAD: Final = "configuration or environment changed"


@dataclass(frozen=True)
class Change:
    """A change point of one of the lines."""

    line: HistoryLine
    shift: ChangePoint


@dataclass(frozen=True)
class Flag:
    """A place on the axis at which something happened; numbers count from 1 along it.

    ``time`` is that of its first group, or of an annotation that has none. ``changes`` begin with the
    largest. ``switches`` say what differs in configuration or environment. ``end`` is where the longest
    annotation ends, ``place`` itself without a span.
    """

    number: int
    place: Position
    name: str
    time: datetime
    changes: Sequence[Change] = ()
    switches: Sequence[str] = ()
    annotations: Sequence[Annotation] = ()
    end: Position = ""

    @property
    def largest(self) -> ChangePoint | None:
        return self.changes[0].shift if self.changes else None

    @property
    def is_confirmed(self) -> bool:
        return any(change.shift.state == ChangePoint.State.CONFIRMED for change in self.changes)

    @property
    def tone(self) -> str:
        """The side of its largest change, ``worse`` or ``better``; empty without one."""
        return ("worse" if self.largest.is_regression else "better") if self.largest else ""

    @property
    def text(self) -> str:
        """Its number with the arrow of its largest change: ``5 ▼``."""
        arrow = numbers.sign(self.tone, self.largest.after - self.largest.before) if self.largest else ""
        return " ".join(filter(None, [str(self.number), arrow]))

    @property
    def weight(self) -> tuple[bool, float, bool]:
        """How much it matters where there is no room for all."""
        return self.is_confirmed, self.largest.size if self.largest else -1.0, bool(self.annotations)

    @cached_property
    def words(self) -> str:
        """``24 Nov 2026: −29.6 %, slow_query_log: OFF → ON``, for who does not see the list."""
        said = ["no change found"]
        if self.largest:
            several = f", the largest of {len(self.changes)}" if len(self.changes) > 1 else ""
            suspected = "" if self.is_confirmed else ", suspected"
            said = [f"{change_words(self.largest)}{several}{suspected}"]
        causes = [*self.switches, *(one.text for one in self.annotations)]
        more = [f"{len(causes) - _MAX_CAUSES} more"] if len(causes) > _MAX_CAUSES else []
        return f"{self.name}: {', '.join([*said, *causes[:_MAX_CAUSES], *more])}"


def flags_of(
    lines: Sequence[HistoryLine], look: HistoryLook, written: Iterable[Annotation] = ()
) -> list[Flag]:
    """Return the flags of a chart in the order of its axis; ``written`` are its annotations.

    Against versions an annotation stands at the first group after it, or at the last.
    """
    times: dict[Position, datetime] = {}
    changes: dict[Position, list[Change]] = defaultdict(list)
    switches: dict[Position, dict[str, None]] = defaultdict(dict)
    annotations: dict[Position, list[Annotation]] = defaultdict(list)
    ends: dict[Position, Position] = {}
    for line in lines:
        for index in sorted({*line.shifts, *line.switches}):
            point = line.points[index]
            place = look.place(line, point)
            times[place] = min(point.time, times.get(place, point.time))
            if shift := line.shifts.get(index):
                changes[place].append(Change(line, shift))
            if index in line.switches:
                words = [str(difference) for difference in line.switches[index]]
                switches[place].update(dict.fromkeys(words or [_UNREAD]))
    for annotation, start, end in _placed(written, lines, look):
        times.setdefault(start, annotation.at)
        annotations[start].append(annotation)
        ends[start] = max((end, ends.get(start, end)), key=str if look.axis is None else int)
    return [
        Flag(
            number=number,
            place=place,
            name=look.axis.labels[int(place)] if look.axis else day(times[place]),
            time=times[place],
            changes=sorted(changes[place], key=lambda change: change.shift.size, reverse=True),
            switches=list(switches[place]),
            annotations=annotations[place],
            end=ends.get(place, place),
        )
        for number, place in enumerate(sorted(times, key=str if look.axis is None else int), 1)
    ]


def _placed(
    written: Iterable[Annotation], lines: Sequence[HistoryLine], look: HistoryLook
) -> Iterable[tuple[Annotation, Position, Position]]:
    """Place annotations: from the first group that each concerns to the last."""
    if look.axis is None:
        yield from ((one, iso(one.at), iso(one.until or one.at)) for one in written)
        return
    groups = sorted((point.time, look.place(line, point)) for line in lines for point in line.points)
    for one in written if groups else ():
        start = next((place for time, place in groups if time >= one.at), groups[-1][1])
        within = [place for time, place in groups if one.at <= time <= (one.until or one.at)]
        yield one, start, within[-1] if within else start
