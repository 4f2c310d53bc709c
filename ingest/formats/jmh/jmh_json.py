"""JMH's JSON, as ``-rf json`` writes it: a list of benchmarks with all digits and all iterations."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn, Self

from ingest.formats.jmh.results import (
    MAX_COUNT,
    PERCENTILES,
    Result,
    Row,
    Score,
    UnitScale,
    interval_around,
    is_plausible,
    jvm_arguments,
    metric_name,
    phase_options,
    report_of,
    score_percentile,
    score_scale,
    workload_name,
)
from ingest.formats.json_source import line_of, load
from ingest.formats.outputs import MAX_THREADS
from ingest.formats.report import Fact, FormatError, ParsedReport
from ingest.formats.source import Source

_ROUNDING = 1e-9
_NO_NUMBER = ("NaN", "+INF", "-INF")
_ENVIRONMENT = {
    "jmhVersion": "tool_version",
    "jdkVersion": "jdk_version",
    "vmName": "vm_name",
    "vmVersion": "vm_version",
    "jvm": "jvm",
}


def recognise(head: bytes) -> bool:
    return (
        head.lstrip().startswith(b"[")
        and b'"benchmark"' in head
        and (b'"primaryMetric"' in head or b'"jmhVersion"' in head)
    )


def parse(source: Source) -> ParsedReport:
    """Return one run for each benchmark with its parameters and mode.

    Raise FormatError, with the line, for broken JSON and for values that JMH does not write.
    """
    benchmarks = [_benchmark(entry) for entry in _Node(source, (), load(source)).items()]
    results = [_result(benchmark, benchmark.score) for benchmark in benchmarks if benchmark.score]
    unmeasured = [benchmark.workload for benchmark in benchmarks if not benchmark.score]
    if not results:
        reason = f"the score of {unmeasured[0]} is NaN" if unmeasured else "the list is empty"
        raise FormatError(f"no benchmark was measured: {reason}", line=1)
    return report_of(results, [f"{workload} was left out: its score is NaN" for workload in unmeasured])


@dataclass(frozen=True, slots=True)
class _Node:
    """A value of the file and where it stands, so that what is wrong with it is said with its line."""

    source: Source
    path: tuple[str | int, ...]
    value: object

    def refuse(self, problem: str) -> NoReturn:
        names = [part for part in self.path if isinstance(part, str)]
        subject = f"'{names[-1][:80]}'" if names else "a benchmark" if self.path else "the file"
        raise FormatError(f"{subject} {problem}", line_of(self.source, *self.path))

    def members(self) -> dict[str, Self]:
        if not isinstance(self.value, dict):
            self.refuse("must be an object")
        return {str(key): self._at(key, value) for key, value in self.value.items()}

    def items(self) -> Iterator[Self]:
        """Return the items one after the other: there may be a million."""
        if not isinstance(self.value, list):
            self.refuse("must be a list")
        return (self._at(index, value) for index, value in enumerate(self.value))

    def find(self, key: str) -> Self | None:
        """Return the value of a key; None where it is left out or null."""
        if not isinstance(self.value, dict):
            self.refuse("must be an object")
        value = self.value.get(key)
        return None if value is None else self._at(key, value)

    def get(self, key: str) -> Self:
        found = self.find(key)
        if found is None:
            self.refuse(f"has no '{key}'")
        return found

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.refuse("must be a text")
        return self.value

    def whole(self, *, least: int, most: int) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.refuse("must be a whole number")
        if not least <= self.value <= most:
            self.refuse(f"must be from {least} to {most}")
        return self.value

    def number(self) -> float | None:
        """Return a number; None where JMH has none and writes ``"NaN"``."""
        if self.value in _NO_NUMBER:
            return None
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self.refuse("must be a number")
        if not is_plausible(self.value):
            self.refuse("is too large")
        return float(self.value)

    def pair(self) -> tuple[float, float]:
        """Return two numbers, neither below 0."""
        match [item.number() for item in self.items()]:
            case [float(first), float(second)] if first >= 0 and second >= 0:
                pair = first, second
            case _:
                self.refuse("must be a list of two numbers, a time and a count")
        return pair

    def _at(self, part: str | int, value: object) -> Self:
        return type(self)(self.source, (*self.path, part), value)


@dataclass(frozen=True, slots=True)
class _Benchmark:
    """One entry of the list; without a score where JMH measured none."""

    entry: _Node
    primary: _Node
    name: str
    params: dict[str, str]
    mode: str | None
    unit: str
    scale: UnitScale
    score: Score | None

    @property
    def workload(self) -> str:
        return workload_name(self.name, self.params, self.mode)


# Fork, iteration, and how often each time was seen in it, in the unit of the file.
_Samples = tuple[int, int, list[tuple[float, float]]]


def _benchmark(entry: _Node) -> _Benchmark:
    name, params, mode = entry.get("benchmark"), entry.find("params"), entry.find("mode")
    if not name.text().strip():
        name.refuse("is empty")
    primary = entry.get("primaryMetric")
    score = _measured(primary)
    unit = primary.get("scoreUnit")
    scale = score_scale(unit.text())
    if not scale:
        unit.refuse("is neither a time per operation nor operations per time")
    return _Benchmark(
        entry=entry,
        primary=primary,
        name=name.text(),
        params={name: value.text() for name, value in params.members().items()} if params else {},
        mode=mode.text() if mode else None,
        unit=unit.text(),
        scale=scale,
        score=score,
    )


def _measured(metric: _Node) -> Score | None:
    score, error = metric.get("score").number(), metric.find("scoreError")
    half = error.number() if error else None
    if error and half is not None and half < 0:
        error.refuse("is negative")
    if score is None:
        return None
    if score < 0:
        metric.get("score").refuse("is negative")
    interval = None if half is None else _confidence(metric, score) or interval_around(score, half)
    return Score(score, metric.get("scoreUnit").text(), interval)


def _confidence(metric: _Node, score: float) -> tuple[float, float] | None:
    """Return the interval that the file gives; None where JMH has none."""
    found = metric.find("scoreConfidence")
    match [bound.number() for bound in found.items()] if found else []:
        case [float(low), float(high)]:
            if found and not low - _ROUNDING * abs(low) <= score <= high + _ROUNDING * abs(high):
                found.refuse("does not hold the score")
            return low, high
    return None


def _result(benchmark: _Benchmark, score: Score) -> Result:
    threads = benchmark.entry.find("threads")
    samples = _samples(benchmark.primary)
    return Result(
        benchmark=benchmark.name,
        params=benchmark.params,
        mode=benchmark.mode,
        score=score,
        threads=threads.whole(least=1, most=MAX_THREADS) if threads else None,
        secondary={**_percentiles(benchmark), **_secondary(benchmark)},
        options=_options(benchmark.entry),
        environment=_environment(benchmark.entry),
        iterations=_iterations(benchmark, samples),
        histogram=_histogram(samples, benchmark.scale),
    )


def _percentiles(benchmark: _Benchmark) -> dict[str, Score]:
    """Return the percentiles of sampled operations; in other modes they are those of iterations."""
    printed = benchmark.primary.find("scorePercentiles")
    if benchmark.mode != "sample" or not printed:
        return {}
    percentiles: dict[str, Score] = {}
    for percentile in PERCENTILES:
        node = printed.find(str(percentile))
        number = node.number() if node else None
        if node and number is not None:
            if number < 0:
                node.refuse("is negative")
            percentiles[score_percentile(percentile)] = Score(number, benchmark.unit)
    return percentiles


def _secondary(benchmark: _Benchmark) -> dict[str, Score]:
    """Return the metrics of profilers and auxiliary counters, except those whose score is NaN."""
    metrics = benchmark.entry.find("secondaryMetrics")
    found = {label: _measured(metric) for label, metric in metrics.members().items()} if metrics else {}
    method = benchmark.name.rpartition(".")[2]
    return {metric_name(label, method): measured for label, measured in found.items() if measured}


def _options(entry: _Node) -> dict[str, Fact]:
    options: dict[str, Fact] = {}
    if forks := entry.find("forks"):
        options["forks"] = forks.whole(least=0, most=MAX_COUNT)
    for phase in ("warmup", "measurement"):
        iterations = entry.find(f"{phase}Iterations")
        time = entry.find(f"{phase}Time")
        batch_size = entry.find(f"{phase}BatchSize")
        options |= phase_options(
            phase,
            iterations=iterations.whole(least=0, most=MAX_COUNT) if iterations else None,
            time=time.text() if time else None,
            batch_size=batch_size.whole(least=0, most=MAX_COUNT) if batch_size else None,
        )
    return options


def _environment(entry: _Node) -> dict[str, Fact]:
    found = {name: entry.find(key) for key, name in _ENVIRONMENT.items()}
    environment: dict[str, Fact] = {name: node.text() for name, node in found.items() if node}
    arguments = entry.find("jvmArgs")
    if arguments and (joined := " ".join(argument.text() for argument in arguments.items())):
        environment["jvm_args"] = jvm_arguments(joined)
    return environment


def _iterations(benchmark: _Benchmark, samples: list[_Samples]) -> tuple[Row, ...]:
    """Return fork, iteration and score from ``rawData``, which has a list of scores for each fork.

    Where operations were sampled it is their mean time, as JMH prints it.
    """
    raw, factor = benchmark.primary.find("rawData"), benchmark.scale.factor
    scores = (
        (fork, iteration, score.number())
        for fork, iterations in enumerate(raw.items() if raw else (), start=1)
        for iteration, score in enumerate(iterations.items(), start=1)
    )
    means = ((fork, iteration, _mean(counts)) for fork, iteration, counts in samples)
    rows = tuple((fork, i, None if score is None else score * factor) for fork, i, score in scores)
    return rows or tuple((fork, i, None if mean is None else mean * factor) for fork, i, mean in means)


def _mean(counts: list[tuple[float, float]]) -> float | None:
    total = sum(count for _, count in counts)
    return sum(time * count for time, count in counts) / total if total else None


def _samples(primary: _Node) -> list[_Samples]:
    """Return pairs of time and count from ``rawDataHistogram``, for each fork and iteration."""
    raw = primary.find("rawDataHistogram")
    return [
        (fork, iteration, [pair.pair() for pair in pairs.items()])
        for fork, iterations in enumerate(raw.items() if raw else (), start=1)
        for iteration, pairs in enumerate(iterations.items(), start=1)
    ]


def _histogram(samples: list[_Samples], scale: UnitScale) -> tuple[Row, ...]:
    """Return latency in ms and count over all forks and iterations, ascending."""
    total: defaultdict[float, float] = defaultdict(float)
    for _, _, counts in samples:
        for time, count in counts:
            total[time] += count
    return tuple((time * scale.factor / 1e6, count) for time, count in sorted(total.items()))
