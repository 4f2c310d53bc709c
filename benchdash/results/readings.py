"""Metrics, their units and directions, and the plain value that a format hands over."""

import re
from functools import lru_cache
from typing import Literal, NamedTuple

Direction = Literal["higher", "lower", "unknown"]

HIGHER: Direction = "higher"
LOWER: Direction = "lower"
# Nobody has said which is better: drawn and compared, never judged.
UNKNOWN: Direction = "unknown"

_RATES = (
    "tps",
    "qps",
    "events_per_s",
    "reads_per_s",
    "writes_per_s",
    "other_per_s",
    "fsyncs_per_s",
    "ops_per_s",
)
_KNOWN: dict[str, tuple[str, Direction]] = {
    **dict.fromkeys(_RATES, ("1/s", HIGHER)),
    "nopm": ("1/min", HIGHER),
    "tpm": ("1/min", HIGHER),
    "errors_per_s": ("1/s", LOWER),
    "reconnects_per_s": ("1/s", LOWER),
    "transferred_mib_per_s": ("MiB/s", HIGHER),
    "read_mib_per_s": ("MiB/s", HIGHER),
    "written_mib_per_s": ("MiB/s", HIGHER),
    "total_time": ("s", LOWER),
    "total_events": ("events", HIGHER),
    "batch_seconds_avg": ("s", LOWER),
    "batch_seconds_min": ("s", LOWER),
    "batch_seconds_max": ("s", LOWER),
    "fairness_events_stddev": ("events", LOWER),
    "fairness_time_stddev": ("s", LOWER),
    "cpu_user": ("%", LOWER),
    "cpu_system": ("%", LOWER),
    "cpu_wait": ("%", LOWER),
    "cpu_idle": ("%", HIGHER),
    "cpu_steal": ("%", LOWER),
    "context_switches_per_s": ("1/s", LOWER),
    "interrupts_per_s": ("1/s", LOWER),
    "run_queue": ("threads", LOWER),
    "read_mb_per_s": ("MB/s", LOWER),
    "write_mb_per_s": ("MB/s", LOWER),
    "cpu_per_op": ("µs/op", LOWER),
    "server_cpu_per_op": ("µs/op", LOWER),
    "client_cpu_per_op": ("µs/op", LOWER),
    "cs_per_op": ("1/op", LOWER),
    "read_kb_per_op": ("kB/op", LOWER),
    "write_kb_per_op": ("kB/op", LOWER),
    "stalls_per_min": ("1/min", LOWER),
    "stalled_percent": ("%", LOWER),
}
DERIVED: dict[str, str] = {
    "curve_peak": "",
    "curve_peak_threads": "threads",
    "curve_knee_threads": "threads",
    "curve_scale_up": "x",
}
"""Metrics of derived series by unit (none: that of the throughput). Of all of them more is better."""

_LATENCY = re.compile(r"latency_(min|avg|max|sum|stddev|p\d{1,3}(_\d+)?)")
_CLOCK = re.compile(r"(?:ns|us|µs|ms|s|sec|min|hr|h|day)")
# The lowest of the intervals that a tool printed, and their relative standard deviation.
_OF_INTERVALS = re.compile(r"(?P<metric>\w+)_(?P<what>worst|variation)")


class Reading(NamedTuple):
    """One number that a format found in a file, in the normalised unit of its metric.

    ``low`` and ``high`` are the interval that the tool itself prints (JMH's 99.9 % interval), in the same
    unit as ``value``. ``printed_unit`` is the unit of the file where it differs (``us/op`` for ``ns/op``).
    ``is_own`` marks a metric that benchdash does not know and the project measures (``rss_mb``).
    """

    metric: str
    value: float
    unit: str
    direction: Direction
    low: float | None = None
    high: float | None = None
    printed_unit: str = ""
    is_own: bool = False


def known_metric(metric: str) -> bool:
    return metric in _KNOWN or _LATENCY.fullmatch(metric) is not None or of_intervals(metric) is not None


def of_intervals(metric: str) -> tuple[str, str] | None:
    """Return ``("tps", "worst")`` for ``tps_worst``; None for a metric that is not of a rate's intervals."""
    found = _OF_INTERVALS.fullmatch(metric)
    return (found["metric"], found["what"]) if found and found["metric"] in _KNOWN else None


def is_of_stability(metric: str) -> bool:
    """Return whether the metric is computed from what the tool printed during the run."""
    return metric in ("stalls_per_min", "stalled_percent") or of_intervals(metric) is not None


def is_computed(metric: str) -> bool:
    """Return whether the metric is computed from other readings, which may have been rounded."""
    return metric.endswith("_per_op") or is_of_stability(metric)


@lru_cache(maxsize=1000)
def is_clocked(unit: str) -> bool:
    """Return whether it scatters from run to run: sizes, counts and shares may well repeat."""
    return any(map(is_time, unit.split("/")))


def is_time(unit: str) -> bool:
    return _CLOCK.fullmatch(unit) is not None


def reading(metric: str, value: float) -> Reading:
    """Return a reading of a metric whose name alone says unit and direction (``tps``, ``latency_p95``).

    Raises KeyError for any other name.
    """
    unit, direction = _KNOWN.get(metric) or _said_by_name(metric)
    return Reading(metric, value, unit, direction)


@lru_cache(maxsize=1000)
def _said_by_name(metric: str) -> tuple[str, Direction]:
    """Return unit and direction of a metric. Raises KeyError for an unknown one."""
    if _LATENCY.fullmatch(metric):
        return "ms", LOWER
    if found := of_intervals(metric):
        return _KNOWN[found[0]] if found[1] == "worst" else ("%", LOWER)
    raise KeyError(metric)


def percentile_metric(percentile: float) -> str:
    """Return ``latency_p95`` for 95, ``latency_p99_9`` for 99.9."""
    return f"latency_p{percentile:g}".replace(".", "_")
