"""Versions side by side: lines against threads, or bars where there is one thread count."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from benchdash.charts.colours import ordered_colours, token, unordered_colour
from benchdash.charts.figure import Axis, Bars, Figure, Interval, Line, Plot, VerticalLine, shortened
from benchdash.charts.parts import (
    hover_text,
    intervals,
    log_is_better,
    metric_axis,
    relative_axis,
    threads_axis,
)
from benchdash.dashboard.shell import numbers
from benchdash.regressions.comparison import verdict_words
from benchdash.regressions.comparison.cells import Cell
from benchdash.regressions.comparison.rows import Row
from benchdash.regressions.detection.compare import Comparison
from benchdash.results.readings import LOWER, UNKNOWN

_BAR: Final = 26
_AROUND_BARS: Final = 64


@dataclass(frozen=True)
class VersionLine:
    """One of the compared things, in a chart, its table and its chip. ``colour`` is a token of base.css."""

    name: str
    colour: str
    is_base: bool = False

    @property
    def short_name(self) -> str:
        return shortened(self.name)


@dataclass(frozen=True)
class Value:
    """The measurement of one line in one row; ``comparison`` is with the base and None for the base itself.

    ``metric`` is that of the row. ``is_foreign``: measured in another unit than the row, so that it stands in
    the table alone.
    """

    line: VersionLine
    cell: Cell | None
    comparison: Comparison | None
    metric: str = ""
    is_foreign: bool = False

    @property
    def change(self) -> float | None:
        return verdict_words.change_of(self.comparison)

    @property
    def verdict(self) -> str:
        """``slower``, or ``not enough to tell, 3 more``."""
        if self.comparison is None:
            return ""
        direction = self.cell.direction if self.cell else ""
        return verdict_words.short_verdict(self.comparison, self.metric, direction)

    @property
    def is_untold(self) -> bool:
        """Tell whether there is not enough to tell, which the look of its cell says."""
        is_judged = self.cell is not None and self.cell.direction != UNKNOWN
        return self.comparison is not None and self.comparison.verdict == "unknown" and is_judged

    @property
    def settling(self) -> str:
        return verdict_words.settling(self.comparison) if self.comparison else ""

    @property
    def level(self) -> str:
        """The look of its change."""
        if self.cell is None or self.comparison is None:
            return numbers.level(None, "")
        return numbers.level(self.change, self.cell.direction, self.comparison.verdict)

    @property
    def text(self) -> str:
        """The number, with its unit where that is not the row's."""
        if self.cell is None:
            return ""
        number = numbers.quantity(self.cell.value, self.cell.unit)
        return f"{number} {self.cell.unit}" if self.is_foreign else number

    @property
    def error(self) -> str:
        return numbers.plus_minus(self.cell.value, *self.interval) if self.cell else ""

    @property
    def noise(self) -> str:
        """The source of the noise that the verdict is judged by."""
        return verdict_words.NOISE[self.comparison.basis] if self.comparison else ""

    @property
    def per_cent(self) -> float | None:
        """The value in per cent of the base."""
        if self.line.is_base:
            return 100.0 if self.cell else None
        ratio = self.comparison.ratio if self.comparison else None
        return None if ratio is None else round(100 * ratio, 9)

    @property
    def interval(self) -> tuple[float | None, float | None]:
        return (self.cell.low, self.cell.high) if self.cell else (None, None)

    @property
    def per_cent_interval(self) -> tuple[float | None, float | None]:
        """The interval of the ratio; where one session each proves none, that of the value itself."""
        if self.comparison and verdict_words.is_within_a_session(self.comparison):
            low, high = self.interval
            if low is None or high is None or not self.cell or self.per_cent is None:
                return None, None
            return low * self.per_cent / self.cell.value, high * self.per_cent / self.cell.value
        if self.comparison is None or self.comparison.low is None or self.comparison.high is None:
            return None, None
        return 100 * self.comparison.low, 100 * self.comparison.high


@dataclass(frozen=True)
class ValueScale:
    """The scale of values. ``relative_to`` names the base of percentages; ``log`` None: as values need it.

    ``hides_values``: nothing may say what was measured but as a percentage.
    """

    relative_to: str = ""
    log: bool | None = None
    hides_values: bool = False


def lines(names: Sequence[str], *, base: int, in_order: bool) -> list[VersionLine]:
    """Return the lines of versions with these names; versions ``in_order`` get a ramp of colours."""
    others = len(names) - 1
    ramp = ordered_colours(others) if in_order and others else []
    colours = ramp or [unordered_colour(index) for index in range(others)]
    colours.insert(base, token("ink"))
    return [
        VersionLine(name, colour, is_base=index == base)
        for index, (name, colour) in enumerate(zip(names, colours, strict=True))
    ]


