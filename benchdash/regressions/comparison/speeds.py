"""Ratios as speeds, where rows of one table are better in different directions.

A JMH score is a time in one row and a throughput in the next: a ratio of 2 is half as fast in the one and
twice as fast in the other. Turned into speeds, such rows can be read, and averaged, together.
"""

from collections.abc import Iterable
from math import exp, fsum, log

from benchdash.regressions.comparison.rows import Row
from benchdash.results.readings import LOWER


def are_mixed(rows: Iterable[Row]) -> bool:
    """Tell whether more is better in some rows and worse in others."""
    return len({row.direction for row in rows}) > 1


def speed_of(row: Row, ratio: float) -> float:
    """Return a ratio of a row as one of speeds: above 1 is faster."""
    return 1 / ratio if row.direction == LOWER else ratio


def mean_speed(rows: Iterable[Row], column: int) -> float | None:
    """Return the geometric mean of the speeds of one column; None where it has no ratio."""
    speeds = [speed_of(row, one.ratio) for row in rows if (one := row.comparisons[column]) and one.ratio]
    return exp(fsum(map(log, speeds)) / len(speeds)) if speeds else None
