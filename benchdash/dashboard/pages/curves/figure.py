"""Scaling curves: throughput and response time against threads, and against each other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from benchdash.dashboard.charts import common
from benchdash.dashboard.charts.common import Figure
from benchdash.dashboard.charts.compare import Value, VersionLine
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.series_words import threads_words
from benchdash.results.readings import LOWER

Fit = Callable[[float], float]
"""A fitted curve: throughput for a number of threads."""

_FIT_POINTS: Final = 60
# More labels than these in one plane would hide each other.
_MAX_LABELS: Final = 60


@dataclass(frozen=True)
class CurvesLook:
    """How curves are drawn: ``values`` are absolute, relative or own, ``repeats`` bars, band or none.

    ``relative_to`` names the line that is 100 % where values are relative.
    ``log`` None: as the values need it. ``linear_threads``: each thread as far from the next as any other.
    """

    values: str = "absolute"
    relative_to: str = ""
    log: bool | None = None
    linear_threads: bool = False
    repeats: str = "bars"


@dataclass(frozen=True)
class DrawnCurve:
    """The values of one line by thread count, in order; ``fit`` where one is to be drawn."""

    line: VersionLine
    values: Mapping[int, Value]
    fit: Fit | None = None

    @property
    def measured(self) -> list[tuple[int, Value]]:
        """The values that have the unit of the chart."""
        return [(count, one) for count, one in self.values.items() if one.cell and not one.is_foreign]


def against_threads(
    curves: Sequence[DrawnCurve],
    *,
    metric: str,
    unit: str,
    direction: str,
    look: CurvesLook,
    link: Callable[[int], str],
) -> Figure:
    """Draw a line for each curve; ``link`` gives a series' address."""
    counts = sorted({count for curve in curves for count, _ in curve.measured})
    shown = [curve for curve in curves if curve.measured]
    traces: list[dict[str, Any]] = []
    for curve in shown:
        if look.repeats == "band":
            traces += _bands(curve, look)
        if curve.fit and look.values != "relative":
            traces.append(_fitted(curve, curve.fit, look))
        traces.append(_line(curve, look, unit, link))
    linear = common.axis(
        "threads", rangemode="tozero", unifiedhovertitle={"text": "threads: %{x}"}, showgrid=False
    )
    layout = common.base_layout(
        lines=len(shown),
        hovermode=common.hover_mode(len(shown)),
        xaxis=linear if look.linear_threads else common.threads_axis(counts),
        yaxis=_value_axis(shown, metric, unit, direction, look),
    )
    return common.figure(traces, layout)


def plane(
    pairs: Sequence[tuple[DrawnCurve, DrawnCurve]],
    *,
    throughput: tuple[str, str, str],
    response_time: tuple[str, str, str],
    look: CurvesLook,
    link: Callable[[int], str],
) -> Figure:
    """Draw response time against throughput; each point says its threads.

    ``pairs`` are the two curves of each line; the metrics are given with unit and direction.
    """
    common_counts = [
        (first, second, [count for count, _ in first.measured if count in dict(second.measured)])
        for first, second in pairs
    ]
    labelled = sum(len(counts) for *_, counts in common_counts) <= _MAX_LABELS
    traces = [
        _path(first, second, counts, look, link, labelled=labelled, units=(throughput[1], response_time[1]))
        for first, second, counts in common_counts
        if counts
    ]
    times = [one.cell.value for _, second in pairs for _, one in second.measured if one.cell]
    log = common.log_is_better(times) if look.log is None else look.log
    layout = common.base_layout(
        lines=len(traces),
        xaxis=common.metric_axis(*throughput),
        yaxis=common.metric_axis(*response_time, log=log),
    )
    # A line may end anywhere in the plane, so that its name cannot stand at its end.
    layout |= {"showlegend": len(traces) > 1, "meta": {"end_labels": False}}
    return common.figure(traces, layout)


def _line(curve: DrawnCurve, look: CurvesLook, unit: str, link: Callable[[int], str]) -> dict[str, Any]:
    measured, drawn = curve.measured, _drawn(curve, look)
    bars = {}
    if look.repeats == "bars":
        lows, highs = [low for _, low, _ in drawn], [high for *_, high in drawn]
        bars["error_y"] = common.error_bars([at or 0.0 for at, *_ in drawn], lows, highs)
    return common.line(
        curve.line.short_name,
        [count for count, _ in measured],
        [at for at, *_ in drawn],
        colour=curve.line.colour,
        is_base=curve.line.is_base,
        hover=[_hover(value, unit) for _, value in measured],
        links=[link(value.cell.series_id) for _, value in measured if value.cell],
        **bars,
    )


