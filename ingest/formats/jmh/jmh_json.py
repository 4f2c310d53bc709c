"""JMH's JSON, as ``-rf json`` writes it: a list of benchmarks with all digits and all iterations."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn, Self, cast

from ingest.formats.jmh.results import (
    MAX_COUNT,
    NO_SCORE_UNIT,
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
    results, unmeasured = [], []
    for entry in _Node(source, (), load(source)).items():
        name, params, mode = _identity(entry)
        if score := _measured(entry.get("primaryMetric"), is_primary=True):
            results.append(_result(entry, name, params, mode, score))
        else:
            unmeasured.append(workload_name(name, params, mode))
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
        node = self.find(key)
        if node is None:
            self.refuse(f"has no '{key}'")
        return node

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.refuse("must be a text")
        return self.value

    def whole(self, *, least: int = 0, most: int = MAX_COUNT) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.refuse("must be a whole number")
        if not least <= self.value <= most:
            self.refuse(f"must be from {least} to {most}")
        return self.value

    def number(self) -> float | None:
        """Return a number that is not negative; None where JMH has none and writes ``"NaN"``."""
        number = self.signed_number()
        if number is not None and number < 0:
            self.refuse("is negative")
        return number

    def signed_number(self) -> float | None:
        if self.value in _NO_NUMBER:
            return None
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self.refuse("must be a number")
        if not is_plausible(self.value):
            self.refuse("is too large")
        return float(self.value)

    def pair(self) -> tuple[float, float]:
        match [item.number() for item in self.items()]:
            case [float(first), float(second)]:
                pair = first, second
            case _:
                self.refuse("must be a list of two numbers, a time and a count")
        return pair

    def _at(self, part: str | int, value: object) -> Self:
        return type(self)(self.source, (*self.path, part), value)


# Fork, iteration, and how often each time was seen in it, in the unit of the file.
_Samples = tuple[int, int, list[tuple[float, float]]]


def _identity(entry: _Node) -> tuple[str, dict[str, str], str | None]:
    name, params, mode = entry.get("benchmark"), entry.find("params"), entry.find("mode")
    if not name.text().strip():
        name.refuse("is empty")
    values = {name: value.text() for name, value in params.members().items()} if params else {}
    return name.text(), values, mode.text() if mode else None


def _measured(metric: _Node, *, is_primary: bool = False) -> Score | None:
    unit = metric.get("scoreUnit")
    if is_primary and not score_scale(unit.text()):
        unit.refuse(f"is {NO_SCORE_UNIT}")
    score, error = metric.get("score").number(), metric.find("scoreError")
    half = error.number() if error else None
    if score is None:
        return None
    interval = None if half is None else _confidence(metric, score) or interval_around(score, half)
    return Score(score, unit.text(), interval)


def _confidence(metric: _Node, score: float) -> tuple[float, float] | None:
    """Return the interval that the file gives; None where JMH has none."""
    bounds = metric.find("scoreConfidence")
    match [bound.signed_number() for bound in bounds.items()] if bounds else []:
        case [float(low), float(high)]:
            if bounds and not low - _ROUNDING * abs(low) <= score <= high + _ROUNDING * abs(high):
                bounds.refuse("does not hold the score")
            return low, high
    return None


def _result(entry: _Node, name: str, params: dict[str, str], mode: str | None, score: Score) -> Result:
    primary, threads = entry.get("primaryMetric"), entry.find("threads")
    scale = cast(UnitScale, score_scale(score.unit))
    samples = _samples(primary)
    metrics: dict[str, Score] = {}
    # In other modes the percentiles are those of iterations.
    percentiles = primary.find("scorePercentiles") if mode == "sample" else None
    for percentile in PERCENTILES if percentiles else ():
        node = percentiles.find(str(percentile)) if percentiles else None
        if node and (number := node.number()) is not None:
            metrics[score_percentile(percentile)] = Score(number, score.unit)
    secondary = entry.find("secondaryMetrics")
    for label, metric in secondary.members().items() if secondary else ():
        if measured := _measured(metric):
            metrics[metric_name(label, name)] = measured
    return Result(
        benchmark=name,
        params=params,
        mode=mode,
        score=score,
        threads=threads.whole(least=1, most=MAX_THREADS) if threads else None,
        secondary=metrics,
        options=_options(entry),
        environment=_environment(entry),
        iterations=_iterations(primary, samples, scale.factor),
        histogram=_histogram(samples, scale.factor),
    )


def _options(entry: _Node) -> dict[str, Fact]:
    options: dict[str, Fact] = {}
    if forks := entry.find("forks"):
        options["forks"] = forks.whole()
    for phase in ("warmup", "measurement"):
        iterations = entry.find(f"{phase}Iterations")
        time = entry.find(f"{phase}Time")
        batch_size = entry.find(f"{phase}BatchSize")
        options |= phase_options(
            phase,
            iterations=iterations.whole() if iterations else None,
            time=time.text() if time else None,
            batch_size=batch_size.whole() if batch_size else None,
        )
    return options


def _environment(entry: _Node) -> dict[str, Fact]:
    nodes = {name: entry.find(key) for key, name in _ENVIRONMENT.items()}
    environment: dict[str, Fact] = {name: node.text() for name, node in nodes.items() if node}
    arguments = entry.find("jvmArgs")
    if arguments and (joined := " ".join(argument.text() for argument in arguments.items())):
        environment["jvm_args"] = jvm_arguments(joined)
    return environment


def _iterations(primary: _Node, samples: list[_Samples], factor: float) -> tuple[Row, ...]:
    """Return fork, iteration and score from ``rawData``, which has a list of scores for each fork.

    Where operations were sampled it is their mean time, as JMH prints it.
    """
    raw = primary.find("rawData")
    scores = (
        (fork, iteration, score.signed_number())
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


def _histogram(samples: list[_Samples], factor: float) -> tuple[Row, ...]:
    """Return latency in ms and count over all forks and iterations, ascending."""
    total: defaultdict[float, float] = defaultdict(float)
    for _, _, counts in samples:
        for time, count in counts:
            total[time] += count
    return tuple((time * factor / 1e6, count) for time, count in sorted(total.items()))
