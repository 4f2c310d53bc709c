"""Doubts about a sweep: differences between its values other than the setting."""

from collections import defaultdict
from collections.abc import Sequence

from benchdash.dashboard.shell import numbers
from benchdash.regressions.comparison.comparability import (
    Doubt,
    differently_told,
    listed,
    said_of,
    single_runs,
    told_doubts,
)
from benchdash.regressions.comparison.rows import Row
from benchdash.regressions.queries import Difference
from benchdash.regressions.sweeps.conditions import Sweep, SweepPoint


def sweep_doubts(sweep: Sweep, rows: Sequence[Row]) -> list[Doubt]:
    """Why values may not be compared as they stand; one statement."""
    found = [
        _other_differences(sweep),
        *_differently_told(sweep, rows),
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


def _differently_told(sweep: Sweep, rows: Sequence[Row]) -> list[Doubt]:
    """Sizes of tables and durations, which may stand in the command alone; of one thread count a workload."""
    of_workload = {row.workload: row for row in rows if row.base}.values()
    ids = {cell.run_id for row in of_workload for cell in (row.base, *row.cells) if cell}
    said = said_of(ids)
    sizes: dict[Difference, dict[str, None]] = defaultdict(dict)
    lengths: dict[Difference, dict[str, None]] = defaultdict(dict)
    for row in of_workload:
        for point, cell in zip(sweep.others, row.cells, strict=True):
            if not row.base or not cell:
                continue
            named = {sweep.factor.name, *(one.name for one in point.differences)}
            differing, length = differently_told(said[row.base.run_id], said[cell.run_id])
            for difference in differing:
                if difference.name not in named:
                    sizes[difference][point.name] = None
            if length:
                lengths[length][point.name] = None
    return told_doubts(
        {one: list(names) for one, names in sizes.items()},
        {one: list(names) for one, names in lengths.items()},
    )


def _left_out(sweep: Sweep, point: SweepPoint) -> Doubt | None:
    if not point.left_out:
        return None
    runs = "1 more run" if point.left_out == 1 else f"{numbers.count(point.left_out)} more runs"
    return Doubt(
        f"Left out: {runs} with {sweep.factor.name} {point.name}, because of what else differs there:"
        f" {listed(point.left_out_for)}."
    )
