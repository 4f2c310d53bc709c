"""A comparison as a table of text: a line for each workload and thread count, versions side by side."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from benchdash.regressions.comparison.columns import Column
from benchdash.regressions.comparison.rows import Row
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.regressions.comparison.verdict_words import session_count

GEOMETRIC_MEAN: Final = "geometric mean"
_SIDE: Final = ("value", "n", "sessions")
_CELL: Final = (*_SIDE, "ratio", "low", "high", "p", "verdict")


def matrix_heads(names: Sequence[str]) -> list[str]:
    """Return the heads of all columns; ``names`` are of the versions, that of the base first."""
    base, *others = names
    return [
        *("group", "workload", "threads", "metric", "unit"),
        *(f"{base} {what}" for what in _SIDE),
        *(f"{name} {what}" for name in others for what in _CELL),
        *(f"{name} mean over" for name in others),
    ]


def matrix_lines(table: ComparisonTable[Column]) -> Iterator[list[Any]]:
    """Yield what stands below ``matrix_heads``; after several rows a line of means, and over how many."""
    lasting = [None] * len(table.columns)
    yield from ([*_line(table.metric, row), *lasting] for row in table.rows)
    if len(table.rows) < 2:
        return
    means: list[Any] = []
    for ratio in table.geomean:
        means += [ratio if name == "ratio" else None for name in _CELL]
    over = [table.mean.coverage(at) for at, _ in enumerate(table.columns)]
    yield [None, GEOMETRIC_MEAN, None, table.metric, None, *[None] * len(_SIDE), *means, *over]


def _line(metric: str, row: Row) -> list[Any]:
    """Return the figures of a row; None where nothing was measured or compared."""
    base, *others = (
        (cell.value, cell.n, session_count(cell)) if cell else (None,) * len(_SIDE) for cell in row.sides
    )
    cells: list[Any] = []
    for side, one in zip(others, row.comparisons, strict=True):
        cells += side
        cells += (one.ratio, one.low, one.high, one.p, one.verdict) if one else (None,) * 5
    return [row.group, row.workload, row.threads, metric, row.unit, *base, *cells]
