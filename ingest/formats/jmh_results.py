"""What JMH's JSON and text share: the result of a benchmark, and the run that is made of it.

Both formats only find ``Result`` values; names, keys, units and directions are decided here, so that the
two files of one execution give the same runs.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchdash.results.readings import HIGHER, LOWER, Direction, Reading, percentile_metric
from ingest.formats.report import Fact, Intervals, ParsedReport, ParsedRun

MODES = ("thrpt", "avgt", "sample", "ss")
PERCENTILES = (0.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99, 100.0)
NOT_APPLICABLE = "N/A"
LARGEST_THREADS = 1_000_000
LARGEST_COUNT = 1_000_000_000

Row = tuple[float | None, ...]

# Far beyond any measurement, and products of two such numbers are still finite.
_LARGEST = 1e100

_NANOSECONDS = {
    **dict.fromkeys(("ns", "nsec"), 1.0),
    **dict.fromkeys(("us", "usec", "µs", "μs"), 1e3),
    **dict.fromkeys(("ms", "msec"), 1e6),
    **dict.fromkeys(("s", "sec"), 1e9),
    **dict.fromkeys(("min",), 60e9),
    **dict.fromkeys(("hr", "h", "hour"), 3600e9),
    **dict.fromkeys(("day",), 86400e9),
}
_HIGHER_IS_BETTER_UNITS = ("insns/clk",)
_PERCENTILE_LABEL = re.compile(r"p([01]\.\d{1,9})")


@dataclass(frozen=True, slots=True)
class Scale:
    """How a unit of JMH is normalised: times per operation to ns/op, throughput to ops/s."""

    unit: str
    direction: Direction
    factor: float


@dataclass(frozen=True, slots=True)
class Measured:
    """A score in the unit that JMH prints. ``error`` is half of its 99.9 % interval.

    ``approximate``: JMH printed only the power of ten.
    """

    score: float
    unit: str
    error: float | None = None
    approximate: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """One benchmark with its parameters in one mode.

    ``secondary`` goes by metric names (see ``metric_name``). ``environment`` are facts of JMH and JVM, which
    mostly hold for the whole file. ``iterations`` are (fork, iteration, normalised score), counted from 1;
    ``histogram`` is (latency in ms, count), ascending.
    """

    benchmark: str
    score: Measured
    params: Mapping[str, str] = field(default_factory=dict)
    mode: str | None = None
    threads: int | None = None
    secondary: Mapping[str, Measured] = field(default_factory=dict)
    options: Mapping[str, Fact] = field(default_factory=dict)
    environment: Mapping[str, Fact] = field(default_factory=dict)
    iterations: tuple[Row, ...] = ()
    histogram: tuple[Row, ...] = ()

    @property
    def workload(self) -> str:
        return workload_name(self.benchmark, self.params, self.mode)


def is_plausible(number: float) -> bool:
    """Whether a number is finite and small enough to be a measurement in any unit."""
    return abs(number) <= _LARGEST


def scale_of(unit: str) -> Scale | None:
    """The scale of ``us/op`` or ``ops/ms``; None for what is neither time per operation nor throughput."""
    left, _, right = unit.partition("/")
    if left == "ops" and right in _NANOSECONDS:
        return Scale("ops/s", HIGHER, 1e9 / _NANOSECONDS[right])
    if right == "op" and left in _NANOSECONDS:
        return Scale("ns/op", LOWER, _NANOSECONDS[left])
    return None


def workload_name(benchmark: str, params: Mapping[str, str], mode: str | None) -> str:
    """``bench.BatchInsert.blackhole batchSize=10 avgt``, on one line whatever the parameters hold."""
    named = [f"{name}={value}" for name, value in params.items() if value != NOT_APPLICABLE]
    return " ".join(" ".join([benchmark, *named, mode or ""]).split())


def metric_name(label: str, benchmark: str) -> str:
    """The metric of a secondary result: ``p0.50`` is ``score_p50``, ``·gc.count`` of old JMH is ``gc.count``.

    Old JMH also puts the method before it (``do1·p0.50``); in a group the method tells the metrics apart.
    """
    method, dot, name = label.rpartition("·")
    if dot and method not in ("", benchmark.rpartition(".")[2]):
        return label
    # Where standard output could not hold a middle dot, Java prints a question mark.
    name = name.lstrip("?")
    found = _PERCENTILE_LABEL.fullmatch(name)
    return score_percentile(100 * float(found[1])) if found else name


def score_percentile(percentile: float) -> str:
    """``score_p99_9`` for 99.9."""
    return percentile_metric(round(percentile, 6)).replace("latency", "score")


def phase_options(
    phase: str, *, iterations: int | None, time: str | None, batch_size: int | None
) -> dict[str, Fact]:
    """How long the phase ``warmup`` or ``measurement`` ran; nothing of what is not said or usual."""
    options: dict[str, Fact] = {}
    if iterations is not None:
        options[f"{phase}_iterations"] = iterations
    if iterations and time is not None:
        options[f"{phase}_time"] = time
    if iterations and batch_size is not None and batch_size > 1:
        options[f"{phase}_batch_size"] = batch_size
    return options


def report_of(results: Sequence[Result], warnings: Sequence[str]) -> ParsedReport:
    """The runs of a file, one for each result. What all of them share of their environment is a fact."""
    shared = _shared(results)
    keys = _keys(results)
    intervals = [
        Intervals(key, source, columns, rows)
        for key, result in zip(keys, results, strict=True)
        for source, columns, rows in (
            ("iterations", ("fork", "iteration", "score"), result.iterations),
            ("histogram", ("latency_ms", "count"), result.histogram),
        )
        if rows
    ]
    return ParsedReport(
        runs=tuple(_run(result, key, shared) for key, result in zip(keys, results, strict=True)),
        intervals=tuple(intervals),
        facts={"tool": "JMH", **shared},
        warnings=(*warnings, *_warnings_of(results)),
    )


def _run(result: Result, key: str, shared: Mapping[str, Fact]) -> ParsedRun:
    own = {name: value for name, value in result.environment.items() if name not in shared}
    metrics = {"score": result.score}
    # The score goes before an auxiliary counter that somebody called "score" too.
    metrics |= {name: measured for name, measured in result.secondary.items() if name not in metrics}
    return ParsedRun(
        readings=tuple(_reading(metric, measured) for metric, measured in metrics.items()),
        key=key,
        column=result.benchmark,
        workload=result.workload,
        threads=result.threads,
        options={**result.options, **own},
    )


def _reading(metric: str, measured: Measured) -> Reading:
    scale = scale_of(measured.unit) or Scale(measured.unit, _direction_of_unit(measured.unit), 1.0)
    error = measured.error
    return Reading(
        metric=metric,
        value=measured.score * scale.factor,
        unit=scale.unit,
        direction=LOWER if metric.startswith("gc.") else scale.direction,
        low=None if error is None else (measured.score - error) * scale.factor,
        high=None if error is None else (measured.score + error) * scale.factor,
        printed_unit="" if measured.unit == scale.unit else measured.unit,
    )


def _direction_of_unit(unit: str) -> Direction:
    """Of a profiler's number: events and bytes per operation are costs, instructions per clock are not."""
    return HIGHER if unit in _HIGHER_IS_BETTER_UNITS else LOWER


def _shared(results: Sequence[Result]) -> dict[str, Fact]:
    first, *others = (result.environment for result in results)
    return {
        name: value
        for name, value in first.items()
        if all(name in other and other[name] == value for other in others)
    }


def _keys(results: Sequence[Result]) -> list[str]:
    """The workloads, numbered where one stands more than once (``X avgt``, ``X avgt #2``)."""
    seen: Counter[str] = Counter()
    keys: dict[str, None] = {}
    for result in results:
        key = workload = result.workload
        seen[workload] += 1
        while key in keys or (key == workload and seen[workload] > 1):
            key = f"{workload} #{seen[workload]}"
            seen[workload] += 1
        keys[key] = None
    return list(keys)


def _warnings_of(results: Sequence[Result]) -> list[str]:
    warnings = [
        f"{result.workload}: only the power of ten of the score is printed; JMH's JSON has all digits"
        for result in results
        if result.score.approximate
    ]
    times = Counter((result.workload, result.threads) for result in results)
    warnings += [
        f"{workload} stands {count} times in the file: its runs count as repetitions"
        for (workload, _), count in times.items()
        if count > 1
    ]
    return warnings
