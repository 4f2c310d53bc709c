"""The samples of a run, in stacked parts along one axis of time.

Throughput stands above response times and errors, and what the machine did below them. One horizontal axis
belongs to all parts, so that what is looked at closely in one is looked at in all.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Final, Literal

from benchdash.charts.colours import token, unordered_colour
from benchdash.charts.figure import Axis, Figure, Label, Level, Line, Mark, Plot, Shade
from benchdash.charts.parts import metric_axis
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
    plots = _of_a_tool(samples) if TIME in samples.columns else []
    if not plots:
        return None
    of_the_tool = sum(len(plot.marks) for plot in plots)
    plots += _of_the_machine(beside, first_colour=of_the_tool)
    return _time_line(plots, steadiness)


def overlaid(
    runs: Sequence[tuple[str, IntervalSamples]], *, steadiness: Stability | None = None
) -> TimeLine | None:
    """Draw throughput, and response times below, of several runs with their names, each in one colour.

    ``steadiness`` is that of the first run. Runs that printed another metric than the first are left out.
    """
    stacked: list[Plot] = []
    for number, (name, samples) in enumerate(runs):
        plots = _of_a_tool(samples, name=name, colour=number, most=_MAX_POINTS_BESIDE_OTHERS, single=True)
        if stacked:
            lines = {plot.y.title: plot.marks for plot in plots}
            stacked = [Plot(one.y, [*one.marks, *lines.get(one.y.title, ())]) for one in stacked]
        else:
            stacked = plots
    return _time_line(stacked, steadiness) if stacked else None


def _time_line(plots: Sequence[Plot], steadiness: Stability | None) -> TimeLine:
    title, hover_title = _SECONDS_OF_THE_RUN
    names = _names(plots)
    if steadiness:
        first, *others = plots
        plots = [Plot(first.y, [*first.marks, *_marks(steadiness)]), *others]
    x_axis = Axis(title, from_zero=True, has_grid=False, hover_title=hover_title)
    return TimeLine(Figure(x_axis, plots, names=names, says_all=True), height(len(plots)))


def _names(plots: Sequence[Plot]) -> Literal["above", ""]:
    """Name the lines where there are several in one part: the axis of another names its only one."""
    return "above" if any(len(plot.marks) > 1 for plot in plots) else ""


def _marks(steadiness: Stability) -> Iterator[Mark]:
    """Shade stalls and warm-up through all parts, and draw the limit of stalls in the uppermost."""
    worst = sorted(steadiness.stalls, key=lambda stall: -stall.seconds)[:_MAX_SHADED]
    for stall in worst:
        yield Shade((stall.start, stall.end), token("worse-2"), 0.45, has_edges=True)
    if steadiness.warmup_s:
        yield Shade((0, steadiness.warmup_s), token("same"), 0.45, has_edges=True)
        yield Label(0, "warm-up", where="bottom", side="right")
    yield Level(steadiness.limit, colour=token("ink-2"), width=1, dash="dot")


def height(plots: int) -> int:
    most = max(_HEIGHTS)
    return _HEIGHTS.get(plots) or _HEIGHTS[most] + (plots - most) * _HEIGHT_OF_ONE_MORE


def over_time(samples: IntervalSamples) -> TimeLine | None:
    """Draw throughput above response times along what the tool printed beside them; None without either.

    Where a tool prints the response times of several operations, each is a line. A counter that is read
    without telling the time has the numbers of its readings along its axis.
    """
    along = next((name for name in _ALONG_A_TOOL if name in samples.columns), None)
    plots = _of_a_tool(samples) if along else []
    if along is None or not plots:
        return None
    x_axis = _x_axis(*_ALONG_A_TOOL[along], _column(samples, along) if along == _READING else ())
    x_axis = replace(x_axis, from_zero=along == TIME)
    return TimeLine(Figure(x_axis, plots, names=_names(plots), says_all=True), height(len(plots)))


def of_the_machine(samples: IntervalSamples) -> TimeLine | None:
    """Draw CPU above context switches above disks, as far as they were sampled; None without any.

    Along the seconds since sampling began or, where no time was printed, the numbers of the samples.
    """
    along = next((name for name in _ALONG_THE_MACHINE if name in samples.columns), None)
    if along is None:
        return None
    source = MachineSamples(samples, step_s=1.0 if along == SAMPLE else None)
    plots = _of_the_machine([source])
    if not plots:
        return None
    x_axis = _x_axis(*_ALONG_THE_MACHINE[along], source.along())
    return TimeLine(Figure(x_axis, plots, names="above", says_all=True), height(len(plots)))


def _x_axis(title: str, hover_title: str, places: Cells) -> Axis:
    """Return the axis along samples; each of few ``places`` has a tick."""
    has_few = len(places) <= _MAX_TICKS_OF_EACH
    ticks = [(at, f"{at:g}") for at in places if at is not None] if has_few else []
    return Axis(title, ticks=ticks, has_grid=False, hover_title=hover_title)


def _of_a_tool(
    samples: IntervalSamples,
    *,
    name: str = "",
    colour: int | None = None,
    most: int = _MAX_POINTS,
    single: bool = False,
) -> list[Plot]:
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
        Plot(
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


def _metric_axis(metric: str) -> Axis:
    known = _known(metric)
    unit = numbers.unit_words(known.metric, known.unit)
    name = numbers.short_metric_name(known.metric).removeprefix("response time ")
    title = _low_title(f"{name}{f' ({unit})' if unit else ''}", known)
    return Axis(title, from_zero=True, max_ticks=5)


def _low_title(what: str, known: Reading) -> str:
    """Put the direction on a line of its own: a part is half as high as other charts."""
    return f"{what}\n{numbers.direction_words(known.direction)}"


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


def _of_the_machine(beside: Sequence[MachineSamples], *, first_colour: int = 0) -> list[Plot]:
    """Draw each part from the first source that has it."""
    plots: list[Plot] = []
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
        plots.append(Plot(Axis(title, from_zero=True, max_ticks=4), lines))
    return plots


def _sampled_of(wanted: Iterable[str], samples: IntervalSamples) -> list[str]:
    """Return the metrics that were sampled; a share that stays 0, as steal mostly does, is no line."""
    sampled = [metric for metric in wanted if metric in samples.columns]
    return [metric for metric in sampled if metric != "cpu_steal" or any(_column(samples, metric))]


def _machine_line(beside: MachineSamples, metric: str, colour: int) -> Line:
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
) -> Line:
    """Draw a line; it is not ``is_named`` where another one stands in the legend for it."""
    unit = numbers.unit_words(metric, _known(metric).unit)
    return Line(
        name,
        x,
        values,
        unordered_colour(colour),
        width=width,
        size=4 if len(values) <= _MAX_MARKERS else 0,
        hover=[" ".join(filter(None, [numbers.number(value), unit])) for value in values],
        is_named=is_named,
    )


def iterations(samples: IntervalSamples, *, used: UsedUnit, direction: str, score: float) -> Figure:
    """Draw the score of every iteration, fork by fork, beside that of the run, in the ``used`` unit."""
    at = {name: samples.columns.index(name) for name in ("fork", "iteration", "score")}
    rows = [row for row in samples.rows if row[at["score"]] is not None]
    names = [f"{row[at['fork']]:g}.{row[at['iteration']]:g}" for row in rows]
    values = [used.of(row[at["score"]] or 0.0) for row in rows]
    marks: list[Mark] = []
    for number, (fork, found) in enumerate(groupby(range(len(rows)), lambda index: rows[index][at["fork"]])):
        own = list(found)
        marks.append(
            Line(
                f"fork {fork:g}",
                own,
                [values[index] for index in own],
                unordered_colour(number),
                hover=[f"{numbers.number(values[index])} {used.unit}" for index in own],
            )
        )
    x_axis = Axis("fork.iteration", "names", names=names, max_ticks=12, has_grid=False)
    marks.append(Level(score, width=1, dash="dash"))
    return Figure(x_axis, [Plot(metric_axis("score", used.unit, direction), marks)])
