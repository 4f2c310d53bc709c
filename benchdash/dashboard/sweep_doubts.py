"""What else than the setting differs between the values of a sweep."""

from collections import defaultdict
from collections.abc import Sequence

from benchdash.dashboard import numbers
from benchdash.regressions.comparability import Doubt, listed, single_runs
from benchdash.regressions.comparison import Row
from benchdash.regressions.queries import Difference
from benchdash.regressions.sweeps.conditions import Point, Sweep
from benchdash.regressions.told import are_equally_long


def sweep_doubts(sweep: Sweep, rows: Sequence[Row]) -> list[Doubt]:
    """Why values may not be compared as they stand."""
    found = [
        _other_differences(sweep),
        _other_durations(sweep),
        *(_left_out(sweep, point) for point in sweep.points),
        single_runs(rows),
    ]
    return [doubt for doubt in found if doubt]


def _other_differences(sweep: Sweep) -> Doubt | None:
    by_difference: dict[Difference, list[str]] = defaultdict(list)
    for point in sweep.others:
        for difference in point.differences:
            by_difference[difference].append(point.name)
    if not by_difference:
        return None
    what = sorted({difference.name for difference in by_difference})
    return Doubt(
        f"More than {sweep.factor.name} differs from {sweep.base.name}: {listed(what)}.",
        [f"{listed(of)}: {difference}" for difference, of in by_difference.items()],
    )


def _other_durations(sweep: Sweep) -> Doubt | None:
    base = sweep.base.seconds
    if not base:
        return None
    others = [
        f"{point.name} {_seconds(point.seconds)}"
        for point in sweep.others
        if point.seconds and not are_equally_long(base, point.seconds)
    ]
    if not others:
        return None
    return Doubt(f"Runs took {_seconds(base)} on average at {sweep.base.name}, but at {listed(others)}.")


def _seconds(seconds: float) -> str:
    return f"{numbers.number(seconds, digits=3)}{numbers.NO_BREAK}s"


def _left_out(sweep: Sweep, point: Point) -> Doubt | None:
    if not point.left_out:
        return None
    runs = "1 more run" if point.left_out == 1 else f"{numbers.count(point.left_out)} more runs"
    return Doubt(
        f"Left out: {runs} with {sweep.factor.name} {point.name}, because of what else differs there:"
        f" {listed(point.left_out_for)}."
    )