def _drawn(curve: DrawnCurve, look: CurvesLook) -> list[list[float | None]]:
    """Return each measured value with the ends of its interval, on the scale of the chart."""
    if look.values == "relative":
        drawn = [[one.per_cent, *one.per_cent_interval] for _, one in curve.measured]
        return [one if one[0] is not None else [None, None, None] for one in drawn]
    factor = _factor(curve, look)
    return [
        [None if number is None else number * factor for number in (one.cell.value, *one.interval)]
        for _, one in curve.measured
        if one.cell
    ]


def _factor(curve: DrawnCurve, look: CurvesLook) -> float:
    """Return the factor of all values, which makes the first point 1 where they are relative to it."""
    first = next((one.cell.value for _, one in curve.measured if one.cell), 0.0)
    return 1 / first if look.values == "own" and first > 0 else 1.0


def _bands(curve: DrawnCurve, look: CurvesLook) -> list[dict[str, Any]]:
    """Draw a ground behind each stretch of points with an interval that does not dwarf its value."""
    drawn = zip(curve.measured, _drawn(curve, look), strict=True)
    stretches = common.stretches(
        ((count, max(low or 0.0, 0.0), high or 0.0), at, low, high) for (count, _), (at, low, high) in drawn
    )
    colour = common.token("ink") if curve.line.is_base else curve.line.colour
    return [
        common.band(
            [*(count for count, *_ in stretch), *(count for count, *_ in reversed(stretch))],
            [*(high for *_, high in stretch), *(low for _, low, _ in reversed(stretch))],
            colour,
            0.2,
        )
        for stretch in stretches
    ]


def _fitted(curve: DrawnCurve, fit: Fit, look: CurvesLook) -> dict[str, Any]:
    first, last = curve.measured[0][0], curve.measured[-1][0]
    ratio = last / first
    threads = [first * ratio ** (step / (_FIT_POINTS - 1)) for step in range(_FIT_POINTS)]
    factor = _factor(curve, look)
    colour = common.token("ink") if curve.line.is_base else curve.line.colour
    return {
        "type": "scatter",
        "mode": "lines",
        "x": threads,
        "y": [fit(count) * factor for count in threads],
        "line": {"color": colour, "width": 1.5, "dash": "dot"},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _path(
    first: DrawnCurve,
    second: DrawnCurve,
    counts: Sequence[int],
    look: CurvesLook,
    link: Callable[[int], str],
    *,
    labelled: bool,
    units: tuple[str, str],
) -> dict[str, Any]:
    xs, ys = [first.values[count] for count in counts], [second.values[count] for count in counts]
    trace = common.line(
        first.line.short_name,
        [value.cell.value for value in xs if value.cell],
        [value.cell.value for value in ys if value.cell],
        colour=first.line.colour,
        is_base=first.line.is_base,
        links=[link(value.cell.series_id) for value in ys if value.cell],
    )
    shade = trace["marker"]["color"]
    hover = [
        f"{threads_words(count)}: {_hover(x, units[0])}; {_hover(y, units[1])}"
        for count, x, y in zip(counts, xs, ys, strict=True)
    ]
    if look.repeats != "none":
        trace |= {"error_x": _bars_of(xs), "error_y": _bars_of(ys)}
    if labelled:
        trace |= {"mode": "lines+markers+text", "textposition": "top center"}
    return trace | {
        "text": [numbers.count(count) for count in counts],
        "textfont": {"size": 11, "color": shade},
        "customdata": hover,
        "hovertemplate": "%{customdata}",
    }


def _bars_of(values: Sequence[Value]) -> dict[str, Any]:
    intervals = [value.interval for value in values]
    return common.error_bars(
        [value.cell.value if value.cell else 0.0 for value in values],
        [low for low, _ in intervals],
        [high for _, high in intervals],
    )


def _hover(value: Value, unit: str) -> str:
    """``15,344 ± 120, n = 5``."""
    if value.cell is None:
        return ""
    cell = value.cell
    return common.hover_text(cell.value, cell.low, cell.high, cell.n, "" if unit == "1/s" else unit)


def _value_axis(
    curves: Sequence[DrawnCurve], metric: str, unit: str, direction: str, look: CurvesLook
) -> dict[str, Any]:
    if look.values == "absolute":
        values = [one.cell.value for curve in curves for _, one in curve.measured if one.cell]
        is_wide = direction == LOWER and common.log_is_better(values)
        log = is_wide if look.log is None else look.log
        return common.metric_axis(metric, unit, direction, log=log)
    if look.values == "relative":
        axis = common.relative_axis(common.shortened(look.relative_to), direction)
    else:
        name, words = numbers.short_metric_name(metric), numbers.direction_words(direction)
        title = common.plain(f"{name}, times its own first point, {words}")
        axis = common.axis(title, ticksuffix=" ×", rangemode="tozero")
    return {**axis, "type": "log", "dtick": "D2"} if look.log else axis
