"""JMH's JSON, as ``-rf json`` writes it: a list of benchmarks with all digits and all iterations."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NoReturn, Self, TypeVar, cast

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

Value = TypeVar("Value")

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

    def find(self, key: str) -> Self | None:
        """Return the value of a key; None where it is left out or null."""
        value = self._as(dict, "an object").get(key)
        return None if value is None else self._at(key, value)

    def get(self, key: str) -> Self:
        return self.find(key) or self.refuse(f"has no '{key}'")

    def optional(self, key: str, read: Callable[[Self], Value]) -> Value | None:
        """Return what is read of the value of a key; None where it is left out or null."""
        node = self.find(key)
        return None if node is None else read(node)

    def members(self) -> dict[str, Self]:
        return {str(key): self._at(key, value) for key, value in self._as(dict, "an object").items()}

    def items(self) -> Iterator[Self]:
        """Return the items one after the other: there may be a million."""
        return (self._at(index, value) for index, value in enumerate(self._as(list, "a list")))

    def text(self) -> str:
        return self._as(str, "a text")

    def whole(self, *, least: int = 0, most: int = MAX_COUNT) -> int:
        value = self._as(int, "a whole number")
        if not least <= value <= most:
            self.refuse(f"must be from {least} to {most}")
        return value

    def number(self) -> float | None:
        """Return a number that is not negative; None where JMH has none and writes ``"NaN"``."""
        number = self.signed_number()
        if number is not None and number < 0:
            self.refuse("is negative")
        return number

    def signed_number(self) -> float | None:
        if self.value in _NO_NUMBER:
            return None
        value = float(self.value if isinstance(self.value, float) else self._as(int, "a number"))
        if not is_plausible(value):
            self.refuse("is too large")
        return value

    def pair(self) -> tuple[float, float]:
        match [item.number() for item in self.items()]:
            case [float(first), float(second)]:
                pair = first, second
            case _:
                self.refuse("must be a list of two numbers, a time and a count")
        return pair

    def _as(self, kind: type[Value], name: str) -> Value:
        if not isinstance(self.value, kind) or isinstance(self.value, bool):
            self.refuse(f"must be {name}")
        return self.value

    def _at(self, part: str | int, value: object) -> Self:
        return type(self)(self.source, (*self.path, part), value)


# Fork, iteration, and how often each time was seen in it, in the unit of the file.
_Samples = tuple[int, int, list[tuple[float, float]]]


def _identity(entry: _Node) -> tuple[str, dict[str, str], str | None]:
    name, params = entry.get("benchmark"), entry.optional("params", _Node.members) or {}
    if not name.text().strip():
        name.refuse("is empty")
    values = {name: value.text() for name, value in params.items()}
    return name.text(), values, entry.optional("mode", _Node.text)


def _measured(metric: _Node, *, is_primary: bool = False) -> Score | None:
    unit = metric.get("scoreUnit")
    if is_primary and not score_scale(unit.text()):
        unit.refuse(f"is {NO_SCORE_UNIT}")
    score, error = metric.get("score").number(), metric.optional("scoreError", _Node.number)
    if score is None:
        return None
    interval = None if error is None else _confidence(metric, score) or interval_around(score, error)
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
    primary = entry.get("primaryMetric")
    factor = cast(UnitScale, score_scale(score.unit)).factor
    samples = [
        (fork, iteration, [pair.pair() for pair in pairs.items()])
        for fork, iteration, pairs in _of_iterations(primary, "rawDataHistogram")
    ]
    metrics: dict[str, Score] = {}
    # In other modes the percentiles are those of iterations.
    if mode == "sample" and (percentiles := primary.find("scorePercentiles")):
        for percentile in PERCENTILES:
            if (number := percentiles.optional(str(percentile), _Node.number)) is not None:
                metrics[score_percentile(percentile)] = Score(number, score.unit)
    for label, metric in (entry.optional("secondaryMetrics", _Node.members) or {}).items():
        if measured := _measured(metric):
            metrics[metric_name(label, name)] = measured
    return Result(
        benchmark=name,
        params=params,
        mode=mode,
        score=score,
        threads=entry.optional("threads", lambda threads: threads.whole(least=1, most=MAX_THREADS)),
        secondary=metrics,
        options=_options(entry),
        environment=_environment(entry),
        iterations=_iterations(primary, samples, factor),
        histogram=_histogram(samples, factor),
    )


def _options(entry: _Node) -> dict[str, Fact]:
    forks = entry.optional("forks", _Node.whole)
    options: dict[str, Fact] = {} if forks is None else {"forks": forks}
    for phase in ("warmup", "measurement"):
        options |= phase_options(
            phase,
            iterations=entry.optional(f"{phase}Iterations", _Node.whole),
            time=entry.optional(f"{phase}Time", _Node.text),
            batch_size=entry.optional(f"{phase}BatchSize", _Node.whole),
        )
    return options


def _environment(entry: _Node) -> dict[str, Fact]:
    texts = {name: entry.optional(key, _Node.text) for key, name in _ENVIRONMENT.items()}
    environment: dict[str, Fact] = {name: text for name, text in texts.items() if text is not None}
    arguments = entry.optional("jvmArgs", _Node.items) or ()
    if joined := " ".join(argument.text() for argument in arguments):
        environment["jvm_args"] = jvm_arguments(joined)
    return environment


def _of_iterations(primary: _Node, key: str) -> Iterator[tuple[int, int, _Node]]:
    """Yield fork, iteration and value of raw data, which are a list for each fork."""
    for fork, iterations in enumerate(primary.optional(key, _Node.items) or (), start=1):
        for iteration, value in enumerate(iterations.items(), start=1):
            yield fork, iteration, value


def _iterations(primary: _Node, samples: list[_Samples], factor: float) -> tuple[Row, ...]:
    """Return fork, iteration and score. Where operations were sampled it is their mean, as JMH prints it."""
    raw = _of_iterations(primary, "rawData")
    scores = [(fork, iteration, score.signed_number()) for fork, iteration, score in raw]
    means = [(fork, iteration, _mean(counts)) for fork, iteration, counts in samples]
    return tuple((fork, i, None if score is None else score * factor) for fork, i, score in scores or means)


def _mean(counts: list[tuple[float, float]]) -> float | None:
    total = sum(count for _, count in counts)
    return sum(time * count for time, count in counts) / total if total else None


def _histogram(samples: list[_Samples], factor: float) -> tuple[Row, ...]:
    """Return latency in ms and count over all forks and iterations, ascending."""
    total: defaultdict[float, float] = defaultdict(float)
    for _, _, counts in samples:
        for time, count in counts:
            total[time] += count
    return tuple((time * factor / 1e6, count) for time, count in sorted(total.items()))