def values(row: Row, lines: Sequence[VersionLine], metric: str) -> list[Value]:
    """Return the value of each line in a row of a table, whose columns are the other lines in their order."""
    others = iter(zip(row.cells, row.comparisons, strict=True))
    found = []
    for line in lines:
        cell, comparison = (row.base, None) if line.is_base else next(others)
        is_foreign = cell is not None and cell.unit != row.unit
        found.append(Value(line, cell, comparison, metric, is_foreign=is_foreign))
    return found


def against_threads(
    rows: Sequence[Row],
    lines: Sequence[VersionLine],
    metric: str,
    scale: ValueScale,
    link: Callable[[int], str],
) -> Figure:
    """Draw a line for each version over the thread counts of ``rows``; ``link`` gives a series' address."""
    counts = [row.threads or 0 for row in rows]
    columns = zip(*(values(row, lines, metric) for row in rows), strict=True)
    drawn = [
        version_line(line, counts, column, scale, link, rows[0].unit)
        for line, column in zip(lines, columns, strict=True)
        if any(value.cell for value in column)
    ]
    plot = Plot(value_axis(rows, metric, scale), drawn)
    return Figure(threads_axis(counts), [plot], names="ends", says_all=True)


def bars(
    row: Row, lines: Sequence[VersionLine], metric: str, scale: ValueScale, link: Callable[[int], str]
) -> Figure:
    """Draw a bar for each version that has a value."""
    shown = [value for value in values(row, lines, metric) if value.cell and _drawn(value, scale) is not None]
    drawn = Bars(
        "",
        [_drawn(value, scale) for value in shown],
        range(len(shown)),
        [value.line.colour for value in shown],
        hollow=[number for number, value in enumerate(shown) if value.line.is_base],
        errors=_intervals(shown, scale),
        hover=[f"{value.line.name}\n{_hover(value, row.unit, scale)}" for value in shown],
        links=_links(shown, link),
    )
    rule = [VerticalLine(100)] if scale.relative_to else []
    names = Axis(scale="names", names=[value.line.short_name for value in shown], has_grid=False)
    return Figure(value_axis([row], metric, scale), [Plot(names, [drawn, *rule])])


def multiples(
    tables: Sequence[Sequence[Row]], lines: Sequence[VersionLine], metric: str, link: Callable[[int], str]
) -> list[Figure]:
    """Draw a small chart for each table of rows against threads, all on the same axes.

    Tables of a single row are drawn along the versions. Values are per cent of the highest of the reference
    in their own table, or of the first version that it has.
    """
    drawn = [[values(row, lines, metric) for row in rows] for rows in tables]
    tops = [_top(table, lines) for table in drawn]
    shares = (
        _share(value, top) for table, top in zip(drawn, tops, strict=True) for row in table for value in row
    )
    most = max((one for one in shares if one is not None), default=100.0)
    along_threads = any(len(rows) > 1 for rows in tables)
    x_axis = Axis(scale="names", names=[line.short_name for line in lines], has_grid=False)
    if along_threads:
        x_axis = replace(threads_axis([row.threads or 0 for rows in tables for row in rows]), title="")

    def drawn_line(line: VersionLine, x: Sequence[float], column: Sequence[Value], top: float) -> Line:
        own = (value.cell.unit if value.cell else "" for value in column)
        return replace(
            version_line(line, x, column, ValueScale(), link, ""),
            y=[_share(value, top) for value in column],
            errors=(),
            hover=[_hover(value, unit, ValueScale()) for value, unit in zip(column, own, strict=True)],
        )

    figures = []
    for rows, table, top in zip(tables, drawn, tops, strict=True):
        if along_threads:
            x = [row.threads or 0 for row in rows]
            columns = zip(lines, zip(*table, strict=True), strict=True)
            marks = [
                drawn_line(line, x, column, top)
                for line, column in columns
                if any(one.cell for one in column)
            ]
        else:
            whole = VersionLine(rows[0].workload, token("ink-2"))
            marks = [drawn_line(whole, range(len(lines)), table[0], top)]
        y_axis = Axis(suffix=" %", max_ticks=4, range=(0, 1.05 * most))
        figures.append(Figure(x_axis, [Plot(y_axis, marks)], says_all=True, is_small=True))
    return figures


def _top(table: Sequence[Sequence[Value]], lines: Sequence[VersionLine]) -> float:
    """Return the highest value of the reference, or of the first line measured; 1 where all are 0."""
    in_turn = sorted(range(len(lines)), key=lambda index: not lines[index].is_base)
    for index in in_turn:
        measured = [at for row in table if (at := _drawn(row[index], ValueScale())) is not None]
        if measured and max(measured) > 0:
            return max(measured)
    return 1.0


