"""The newest night of a series beside the level before it, as every page, answer, badge and mail judges it.

The newest group is held against the median of the groups before it since the last confirmed change. How far
groups usually fall from that is Student's prediction interval, from the scatter of the history within its
levels. A single night outside is no change of level yet. A series that moved with its machine has a level
there, too, as its incidents are those of the machine.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import expm1, log1p
from typing import Final, NamedTuple

import numpy as np
from django.conf import settings
from scipy.special import stdtrit

from benchdash.regressions.comparison.verdicts import of_night
from benchdash.regressions.detection.compare import Verdict
from benchdash.regressions.detection.level_scatter import MIN_WORTH, LevelHistories
from benchdash.regressions.detection.noise import MIN_SD, Floats
from benchdash.regressions.models import Incident
from benchdash.results.readings import HIGHER, Direction

USUAL: Final = 0.99
"""The share of nights at an unchanged level that the usual range holds."""
MAX_RUNS: Final = 240
"""The newest runs of a series, whose groups tell its level and its scatter."""
# Steps of a series so many groups apart are one with that of its machine.
_NEAR: Final = 2
_VARIANCE_OF_MEDIAN: Final = np.pi / 2


class Step(NamedTuple):
    """A confirmed change of level in a series; a drift where it has ``per_point``."""

    run_id: int
    change: float | None
    incident_id: int | None
    last_good_id: int | None = None
    per_point: float | None = None


@dataclass(frozen=True)
class NightHistory:
    """The groups of a series in order: ``logs`` relative to the level of the newest.

    ``starts`` are the indexes at which a confirmed level begins, the newest of them by ``step``. ``logs`` are
    without the drift of the series; ``drifts`` are how far it was from its end.
    """

    logs: Floats
    drifts: Floats
    starts: Sequence[int]
    direction: Direction
    step: Step | None = None

    @classmethod
    def of(
        cls,
        values: Floats,
        times: Sequence[float],
        steps: Iterable[Step],
        machines: Iterable[Incident],
        index_of: Callable[[int], int | None],
        *,
        direction: Direction,
        hardware: int,
    ) -> "NightHistory":
        """Lay the values of groups, above 0, around their level; ``index_of`` finds the group of a run.

        ``times`` are when they started (epoch seconds), ``machines`` what machines did, that with the id
        ``hardware`` among them.
        """
        logs: Floats = np.log(values)
        drifts: Floats = np.zeros(len(logs))
        drift: Step | None = None
        placed: dict[int, Step] = {}
        for step in steps:
            place = index_of(step.run_id)
            if place is None:
                continue
            if step.per_point is None:
                placed[place] = step
            else:
                # How far values fall from the level is told around the drift, and not by it.
                first = index_of(step.last_good_id or 0) or 0
                since_last = np.clip(np.arange(len(logs), dtype=float) - place, first - place, 0)
                drifts = since_last * log1p(step.per_point)
                logs, drift = logs - drifts, step
        own = [one for one in machines if one.hardware_id == hardware]
        for machine in sorted(own, key=lambda one: one.started_at):
            if moved := _step_with_machine(machine, direction, logs, times, placed):
                placed[moved[0]] = moved[1]
        return cls(
            logs=logs - level_of(logs, max(placed, default=0)),
            drifts=drifts,
            starts=sorted(placed),
            direction=direction,
            step=drift or placed.get(max(placed, default=-1)),
        )


@dataclass(frozen=True, kw_only=True)
class NewestNight:
    """The newest group of a history beside its level.

    ``of_level`` is its figure as a share of the level; ``usual`` is how far from 1 it falls as a rule.
    ``verdict`` holds one against the other; ``beyond`` is how many of the newest groups fall outside on the
    same side. ``groups`` counts those that the scatter is known from, and ``needed`` is how many more it
    takes to tell.
    """

    of_level: float | None
    usual: float | None
    verdict: Verdict
    beyond: int
    groups: int
    needed: int


def newest_nights(histories: Sequence[NightHistory]) -> list[NewestNight]:
    """Judge the newest group of each history, all at once."""
    before = [np.exp(one.logs[:-1]) for one in histories]
    known = LevelHistories.of(before, [one.starts for one in histories])
    sd, worth = known.scatter(np.arange(len(histories)))
    return [_judged(*each) for each in zip(histories, sd.tolist(), worth.tolist(), strict=True)]


def _judged(history: NightHistory, sd: float, worth: float) -> NewestNight:
    """``worth`` are the degrees of freedom of ``sd``, 0 where too few groups are known."""
    start, n = max(history.starts, default=0), len(history.logs) - 1
    at_level = n - start
    degrees = n - len({one for one in history.starts if 0 < one < n} | {0})
    needed = max(MIN_WORTH - degrees, 1 - at_level, 0)
    usual = None
    if not needed and worth:
        error = max(sd, MIN_SD) * np.sqrt(1 + _VARIANCE_OF_MEDIAN / at_level)
        usual = float(np.expm1(stdtrit(worth, (1 + USUAL) / 2) * error))
    ratio = float(np.exp(history.logs[-1])) if at_level > 0 else None
    return NewestNight(
        of_level=ratio,
        usual=usual,
        verdict=of_night(ratio, usual, history.direction),
        beyond=_beyond(history.logs[start:], usual),
        groups=n,
        needed=needed,
    )


def level_of(logs: Floats, start: int) -> float:
    """Return the level of the groups from ``start`` on before the newest; of the newest where it is alone."""
    level = logs[start:-1] if len(logs) - 1 > start else logs[-1:]
    return float(np.median(level)) if len(level) else 0.0


def _beyond(logs: Floats, usual: float | None) -> int:
    """Count the newest groups of a level that fall out of the usual range on the side of the newest one."""
    if usual is None or not len(logs):
        return 0
    side = np.sign(logs[-1])
    within = np.flatnonzero(side * logs[::-1] <= np.log1p(usual))
    return int(within[0]) if len(within) else len(logs)


def _step_with_machine(
    machine: Incident, direction: Direction, logs: Floats, times: Sequence[float], known: Mapping[int, Step]
) -> tuple[int, Step] | None:
    """Return where a series moved as its machine did, by half as much or more; None where it did not."""
    at = bisect_left(times, machine.started_at.timestamp() - settings.SESSION_GAP_S)
    if not 0 < at < len(times) or machine.median is None or any(abs(at - place) <= _NEAR for place in known):
        return None
    start = max((place for place in known if place < at), default=0)
    end = min((place for place in known if place > at), default=len(times))
    moved = float(np.median(logs[at:end]) - np.median(logs[start:at]))
    speed = log1p(machine.median) * (1 if direction == HIGHER else -1)
    if moved * speed < speed**2 / 2:
        return None
    return at, Step(0, expm1(moved), machine.pk)
