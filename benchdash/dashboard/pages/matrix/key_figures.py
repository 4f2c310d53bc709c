"""The figures of scaling curves, one row for each curve."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchdash.dashboard.charts.compare import Value, VersionLine
from benchdash.dashboard.shell import numbers
from benchdash.regressions.comparison.curves import Curve, curve_of
from benchdash.regressions.detection.curves import MIN_THREAD_COUNTS, Peak, ScaleUp, scale_up


@dataclass(frozen=True)
class FiguresRow:
    """The key figures of one curve; a text is empty where it is not known."""

    line: VersionLine
    peak: float | None
    peak_threads: str
    knee: str
    tail_off: str
    scale_ups: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class FiguresTable:
    """``pairs`` are the thread counts of the scale-ups: ``1 to 64``."""

    pairs: Sequence[str]
    rows: Sequence[FiguresRow]
    min_counts: int = MIN_THREAD_COUNTS


def curve_of_line(values: Mapping[int, Value]) -> Curve | None:
    """Return the curve of one line's values in the unit of the chart."""
    return curve_of(
        {count: value.cell for count, value in values.items() if value.cell and not value.is_foreign}
    )


def figures_table(curves: Sequence[tuple[VersionLine, Curve]]) -> FiguresTable | None:
    """Return the figures of curves; None where there is no curve.

    The scale-ups are from the fewest to the most threads that all curves have, and the last step.
    """
    if not curves:
        return None
    measured = [{point.threads for point in curve.points} for _, curve in curves]
    shared = set.intersection(*measured)
    counts = sorted(shared if len(shared) > 1 else set.union(*measured))
    pairs = [(counts[0], counts[-1])]
    if len(counts) > 2:
        pairs.append((counts[-2], counts[-1]))
    return FiguresTable(
        pairs=[f"{numbers.count(first)} to {numbers.count(last)}" for first, last in pairs],
        rows=[_row(line, curve, pairs) for line, curve in curves],
    )


def _row(line: VersionLine, curve: Curve, pairs: Sequence[tuple[int, int]]) -> FiguresRow:
    shape = curve.shape
    ups = [scale_up(curve.points, *pair) for pair in pairs]
    return FiguresRow(
        line=line,
        peak=shape.peak.value if shape else None,
        peak_threads=peak_words(shape.peak) if shape else "",
        knee=numbers.count(shape.knee) if shape else "",
        tail_off=(numbers.change(shape.tail_off) if shape.tail_off else "none") if shape else "",
        scale_ups=[(scale_up_words(up), numbers.share(up.efficiency) if up else "") for up in ups],
    )


def peak_words(peak: Peak) -> str:
    """``64 (32 to 64 within the noise)``."""
    where = numbers.count(peak.threads)
    others = peak.among
    if not others:
        return f"{where} (one session)"
    if len(others) == 1:
        return where
    return f"{where} ({numbers.count(others[0])} to {numbers.count(others[-1])} within the noise)"


def scale_up_words(up: ScaleUp | None) -> str:
    """``+71.0 %`` up to twice, beyond ``29.8x``."""
    if up is None:
        return ""
    return numbers.change(up.factor - 1) if up.factor < 2 else f"{numbers.number(up.factor, digits=3)}x"