def _share(value: Value, top: float) -> float | None:
    at = _drawn(value, ValueScale())
    return None if at is None else round(100 * at / top, 2)


def grouped_bars(
    rows: Sequence[Row], lines: Sequence[VersionLine], metric: str, link: Callable[[int], str]
) -> Figure:
    """Draw a group of bars for each workload: a bar for each line.

    In a bar stands its value in per cent of the reference. The rows share unit and direction.
    """
    columns = zip(*(values(row, lines, metric) for row in rows), strict=True)
    drawn = [
        Bars(
            line.short_name,
            range(len(rows)),
            [_drawn(value, ValueScale()) for value in column],
            token("ink-2") if line.is_base else line.colour,
            texts=[_share_words(value) for value in column],
            errors=_intervals(column, ValueScale()),
            hover=[_hover(value, rows[0].unit, ValueScale()) for value in column],
            links=_links(column, link),
        )
        for line, column in zip(lines, columns, strict=True)
    ]
    x_axis = Axis(scale="names", names=[shortened(row.workload) for row in rows], has_grid=False)
    plot = Plot(metric_axis(metric, rows[0].unit, rows[0].direction), drawn)
    return Figure(x_axis, [plot], names="above", says_all=True)


def _share_words(value: Value) -> str:
    unit = value.cell.unit if value.cell else ""
    return "" if value.per_cent is None else numbers.share(value.per_cent / 100, unit)


def bars_height(count: int) -> int:
    """Return the height in pixels of a chart with this number of bars."""
    return _AROUND_BARS + _BAR * max(count, 2)


def version_line(
    line: VersionLine,
    x: Sequence[float],
    column: Sequence[Value],
    scale: ValueScale,
    link: Callable[[int], str],
    unit: str,
) -> Line:
    """Draw one version, with a value for each place of ``x``; the base is dashed."""
    return Line(
        line.short_name,
        x,
        [_drawn(value, scale) for value in column],
        line.colour,
        dash="dash" if line.is_base else "solid",
        errors=_intervals(column, scale),
        hover=[_hover(value, unit, scale) for value in column],
        links=_links(column, link),
    )


def _links(column: Iterable[Value], link: Callable[[int], str]) -> list[str]:
    return [link(value.cell.series_id) if value.cell else "" for value in column]


def _drawn(value: Value, scale: ValueScale) -> float | None:
    if value.cell is None or value.is_foreign:
        return None
    return value.per_cent if scale.relative_to else value.cell.value


def _intervals(column: Sequence[Value], scale: ValueScale) -> list[Interval | None]:
    ends = [value.per_cent_interval if scale.relative_to else value.interval for value in column]
    return intervals([_drawn(value, scale) for value in column], ends)


def _hover(value: Value, unit: str, scale: ValueScale) -> str:
    """``15,344 ± 120, n = 5, −8.4 % (slower)``; without values ``91.6 %, n = 5 (slower)``."""
    if value.cell is None:
        return ""
    cell = value.cell
    verdict = ""
    if value.comparison:
        verdict = verdict_words.words(value.comparison.verdict, value.metric, direction=cell.direction)
    if scale.hides_values:
        share = numbers.share(None if value.per_cent is None else value.per_cent / 100, cell.unit)
        return f"{share}, n = {cell.n}{f' ({verdict})' if verdict else ''}"
    said = hover_text(cell.value, cell.low, cell.high, cell.n, "" if unit == "1/s" else unit)
    if value.comparison is None or value.change is None:
        return said
    return f"{said}, {numbers.change(value.change, cell.unit)} ({verdict})"


def value_axis(rows: Sequence[Row], metric: str, scale: ValueScale) -> Axis:
    """Return the axis of a metric, or of percentages."""
    log = _is_log(rows, scale)
    if scale.relative_to:
        return relative_axis(shortened(scale.relative_to), rows[0].direction, log=log)
    return metric_axis(metric, rows[0].unit, rows[0].direction, log=log)


def _is_log(rows: Sequence[Row], scale: ValueScale) -> bool:
    """Tell whether the axis is logarithmic: by default for response times over more than a decade."""
    if scale.log is not None:
        return scale.log
    if len(rows) < 2 or scale.relative_to or rows[0].direction != LOWER:
        return False
    cells = ((row.unit, cell) for row in rows for cell in (row.base, *row.cells) if cell)
    return log_is_better([cell.value for unit, cell in cells if cell.unit == unit])
