"""JMH's JSON, as ``-rf json`` writes it: a list of benchmarks with all digits and all iterations."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from ingest.formats.jmh.results import (
    MAX_COUNT,
    NO_SCORE_UNIT,
    PERCENTILES,
    Result,
    Row,
    Score,
    interval_around,
    is_plausible,
    metric_name,
    report_of,
    score_percentile,
    score_scale,
)
from ingest.formats.json_source import line_of, load
from ingest.formats.outputs import MAX_THREADS
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.source import Source

Path = tuple[str | int, ...]

_ROUNDING = 1e-9
_NO_NUMBER = ("NaN", "+INF", "-INF")


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
    entries: Any = load(source)
    _check(source, entries, [_ENTRY], ())
    results = [_result(entry) for entry in entries]
    return report_of(results, [result.left_out for result in results if result.problem], 1)


# --- the values that JMH writes ---------------------------------------------------------------------------


def _text(value: object) -> str:
    return "" if isinstance(value, str) else "must be a text"


def _name(value: Any) -> str:
    return _text(value) or ("" if value.strip() else "is empty")


def _score_unit(value: Any) -> str:
    return _text(value) or ("" if score_scale(value) else f"is {NO_SCORE_UNIT}")


def _whole(least: int, most: int) -> Callable[[object], str]:
    def problem(value: object) -> str:
        if not isinstance(value, int) or isinstance(value, bool):
            return "must be a whole number"
        return "" if least <= value <= most else f"must be from {least} to {most}"

    return problem


def _signed(value: object) -> str:
    if value in _NO_NUMBER:
        return ""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return "must be a number"
    return "" if is_plausible(value) else "is too large"


def _number(value: Any) -> str:
    return _signed(value) or ("is negative" if value not in _NO_NUMBER and value < 0 else "")


def _pair(value: object) -> str:
    numbers = value if isinstance(value, list) and len(value) == 2 else [None]
    is_counted = not any(map(_number, numbers)) and None not in map(_float, numbers)
    return "" if is_counted else "must be a list of two numbers, a time and a count"


def _of_interval(metric: Mapping[str, Any]) -> str:
    score, interval = _float(metric["score"]), _confidence(metric)
    if score is None or interval is None:
        return ""
    low, high = interval
    is_held = low - _ROUNDING * abs(low) <= score <= high + _ROUNDING * abs(high)
    return "" if is_held else "has a score beyond its scoreConfidence"


# A dict has the values of keys, ``*`` stands for any key, ``?`` marks one that may be left out, and the empty
# one checks the whole; a list has the one of its items.
_METRIC = {
    "scoreUnit": _text,
    "score": _number,
    "scoreError?": _number,
    "scoreConfidence?": [_signed],
    "": _of_interval,
}
_PRIMARY = _METRIC | {
    "scoreUnit": _score_unit,
    "scorePercentiles?": {"*": _number},
    "rawData?": [[_signed]],
    "rawDataHistogram?": [[[_pair]]],
}
_ENTRY = {
    "benchmark": _name,
    "params?": {"*": _text},
    "mode?": _text,
    "primaryMetric": _PRIMARY,
    "secondaryMetrics?": {"*": _METRIC},
    "threads?": _whole(1, MAX_THREADS),
    **dict.fromkeys(("jmhVersion?", "jdkVersion?", "vmName?", "vmVersion?", "jvm?"), _text),
    **dict.fromkeys(("warmupTime?", "measurementTime?"), _text),
    **dict.fromkeys(("forks?", "warmupIterations?", "measurementIterations?"), _whole(0, MAX_COUNT)),
    **dict.fromkeys(("warmupBatchSize?", "measurementBatchSize?"), _whole(0, MAX_COUNT)),
    "jvmArgs?": [_text],
}


def _check(source: Source, value: Any, shape: Any, path: Path) -> None:
    """Raise FormatError, with its line, for a value of another shape."""
    if isinstance(shape, list):
        if not isinstance(value, list):
            _refuse(source, path, "must be a list")
        for index, item in enumerate(value):
            _check(source, item, shape[0], (*path, index))
    elif isinstance(shape, dict):
        if not isinstance(value, dict):
            _refuse(source, path, "must be an object")
        for name, inner in shape.items():
            key = name.removesuffix("?")
            if not name:
                _check(source, value, inner, path)
            elif name == "*":
                for member in value:
                    _check(source, value[member], inner, (*path, member))
            elif value.get(key) is not None:
                _check(source, value[key], inner, (*path, key))
            elif key == name:
                _refuse(source, path, f"has no '{key}'")
    elif problem := shape(value):
        _refuse(source, path, problem)


def _refuse(source: Source, path: Path, problem: str) -> NoReturn:
    names = [part for part in path if isinstance(part, str)]
    subject = f"'{names[-1][:80]}'" if names else "a benchmark" if path else "the file"
    raise FormatError(f"{subject} {problem}", line_of(source, *path))


# --- their meaning ----------------------------------------------------------------------------------------


def _float(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _confidence(metric: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the interval that the file gives; None where JMH has none."""
    match list(map(_float, metric.get("scoreConfidence") or ())):
        case [float(low), float(high)] if _float(metric.get("scoreError")) is not None:
            return low, high
    return None


