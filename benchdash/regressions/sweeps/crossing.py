"""Two things varied at once: one along the axis, the other as lines.

Each pair of their values is one point of a sweep along both, which is compared as any other. At a pair only
those runs count that differ from the base in nothing else: those that do are left out, with what differs.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from benchdash.regressions.sweeps import conditions
from benchdash.regressions.sweeps.conditions import (
    HARDWARE,
    Choice,
    Factor,
    RunGroup,
    Sweep,
    SweepPoint,
    meaning,
    written,
)
from benchdash.regressions.sweeps.values import Value

MAX_LINES: Final = 8
BETWEEN: Final = " / "

Pair = tuple[Value, Value]


@dataclass(frozen=True, slots=True)
class Crossing:
    """The values of ``along`` stand along the axis, each value of ``lines`` is a line.

    The points of ``sweep`` are the pairs that were measured, in the order of the lines and then of the axis;
    ``pairs`` are their values by the name of the point. ``left_out`` is how many values of the two there are
    beyond the most that are wanted.
    """

    along: Choice
    lines: Choice
    sweep: Sweep
    pairs: Mapping[str, Pair]
    left_out: int

    def point(self, along: Value, line: Value) -> SweepPoint | None:
        """Return the point of a pair of values; None where it was not measured, or not alike."""
        return next((one for one in self.sweep.points if self.pairs[one.name] == (along, line)), None)


def cross(
    groups: Sequence[RunGroup], along: Choice, lines: Choice, *, base: str = "", most: int
) -> Crossing | None:
    """Cross two choices; None where no row has two pairs of their values that differ in nothing else.

    ``base`` is the name of a pair, such as ``8M / fsync``; without one it is the first that was measured
    under the conditions of most rows. A value of the axis alone means the first of its pairs. ``most`` is how
    many values stand along the axis.
    """
    values, kept = along.values[:most], lines.values[:MAX_LINES]
    names: dict[Pair, str] = {}
    for line in kept:
        for value in values:
            names[meaning(along.factor, value), meaning(lines.factor, line)] = _name(value, line)
    both = Factor("pair", f"{along.factor.name} and {lines.factor.name}")
    paired = [_paired(group, along.factor, lines.factor, both, names) for group in groups]
    known = [group for group in paired if group is not None]
    if not {along.factor.kind, lines.factor.kind} & {"fact", "name"}:
        known = conditions.on_one_machine(known, both)
    measured = {group.value(both) for group in known}
    of_value = (_name(value, line) for line in kept for value in values if written(value) == base)
    if base not in measured:
        base = next((name for name in of_value if name in measured), base)
    swept = conditions.sweep(known, both, base=base, most=len(names), order=list(names.values()))
    swept = swept and _alike_alone(swept)
    if swept is None:
        return None
    pairs = {_name(value, line): (value, line) for line in kept for value in values}
    found = [pairs[point.name] for point in swept.points]
    return Crossing(
        along=replace(along, values=tuple(one for one in values if any(one == value for value, _ in found))),
        lines=replace(lines, values=tuple(one for one in kept if any(one == line for _, line in found))),
        sweep=swept,
        pairs=pairs,
        left_out=len(along.values) - len(values) + len(lines.values) - len(kept),
    )


def _name(along: Value, line: Value) -> str:
    return f"{written(along)}{BETWEEN}{written(line)}"


def _paired(
    group: RunGroup, along: Factor, lines: Factor, both: Factor, names: Mapping[Pair, str]
) -> RunGroup | None:
    """Return the group with its two values as one condition; None for one that lacks one of them."""
    if along not in group.conditions or lines not in group.conditions:
        return None
    name = names.get((meaning(along, group.value(along)), meaning(lines, group.value(lines))))
    if name is None:
        return None
    # Machines whose facts are what varies have names of their own.
    left_out = {along, lines} | ({HARDWARE} if "fact" in (along.kind, lines.kind) else set())
    others = {one: value for one, value in group.conditions.items() if one not in left_out}
    row = replace(group, workload=group.row(along)).row(lines)
    return replace(group, workload=row, conditions={**others, both: name})


def _alike_alone(swept: Sweep) -> Sweep | None:
    """Leave out, row by row, the groups that differ from those of the base in a third thing."""
    anchors: dict[str, tuple[RunGroup, ...]] = dict(swept.base.groups)
    for point in swept.points:
        for row, groups in point.groups.items():
            anchors.setdefault(row, groups)
    pairs_of_row: dict[str, int] = defaultdict(int)
    points = []
    for point in swept.points:
        alike = {
            row: groups
            for row, groups in point.groups.items()
            if conditions.are_alike(anchors[row], groups, swept.factor)
        }
        aside = [group for row, groups in point.groups.items() if row not in alike for group in groups]
        reasons = [*point.left_out_for, *(one.name for one in point.differences)]
        points.append(
            replace(
                point,
                groups=alike,
                differences=(),
                left_out=point.left_out + sum(len(group.runs) for group in aside),
                left_out_for=tuple(dict.fromkeys(reasons)),
            )
        )
        for row in alike:
            pairs_of_row[row] += 1
    if max(pairs_of_row.values(), default=0) < 2:
        return None
    base = points[swept.points.index(swept.base)]
    return replace(swept, points=tuple(points), base=base)
