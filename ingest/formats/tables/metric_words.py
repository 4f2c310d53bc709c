"""What people write for metrics, in titles, heads and units: ``response time, 95th percentile (ms)``."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from benchdash.results.readings import Reading, known_metric, percentile_metric, reading
from ingest.formats.report import FormatError

TITLE_WORDS = (
    "'queries per second', 'transactions per second', 'average response time (ms)' "
    "or '95th percentile response time (ms)'"
)

_RATES = {
    **dict.fromkeys(("transaction", "txn", "trx"), "tps"),
    "quer": "qps",
    "event": "events_per_s",
    **dict.fromkeys(("operation", "op"), "ops_per_s"),
}
_STATISTICS = {
    **dict.fromkeys(("average", "avg", "mean"), "latency_avg"),
    "median": "latency_p50",
    **dict.fromkeys(("minimum", "min"), "latency_min"),
    **dict.fromkeys(("maximum", "max"), "latency_max"),
}
_OTHER_RATES = dict.fromkeys(
    ("cs/s", "csw/s", "context switches/s", "context switches per second"), "context_switches_per_s"
)
# Factors to milliseconds, as a pair of multiplier and divisor, so that decimal digits survive the division.
_TIMES = {
    **dict.fromkeys(("ms", "msec", "milliseconds"), (1, 1)),
    **dict.fromkeys(("s", "sec", "seconds"), (1000, 1)),
    **dict.fromkeys(("us", "usec", "µs", "μs", "microseconds"), (1, 1000)),
    **dict.fromkeys(("ns", "nanoseconds"), (1, 1_000_000)),
}

_PER_SECOND = r"(?:\s+per\s+sec(?:ond)?|/s(?:ec(?:ond)?)?)(?!\w)"
_UNIT = "|".join(sorted(_TIMES, key=len, reverse=True))
_STATISTIC = (
    "|".join(_STATISTICS) + r"|p[0-9]{1,2}(?:\.[0-9]+)?|[0-9]{1,2}(?:\.[0-9]+)?(?:%|th[ -]?percentile)"
)
_TIME = r"(?:response\s+times?|latenc(?:y|ies))"
_PHRASE = re.compile(
    rf"""
    (?<![\w.-])(?:
        (?P<rate>transaction|txn|trx|quer|event|operation|op)(?:ies|y|s)?{_PER_SECOND}
      | (?:(?P<before>{_STATISTIC})[\s,-]+{_TIME} | {_TIME}[\s,(]+(?P<after>{_STATISTIC})(?!\w))
        (?:[\s,]*[(\[]?(?P<unit>{_UNIT})(?!\w)[)\]]?)?
      | (?P<name>[a-z]+(?:_[a-z0-9]+)*)(?![\w.-])
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)


# What stands over a column beside others that say that it is a time: p95 (ms), avg_ms, lat_p95_ms.
_TIME_HEAD = re.compile(
    rf"(?:lat(?:ency)?[ _])?(?P<statistic>{_STATISTIC})[ _]?[(\[]?(?P<unit>{_UNIT})[)\]]?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Metric:
    """A known metric as a file prints it: its name, and what its numbers are multiplied and divided by."""

    name: str
    multiplier: int = 1
    divisor: int = 1
    printed_unit: str = ""

    def reading(self, value: float, line: int) -> Reading:
        """Return the reading of a printed value. Raise FormatError where it gets too large for one."""
        normalised = value * self.multiplier / self.divisor
        if not math.isfinite(normalised):
            raise FormatError(f"the number {value:g} is too large", line)
        normal = reading(self.name, normalised)
        return normal._replace(printed_unit=self.printed_unit) if self.printed_unit else normal

    def accepts(self, unit: str) -> bool:
        """Return whether this metric can be printed in a unit: ``us``, ``queries/second``, ``1/s``."""
        word = unit.strip().casefold()
        normal = reading(self.name, 0).unit.casefold()
        if normal == "ms" and word in _TIMES:
            return True
        if normal == "1/s" and word in {"per second", "/s"}:
            return True
        return word in {normal, self.name} or metric_named(unit) == self

    def in_unit(self, unit: str, line: int) -> "Metric":
        """Return the metric as printed in a unit; raise FormatError for a unit that it cannot have."""
        if not self.accepts(unit):
            raise FormatError(f"{unit.strip()[:40]!r} is not a unit of {self.name}", line)
        if reading(self.name, 0).unit != "ms":
            return self
        multiplier, divisor = _TIMES.get(unit.strip().casefold(), (1, 1))
        printed_unit = "" if multiplier == divisor else unit.strip()
        return replace(self, multiplier=multiplier, divisor=divisor, printed_unit=printed_unit)


@dataclass(frozen=True, slots=True)
class Mention:
    """A metric named in a text, from ``start`` to ``end``. ``unit`` is missing where a time names none."""

    metric: Metric
    start: int
    end: int
    lacks_unit: bool


def mentions(text: str) -> Iterator[Mention]:
    """Yield the metrics that a title or a note names, in its order."""
    for match in _PHRASE.finditer(text):
        if rate := match["rate"]:
            metric, lacks_unit = Metric(_RATES[rate.casefold()]), False
        elif name := match["name"]:
            if not known_metric(name.casefold()):
                continue
            metric, lacks_unit = Metric(name.casefold()), False
        else:
            metric, lacks_unit = Metric(_statistic(match["before"] or match["after"])), not match["unit"]
            if match["unit"]:
                metric = metric.in_unit(match["unit"], line=1)
        yield Mention(metric, match.start(), match.end(), lacks_unit)


def metric_named(head: str) -> Metric | None:
    """Return the metric that a head or a unit names, or None: ``tps``, ``p95 (us)``, ``queries/second``.

    The whole head must name it. A latency without a unit is in milliseconds when it bears our own name.
    """
    # Every file has the heads of the one before; a long one would only fill the memory.
    return _remembered(head) if len(head) <= _MAX_REMEMBERED_LENGTH else _metric_named(head)


def _metric_named(head: str) -> Metric | None:
    name, _, unit = head.strip().casefold().partition("(")
    if known_metric(name.strip()) and not unit:
        return Metric(name.strip())
    if name.strip().startswith("latency_") and known_metric(name.strip()) and unit.rstrip(")") in _TIMES:
        return Metric(name.strip()).in_unit(unit.rstrip(")"), line=1)
    if rate := _OTHER_RATES.get(" ".join(head.casefold().split())):
        return Metric(rate)
    if time := _TIME_HEAD.fullmatch(head.strip()):
        return Metric(_statistic(time["statistic"])).in_unit(time["unit"], line=1)
    for mention in mentions(head.strip()):
        if mention.start == 0 and mention.end == len(head.strip()) and not mention.lacks_unit:
            return mention.metric
    return None


_MAX_REMEMBERED_LENGTH = 50
_remembered = lru_cache(maxsize=1000)(_metric_named)


def _statistic(word: str) -> str:
    if known := _STATISTICS.get(word.casefold()):
        return known
    found = re.search(r"[0-9.]+", word)
    return percentile_metric(float(found.group())) if found else word
