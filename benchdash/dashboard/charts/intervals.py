"""What a tool printed while one run went on."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from benchdash.dashboard import numbers
from benchdash.dashboard.charts import common
from benchdash.dashboard.charts.common import Figure, token
from benchdash.results.models import IntervalSamples
from benchdash.results.readings import LOWER, Reading, reading
from benchdash.results.thinning import thinned

_TIME: Final = "time_s"
_READING: Final = "reading"
_THROUGHPUT: Final[tuple[str, ...]] = (
    *("tps", "qps", "events_per_s", "ops_per_s", "reads_per_s", "writes_per_s", "tpm"),
    *("transferred_mib_per_s", "read_mib_per_s", "written_mib_per_s"),
)
_LATENCY: Final = "latency_"
_PERCENTILE: Final = "latency_p"
_PERCENTILES_WANTED: Final = ("latency_p95", "latency_p99")
_AVERAGE: Final = "latency_avg"
_MOST_POINTS: Final = 2000
_MARKERS_UP_TO: Final = 200
_EVERY_TICK_UP_TO: Final = 10
_TOOLS_ALONG: Final = {
    _TIME: ("seconds since the start", "%{x} s"),
    _READING: ("reading of the counter", "reading %{x}"),
}
_LEGEND_ABOVE: Final[dict[str, Any]] = {
    "showlegend": True,
    "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "font": {"size": 12}},
    "margin": {"l": 64, "r": 16, "t": 40, "b": 48},
}

Cells = Sequence[float | None]


# --- over time --------------------------------------------------------------------------------------------


def over_time(samples: IntervalSamples) -> Figure | None:
    """Throughput above response time, on one axis of seconds; None where neither was printed.

    Where a tool prints the response times of several operations, each is a line. A counter that is read
    without telling the time has the numbers of its readings along its axis.
    """
    along = next((name for name in _TOOLS_ALONG if name in samples.columns), None)
    panels = _panels_of_a_tool(samples)
    if along is None or not panels:
        return None
    shown = [metric for panel in panels for metric in panel]
    rows = _rows_apart(samples, along)
    throughput = samples.columns.index(shown[0])
    rows = [rows[index] for index in thinned([row[throughput] or 0 for row in rows], _MOST_POINTS)]
    at, *values = ([row[samples.columns.index(name)] for row in rows] for name in (along, *shown))
    data = [
        _sampled(metric, at, sampled, number, panel=int(metric in panels[-1] and len(panels) > 1))
        for number, (metric, sampled) in enumerate(zip(shown, values, strict=True))
    ]
    title, hover_title = _TOOLS_ALONG[along]
    x_axis = common.axis(
        title,
        anchor=_axis_name("y", len(panels) - 1),
        showgrid=False,
        rangemode="tozero" if along == _TIME else "normal",
        unifiedhovertitle={"text": hover_title},
        **({"dtick": 1} if along == _READING and len(rows) <= _EVERY_TICK_UP_TO else {}),
    )
    legend = _LEGEND_ABOVE if len(panels[-1]) > 1 else {}
    return common.figure(
        data, common.base_layout(hovermode="x unified", xaxis=x_axis, **_stacked_axes(panels), **legend)
    )


def tool_panels(samples: IntervalSamples) -> int:
    """How many parts ``over_time`` stacks."""
    return len(_panels_of_a_tool(samples))


def _panels_of_a_tool(samples: IntervalSamples) -> list[list[str]]:
    """The metric of the throughput, and those of the response times, as far as they were printed."""
    printed = [metric for metric in _THROUGHPUT if metric in samples.columns]
    throughput = [metric for metric in printed if any(_column(samples, metric))] or printed
    return [panel for panel in (throughput[:1], _response_times(samples.columns)) if panel]


def _response_times(columns: Sequence[str]) -> list[str]:
    """The same figure of every operation: a percentile, else the average."""
    own = {column: column.rpartition(".")[2] for column in columns}
    found = [name for name in own.values() if name.startswith(_PERCENTILE)]
    wanted = next((name for name in (*_PERCENTILES_WANTED, *found) if name in found), _AVERAGE)
    return [column for column, name in own.items() if name == wanted]


def _rows_apart(samples: IntervalSamples, along: str) -> list[Cells]:
    """Without what was printed again in the same second, as YCSB does for the rest of one when it ends."""
    at = samples.columns.index(along)
    return [next(same) for _, same in groupby(samples.rows, key=itemgetter(at))]


def _column(samples: IntervalSamples, name: str) -> Cells:
    at = samples.columns.index(name)
    return [row[at] for row in samples.rows]


def _sampled(metric: str, along: Cells, values: Cells, number: int, *, panel: int) -> dict[str, Any]:
    unit = numbers.unit_words(metric, _known(metric).unit)
    colour = common.unordered_colour(number)
    return common.line(
        numbers.short_metric_name(metric),
        along,
        values,
        colour=colour,
        hover=[" ".join(filter(None, [numbers.number(value), unit])) for value in values],
        mode="lines+markers" if len(values) <= _MARKERS_UP_TO else "lines",
        marker={"color": colour, "size": 4},
        yaxis=_axis_name("y", panel),
    )


def _stacked_axes(panels: Sequence[Sequence[str]]) -> dict[str, Any]:
    if len(panels) == 1:
        return {"yaxis": _metric_axis(panels[0][0])}
    above, below = panels
    return {
        "yaxis": {**_metric_axis(above[0]), "domain": [0.54, 1]},
        "yaxis2": {**_metric_axis(below[0]), "domain": [0, 0.46]},
    }


def _metric_axis(metric: str) -> dict[str, Any]:
    known = _known(metric)
    axis = common.metric_axis(known.metric, known.unit, known.direction)
    unit = numbers.unit_words(known.metric, known.unit)
    # Half as high as other charts: neither the direction nor more of a name has room.
    name = numbers.short_metric_name(known.metric).removeprefix("response time ")
    axis["title"]["text"] = f"{name}{f' ({unit})' if unit else ''}"
    return {**axis, "nticks": 5}


def _known(metric: str) -> Reading:
    """What the metric is without its operation; its value is none."""
    own = metric.rpartition(".")[2]
    return Reading(own, 0, "ms", LOWER) if own.startswith(_LATENCY) else reading(own, 0)


# --- the machine meanwhile --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Panel:
    """One of the stacked parts of a chart: metrics of one unit, whose axis says what they share."""

    title: str
    metrics: Sequence[str]


_PANELS: Final = (
    _Panel("CPU (%)", ("cpu_user", "cpu_system", "cpu_wait", "cpu_steal")),
    _Panel("switches/s", ("context_switches_per_s",)),
    _Panel("disk (MB/s)", ("read_mb_per_s", "write_mb_per_s")),
)
_SAMPLE: Final = "sample"
_ALONG: Final = {_TIME: ("seconds since sampling began", "%{x} s"), _SAMPLE: ("sample", "sample %{x}")}
_GAP: Final = 0.06
_MOST_POINTS_OF_A_LINE: Final = 800


def machine_panels(samples: IntervalSamples) -> int:
    """How many parts ``of_the_machine`` stacks."""
    return len(_panels_in(samples))


def of_the_machine(samples: IntervalSamples) -> Figure | None:
    """CPU above context switches above disks, as far as they were sampled; None where none of them was.

    Along the seconds since sampling began or, where no time was printed, the numbers of the samples.
    """
    panels = _panels_in(samples)
    if not panels:
        return None
    along = _TIME if _TIME in samples.columns else _SAMPLE
    drawn = [(number, metric) for number, panel in enumerate(panels) for metric in panel.metrics]
    data = [
        _machine_line(samples, along, metric, colour=colour, panel=number)
        for colour, (number, metric) in enumerate(drawn)
    ]
    title, hover_title = _ALONG[along]
    x_axis = common.axis(
        title,
        anchor=_axis_name("y", len(panels) - 1),
        showgrid=False,
        unifiedhovertitle={"text": hover_title},
        **({"dtick": 1} if len(samples.rows) <= _EVERY_TICK_UP_TO else {}),
    )
    return common.figure(
        data,
        common.base_layout(
            hovermode="x unified",
            xaxis=x_axis,
            **_panel_axes(panels),
            **_LEGEND_ABOVE,
        ),
    )


def _panel_axes(panels: Sequence[_Panel]) -> dict[str, Any]:
    """Equally high, from top to bottom."""
    height = (1 - _GAP * (len(panels) - 1)) / len(panels)
    tops = [1 - number * (height + _GAP) for number in range(len(panels))]
    return {
        _axis_name("yaxis", number): common.axis(
            panel.title, domain=[max(0, top - height), top], rangemode="tozero", nticks=4
        )
        for number, (panel, top) in enumerate(zip(panels, tops, strict=True))
    }


def _panels_in(samples: IntervalSamples) -> list[_Panel]:
    """Those with the metrics that were sampled. A share that stays 0, as steal mostly does, is no line."""
    if _TIME not in samples.columns and _SAMPLE not in samples.columns:
        return []
    found = []
    for panel in _PANELS:
        sampled = [metric for metric in panel.metrics if metric in samples.columns]
        if metrics := [
            metric for metric in sampled if metric != "cpu_steal" or any(_column(samples, metric))
        ]:
            found.append(_Panel(panel.title, metrics))
    return found


def _machine_line(
    samples: IntervalSamples, along: str, metric: str, *, colour: int, panel: int
) -> dict[str, Any]:
    """Of very many samples those at which this line goes up and down the most."""
    all_x, all_values = _column(samples, along), _column(samples, metric)
    kept = thinned([value or 0 for value in all_values], _MOST_POINTS_OF_A_LINE)
    values = [all_values[index] for index in kept]
    shade = common.unordered_colour(colour)
    unit = numbers.unit_words(metric, reading(metric, 0).unit)
    has_markers = len(samples.rows) <= _MARKERS_UP_TO
    return common.line(
        numbers.metric_name(metric),
        [all_x[index] for index in kept],
        values,
        colour=shade,
        hover=[" ".join(filter(None, [numbers.number(value), unit])) for value in values],
        mode="lines+markers" if has_markers else "lines",
        line={"color": shade, "width": 1.5},
        marker={"color": shade, "size": 4},
        yaxis=_axis_name("y", panel),
    )


def _axis_name(axis: str, number: int) -> str:
    return f"{axis}{number + 1}" if number else axis


# --- iterations -------------------------------------------------------------------------------------------


def iterations(samples: IntervalSamples, *, unit: str, direction: str, score: float) -> Figure:
    """The score of every iteration, fork by fork, beside the score of the run."""
    at = {name: samples.columns.index(name) for name in ("fork", "iteration", "score")}
    rows = [row for row in samples.rows if row[at["score"]] is not None]
    data = []
    for number, (fork, found) in enumerate(groupby(rows, key=lambda row: row[at["fork"]])):
        own = list(found)
        colour = common.unordered_colour(number)
        data.append(
            common.line(
                f"fork {fork:g}",
                [f"{fork:g}.{row[at['iteration']]:g}" for row in own],
                [row[at["score"]] for row in own],
                colour=colour,
                hover=[f"{numbers.number(row[at['score']])} {common.plain(unit)}" for row in own],
            )
        )
    labels = [label for trace in data for label in trace["x"]]
    layout = common.base_layout(
        xaxis={
            **common.versions_axis(labels),
            "nticks": 12,
            "title": common.axis("fork.iteration")["title"],
        },
        yaxis=common.metric_axis("score", unit, direction),
        shapes=[
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": score,
                "y1": score,
                "line": {"color": token("ink"), "width": 1, "dash": "dash"},
            }
        ],
    )
    return common.figure(data, layout)
