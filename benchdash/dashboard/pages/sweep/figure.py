"""One setting varied: a line for each thread count over the values of the setting."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from benchdash.dashboard.charts import common
from benchdash.dashboard.charts.common import Figure
from benchdash.dashboard.charts.compare import ValueScale, VersionLine, trace_of, value_axis, values
from benchdash.dashboard.shell.series_words import threads_words
from benchdash.regressions.comparison.rows import Row
from benchdash.regressions.sweeps.values import Value, are_numbers, positions

_MAX_TICK_LENGTH: Final = 18
# A little room beside the first and the last value that stand side by side.
_ASIDE: Final = 0.25


def thread_lines(rows: Sequence[Row]) -> list[VersionLine]:
    """Return a line for each row, the more threads the stronger."""
    names = [threads_words(row.threads) for row in rows]
    return [
        VersionLine(name, colour)
        for name, colour in zip(names, common.ordered_colours(len(names)), strict=True)
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
    # A line from one name to the next would tell of values between them.
    mode = "lines+markers" if are_numbers(swept) else "markers"
    traces = []
    for row, line in zip(rows, thread_lines(rows), strict=True):
        trace = trace_of(line, at, values(row, lines), scale, link, row.unit)
        labels = [common.plain(one.short_name) for one in lines]
        trace["mode"] = mode
        trace["text"] = [f"{label}: {text}" for label, text in zip(labels, trace["text"], strict=True)]
        traces.append(trace)
    layout = common.base_layout(
        lines=len(traces),
        xaxis=_values_axis(lines, swept, setting),
        yaxis=value_axis(rows, metric, scale),
    )
    return common.figure(traces, layout)


def _values_axis(lines: Sequence[VersionLine], swept: Sequence[Value], setting: str) -> dict[str, Any]:
    at, spacing = positions(swept)
    parts: dict[str, Any] = {"type": "log" if spacing == "log" else "linear"}
    if spacing == "even":
        parts["range"] = [-_ASIDE, len(at) - 1 + _ASIDE]
    return common.axis(
        common.plain(common.shortened(setting)),
        tickmode="array",
        tickvals=at,
        ticktext=[common.plain(common.shortened(line.name, _MAX_TICK_LENGTH)) for line in lines],
        showgrid=False,
        zeroline=False,
        **parts,
    )