def _score(metric: Mapping[str, Any]) -> Score | None:
    score = _float(metric["score"])
    if score is None:
        return None
    interval = _confidence(metric) or interval_around(score, _float(metric.get("scoreError")))
    return Score(score, metric["scoreUnit"], interval)


def _result(entry: Mapping[str, Any]) -> Result:
    primary = entry["primaryMetric"]
    result = Result(
        benchmark=entry["benchmark"],
        params=entry.get("params") or {},
        mode=entry.get("mode"),
        threads=entry.get("threads"),
        score=_score(primary),
        settings=dict(entry),
    )
    scale = score_scale(primary["scoreUnit"])
    if result.score is None or scale is None:
        result.problem = "its score is not a number"
        return result
    # In other modes the percentiles are those of iterations.
    percentiles = (primary.get("scorePercentiles") or {}) if result.mode == "sample" else {}
    for percentile in PERCENTILES:
        if (number := _float(percentiles.get(str(percentile)))) is not None:
            result.secondary[score_percentile(percentile)] = Score(number, result.score.unit)
    for label, metric in (entry.get("secondaryMetrics") or {}).items():
        if measured := _score(metric):
            result.secondary[metric_name(label, result.benchmark)] = measured
    samples = list(_of_iterations(primary.get("rawDataHistogram")))
    result.histogram = _histogram([counts for _, _, counts in samples], scale.factor)
    scores = [(fork, i, _float(score)) for fork, i, score in _of_iterations(primary.get("rawData"))]
    # JMH prints the mean where operations were sampled.
    means = [(fork, i, _mean(counts)) for fork, i, counts in samples]
    result.iterations = [
        (fork, i, None if score is None else score * scale.factor) for fork, i, score in scores or means
    ]
    return result


def _of_iterations(forks: Sequence[Sequence[Any]] | None) -> Iterator[tuple[int, int, Any]]:
    """Yield fork, iteration and value of raw data, which are a list for each fork."""
    for fork, iterations in enumerate(forks or (), start=1):
        for iteration, value in enumerate(iterations, start=1):
            yield fork, iteration, value


def _mean(counts: Sequence[tuple[float, float]]) -> float | None:
    total = sum(count for _, count in counts)
    return sum(time * count for time, count in counts) / total if total else None


def _histogram(samples: Sequence[Sequence[tuple[float, float]]], factor: float) -> tuple[Row, ...]:
    """Return latency in ms and count over all forks and iterations, ascending."""
    total: defaultdict[float, float] = defaultdict(float)
    for counts in samples:
        for time, count in counts:
            total[float(time)] += count
    return tuple((time * factor / 1e6, count) for time, count in sorted(total.items()))
