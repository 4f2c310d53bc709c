"""The samples of a run, in stacked parts along one axis of time.

Throughput stands above response times and errors, and what the machine did below them. One horizontal axis
belongs to all parts, so that what is looked at closely in one is looked at in all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from benchdash.dashboard.charts import common
from benchdash.dashboard.charts.common import Figure, token
from benchdash.dashboard.shell import numbers
from benchdash.results.models import IntervalSamples
from benchdash.results.readings import LOWER, Reading, reading
from benchdash.results.stability import RUN_TIME, TIME, Stability, throughput_metric
from benchdash.results.thinning import thinned
from benchdash.results.used_units import UsedUnit

SAMPLE: Final = "sample"
_READING: Final = "reading"
_LATENCY: Final = "latency_"
_PERCENTILE: Final = "latency_p"
_PERCENTILES_WANTED: Final = ("latency_p95", "latency_p99")
_AVERAGE: Final = "latency_avg"
_FAILED: Final = "failed"
# Parts of their own, because what failed in an interval of pgbench or YCSB is a count and no rate.
_ERRORS: Final[tuple[tuple[str, ...], ...]] = (("errors_per_s", "reconnects_per_s"), (_FAILED,))
_MAX_POINTS: Final = 2000
_MAX_POINTS_OF_THE_MACHINE: Final = 800
_MAX_POINTS_BESIDE_OTHERS: Final = 1000
_MAX_MARKERS: Final = 200
_MAX_TICKS_OF_EACH: Final = 10
# If there are more stalls, the longest are shaded.
_MAX_SHADED: Final = 200
_GAP: Final = 0.05
_SECONDS_OF_THE_RUN: Final = ("seconds since the run began", "%{x} s")
_ALONG_A_TOOL: Final = {
    TIME: ("seconds since the start", "%{x} s"),
    _READING: ("reading of the counter", "reading %{x}"),
}
_ALONG_THE_MACHINE: Final = {
    RUN_TIME: _SECONDS_OF_THE_RUN,
    TIME: ("seconds since sampling began", "%{x} s"),
    SAMPLE: ("sample", "sample %{x}"),
}
# By how many parts are stacked.
_HEIGHTS: Final = {1: 320, 2: 400, 3: 480}
_HEIGHT_OF_ONE_MORE: Final = 100

Cells = Sequence[float | None]


@dataclass(frozen=True)
class TimePanel:
    """One of the stacked parts: lines of one unit on a vertical axis of their own."""

    axis: Mapping[str, Any]
    lines: Sequence[dict[str, Any]]

    @property
    def title(self) -> str:
        return str(self.axis["title"]["text"])


@dataclass(frozen=True)
class MachineSamples:
    """Samples of the machine, laid on the time of a run: they began with it, unless they say otherwise.

    ``step_s`` are the seconds between samples that have a number and no time.
    """

    samples: IntervalSamples
    step_s: float | None = None

    def along(self) -> list[float | None]:
        if RUN_TIME in self.samples.columns:
            return _column(self.samples, RUN_TIME)
        if self.step_s is None:
            return _column(self.samples, TIME)
        numbered = _column(self.samples, SAMPLE)
        return [None if at is None else at * self.step_s for at in numbered]


@dataclass(frozen=True)
class TimeLine:
    figure: Figure
    height: int


def together(
    samples: IntervalSamples, *, beside: Sequence[MachineSamples] = (), steadiness: Stability | None = None
) -> TimeLine | None:
    """Draw the samples of a tool above those of the machine, with warm-up and stalls marked.

    None where the tool printed neither the time nor anything along it. Of what several sources say of the
    machine, the first counts.
    """
    panels = _of_a_tool(samples) if TIME in samples.columns else []
    if not panels:
        return None
    of_the_tool = sum(len(panel.lines) for panel in panels)
    panels += _of_the_machine(beside, first_colour=of_the_tool)
    return _time_line(panels, steadiness)


def overlaid(
    runs: Sequence[tuple[str, IntervalSamples]], *, steadiness: Stability | None = None
) -> TimeLine | None:
    """Draw throughput, and response times below, of several runs with their names, each in one colour.

    ``steadiness`` is that of the first run. Runs that printed another metric than the first are left out.
    """
    stacked: list[TimePanel] = []
    for number, (name, samples) in enumerate(runs):
        panels = _of_a_tool(samples, name=name, colour=number, most=_MAX_POINTS_BESIDE_OTHERS, single=True)
        if stacked:
            lines = {panel.title: panel.lines for panel in panels}
            stacked = [TimePanel(one.axis, [*one.lines, *lines.get(one.title, ())]) for one in stacked]
        else:
            stacked = panels
    return _time_line(stacked, steadiness) if stacked else None


def _time_line(panels: Sequence[TimePanel], steadiness: Stability | None) -> TimeLine:
    marks = _marks(steadiness) if steadiness else {}
    title, hover_title = _SECONDS_OF_THE_RUN
    return TimeLine(_stacked(panels, title, hover_title, from_zero=True, **marks), height(len(panels)))


def _marks(steadiness: Stability) -> dict[str, Any]:
    """Shades over stalls and warm-up through all parts, and the limit of stalls in the uppermost."""
    worst = sorted(steadiness.stalls, key=lambda stall: -stall.seconds)[:_MAX_SHADED]
    shapes = [_shade(stall.start, stall.end, "worse-2") for stall in worst]
    annotations = []
    if steadiness.warmup_s:
        shapes.append(_shade(0, steadiness.warmup_s, "same"))
        corner = {"x": 0, "y": 0, "yref": "y domain", "xanchor": "left", "yanchor": "bottom", "xshift": 4}
        font = {"size": 11, "color": token("ink-2")}
        annotations.append({"text": "warm-up", **corner, "showarrow": False, "font": font})
    return {"shapes": [*shapes, _level(steadiness.limit, "ink-2", "dot")], "annotations": annotations}


def _level(y: float, colour: str, dash: str) -> dict[str, Any]:
    line = {"color": token(colour), "width": 1, "dash": dash}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": line}


def _shade(start: float, end: float, colour: str) -> dict[str, Any]:
    """Shade some seconds; the border is seen even where they are narrower than a pixel."""
    place = {"x0": start, "x1": end, "y0": 0, "y1": 1, "yref": "paper", "layer": "below"}
    line = {"color": token(colour), "width": 1}
    return {"type": "rect", **place, "fillcolor": token(colour), "opacity": 0.45, "line": line}


def height(panels: int) -> int:
    most = max(_HEIGHTS)
    return _HEIGHTS.get(panels) or _HEIGHTS[most] + (panels - most) * _HEIGHT_OF_ONE_MORE


def over_time(samples: IntervalSamples) -> TimeLine | None:
    """Draw throughput above response times along what the tool printed beside them; None without either.

    Where a tool prints the response times of several operations, each is a line. A counter that is read
    without telling the time has the numbers of its readings along its axis.
    """
    along = next((name for name in _ALONG_A_TOOL if name in samples.columns), None)
    panels = _of_a_tool(samples) if along else []
    if along is None or not panels:
        return None
    rows = len(panels[0].lines[0]["x"])
    figure = _stacked(
        panels, *_ALONG_A_TOOL[along], from_zero=along == TIME, each=along == _READING, rows=rows
    )
    return TimeLine(figure, height(len(panels)))


def of_the_machine(samples: IntervalSamples) -> TimeLine | None:
    """Draw CPU above context switches above disks, as far as they were sampled; None without any.

    Along the seconds since sampling began or, where no time was printed, the numbers of the samples.
    """
    along = next((name for name in _ALONG_THE_MACHINE if name in samples.columns), None)
    if along is None:
        return None
    panels = _of_the_machine([MachineSamples(samples, step_s=1.0 if along == SAMPLE else None)])
    if not panels:
        return None
    figure = _stacked(panels, *_ALONG_THE_MACHINE[along], each=True, rows=len(samples.rows), legend=True)
    return TimeLine(figure, height(len(panels)))


def _of_a_tool(
    samples: IntervalSamples,
    *,
    name: str = "",
    colour: int | None = None,
    most: int = _MAX_POINTS,
    single: bool = False,
) -> list[TimePanel]:
    """Draw throughput, response times, and errors where there were any.

    With a ``name`` and a ``colour`` all lines have these; ``single`` keeps one line of each part, no errors.
    """
    along = next((one for one in _ALONG_A_TOOL if one in samples.columns), None)
    metrics = [part[:1] if single else part for part in _parts_of_a_tool(samples, with_errors=not single)]
    if along is None or not metrics:
        return []
    # YCSB prints the rest of a second again when it ends.
    seconds = groupby(samples.rows, key=itemgetter(samples.columns.index(along)))
    rows = [next(same) for _, same in seconds]
    first = samples.columns.index(metrics[0][0])
    rows = [rows[index] for index in thinned([row[first] or 0 for row in rows], most)]
    at = {metric: samples.columns.index(metric) for part in metrics for metric in part}
    x = [row[samples.columns.index(along)] for row in rows]
    shades = {metric: number if colour is None else colour for number, metric in enumerate(at)}
    return [
        TimePanel(
            _metric_axis(part[0]),
            [
                _line(
                    metric,
                    x,
                    [row[at[metric]] for row in rows],
                    colour=shades[metric],
                    name=name or numbers.short_metric_name(metric),
                    is_named=not name or number == 0,
                )
                for metric in part
            ],
        )
        for number, part in enumerate(metrics)
    ]


def _parts_of_a_tool(samples: IntervalSamples, *, with_errors: bool) -> list[list[str]]:
    """Return the metrics of each part; errors have one where they are not all zero."""
    throughput = throughput_metric(samples)
    parts = [[throughput] if throughput else [], _response_times(samples.columns)]
    for names in _ERRORS if with_errors and throughput else ():
        named = [column for column in samples.columns if column.rpartition(".")[2] in names]
        parts.append([column for column in named if any(_column(samples, column))])
    return [part for part in parts if part]


def _response_times(columns: Sequence[str]) -> list[str]:
    """Return the columns with the same figure of every operation: a percentile, else the average."""
    own = {column: column.rpartition(".")[2] for column in columns}
    found = [name for name in own.values() if name.startswith(_PERCENTILE)]
    wanted = next((name for name in (*_PERCENTILES_WANTED, *found) if name in found), _AVERAGE)
    return [column for column, name in own.items() if name == wanted]


def _column(samples: IntervalSamples, name: str) -> list[float | None]:
    at = samples.columns.index(name)
    return [row[at] for row in samples.rows]


def _metric_axis(metric: str) -> dict[str, Any]:
    known = _known(metric)
    axis = common.metric_axis(known.metric, known.unit, known.direction)
    unit = numbers.unit_words(known.metric, known.unit)
    name = numbers.short_metric_name(known.metric).removeprefix("response time ")
    axis["title"]["text"] = _low_title(f"{name}{f' ({unit})' if unit else ''}", known)
    return {**axis, "nticks": 5}


def _low_title(what: str, known: Reading) -> str:
    """Put the direction on a line of its own: a part is half as high as other charts."""
    return f"{what}<br>{numbers.direction_words(known.direction)}"


def _known(metric: str) -> Reading:
    """Return the metric without its operation, as a reading without a value."""
    own = metric.rpartition(".")[2]
    if own == _FAILED:
        return Reading(own, 0, "", LOWER)
    return Reading(own, 0, "ms", LOWER) if own.startswith(_LATENCY) else reading(own, 0)


# Metrics of one unit, by the title of their axis.
_PARTS: Final = {
    "CPU (%)": ("cpu_user", "cpu_system", "cpu_wait", "cpu_steal"),
    "switches/s": ("context_switches_per_s",),
    "disk (MB/s)": ("read_mb_per_s", "write_mb_per_s"),
}


def _of_the_machine(beside: Sequence[MachineSamples], *, first_colour: int = 0) -> list[TimePanel]:
    """Draw each part from the first source that has it."""
    panels: list[TimePanel] = []
    colour = first_colour
    for part, wanted in _PARTS.items():
        sources = ((one, _sampled_of(wanted, one.samples)) for one in beside)
        found = next(((one, metrics) for one, metrics in sources if metrics), None)
        if found is None:
            continue
        one, metrics = found
        lines = [_machine_line(one, metric, colour + number) for number, metric in enumerate(metrics)]
        colour += len(lines)
        title = _low_title(part, _known(metrics[0]))
        panels.append(TimePanel(common.axis(title, rangemode="tozero", nticks=4), lines))
    return panels


def _sampled_of(wanted: Iterable[str], samples: IntervalSamples) -> list[str]:
    """Return the metrics that were sampled; a share that stays 0, as steal mostly does, is no line."""
    sampled = [metric for metric in wanted if metric in samples.columns]
    return [metric for metric in sampled if metric != "cpu_steal" or any(_column(samples, metric))]


def _machine_line(beside: MachineSamples, metric: str, colour: int) -> dict[str, Any]:
    """Draw one metric of the machine; very many samples are thinned to the extremes of this line."""
    along, values = beside.along(), _column(beside.samples, metric)
    kept = thinned([value or 0 for value in values], _MAX_POINTS_OF_THE_MACHINE)
    x, y = [along[index] for index in kept], [values[index] for index in kept]
    return _line(metric, x, y, colour=colour, name=numbers.metric_name(metric), width=1.5)


def _line(
    metric: str,
    x: Cells,
    values: Cells,
    *,
    colour: int,
    name: str,
    width: float = 2,
    is_named: bool = True,
) -> dict[str, Any]:
    """Draw a line; it is not ``is_named`` where another one stands in the legend for it."""
    shade = common.unordered_colour(colour)
    unit = numbers.unit_words(metric, _known(metric).unit)
    return common.line(
        name,
        x,
        values,
        colour=shade,
        hover=[" ".join(filter(None, [numbers.number(value), unit])) for value in values],
        mode="lines+markers" if len(values) <= _MAX_MARKERS else "lines",
        line={"color": shade, "width": width},
        marker={"color": shade, "size": 4},
        showlegend=is_named,
    )


def _stacked(
    panels: Sequence[TimePanel],
    title: str,
    hover_title: str,
    *,
    from_zero: bool = False,
    each: bool = False,
    rows: int = 0,
    legend: bool = False,
    **layout: Any,
) -> Figure:
    """Stack panels of the same height from top to bottom; ``each`` of few rows has a tick."""
    part = (1 - _GAP * (len(panels) - 1)) / len(panels)
    tops = [1 - number * (part + _GAP) for number in range(len(panels))]
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    for number, (panel, top) in enumerate(zip(panels, tops, strict=True)):
        domain = {"domain": [max(0, top - part), top]} if len(panels) > 1 else {}
        axes[_axis_name("yaxis", number)] = {**panel.axis, **domain}
        data += [{**line, "yaxis": _axis_name("y", number)} for line in panel.lines]
    x_axis = common.axis(
        title,
        anchor=_axis_name("y", len(panels) - 1),
        showgrid=False,
        unifiedhovertitle={"text": hover_title},
        **({"rangemode": "tozero"} if from_zero else {}),
        **({"dtick": 1} if each and rows <= _MAX_TICKS_OF_EACH else {}),
    )
    has_legend = legend or any(len(panel.lines) > 1 for panel in panels)
    return common.figure(
        data,
        common.base_layout(
            hovermode="x unified",
            hoversubplots="axis",
            xaxis=x_axis,
            **axes,
            **layout,
            **(common.LEGEND_ABOVE if has_legend else {}),
        ),
    )


def _axis_name(axis: str, number: int) -> str:
    return f"{axis}{number + 1}" if number else axis


def iterations(samples: IntervalSamples, *, used: UsedUnit, direction: str, score: float) -> Figure:
    """Draw the score of every iteration, fork by fork, beside that of the run, in the ``used`` unit."""
    at = {name: samples.columns.index(name) for name in ("fork", "iteration", "score")}
    rows = [row for row in samples.rows if row[at["score"]] is not None]
    data = []
    for number, (fork, found) in enumerate(groupby(rows, key=lambda row: row[at["fork"]])):
        own = [(row[at["iteration"]], used.of(row[at["score"]] or 0.0)) for row in found]
        data.append(
            common.line(
                f"fork {fork:g}",
                [f"{fork:g}.{iteration:g}" for iteration, _ in own],
                [value for _, value in own],
                colour=common.unordered_colour(number),
                hover=[f"{numbers.number(value)} {common.plain(used.unit)}" for _, value in own],
            )
        )
    labels = [label for trace in data for label in trace["x"]]
    layout = common.base_layout(
        xaxis={
            **common.versions_axis(labels),
            "nticks": 12,
            "title": common.axis("fork.iteration")["title"],
        },
        yaxis=common.metric_axis("score", used.unit, direction),
        shapes=[_level(score, "ink", "dash")],
    )
    return common.figure(data, layout)
