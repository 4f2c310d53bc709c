"""Doubts about a sweep: differences between its values other than the setting."""

from collections import defaultdict
from collections.abc import Sequence

from benchdash.dashboard.shell import numbers
from benchdash.regressions.comparison.comparability import (
    Doubt,
    ScaleDifferences,
    SingleSessions,
    listed,
    scales_of,
)
from benchdash.regressions.comparison.rows import Row
from benchdash.regressions.queries import Difference
from benchdash.regressions.sweeps.conditions import Sweep, SweepPoint


def single_sessions(sweep: Sweep, rows: Sequence[Row]) -> SingleSessions:
    """Find what rests on single sessions."""
    setting = "" if sweep.factor.kind == "pair" else f"{sweep.factor.name} "
    named = [f"{setting}{point.name}" for point in (sweep.base, *sweep.others)]
    return SingleSessions.of(rows, named, subject="setting")


def sweep_doubts(sweep: Sweep, rows: Sequence[Row], *, for_others: bool = False) -> list[Doubt]:
    """Say why values may not be compared as they stand; one statement.

    ``for_others`` than members, who see ratios alone: without durations, some of which were measured.
    """
    found = [
        _other_differences(sweep),
        *([] if for_others else _different_scales(sweep, rows)),
        *_all_left_out(sweep),
        *single_sessions(sweep, rows).doubts,
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


def _different_scales(sweep: Sweep, rows: Sequence[Row]) -> list[Doubt]:
    """Sizes of tables and durations, which may stand in the command alone; of one thread count a workload."""
    of_workload = {row.workload: row for row in rows if row.base}.values()
    scales = scales_of({cell.run_id for row in of_workload for cell in row.sides if cell})
    found = ScaleDifferences()
    for row in of_workload:
        for point, cell in zip(sweep.others, row.cells, strict=True):
            if row.base and cell:
                named = {sweep.factor.name, *(one.name for one in point.differences)}
                found.note(scales[row.base.run_id], scales[cell.run_id], point.name, leaving_out=named)
    return found.doubts


def _all_left_out(sweep: Sweep) -> list[Doubt]:
    """Say a value each what was left out; of pairs of values, which are many, all in one."""
    points = [point for point in sweep.points if point.left_out]
    if sweep.factor.kind != "pair" or not points:
        return [_left_out(sweep, point) for point in points]
    runs = numbers.counted(sum(point.left_out for point in points), "run")
    what = sorted({name for point in points for name in point.left_out_for})
    details = [f"{point.name}: {numbers.counted(point.left_out, 'run')}" for point in points]
    return [
        Doubt(f"Left out: {runs}, because more than {sweep.factor.name} differs: {listed(what)}.", details)
    ]


def _left_out(sweep: Sweep, point: SweepPoint) -> Doubt:
    runs = numbers.counted(point.left_out, "more run")
    return Doubt(
        f"Left out: {runs} with {sweep.factor.name} {point.name}, because of what else differs there:"
        f" {listed(point.left_out_for)}."
    )
