"""Settings varied: panels whose charts go over the values of one, or over threads."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from benchdash.charts.colours import ordered_colours
from benchdash.charts.figure import Axis, Figure, Plot, shortened
from benchdash.dashboard.charts import compare as charts
from benchdash.dashboard.charts.compare import ValueScale, VersionLine, value_axis, values, version_line
from benchdash.dashboard.compare.panels import (
    CURVE_HEIGHT,
    Panel,
    PanelAddresses,
    PanelRow,
    curves_and_bars,
    means_of,
    named_parts,
    panel_of,
)
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.series_words import threads_words
from benchdash.regressions.comparison.rows import Row
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.regressions.sweeps.conditions import SweepPoint
from benchdash.regressions.sweeps.values import Value, are_numbers, positions

_MAX_TICK_LENGTH: Final = 18
# A little room beside the first and the last value that stand side by side.
_ASIDE: Final = 0.25


def thread_lines(rows: Sequence[Row]) -> list[VersionLine]:
    """Return a line for each row, the more threads the stronger."""
    names = [threads_words(row.threads) for row in rows]
    return [
        VersionLine(name, colour) for name, colour in zip(names, ordered_colours(len(names)), strict=True)
    ]


def against_values(
    rows: Sequence[Row],
    lines: Sequence[VersionLine],
    swept: Sequence[Value],
    *,
    setting: str,
    metric: str,
    scale: ValueScale,
    link: Callable[[int], str],
) -> Figure:
    """``lines`` are those of the values ``swept``, in their order, as the tables of the page name them."""
    at, _ = positions(swept)
    labels = [one.short_name for one in lines]
    drawn = []
    for row, threads_line in zip(rows, thread_lines(rows), strict=True):
        line = version_line(threads_line, at, values(row, lines, metric), scale, link, row.unit)
        drawn.append(
            replace(
                line,
                # A line from one name to the next would tell of values between them.
                width=line.width if are_numbers(swept) else 0,
                hover=[f"{label}: {text}" for label, text in zip(labels, line.hover, strict=True)],
            )
        )
    x_axis = _values_axis(lines, swept, setting)
    return Figure(x_axis, [Plot(value_axis(rows, metric, scale), drawn)], names="ends")


def _values_axis(lines: Sequence[VersionLine], swept: Sequence[Value], setting: str) -> Axis:
    at, spacing = positions(swept)
    return Axis(
        shortened(setting),
        "log" if spacing == "log" else "linear",
        ticks=[
            (place, shortened(line.name, _MAX_TICK_LENGTH)) for place, line in zip(at, lines, strict=True)
        ],
        range=(-_ASIDE, len(at) - 1 + _ASIDE) if spacing == "even" else None,
        has_grid=False,
    )


@dataclass(frozen=True)
class SweepLook:
    """How the panels of a page are drawn. ``x`` is ``value`` or ``threads``; empty: as the values need it.

    ``values`` are those of the setting in their order, a line each. ``place`` is what all titles end with.
    """

    values: Sequence[Value]
    lines: Sequence[VersionLine]
    scale: ValueScale
    x: str
    setting: str
    place: str


def sweep_panels(
    table: ComparisonTable[SweepPoint], look: SweepLook, *, keys: Mapping[str, str], addresses: PanelAddresses
) -> list[Panel]:
    """Return the panels by workload; ``keys`` are short names, and workloads without one get no panel.

    The lines of a panel are the columns of its table. Means over the thread counts stand in a column, or
    where columns are values in a row.
    """

    def parts(rows: Sequence[Row]) -> Iterable[Sequence[Row]]:
        # Over the values all thread counts stand together, known or not.
        return [rows] if look.x == "value" else curves_and_bars(rows)

    return [_panel(table, rows, look, name, addresses) for name, rows in named_parts(table.rows, keys, parts)]


def _panel(
    table: ComparisonTable[SweepPoint],
    rows: Sequence[Row],
    look: SweepLook,
    name: str,
    addresses: PanelAddresses,
) -> Panel:
    if not any(row.base for row in rows) and not look.scale.hides_values:
        look = replace(look, scale=replace(look.scale, relative_to=""))
    _, spacing = positions(look.values)
    over_values = look.x == "value" or (len(rows) == 1 and spacing != "even")
    title = _title(rows, table.metric, look, over_values=over_values)
    figure = _figure(table, rows, look, addresses.series, over_values=over_values)
    panel = panel_of(rows, look.lines, table.metric, look.scale, table.margin, name, title, figure, addresses)
    if not over_values:
        return panel
    means, cells = means_of(rows, look.lines), [row.values for row in panel.rows]
    return replace(
        panel,
        height=CURVE_HEIGHT,
        is_curve=True,
        is_over_values=True,
        corner=look.setting,
        lines=thread_lines(rows),
        rows=[
            PanelRow(line.name, column, mean)
            for line, mean, *column in zip(look.lines, means, *cells, strict=True)
        ],
        means=[],
    )


def _figure(
    table: ComparisonTable[SweepPoint],
    rows: Sequence[Row],
    look: SweepLook,
    link: Callable[[int], str],
    *,
    over_values: bool,
) -> Figure:
    if over_values:
        return against_values(
            rows,
            look.lines,
            look.values,
            setting=look.setting,
            metric=table.metric,
            scale=look.scale,
            link=link,
        )
    if len(rows) > 1:
        return charts.against_threads(rows, look.lines, table.metric, look.scale, link)
    return charts.bars(rows[0], look.lines, table.metric, look.scale, link)


def _title(rows: Sequence[Row], metric: str, look: SweepLook, *, over_values: bool) -> str:
    """``oltp_read_only, transactions per second against innodb_buffer_pool_size, MariaDB 10.11.19, box``."""
    threads = "" if len(rows) > 1 or rows[0].threads is None else threads_words(rows[0].threads)
    against = look.setting if over_values or len(rows) == 1 else "threads"
    relative = f" relative to {look.scale.relative_to}" if look.scale.relative_to else ""
    by = f" by {look.setting}" if against == "threads" else ""
    what = f"{numbers.metric_name(metric)} against {against}{by}{relative}"
    return ", ".join(filter(None, [rows[0].workload, threads, what, look.place]))
