"""The workloads of a history beside each other: what changed most in each, and which one says most.

A workload here is a panel: the release lines of one thing, measured in the same way. The one that says most
is that with the largest sure change; where nothing changed for sure it is the one measured most.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import isfinite, log1p
from typing import Final

import numpy as np

from benchdash.dashboard.pages.history.histories import (
    HistoryLine,
    HistoryLook,
    LevelChange,
    compared_groups,
)
from benchdash.regressions.comparison.noise_floors import Levels
from benchdash.regressions.comparison.verdict_words import is_certain
from benchdash.regressions.detection.noise import Floats
from benchdash.regressions.models import ChangePoint
from benchdash.regressions.queries import largest_changes
from benchdash.results.models import Series
from benchdash.results.points import Point
from benchdash.results.thinning import thinned

SPARK_WIDTH: Final = 96
SPARK_HEIGHT: Final = 24
_SPARK_POINTS: Final = 48
_SPARK_MARGIN: Final = 3
# Sparklines share a scale, which reaches no further: one outlier must not flatten all others.
_SPARK_RANGE: Final = (0.5, 1.5)

Panel = Sequence[HistoryLine]


@dataclass(frozen=True)
class PanelChange:
    """The largest change in a panel; ``level`` is None where there is nothing to compare.

    ``at`` is the point where a confirmed change began. None: ``level`` is the newest group against the
    oldest.
    """

    level: LevelChange | None
    at: Point | None = None

    @property
    def is_sure(self) -> bool:
        return self.level is not None and (self.at is not None or is_certain(self.level.verdict))

    @property
    def size(self) -> float:
        """How far the level moved, up or down alike; 0 for what is not sure."""
        return moved(self.level.change) if self.level and self.is_sure else 0.0


def moved(change: float) -> float:
    return abs(log1p(change)) if change > -1 else float("inf")


def most_changed_first(panels: Sequence[Sequence[Series]]) -> list[Sequence[Series]]:
    """Put panels in the order of their largest confirmed changes, others as they are; one statement."""
    largest = largest_changes([series.pk for panel in panels for series in panel])
    return sorted(panels, key=lambda panel: -max(moved(largest.get(series.pk, 0.0)) for series in panel))


def panel_changes(panels: Sequence[Panel]) -> list[PanelChange]:
    """Return what changed most in each panel: its largest confirmed change, else newest against oldest."""
    found = [_confirmed(panel) for panel in panels]
    ends = [_ends(panel) for panel in panels]
    asked = [at for at, (one, end) in enumerate(zip(found, ends, strict=True)) if one is None and end]
    compared = compared_groups(
        [end for at in asked if (end := ends[at])],
        [reduce(Levels.joined, [line.levels for line in panels[at] if line.points]) for at in asked],
        [panels[at][0] for at in asked],
    )
    of_ends = dict(zip(asked, compared, strict=True))
    return [one or PanelChange(of_ends.get(at)) for at, one in enumerate(found)]


def in_order(panels: Sequence[Panel], changes: Sequence[PanelChange]) -> list[int]:
    """Return the indexes of panels: sure changes first, the largest before all, then the most measured."""
    runs = [sum(line.runs for line in panel) for panel in panels]
    return sorted(range(len(panels)), key=lambda at: (-changes[at].size, -runs[at], at))


def _confirmed(panel: Panel) -> PanelChange | None:
    shifts = [
        (moved(shift.change), line.points[index], shift.change)
        for line in panel
        for index, shift in line.shifts.items()
        if shift.state == ChangePoint.State.CONFIRMED and shift.change is not None
    ]
    if not shifts:
        return None
    _, at, change = max(shifts, key=lambda one: one[0])
    return PanelChange(LevelChange(change, ""), at)


def _ends(panel: Panel) -> tuple[Point, Point] | None:
    """Return the oldest and the newest group; release lines come in the order of versions."""
    points = [point for line in panel for point in line.points]
    return (points[0], points[-1]) if len(points) > 1 else None


# --- sparklines ---------------------------------------------------------------------------------------------


def sparklines(panels: Sequence[Panel], looks: Sequence[HistoryLook]) -> list[str]:
    """Return the points of a polyline for each panel, all on one scale: its values relative to the first.

    A text is empty where there is nothing to draw.
    """
    curves = [_relative(panel, look) for panel, look in zip(panels, looks, strict=True)]
    values = np.clip([value for curve in curves for _, value in curve] or [1.0], *_SPARK_RANGE)
    low, high = float(values.min()), float(values.max())
    return [_polyline(curve, low, high) for curve in curves]


def _relative(panel: Panel, look: HistoryLook) -> list[tuple[float, float]]:
    first = next(filter(None, (line.first_level for line in panel)), 0.0)
    placed = []
    for line in panel if first else ():
        kept = thinned([point.value for point in line.points], _SPARK_POINTS)
        for point in (line.points[at] for at in kept):
            place = look.place(line, point) if look.axis else point.time.timestamp()
            placed.append((float(place), point.value / first))
    return sorted(one for one in placed if isfinite(one[1]))


def _polyline(curve: Sequence[tuple[float, float]], low: float, high: float) -> str:
    if len(curve) < 2:
        return ""
    places, values = np.array(curve).T
    return " ".join(
        f"{x:.1f},{SPARK_HEIGHT - y:.1f}"
        for x, y in zip(
            _within(places, places[0], places[-1], SPARK_WIDTH),
            _within(np.clip(values, low, high), low, high, SPARK_HEIGHT),
            strict=True,
        )
    )


def _within(values: Floats, low: float, high: float, size: int) -> Floats:
    """Scale values between two ends to a size in pixels, with a margin on both sides."""
    parts: Floats = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
    return _SPARK_MARGIN + (size - 2 * _SPARK_MARGIN) * parts


def opened_panel(panels: Sequence[Sequence[Series]], asked: int | None) -> int | None:
    """Return the index of the panel that holds a series, by its id; None where none does."""
    of_series: Mapping[int, int] = {one.pk: at for at, panel in enumerate(panels) for one in panel}
    return of_series.get(asked or 0)
