"""The verdict of a cell, of a row over thread counts, of a table and of the newest night of a series.

Every page, gate, mail, badge and answer takes it from here; ``verdict_words`` says it. Where there is nothing
to compare with it is empty.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from benchdash.regressions.comparison.rows import Row, geometric_mean, have_two_directions
from benchdash.regressions.comparison.verdict_words import MIXED, side_of
from benchdash.regressions.detection.compare import Comparison, Verdict
from benchdash.results.readings import HIGHER, UNKNOWN, Direction

# The share of workloads that must differ before their mean is said to.
_MIN_SHARE: Final = 1 / 3


def of_cell(comparison: Comparison | None) -> str:
    """Return the verdict of one cell against its base."""
    return comparison.verdict if comparison else ""


def of_row(cells: Iterable[str], change: float | None = None, direction: Direction = UNKNOWN) -> str:
    """Return the verdict of several cells, as certain as the most certain of them.

    It is ``mixed`` where some contradict each other or their mean, which changes by ``change``, and ``same``
    only where all are.
    """
    verdicts = set(filter(None, cells))
    sides = {side for verdict in verdicts if (side := side_of(verdict))}
    if not sides and MIXED not in verdicts:
        return verdicts.pop() if len(verdicts) == 1 else "unknown" if verdicts else ""
    of_mean = _side(change, direction)
    if MIXED in verdicts or len(sides) > 1 or (of_mean and of_mean not in sides):
        return MIXED
    [side] = sides
    return side if side in verdicts else f"likely_{side}"


def of_table(rows: Sequence[Row], column: int, *, margin: float) -> str:
    """Return the verdict of the mean of a column; of a single workload it is that of its row.

    A third of the workloads must bear it out and none contradict it: it is ``mixed`` where some do, ``same``
    only where all are, and unknown where the mean changes by less than ``margin``.
    """
    of_workload: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        of_workload[row.workload].append(row)
    verdicts = [verdict for part in of_workload.values() if (verdict := _of_workload(part, column))]
    joint = of_row(verdicts)
    change = _change(rows, column)
    if len(verdicts) < 2 or joint in ("same", MIXED):
        return joint
    side = _side(change, _direction(rows))
    if not side or change is None or abs(change) < margin:
        return "unknown"
    counts = Counter(verdicts)
    certain, likely = counts[side], counts[f"likely_{side}"]
    if certain >= _MIN_SHARE * len(verdicts):
        return side
    return f"likely_{side}" if certain + likely >= _MIN_SHARE * len(verdicts) else "unknown"


def of_night(of_level: float | None, usual: float | None, direction: Direction) -> Verdict:
    """Return the verdict of the newest night of a series, which alone is never certain.

    ``of_level`` is its figure as a share of the level before it, and ``usual`` how far from 1 nights at an
    unchanged level fall; None where either is not known.
    """
    if of_level is None or usual is None:
        return "unknown"
    if 1 / (1 + usual) <= of_level <= 1 + usual:
        return "same"
    match _side(of_level - 1, direction):
        case "better":
            return "likely_better"
        case "worse":
            return "likely_worse"
    return "unknown"


def _of_workload(rows: Sequence[Row], column: int) -> str:
    return of_row((of_cell(row.comparisons[column]) for row in rows), _change(rows, column), _direction(rows))


def _change(rows: Sequence[Row], column: int) -> float | None:
    mean = geometric_mean(rows, column)
    return None if mean is None else mean - 1


def _direction(rows: Sequence[Row]) -> Direction:
    """Return the direction of a mean of these rows: of speeds where they have two."""
    return HIGHER if have_two_directions(rows) or not rows else rows[0].direction


def _side(change: float | None, direction: Direction) -> str:
    if not change or direction == UNKNOWN:
        return ""
    return "better" if (change > 0) == (direction == HIGHER) else "worse"
