"""Numbers, changes and the names of metrics in words, for pages and mails alike."""

import math
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

from benchdash.results.readings import DERIVED, HIGHER, LOWER, UNKNOWN, of_intervals

MINUS: Final = "−"
NO_BREAK: Final = "\N{NO-BREAK SPACE}"
NOTHING: Final = "–"

_NAMES: Final = {
    "tps": "transactions per second",
    "qps": "queries per second",
    "events_per_s": "events per second",
    "reads_per_s": "reads per second",
    "writes_per_s": "writes per second",
    "other_per_s": "other queries per second",
    "fsyncs_per_s": "fsyncs per second",
    "ops_per_s": "operations per second",
    "nopm": "new orders per minute",
    "tpm": "transactions per minute",
    "errors_per_s": "errors per second",
    "reconnects_per_s": "reconnects per second",
    "transferred_mib_per_s": "MiB transferred per second",
    "read_mib_per_s": "MiB read per second",
    "written_mib_per_s": "MiB written per second",
    "total_time": "total time",
    "total_events": "total events",
    "fairness_events_stddev": "events per thread, standard deviation",
    "fairness_time_stddev": "time per thread, standard deviation",
    "latency_min": "response time, minimum",
    "latency_avg": "response time, average",
    "latency_max": "response time, maximum",
    "latency_sum": "response time, sum",
    "latency_stddev": "response time, standard deviation",
    "latency_pct": "response time, percentile of --percentile",
    "score": "score",
    "cpu_user": "CPU, user",
    "cpu_system": "CPU, system",
    "cpu_wait": "CPU, waiting for I/O",
    "cpu_idle": "CPU, idle",
    "cpu_steal": "CPU, stolen",
    "context_switches_per_s": "context switches per second",
    "interrupts_per_s": "interrupts per second",
    "run_queue": "run queue",
    "read_mb_per_s": "MB read per second",
    "write_mb_per_s": "MB written per second",
    "cpu_per_op": "CPU per operation",
    "cpu_share_per_op": "share of all CPUs per operation",
    "reads_per_op": "reads per operation",
    "scan_rate": "rows scanned per second, scaled",
    "tps_with_connecting": "transactions per second, with the time to connect",
    "initial_connection_time": "initial connection time",
    "average_connection_time": "average connection time",
    "schedule_lag_avg": "schedule lag, average",
    "schedule_lag_max": "schedule lag, maximum",
    "retries_per_s": "retries per second",
    "batch_seconds_avg": "seconds for the batch, average",
    "batch_seconds_min": "seconds for the batch, minimum",
    "batch_seconds_max": "seconds for the batch, maximum",
    "server_cpu_per_op": "CPU of the server per operation",
    "client_cpu_per_op": "CPU of the client per operation",
    "cs_per_op": "context switches per operation",
    "read_kb_per_op": "kB read per operation",
    "write_kb_per_op": "kB written per operation",
    "curve_peak": "peak of the scaling curve",
    "curve_peak_threads": "threads at the peak of the scaling curve",
    "curve_knee_threads": "threads at the knee of the scaling curve",
    "curve_scale_up": "scale-up from the fewest to the most threads",
    "stalls_per_min": "stalls per minute",
    "stalled_percent": "time in stalls",
}
_OF_INTERVALS: Final = {"worst": "worst interval", "variation": "variation within a run"}
_PERCENTILE: Final = "latency_p"
_DIRECTIONS: Final[dict[str, str]] = {
    HIGHER: "higher is better",
    LOWER: "lower is better",
    UNKNOWN: "better direction not said",
}


class RelativeUnit(str):
    """The unit of ratios that stand for figures which only members see: they are told coarsely."""

    __slots__ = ()


RATIO: Final = RelativeUnit("ratio")


def quantity(value: float | None, unit: str) -> str:
    """Write a number as figures of its unit are written, without the unit."""
    return ratio(value) if isinstance(unit, RelativeUnit) else number(value)


def number(value: float | None, digits: int = 4) -> str:
    """Write ``15,344``, ``153.4``, ``0.01534``: whole from 1,000 on, else with so many significant digits."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if value == 0:
        return "0"
    # Rounded first, so that 999.96 is written as the 1,000 that it rounds to.
    rounded = float(f"{value:.{digits - 1}e}")
    exponent = math.floor(math.log10(abs(rounded)))
    if exponent >= digits - 1:
        return _signed(f"{value:,.0f}")
    if exponent < -4:
        return _signed(f"{value:.{digits - 1}e}")
    return _signed(f"{rounded:,.{digits - 1 - exponent}f}")


def count(value: int | None) -> str:
    """Write ``15,344``."""
    return NOTHING if value is None else _signed(f"{value:,}")


def nearest(name: str, known: Iterable[str], *, most: int = 1) -> list[str]:
    """Return the known names that are near to one, by difflib's measure; none where it is like no other."""
    return get_close_matches(name, list(known), n=most)


COUNTERPART: Final = "Measured with"
"""The name of the field ``counterpart`` on pages: the server behind a connector, or the other way round."""


def counted(number: int, noun: str) -> str:
    """Write ``1 run``, ``1,200 runs``, ``2 more branches``."""
    return f"{count(number)} {of_several(noun) if number != 1 else noun}"


