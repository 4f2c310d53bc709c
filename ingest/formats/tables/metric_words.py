"""The words of people for metrics, in titles, heads and units: ``response time, 95th percentile (ms)``."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import dropwhile

from benchdash.results.readings import (
    HIGHER,
    LOWER,
    UNKNOWN,
    Direction,
    Reading,
    known_metric,
    percentile_metric,
    reading,
)
from benchdash.results.units import conversion
from ingest.formats.headings import said_by
from ingest.formats.limits import remembering
from ingest.formats.report import FormatError
from ingest.formats.tables.other_languages import in_english

TITLE_WORDS = (
    "'queries per second', 'transactions per second', 'average response time (ms)' "
    "or '95th percentile response time (ms)'"
)
MAX_OWN_NAME = 100

_RATES = {
    **dict.fromkeys(("transaction", "txn", "trx", "trn", "tx"), "tps"),
    "quer": "qps",
    "event": "events_per_s",
    **dict.fromkeys(("operation", "op", "request", "req"), "ops_per_s"),
}
_STATISTICS = {
    **dict.fromkeys(("average", "avg", "mean"), "latency_avg"),
    "median": "latency_p50",
    **dict.fromkeys(("minimum", "min"), "latency_min"),
    **dict.fromkeys(("maximum", "max"), "latency_max"),
    **dict.fromkeys(("stddev", "stdev"), "latency_stddev"),
}
_OTHER_RATES = {
    **dict.fromkeys(
        ("cs/s", "csw/s", "context switches/s", "context switches per second"), "context_switches_per_s"
    ),
    "rps": "ops_per_s",
    **dict.fromkeys(("tpmc", "tpm-c", "tpmc (neworders)"), "nopm"),
    **dict.fromkeys(("tpmtotal", "tpm total", "transactions/min", "transactions per minute"), "tpm"),
    **dict.fromkeys(("err/s", "err per s", "errors/s", "errors/sec", "errors per second"), "errors_per_s"),
    **dict.fromkeys(("reads/s", "reads/sec", "reads per second", "read qps"), "reads_per_s"),
    **dict.fromkeys(("writes/s", "writes/sec", "writes per second", "write qps"), "writes_per_s"),
}
# Factors to milliseconds, as a pair of multiplier and divisor, so that decimal digits survive the division.
_TIMES = {
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds", "millis", "мс"), (1, 1)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "с"), (1000, 1)),
    **dict.fromkeys(("us", "usec", "usecs", "µs", "μs", "microsecond", "microseconds", "micros"), (1, 1000)),
    **dict.fromkeys(("ns", "nsec", "nanosecond", "nanoseconds"), (1, 1_000_000)),
}

_PER_SECOND = r"(?:\s+per\s+sec(?:ond)?|\s*/\s*s(?:ec(?:ond)?)?|\s*p/s)(?!\w)"
_UNIT = "|".join(sorted(_TIMES, key=len, reverse=True))
_RANK = r"[0-9]{1,2}(?:\.[0-9]+)?"
_STATISTIC = (
    "|".join(_STATISTICS)
    + rf"|p[0-9]{{1,2}}(?:\.[0-9]+)?|{_RANK}(?:(?:%|th)?[ -]?(?:percentile|pct)|%ile|%|th|p)"
)
_TIME = r"(?:response\s+times?|latenc(?:y|ies)|lat)"
_PHRASE = re.compile(
    rf"""
    (?<![\w.-])(?:
        (?P<rate>transaction|txn|trx|trn|tx|quer|event|operation|op|request|req)(?:ies|y|s)?{_PER_SECOND}
      | (?:(?P<before>{_STATISTIC})[\s.,_-]*{_TIME}(?!\w)
          | {_TIME}(?:\s*[(\[](?P<own>{_UNIT})[)\]])?[\s,(_-]+(?P<after>{_STATISTIC})(?!\w))
        (?:[\s,)]*(?:in\s+)?[(\[]?(?P<unit>{_UNIT})(?!\w)[)\]]?)?
      | (?P<name>tpm-?c|tpmtotal|[a-z]+(?:_[a-z0-9]+)*)(?![\w.-])
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Numbers that stand bare beside such a word: lat_95, latency 99.
_RANKS_OF_TIMES = frozenset({"50", "75", "90", "95", "99", "99.9", "99.99"})
_LATENCY_WORDS = frozenset({"lat", "latency", "latencies", "response", "time", "times", "rt"})
_STATISTIC_BESIDE = re.compile(
    rf"(?<![\w.])(?P<statistic>{_STATISTIC})(?!\w)(?:\s*[(\[]?(?P<unit>{_UNIT})(?!\w)[)\]]?)?", re.IGNORECASE
)
_BARE_STATISTIC = re.compile(rf"(?P<statistic>{_STATISTIC})", re.IGNORECASE)
# YCSB runs its words together: [READ].99thPercentileLatency(us).
_RUN_TOGETHER = re.compile(r"(?<=[a-z])(?=Percentile|Latency)|(?<=\])\.")
# rows/s, inserts per second; MB/s is a unit, and no name of a rate.
_OTHER_RATE = re.compile(rf"(?![kmgt]i?b(?:ytes)?\b)(?P<what>[a-z]{{3,20}}){_PER_SECOND}", re.IGNORECASE)
_FAILURES = frozenset(
    {"aborts", "conflicts", "deadlocks", "failures", "faults", "misses", "retries", "rollbacks", "timeouts"}
)
_THROUGHPUT = re.compile(r"\bthroughput\b", re.IGNORECASE)
_THROUGHPUT_NAMES = frozenset({"throughput", "吞吐量"})
# A rate over something else than time is computed from it: TPS/$, TpmC per CPU.
_QUOTIENT = re.compile(r"\s*(?:/|\bper\b)\s*\S", re.IGNORECASE)
# Behind a metric: (k), [1/min, lower], (higher is better), in thousands.
_BEHIND = re.compile(
    r"(?:\s*+(?:[(\[]\s*+(?P<unit>(?:[^()\[\],;]|,(?=[0-9])){0,20}?))?"
    r"\s*+(?:[,;]?\s*+(?P<direction>higher|lower)(?: is better)?)?\s*+[)\]]"
    r"|(?:\s*+,)?\s++in\s++(?P<scale>thousands|millions)(?!\w))",
    re.IGNORECASE,
)
_SCALE = re.compile(
    r"(?:(?P<thousand>k|thousands?|[x\u00d7*]\s*1[, ]?000|10\^3|10\u00b3|'?000s?)"
    r"|(?P<million>M|millions?|[x\u00d7*]\s*1[, ]?000[, ]?000))?"
    r"(?P<per>\s*(?:1?/|per)\s*(?P<time>ms|s|sec|second|min|minute|h|hr|hour))?",
    re.IGNORECASE,
)

_DECLARED = re.compile(
    r"(?P<name>(?:\[[^\[\]]*\])?[^\[\]()]*[^\[\]()\s])\s*"
    r"[\[(]\s*(?P<unit>[^\[\](),;]{0,20}?)\s*+"
    r"(?:[,;]?\s*+(?P<direction>higher|lower)(?: is better)?)?\s*+[\])]",
    re.IGNORECASE,
)
_SHORT_TIMES = {"sec": "s", "second": "s", "minute": "min", "hour": "h", "hr": "h"}
_PARTS_OF_TIME = re.compile(r"[\s_,;()\[\]-]+")
_NO_WORD = re.compile(r"[^\w]+")


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric as a file prints it: its name, and what its numbers are multiplied and divided by.

    ``unit`` and ``direction`` are those of a metric of the project's own (``is_own``); of a known metric its
    name says both. ``is_declared`` says that the file itself names unit or direction of an own metric.
    """

    name: str
    multiplier: int = 1
    divisor: int = 1
    printed_unit: str = ""
    unit: str = ""
    direction: Direction = UNKNOWN
    is_own: bool = False
    is_declared: bool = False

    def reading(self, value: float, line: int) -> Reading:
        """Return the reading of a printed value. Raise FormatError where it gets too large for one."""
        normalised = value * self.multiplier / self.divisor
        if not math.isfinite(normalised):
            raise FormatError(f"the number {value:g} is too large", line)
        if self.is_own or self.unit:
            return Reading(self.name, normalised, self.unit, self.direction, is_own=self.is_own)
        if not known_metric(self.name):  # of one operation: read.latency_p95
            return Reading(self.name, normalised, "ms", LOWER, printed_unit=self.printed_unit)
        normal = reading(self.name, normalised)
        return normal._replace(printed_unit=self.printed_unit) if self.printed_unit else normal

    @property
    def normal_unit(self) -> str:
        if self.is_own or self.unit:
            return self.unit
        return reading(self.name, 0).unit if known_metric(self.name) else "ms"

    def accepts(self, unit: str) -> bool:
        """Return whether this metric can be printed in a unit: ``us``, ``queries/second``, ``1/s``."""
        word = unit.strip().casefold()
        normal = self.normal_unit.casefold()
        if normal == "ms" and word in _TIMES:
            return True
        if normal == "1/s" and word in {"per second", "/s"}:
            return True
        return word in {normal, self.name} or (not self.is_own and metric_named(unit) == self)

    def in_unit(self, unit: str, line: int) -> "Metric":
        """Return the metric as printed in a unit; raise FormatError for a unit that it cannot have."""
        if self.is_own and not self.unit:
            return replace(self, unit=unit.strip())
        if not self.accepts(unit):
            raise FormatError(f"{unit.strip()[:40]!r} is not a unit of {self.name}", line)
        if self.normal_unit != "ms":
            return self
        multiplier, divisor = _TIMES.get(unit.strip().casefold(), (1, 1))
        printed_unit = "" if multiplier == divisor else unit.strip()
        return replace(self, multiplier=multiplier, divisor=divisor, printed_unit=printed_unit)


@dataclass(frozen=True, slots=True)
class Mention:
    """A metric named in a text, from ``start`` to ``end``. ``lacks_unit`` is true of a time without one."""

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
            word = _OTHER_RATES.get(name.casefold(), name.casefold())
            if not known_metric(word):
                continue
            metric, lacks_unit = Metric(word), False
        else:
            unit = match["own"] or match["unit"]
            metric, lacks_unit = Metric(_statistic(match["before"] or match["after"])), not unit
            if unit:
                metric = metric.in_unit(unit, line=1)
        mention = Mention(metric, match.start(), match.end(), lacks_unit)
        behind = _BEHIND.match(text, match.end())
        if found := _with_unit_behind(mention, behind) if behind else mention:
            yield found


def declared_direction(head: str) -> str | None:
    """Return which is better as a head says it, ``higher`` or ``lower``; None where it does not."""
    found = _DECLARED.fullmatch(head.strip())
    return found["direction"].casefold() if found and found["direction"] else None


def _with_unit_behind(mention: Mention, behind: re.Match[str]) -> Mention | None:
    """Return the metric in the unit or on the scale behind it; None for a unit that it cannot have.

    Other words in brackets change nothing: ``tps (MySQL 8.0)``.
    """
    metric, unit = mention.metric, behind["scale"] or behind["unit"] or ""
    if not unit:
        return replace(mention, end=behind.end()) if behind["direction"] else mention
    normal = metric.normal_unit
    if normal == "ms" and time_factor(unit):
        return replace(mention, metric=metric.in_unit(unit, 1), end=behind.end(), lacks_unit=False)
    scale = _SCALE.fullmatch(unit)
    if scale is not None and normal in ("1/s", "1/min") and unit != "m":
        per = f"1/{_SHORT_TIMES.get(scale['time'].casefold(), scale['time'])}" if scale["time"] else normal
        times = 1_000 if scale["thousand"] else 1_000_000 if scale["million"] else 1
        metric = _scaled(metric, times * (conversion(per, normal) or 1))
        return replace(mention, metric=metric, end=behind.end())
    if (factor := conversion(unit, normal)) is not None:
        return replace(mention, metric=_scaled(metric, factor), end=behind.end(), lacks_unit=False)
    is_unit = any(conversion(unit, other) for other in ("ms", "B", "B/s"))
    return None if is_unit else mention


def _scaled(metric: Metric, factor: float) -> Metric:
    if factor >= 1:
        return replace(metric, multiplier=metric.multiplier * round(factor))
    return replace(metric, divisor=metric.divisor * round(1 / factor))


@remembering
def names_metric(text: str) -> bool:
    """Return whether a title names a metric."""
    return bool(title_mentions(in_english(text)))


def title_mentions(text: str) -> list[Mention]:
    """Return the metrics that a title names; ``p95 (ms)`` is one where it is all of it."""
    if found := list(mentions(text)):
        return found
    metric = metric_named(text) or statistic_of_head(text)
    return [Mention(metric, 0, len(text), metric_named(text) is None)] if metric else []


@remembering
def metric_named(head: str) -> Metric | None:
    """Return the metric that a head or a unit names, or None: ``tps``, ``p95 (us)``, ``queries/second``.

    The whole head must name it. A latency without a unit is in milliseconds when it bears our own name.
    """
    text = head.strip()
    name, _, unit = text.casefold().partition("(")
    name = name.strip()
    if known_metric(name) and not unit:
        return Metric(name)
    if name.startswith("latency_") and known_metric(name) and unit.rstrip(")") in _TIMES:
        return Metric(name).in_unit(unit.rstrip(")"), line=1)
    if rate := _OTHER_RATES.get(" ".join(text.casefold().replace("_", " ").split())):
        return Metric(rate)
    if text == "OPS":
        return Metric("ops_per_s")
    if name in _THROUGHPUT_NAMES and (own := own_metric(text)):
        # Throughput (req/s) is a rate that is known; in MB/s, or without a unit, it is one of the project.
        known = metric_named(own.unit) if own.unit and own.direction == UNKNOWN else None
        return known or replace(own, direction=HIGHER, is_declared=True)
    if (time := _time_in_words(text)) and not time.lacks_unit:
        return time.metric
    for mention in mentions(text):
        if mention.start == 0 and mention.end == len(text) and not mention.lacks_unit:
            return mention.metric
    if other := _OTHER_RATE.fullmatch(text):
        what = other["what"].lower()
        direction = LOWER if what in _FAILURES else HIGHER
        return Metric(f"{what}_per_s", unit="1/s", direction=direction, is_own=True, is_declared=True)
    return None


def _time_in_words(head: str) -> "MetricHead | None":
    """Return the response time of a head made of a statistic and words or units of times, in any order.

    ``p95 (ms)``, ``avg_lat_ms``, ``Latency (ms;95%)``.
    """
    words = [word.strip(".") for word in _PARTS_OF_TIME.split(head.lower()) if word.strip(".")]
    if not _LATENCY_WORDS.isdisjoint(words):
        words = [f"p{word}" if word in _RANKS_OF_TIMES else word for word in words]
    words = " ".join(words).replace("th percentile", "th").replace("% percentile", "%").split()
    statistics = [word for word in words if _BARE_STATISTIC.fullmatch(word)]
    units = [word for word in words if word in _TIMES]
    others = [word for word in words if word not in _TIMES and word not in statistics and word != "in"]
    if (
        len(statistics) != 1
        or len(units) > 1
        or not (units or others)
        or not _LATENCY_WORDS.issuperset(others)
    ):
        return None
    if others in (["time"], ["times"]):
        return None
    metric = Metric(_statistic(statistics[0]))
    return MetricHead(metric.in_unit(units[0], line=1) if units else metric, lacks_unit=not units)


@dataclass(frozen=True, slots=True)
class MetricHead:
    """A head that names a metric, and ``of`` what: ``V4.0 QPS`` is the qps of ``V4.0``."""

    metric: Metric
    of: str = ""
    lacks_unit: bool = False


def metric_of_head(head: str) -> MetricHead | None:
    """Return the known metric that a head names among other words, or None.

    None too for a rate over something else than time (``TPS/$``), and for two metrics in one head.
    """
    english = in_english(head)
    text = _RUN_TOGETHER.sub(" ", english)
    if metric := metric_named(english) or metric_named(text):
        return MetricHead(metric)
    if time := _time_in_words(text):
        return time
    found = list(mentions(text))
    if not found:
        return _statistic_beside(text)
    if len(found) != 1 or _QUOTIENT.match(text[found[0].end :]):
        return None
    (mention,) = found
    before, after = text[: mention.start], text[mention.end :]
    of = " ".join(filter(None, (_words_beside(before), _words_beside(after))))
    return MetricHead(mention.metric, of, mention.lacks_unit)


def _statistic_beside(text: str) -> MetricHead | None:
    """Return the response time that a head names with its unit, or beside a version, product or workload."""
    found = _STATISTIC_BESIDE.search(text)
    if found is None or _BARE_STATISTIC.fullmatch(text):
        return None
    of = " ".join(filter(None, (_words_beside(text[: found.start()]), _words_beside(text[found.end() :]))))
    said = said_by(of)
    is_of_rate = _statistic(found["statistic"]) == "latency_stddev" and not found["unit"]
    if not of or is_of_rate or not (found["unit"] or said.version or said.product or said.workload):
        return None
    metric = Metric(_statistic(found["statistic"]))
    return MetricHead(metric.in_unit(found["unit"], 1) if found["unit"] else metric, of, not found["unit"])


def statistic_of_head(head: str) -> Metric | None:
    """Return the response time that a head without the word names: ``p95``, ``avg``, ``99 percentile``."""
    found = _BARE_STATISTIC.fullmatch(" ".join(in_english(head).split()))
    metric = Metric(_statistic(found["statistic"])) if found else None
    # A deviation may be that of a rate.
    return None if metric and metric.name == "latency_stddev" else metric


def is_quotient(head: str) -> bool:
    """Return whether a head names a metric over something else than time: ``TPS/$``, ``TpmC per CPU``."""
    text = in_english(head)
    return any(_QUOTIENT.match(text[mention.end :]) for mention in mentions(text))


def own_metric(head: str) -> Metric | None:
    """Return the metric of the project's own that a head names: ``rss_mb [MB, lower]``, ``Index size (GB)``.

    None where nothing is left for a name.
    """
    text = head.strip()
    found = _DECLARED.fullmatch(text)
    in_per_cent = found is None and bool(text.strip("% ")) and "%" in (text[:1], text[-1:])
    name = own_name(found["name"] if found else text.strip("%") if in_per_cent else text)
    if not name:
        return None
    if found is None:
        unit = "%" if in_per_cent else ""
        return Metric(name, unit=unit, is_own=True, is_declared=bool(unit))
    direction: Direction = UNKNOWN
    if said := found["direction"]:
        direction = "higher" if said.casefold() == "higher" else "lower"
    unit = found["unit"]
    if unit.casefold() in _TIMES and re.search(_TIME, in_english(head), re.IGNORECASE):
        direction = LOWER
    return Metric(name, unit=unit, direction=direction, is_own=True, is_declared=True)


def is_declaration(head: str) -> bool:
    """Return whether a head says of its numbers which are better: ``rss_mb [MB, lower]``."""
    return declared_direction(head) is not None


def own_name(text: str) -> str:
    """Return words as the name of an own metric: ``Max RAM`` is ``max_ram``; never that of a known one."""
    name = (
        _NO_WORD.sub("_", text.replace("%", " percent ").strip()).strip("_").lower()[:MAX_OWN_NAME].strip("_")
    )
    return f"own_{name}"[:MAX_OWN_NAME] if known_metric(name) else name


def time_factor(unit: str) -> tuple[int, int] | None:
    """Return multiplier and divisor from a unit of time to milliseconds; None for no unit of time."""
    return _TIMES.get(unit.strip().casefold())


def _words_beside(text: str) -> str:
    text = _THROUGHPUT.sub(" ", text)
    words = text.strip(" \t,:;-–()").split()
    words = [
        *dropwhile(lambda word: word.casefold() in {"for", "of", "in", "the", "with", "by", "on"}, words)
    ]
    while words and words[-1].casefold() in {"for", "of", "in", "with", "-", "–", ":"}:
        words.pop()
    return " ".join(words)


def _statistic(word: str) -> str:
    if known := _STATISTICS.get(word.casefold()):
        return known
    found = re.search(r"[0-9.]+", word)
    return percentile_metric(float(found.group())) if found else word


def metric_of_sender(text: str) -> Metric | None:
    """Return the metric that a sender names for the numbers of a table; None for an empty text.

    Raise FormatError where it is no name: ``tps``, ``p95``, ``latency_p95 (us)``, ``rss_mb [MB, lower]``.
    """
    if not text.strip():
        return None
    if found := metric_of_head(text):
        if not found.of:
            return found.metric
    elif statistic := statistic_of_head(text):
        return statistic
    if (own := own_metric(text)) is None:
        raise FormatError(
            f"{text[:40]!r} is no name of a metric, such as tps, latency_p95 or rss_mb [MB, lower]"
        )
    return own
