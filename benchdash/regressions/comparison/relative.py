"""Comparisons as others than members see them where a project publishes relative figures only.

A ratio of two printed numbers gives both away when it is told precisely enough, and so do many coarse ratios
of the same numbers to each other. Every value therefore becomes its ratio to one reference, the same
whatever is compared, rounded until any number with as many digits as the reference fits it as well. All that
is shown is computed from these ratios, with two decimals. Intervals, p and the wanted number of runs are left
out, because they tell more of a ratio than its decimals do.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isclose
from statistics import median
from typing import Any, Final

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, OuterRef

from benchdash.regressions.comparison.cells import Cell
from benchdash.regressions.comparison.columns import Column
from benchdash.regressions.comparison.rows import (
    GroupSummary,
    RelativeTo,
    Row,
    group_summaries,
    summary_of,
)
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.regressions.detection.compare import Comparison
from benchdash.results.models import Measurement, Series
from benchdash.results.units import conversion
from benchdash.results.used_units import unit_printed
from benchdash.results.wording import RATIO

DECIMALS: Final = 2
"""The decimals of a ratio on pages."""

MIN_DIGITS: Final = 3
"""A number printed with fewer digits is found again from its ratios."""

_MAX_PRINTED_DECIMALS: Final = 9
# With 2 decimals a ratio to 100 fits as many whole numbers as there are; each further digit allows one more.
_SPARE_DIGITS: Final = 2
_MAX_KEPT_DECIMALS: Final = 4
# The runs of a series among which one to hold all others against is looked for.
_MAX_FIRST_RUNS: Final = 20


def table_for_others(
    table: ComparisonTable[Column], relative_to: RelativeTo = "base"
) -> ComparisonTable[Column]:
    """Return the table with ratios alone; it may have no rows left. One statement.

    ``relative_to`` is what its columns are compared with.
    """
    rows = rows_for_others(table.rows, relative_to)
    groups = [group.name for group in table.groups if group.name]
    nothing = (None,) * len(table.columns)
    none = GroupSummary(None, 0, nothing, nothing, nothing, (0,) * len(table.columns))
    return replace(
        table,
        unit=RATIO,
        rows=rows,
        mean=_summary(summary_of(rows)) if rows else none,
        # One that was said as an absolute difference is relative to the values.
        margin=max(round(table.margin, DECIMALS), 10**-DECIMALS),
        groups=tuple(map(_summary, group_summaries(rows, groups))) if table.groups and rows else (),
    )


def rows_for_others(rows: Iterable[Row], relative_to: RelativeTo = "base") -> tuple[Row, ...]:
    """Return the rows with the base, or else the first cell, as 1; one statement.

    Left out are rows whose base has too few digits, and cells in another unit than it.
    """
    rows = list(rows)
    references = _references({cell.series_id for row in rows for cell in row.sides if cell})
    found = (_row(row, references, relative_to) for row in rows)
    return tuple(row for row in found if row)


def _row(row: Row, references: "dict[int, _Reference]", relative_to: RelativeTo) -> Row | None:
    first = next(cell for cell in row.sides if cell)
    # Workloads that differ in a parameter stand in one row of a sweep: one reference is that of all.
    reference = references.get(min(cell.series_id for cell in row.sides if cell))
    own = references.get(first.series_id)
    if reference is None or own is None or not own.may_be_base(first):
        return None
    shares = [reference.share(cell) if cell and cell.unit == first.unit else None for cell in row.sides]
    unit = reference.share(first)
    if not unit:
        return None
    base, *cells = [
        _cell(cell, share / unit) if cell and share is not None else None
        for cell, share in zip(row.sides, shares, strict=True)
    ]
    against = shares[:-1] if relative_to == "previous" else shares[:1] * len(cells)
    compared = zip(row.comparisons, shares[1:], against, strict=True)
    return replace(
        row,
        base=base,
        cells=tuple(cells),
        comparisons=tuple(one and _comparison(one, share, before) for one, share, before in compared),
    )


def _cell(cell: Cell, ratio: float) -> Cell:
    return cell._replace(
        value=round(ratio, DECIMALS),
        low=None,
        high=None,
        values=(),
        tool_interval=None,
        forks=(),
        unit=RATIO,
        printed_unit="",
    )


def _comparison(found: Comparison, share: float | None, before: float | None) -> Comparison:
    ratio = round(share / before, DECIMALS) if share and before else 0.0
    return Comparison(ratio=ratio or None, verdict=found.verdict, basis=found.basis)


def rounded(ratios: Iterable[float | None]) -> tuple[float | None, ...]:
    return tuple([None if ratio is None else round(ratio, DECIMALS) for ratio in ratios])


def _summary(group: GroupSummary) -> GroupSummary:
    return replace(
        group,
        geomean=rounded(group.geomean),
        lowest=rounded(group.lowest),
        highest=rounded(group.highest),
    )


# --- references ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reference:
    """The value that those of one workload, thread count and metric are divided by, in its stored ``unit``.

    ``decimals`` are those of the ratios to it. ``digit`` is the last one that is printed. ``is_only_base``:
    some versions have fewer digits than a base needs. Which of them do would tell how large the others are.
    """

    value: float
    unit: str
    decimals: int
    digit: float
    is_only_base: bool

    def may_be_base(self, cell: Cell) -> bool:
        """Tell whether a row may be held against this cell of it."""
        value = self._stored(cell)
        return _digits(value / self.digit) >= MIN_DIGITS and (
            not self.is_only_base or isclose(value, self.value)
        )

    def share(self, cell: Cell) -> float:
        return round(self._stored(cell) / self.value, self.decimals)

    def _stored(self, cell: Cell) -> float:
        return cell.value / (conversion(self.unit, cell.unit) or 1.0)


def _references(series: Iterable[int]) -> dict[int, _Reference]:
    """Return the references of series, without those of which nothing has enough digits; one statement."""
    chosen = Series.objects.filter(pk__in=series).order_by()
    runs = Measurement.objects.filter(series=OuterRef("pk")).order_by("run")
    alike = (
        Series.objects.filter(workload__in=chosen.values("workload"), metric__in=chosen.values("metric"))
        .order_by("pk")
        .annotate(
            first_values=ArraySubquery(runs.values("value")[:_MAX_FIRST_RUNS]),
            first_versions=ArraySubquery(runs.values(of=F("run__version"))[:_MAX_FIRST_RUNS]),
            first_contents=ArraySubquery(runs.values(of=F("run__content"))[:_MAX_FIRST_RUNS]),
        )
    )
    families: dict[tuple[object, ...], list[Series]] = defaultdict(list)
    for one in alike:
        families[one.workload_id, one.threads, one.metric, one.unit].append(one)
    return {
        one.pk: reference
        for family in families.values()
        if (reference := _reference(family))
        for one in family
    }


def _reference(family: Sequence[Series]) -> _Reference | None:
    """Return the first version of the oldest series of which enough digits were printed."""
    digit = min((_last_digit(one) for one in family), default=1.0)
    levels = [(level, _digits(level / digit)) for one in family for level in _levels(one) if level > 0]
    for level, digits in levels:
        if digits >= MIN_DIGITS:
            kept = min(max(digits - _SPARE_DIGITS, DECIMALS), _MAX_KEPT_DECIMALS)
            is_only_base = any(digits < MIN_DIGITS for _, digits in levels)
            return _Reference(level, family[0].unit, kept, digit, is_only_base)
    return None


def _digits(units: float) -> int:
    """Count the digits of a number that is printed as so many of its last one."""
    return len(str(int(round(units, 6))))


def _levels(series: Any) -> list[float]:
    """Return the median of the first runs of each version under the same settings, in their order."""
    runs: dict[tuple[object, ...], list[float]] = defaultdict(list)
    for value, *group in zip(series.first_values, series.first_versions, series.first_contents, strict=True):
        runs[tuple(group)].append(value)
    return list(map(median, runs.values()))


def _last_digit(series: Any) -> float:
    """Return the last digit that was printed: 0.01 of 12.3 and 4.56, and 1 of 1200, whose zeros may be."""
    factor = unit_printed(series.unit, series.printed_unit).factor
    texts = (f"{value * factor:.{_MAX_PRINTED_DECIMALS}f}".rstrip("0") for value in series.first_values)
    decimals = max((len(text.partition(".")[2]) for text in texts), default=0)
    return float(10**-decimals / factor)
