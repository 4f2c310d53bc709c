"""The part that JMH's JSON, text and CSV share: the result of a benchmark, and the run that is made of it.

The formats only find ``Result`` values; names, keys, units and directions are decided here, so that the
files of one execution give the same runs.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchdash.results.readings import HIGHER, LOWER, Direction, Reading, percentile_metric
from benchdash.results.units import NANOSECONDS
from ingest.formats.limits import remembering
from ingest.formats.report import Fact, FormatError, Intervals, ParsedReport, ParsedRun
from ingest.masking import mask_text

MODES = ("thrpt", "avgt", "sample", "ss")
_MODE_WORDS = {
    **{mode: mode for mode in MODES},
    "throughput": "thrpt",
    "average": "avgt",
    "sampling": "sample",
    "singleshot": "ss",
    "singleshotinvocation": "ss",
}
PERCENTILES = (0.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99, 100.0)
NOT_APPLICABLE = "N/A"
MAX_COUNT = 1_000_000_000
NO_SCORE_UNIT = "neither a time per operation nor operations per time"

Row = tuple[float | None, ...]

# Far beyond any measurement, and products of two such numbers are still finite.
_MAX_NUMBER = 1e100

_OPERATIONS = re.compile(r"(?P<scale>[kKMG]?)ops?")
_THOUSANDS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
# Old JMH puts a sign before what a profiler measured and before percentiles: @, later a middle dot. The dot
# becomes a question mark where standard output cannot hold it, and other signs where encodings are mixed up.
_MARK = r"(?:Â·|┬[╖À]|[·@?ú\ufffd])"
_PROFILER_MARKS = re.compile(f"{_MARK}+")
_PERCENTILE_LABEL = re.compile(rf"(?:(?P<method>.*?)(?::|{_MARK}))?p(?P<rank>[01]\.[0-9]{{1,9}})")
_MAX_ARGUMENTS_LENGTH = 10_000
# Facts by the names that JMH's JSON gives them.
_ENVIRONMENT = {
    "jmhVersion": "tool_version",
    "jdkVersion": "jdk_version",
    "vmName": "vm_name",
    "vmVersion": "vm_version",
    "jvm": "jvm",
}


class UnitScale(NamedTuple):
    """How a unit of JMH is normalised: times per operation to ns/op, throughput to ops/s."""

    unit: str
    direction: Direction
    factor: float


class Score(NamedTuple):
    """A score and its 99.9 % interval in the unit that JMH prints.

    ``approximate``: JMH printed only the power of ten.
    """

    score: float
    unit: str
    interval: tuple[float, float] | None = None
    approximate: bool = False


@dataclass(slots=True, eq=False)
class Result:
    """One benchmark with its parameters in one mode, on the line where it begins.

    ``problem`` is why there is no score. ``secondary`` goes by metric names (see ``metric_name``).
    ``settings`` are named as in JMH's JSON. ``iterations`` are (fork, iteration, normalised score), counted
    from 1; ``histogram`` is (latency in ms, count), ascending. ``headings`` are those that it stands under in
    a document; ``place`` is their part that tells it from results of the same benchmark elsewhere in it.
    ``is_said``: that part is product and version, or the thread count.
    """

    benchmark: str
    params: Mapping[str, str] = field(default_factory=dict)
    mode: str | None = None
    threads: int | None = None
    score: Score | None = None
    problem: str = ""
    line: int = 1
    secondary: dict[str, Score] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    iterations: list[Row] = field(default_factory=list)
    histogram: Sequence[Row] = ()
    headings: tuple[str, ...] = ()
    place: str = ""
    is_said: bool = False
    product: str | None = None
    version: str | None = None

    @property
    def workload(self) -> str:
        """``bench.BatchInsert.blackhole batchSize=10 avgt``, on one line whatever the parameters hold."""
        named = [f"{name}={value}" for name, value in self.params.items() if value != NOT_APPLICABLE]
        return " ".join(" ".join([self.benchmark, *named, self.mode or ""]).split())

    @property
    def left_out(self) -> str:
        return f"{self.workload} was left out: {self.problem}"

    @property
    def options(self) -> dict[str, Fact]:
        """The number of forks, and how long the phases ran; nothing of what is not said or usual."""
        options: dict[str, Fact] = {"forks": self.settings.get("forks")}
        for phase in ("warmup", "measurement"):
            iterations = options[f"{phase}_iterations"] = self.settings.get(f"{phase}Iterations")
            if iterations:
                batch_size = self.settings.get(f"{phase}BatchSize") or 1
                options[f"{phase}_time"] = self.settings.get(f"{phase}Time")
                options[f"{phase}_batch_size"] = batch_size if batch_size > 1 else None
        return {name: value for name, value in options.items() if value is not None}

    @property
    def environment(self) -> dict[str, Fact]:
        """Facts of JMH and JVM, which mostly hold for the whole file; arguments without the passwords."""
        arguments = " ".join(self.settings.get("jvmArgs") or ())
        facts = {fact: self.settings.get(name) for name, fact in _ENVIRONMENT.items()}
        facts["jvm_args"] = mask_text(arguments[:_MAX_ARGUMENTS_LENGTH])
        facts["blackhole_mode"] = self.settings.get("blackholeMode")
        return {name: value for name, value in facts.items() if value}


def mode_of(text: str) -> str | None:
    """Return the mode ``avgt`` for ``avgt``, ``AverageTime`` and ``Average time``."""
    text = text.strip()
    return text if text in MODES else _MODE_WORDS.get(re.sub(r"[\s_-]|time$", "", text.casefold()))


def is_plausible(number: float) -> bool:
    """Return whether a number is finite and small enough to be a measurement in any unit."""
    return abs(number) <= _MAX_NUMBER


@remembering
def scale_of(unit: str) -> UnitScale | None:
    """Return the scale of ``us/op`` or ``ops/ms``; None for a unit that is no score's.

    People write ``op/s`` and ``Mops/s`` too.
    """
    left, _, right = unit.partition("/")
    operations = _OPERATIONS.fullmatch(left)
    if operations and right in NANOSECONDS:
        return UnitScale("ops/s", HIGHER, _THOUSANDS[operations["scale"].lower()] * 1e9 / NANOSECONDS[right])
    if right == "op" and left in NANOSECONDS:
        return UnitScale("ns/op", LOWER, float(NANOSECONDS[left]))
    return None


def score_scale(unit: str) -> UnitScale | None:
    """Return the scale of a score. Old JMH prints the time of a single shot as ``us``, without ``/op``."""
    return scale_of(unit) or scale_of(f"{unit}/op")


def interval_around(score: float, error: float | None) -> tuple[float, float] | None:
    return None if error is None else (score - error, score + error)


def metric_name(label: str, benchmark: str) -> str:
    """Return the metric of a secondary result: ``gc.count`` of ``·gc.count``, ``score_p50`` of ``p0.50``.

    Old JMH puts the last part of the benchmark's name before a percentile (``do1·p0.50``). The methods of a
    group have percentiles of their own: ``get:p0.50`` is ``get_p50``.
    """
    marks = _PROFILER_MARKS.match(label)
    name = label[marks.end() :] if marks else label
    percentile_label = _PERCENTILE_LABEL.fullmatch(name)
    if not percentile_label:
        return name
    percentile = score_percentile(100 * float(percentile_label["rank"]))
    is_own = percentile_label["method"] in (None, "", benchmark.rpartition(".")[2])
    return percentile if is_own else percentile.replace("score", percentile_label["method"], 1)


def score_percentile(percentile: float) -> str:
    """Return ``score_p99_9`` for 99.9."""
    return percentile_metric(round(percentile, 6)).replace("latency", "score")


def report_of(found: Sequence[Result], warnings: Sequence[str], last_line: int) -> ParsedReport:
    """Return a run for each result with a score. Facts that all of them share are those of the report.

    Raise FormatError where none has one.
    """
    results = [result for result in found if result.score]
    if not results:
        reason, line = next(((one.left_out, one.line) for one in found), ("did JMH finish?", last_line))
        raise FormatError(f"no benchmark was measured; {reason}", line)
    shared = _shared(results)
    workloads = [result.workload for result in results]
    places = [f"{result.place}/" if result.place else "" for result in results]
    keys = _keys([f"{place}{workload}" for place, workload in zip(places, workloads, strict=True)])
    intervals = []
    for key, result in zip(keys, results, strict=True):
        if result.iterations:
            rows = tuple(result.iterations)
            intervals.append(Intervals(key, "iterations", ("fork", "iteration", "score"), rows))
        if result.histogram:
            rows = tuple(result.histogram)
            intervals.append(Intervals(key, "histogram", ("latency_ms", "count"), rows))
    return ParsedReport(
        runs=tuple(
            _run(result, key, workload, shared)
            for result, key, workload in zip(results, keys, workloads, strict=True)
        ),
        intervals=tuple(intervals),
        facts={"tool": "JMH", **shared},
        warnings=(*warnings, *_warnings_of(results, workloads)),
    )


def _run(result: Result, key: str, workload: str, shared: Mapping[str, Fact]) -> ParsedRun:
    # The score goes before an auxiliary counter that somebody called "score" too.
    scores = {"score": result.score} | result.secondary | {"score": result.score}
    unit = result.score.unit if result.score else ""
    readings = [_reading(name, measured, unit) for name, measured in scores.items() if measured]
    own = {name: value for name, value in result.environment.items() if name not in shared}
    return ParsedRun(
        readings=tuple(readings),
        key=key,
        column=result.benchmark,
        headings=result.headings,
        product=result.product,
        version=result.version,
        heading="" if result.is_said else result.place,
        workload=workload,
        threads=result.threads,
        options={**result.options, **own},
    )


def _reading(metric: str, measured: Score, score_unit: str) -> Reading:
    number, unit, interval, _ = measured
    scale = _scale(metric, unit, score_unit)
    low, high = interval or (None, None)
    return Reading(
        metric,
        number * scale.factor,
        scale.unit,
        scale.direction,
        None if low is None else low * scale.factor,
        None if high is None else high * scale.factor,
        "" if unit == scale.unit else unit,
    )


def _scale(metric: str, unit: str, score_unit: str) -> UnitScale:
    """Return the scale of a metric: methods of a group have that of their score, unlike profilers."""
    is_score = metric == "score" or (unit == score_unit and "." not in metric)
    # Counts of profilers are costs, except for instructions per clock.
    direction: Direction = HIGHER if unit == "insns/clk" else LOWER
    scale = (score_scale if is_score else scale_of)(unit) or UnitScale(unit, direction, 1.0)
    return scale._replace(direction=LOWER) if metric.startswith("gc.") else scale


def _shared(results: Sequence[Result]) -> dict[str, Fact]:
    first, *others = [result.environment for result in results]
    return {
        name: value
        for name, value in first.items()
        if all(name in other and other[name] == value for other in others)
    }


def _keys(workloads: Sequence[str]) -> list[str]:
    """Return the workloads, numbered where one stands more than once (``X avgt``, ``X avgt #2``)."""
    seen: Counter[str] = Counter()
    keys: dict[str, None] = {}
    for workload in workloads:
        key = workload
        seen[workload] += 1
        while key in keys or (key == workload and seen[workload] > 1):
            key = f"{workload} #{seen[workload]}"
            seen[workload] += 1
        keys[key] = None
    return list(keys)


def _warnings_of(results: Sequence[Result], workloads: Sequence[str]) -> list[str]:
    warnings = [
        f"{workload}: only the power of ten of the score is printed; JMH's JSON has all digits"
        for result, workload in zip(results, workloads, strict=True)
        if result.score and result.score.approximate
    ]
    times = Counter(
        (result.place, workload, result.threads) for result, workload in zip(results, workloads, strict=True)
    )
    warnings += [
        f"{workload} stands {count} times in the file: its runs count as repetitions"
        for (_, workload, _), count in times.items()
        if count > 1
    ]
    return warnings
