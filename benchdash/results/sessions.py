"""Sessions: runs of one version at one place that were measured in one go.

They share a server start, a load of the data or the mood of the machine, and are more alike than they are
like the next session. Only sessions count as independent. Runs with the same session tag are one session;
runs without a tag are one while each starts within SESSION_GAP_S of the one before, whatever the workload.

Where nobody said the start, the time of receipt stands in for it. Such sessions are named ``received ...``
and are never shared with another version. When runs were sent says little of when they were measured: between
releases these sessions do not count, and on a branch, which is sent as it is measured, each counts that came
RECEIPT_GAP_S or more after the one counted before. A session tag needs no start.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from math import exp, inf, log
from statistics import fmean
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

SESSION_TAG: Final = "session:"
"""Runs of one version at one place tagged ``session:<name>`` alike shared a session."""

MAX_TAG_GAP_S: Final = 24 * 3600.0
"""Two versions with the same session tag that were measured further apart did not share a session."""

RECEIPT_GAP_S: Final = 6 * 3600.0
"""On a branch sessions that were received so far apart count like those of known starts."""

START_MEND: Final = "send started_at, or name the date in the path pattern ({date})"
"""The advice that ends the need to assume when runs started."""

START_UNKNOWN: Final = (
    "nobody said when it was measured: the time of receipt stands in for the start, and proves no difference"
    f" between releases; {START_MEND}"
)
"""The warning about an upload with such runs."""

_RECEIVED: Final = "received "
# The place of the time in such a name, as session_at writes it.
_RECEIVED_TIME: Final = slice(len(_RECEIVED), len(_RECEIVED) + len("2026-11-26 12:00:00"))

Bools = NDArray[np.bool_]
Indexes = NDArray[np.int64]
Numbers = NDArray[np.float64]


def session_of(tags: Iterable[str]) -> str | None:
    """Return the first session that the tags name."""
    return next((tag for tag in tags if tag.startswith(SESSION_TAG)), None)


def session_name(tags: Iterable[str]) -> str | None:
    """Return that session as its sender named it."""
    session = session_of(tags)
    return session and session.removeprefix(SESSION_TAG)


@dataclass(frozen=True, slots=True)
class Starts:
    """When runs started, in microseconds, and at which place (a number), which includes their version."""

    places: Indexes
    times: Indexes

    def spans(self, others: "Starts", gap_us: int) -> tuple[Indexes, Indexes]:
        """Return when the session of each run began and when its last run started.

        ``others`` are further runs at the places. They join what would be two sessions without them.
        """
        places = np.concatenate((self.places, others.places))
        times = np.concatenate((self.times, others.times))
        in_order = np.lexsort((times, places))
        sorted_times = times[in_order]
        begins = (np.diff(places[in_order]) != 0) | (np.diff(sorted_times) > gap_us)
        number = np.zeros_like(times)
        number[in_order[1:]] = np.cumsum(begins)
        ends = np.flatnonzero(begins)
        firsts, lasts = np.append(0, ends + 1), np.append(ends, len(times) - 1)
        mine = number[: len(self.times)]
        if not len(mine):
            return mine, mine
        return sorted_times[firsts][mine], sorted_times[lasts][mine]


def joined_receipts(places: Indexes, received_us: Indexes) -> Indexes:
    """Return when the session of each run of branches was first received, of those that count.

    One that came within RECEIPT_GAP_S of the one counted before, of the same place, is part of that.
    """
    joined = received_us.copy()
    first: dict[int, int] = {}
    for at in np.lexsort((received_us, places)).tolist():
        place, received = int(places[at]), int(received_us[at])
        if received - first.get(place, -inf) >= RECEIPT_GAP_S * 1e6:
            first[place] = received
        joined[at] = first[place]
    return joined


def session_at(start_s: float) -> str:
    """Name a session by its start, in epoch seconds."""
    return f"{datetime.fromtimestamp(start_s, UTC):%Y-%m-%d %H:%M:%S}"


def session_received_at(receipt_s: float) -> str:
    """Name a session of which only the first receipt is known, in epoch seconds."""
    return f"{_RECEIVED}{session_at(receipt_s)}"


def has_receipts(sessions: Iterable[str]) -> bool:
    """Tell whether the start of any of those sessions is assumed."""
    return any(session.startswith(_RECEIVED) for session in sessions)


def receipts(sessions: Iterable[str]) -> list[float]:
    """Return when those sessions were received whose start is assumed, in order."""
    times = {session[_RECEIVED_TIME] for session in sessions if session.startswith(_RECEIVED)}
    return sorted(datetime.fromisoformat(f"{time}Z").timestamp() for time in times)


def counting(received_at: Sequence[float] | Numbers, *, of_branch: bool) -> Bools:
    """Tell which groups of a history count as independent of each other.

    ``received_at`` is when the first assumed session of each was received, NaN where all starts are known.
    """
    times = np.asarray(received_at, dtype=float)
    counts: Bools = np.isnan(times)
    if of_branch:
        last = -inf
        for at in np.argsort(times, kind="stable")[: len(times) - int(counts.sum())].tolist():
            if times[at] - last >= RECEIPT_GAP_S:
                counts[at], last = True, times[at]
    return counts


def rest_on_receipts(sides: Sequence[Iterable[str]], *, of_branch: bool) -> bool:
    """Tell whether sessions of sides that are compared do not count as independent of each other.

    ``of_branch``: all sides whose starts are assumed are of branches.
    """
    received = sorted((time, side) for side, sessions in enumerate(sides) for time in receipts(sessions))
    if not of_branch:
        return bool(received)
    return any(one[1] != other[1] and other[0] - one[0] < RECEIPT_GAP_S for one, other in pairwise(received))


def session_means(values: Sequence[float], sessions: Sequence[Hashable]) -> list[float]:
    """Return the geometric mean of the runs of each session, in the order of first appearance."""
    logs: dict[Hashable, list[float]] = defaultdict(list)
    for value, session in zip(values, sessions, strict=True):
        logs[session].append(log(value))
    return [exp(fmean(of_session)) for of_session in logs.values()]


def number_apart(starts: Iterable[float], gap_s: float) -> int:
    """Count starts each of which is more than the gap after the one counted before.

    A machine that is never idle has no gaps; its hours still differ as sessions do.
    """
    counted, last = 0, -inf
    for start in sorted(starts):
        if start - last > gap_s:
            counted, last = counted + 1, start
    return counted


class Session(NamedTuple):
    """A session of one version at one place: its name, when it began and when its last run started."""

    name: str
    began_at: float
    ended_at: float

    def is_one_with(self, other: "Session", gap_s: float) -> bool:
        """Tell whether two versions on one machine were measured in one go.

        They were where their runs lie within the gap of each other; tagged ones where they have the same tag
        and lie within a day; those of unknown start never.
        """
        apart = max(self.began_at, other.began_at) - min(self.ended_at, other.ended_at)
        names = self.name, other.name
        if any(name.startswith(_RECEIVED) for name in names):
            return False
        if any(name.startswith(SESSION_TAG) for name in names):
            return self.name == other.name and apart <= MAX_TAG_GAP_S
        return apart <= gap_s