def listed(names: Sequence[str]) -> str:
    """Write ``a, b and c``; nothing of none."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def some_of(names: Iterable[str], most: int, between: str = ", ") -> str:
    """Write ``a, b and 3 more``; names that have commas of their own stand between semicolons."""
    known = list(names)
    more = len(known) - most
    return between.join(known[:most]) + (f" and {more} more" if more > 0 else "")


def of_several(noun: str) -> str:
    """Return the plural of a noun: ``runs``, ``addresses``, ``entries``, ``series``."""
    if noun.endswith("series"):
        return noun
    if noun.endswith("y") and not noun.endswith(("ay", "ey", "oy")):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def change(value: float | None, unit: str = "") -> str:
    """Write ``−8.4 %`` for -0.084; always signed, one decimal, and none for a change of a RelativeUnit."""
    if value is None or not math.isfinite(value):
        return NOTHING
    text = f"{value * 100:+,.{_decimals(unit)}f}"
    if not text.strip("+-0."):
        text = text[1:]
    return f"{_signed(text)}{NO_BREAK}%"


def change_of_rate(before: float, after: float, *, noun: str) -> str:
    """Write ``0 to 4 stalls a minute``; rates are per second, and said so where there are many."""
    unit, length = ("second", 1) if max(before, after) >= 1 else ("minute", 60)
    low, high = (number(rate * length, digits=2) for rate in (before, after))
    return f"{low} to {high} {noun} a {unit}"


def share(value: float | None, unit: str = "") -> str:
    """Write ``99.2 %`` for 0.992; a part of a whole, without a sign."""
    if value is None or not math.isfinite(value):
        return NOTHING
    return f"{_signed(f'{value * 100:,.{_decimals(unit)}f}')}{NO_BREAK}%"


def _decimals(unit: str) -> int:
    """Return how many decimals per cents have."""
    return 0 if isinstance(unit, RelativeUnit) else 1


def ratio(value: float | None) -> str:
    """Write ``0.92``."""
    return NOTHING if value is None or not math.isfinite(value) else f"{value:,.2f}"


def p_value(value: float | None) -> str:
    """Write ``0.034``, or ``< 0.001`` for any smaller value."""
    if value is None:
        return NOTHING
    return "< 0.001" if value < 0.001 else number(value, digits=2)


def plus_minus(value: float | None, low: float | None, high: float | None) -> str:
    """Write ``± 12``: half the interval, with two significant digits; empty without an interval.

    An interval wider than the value itself, as of two runs that differ much, is ``± over 100 %``.
    """
    if value is None or low is None or high is None:
        return ""
    half = max(high - value, value - low)
    # Equal runs have an interval of nothing but the rounding of its computation.
    if half < abs(value) * 1e-9:
        half = 0.0
    if half > value > 0:
        return f"±{NO_BREAK}over{NO_BREAK}100{NO_BREAK}%"
    return f"±{NO_BREAK}{number(half, digits=2)}"


def metric_name(metric: str) -> str:
    """Write ``response time, 95th percentile`` for ``latency_p95``; an unknown metric keeps its name.

    Of one operation or statement, ``read: response time, average`` for ``read.latency_avg``.
    """
    part, dot, own = metric.rpartition(".")
    if dot and metric not in _NAMES and metric_name(own) != own:
        return f"{part.replace('_', ' ')}: {metric_name(own)}"
    if metric.startswith(_PERCENTILE) and metric not in _NAMES:
        return f"response time, {_ordinal(metric.removeprefix(_PERCENTILE).replace('_', '.'))} percentile"
    if metric not in _NAMES and (found := of_intervals(metric)):
        return f"{metric_name(found[0])}, {_OF_INTERVALS[found[1]]}"
    return _NAMES.get(metric, metric)


def metric_at_start(metric: str) -> str:
    """Write the words of a metric with a capital letter; a name that has no words stays as it is."""
    name = metric_name(metric)
    return name if name == metric else name[:1].upper() + name[1:]


def short_metric_name(metric: str) -> str:
    """Write ``tps``, ``events/s``, ``response time p95``: for axes and columns."""
    part, dot, own = metric.rpartition(".")
    if dot and metric not in _NAMES and short_metric_name(own) != own:
        return f"{part.replace('_', ' ')}: {short_metric_name(own)}"
    if metric.startswith("latency_"):
        return f"response time {metric.removeprefix('latency_').replace('_', '.')}"
    if metric not in _NAMES and (found := of_intervals(metric)):
        return f"{short_metric_name(found[0])} {found[1]}"
    if metric in DERIVED:
        return metric.replace("_", " ")
    return metric.replace("_per_s", "/s").replace("_per_min", "/min") if metric in _NAMES else metric


def unit_words(metric: str, unit: str) -> str:
    """Write the unit, unless the metric's name says it (``transactions per second``)."""
    found = None if metric in _NAMES else of_intervals(metric)
    own = found[0] if found else metric
    says_unit = own in _NAMES and own not in DERIVED
    return "" if unit in {"1/s", "1/min"} and says_unit else unit


def _ordinal(text: str) -> str:
    if text.endswith(("11", "12", "13")):
        return f"{text}th"
    return text + {"1": "st", "2": "nd", "3": "rd"}.get(text[-1:], "th")


def _signed(text: str) -> str:
    return text.replace("-", MINUS)


def direction_words(direction: str) -> str:
    """``higher is better``, ``lower is better``, ``better direction not said``; empty without a direction."""
    return _DIRECTIONS.get(direction, "")


def axis_title(metric: str, unit: str, direction: str) -> str:
    """``tps, higher is better``, ``response time p95 (ms), lower is better``."""
    words = unit_words(metric, unit)
    return f"{short_metric_name(metric)}{f' ({words})' if words else ''}, {direction_words(direction)}"
