"""Sessions: runs of one version at one place that were measured in one go.

They share a server start, a load of the data or the mood of the machine, and are more alike than they are
like the next session. Only sessions count as independent. Runs with the same session tag are one session;
runs without a tag are one while each starts within SESSION_GAP_S of the one before, whatever the workload;
runs whose start is assumed form one session for each upload.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import exp, inf, log
from statistics import fmean
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

SESSION_TAG: Final = "session:"
"""Runs of one version at one place tagged ``session:<name>`` alike shared a session."""

MAX_TAG_GAP_S: Final = 24 * 3600.0
"""Two versions with the same session tag that were measured further apart did not share a session."""

_OF_UPLOAD: Final = "upload "

Indexes = NDArray[np.int64]


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


def session_at(start_s: float) -> str:
    """Name a session by its start, in epoch seconds."""
    return f"{datetime.fromtimestamp(start_s, UTC):%Y-%m-%d %H:%M:%S}"


def session_of_upload(upload_id: int) -> str:
    """Name the session of the runs of an upload whose start nobody said."""
    return f"{_OF_UPLOAD}{upload_id}"


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
        and lie within a day; those of unknown start where they came in one upload.
        """
        apart = max(self.began_at, other.began_at) - min(self.ended_at, other.ended_at)
        if not self._is_timed or not other._is_timed:
            return self.name == other.name and apart <= MAX_TAG_GAP_S
        return apart <= gap_s

    @property
    def _is_timed(self) -> bool:
        return not self.name.startswith((SESSION_TAG, _OF_UPLOAD))
