"""The words of people for metrics and facts in titles, heads and units, before numbers are looked at.

``response time, 95th percentile (ms)``, ``V4.0 QPS``, ``Concurrent clients``, ``rss_mb [MB, lower]``.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
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
from ingest.formats.headings import Said, said_by
from ingest.formats.limits import remembering
from ingest.formats.report import FormatError

# --- Chinese, in which much about MySQL and TiDB is published -----------------------------------------------

_CHINESE = {
    "threads": "并发线程数 并发线程 线程数 线程 執行緒數 執行緒",
    "concurrency": "并发数 并发 併發數 併發 並發數",
    "connections": "连接数",
    "clients": "客户端数",
    "average": "平均",
    "max": "最大 最高",
    "min": "最小 最低",
    "latency": "响应时间 延迟 时延 延遲",
    "percentile": "分位数 分位",
    "throughput": "吞吐量",
    "workload": "测试场景 测试用例 场景 负载",
    "version": "版本",
    "product": "产品",
    "database": "数据库 資料庫",
    "notes": "備註 备注 说明",
    "status": "状态 狀態",
    "improvement": "性能提升 提升",
    "usage": "使用率 利用率",
    "ms": "毫秒",
    "tps": "每秒事务数",
    "qps": "每秒查询数",
    "total": "总数",
    "system": "系统",
    "user": "用户",
    "wait": "等待",
}
# Full-width signs, as Chinese is typed.
_SIGNS = str.maketrans("（）％，：／", "()%,:/")
# Longer words first: each stands for what follows it.
_FROM_CHINESE = sorted(
    ((word, f" {english} ") for english, words in _CHINESE.items() for word in words.split()),
    key=lambda pair: -len(pair[0]),
)


@remembering
def in_english(text: str) -> str:
    """Return a head or title with the words that are known in English; all else stays as it is."""
    if text.isascii():
        return text
    text = text.translate(_SIGNS)
    for word, english in _FROM_CHINESE:
        text = text.replace(word, english)
    return " ".join(text.split())


# --- metrics ----------------------------------------------------------------------------------------------

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
_RUN_TOGETHER = re.compile(
    r"(?<=[a-z])(?=Percentile|Latency)|(?<=\])\."
    # Scripts write avg_tps and tps_avg.
    r"|(?:(?<=\bavg)|(?<=\bmean))_(?=[tqr]ps\b)|(?<=\b[tqr]ps)_(?=(?:avg|mean)\b)"
)
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
_SCALE = re.compile(r"k|m|thousands?|millions?|[x\u00d7*]\s*[0-9, ]+|10[\^\u00b3]3?|'?000s?", re.IGNORECASE)

_DECLARED = re.compile(
    r"(?P<name>(?:\[[^\[\]]*\])?[^\[\]()]*[^\[\]()\s])\s*"
    r"[\[(]\s*(?P<unit>[^\[\](),;]{0,20}?)\s*+"
    r"(?:[,;]?\s*+(?P<direction>higher|lower)(?: is better)?)?\s*+[\])]",
    re.IGNORECASE,
)
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
            units = "s, ms, us or ns" if self.normal_unit == "ms" else repr(self.normal_unit)
            raise FormatError(f"{unit.strip()[:40]!r} is not a unit of {self.name}; use {units}", line)
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


def _with_unit_behind(mention: Mention, behind: re.Match[str]) -> Mention | None:
    """Return the metric in the unit behind it; None for a scale, and for a unit that it cannot have.

    Other words in brackets change nothing: ``tps (MySQL 8.0)``.
    """
    unit, normal = behind["scale"] or behind["unit"] or "", mention.metric.normal_unit
    if not unit:
        return replace(mention, end=behind.end()) if behind["direction"] else mention
    if normal == "ms" and time_factor(unit):
        return replace(mention, metric=mention.metric.in_unit(unit, 1), end=behind.end(), lacks_unit=False)
    if conversion(unit, normal) == 1:
        return replace(mention, end=behind.end(), lacks_unit=False)
    is_unit = any(conversion(unit, other) for other in (normal, "ms", "B", "B/s"))
    return None if is_unit or _SCALE.fullmatch(unit) else mention


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
    rate = _OTHER_RATES.get(" ".join(text.casefold().replace("_", " ").split()))
    if rate or text == "OPS":
        return Metric(rate or "ops_per_s")
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
    are_times = _LATENCY_WORDS.issuperset(others) and others not in (["time"], ["times"])
    if len(statistics) != 1 or len(units) > 1 or not (units or others) or not are_times:
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
    in_full = list(mentions(text))
    found = in_full or _statistic_beside(text)
    if len(found) != 1 or _QUOTIENT.match(text[found[0].end :]):
        return None
    (mention,) = found
    before, after = text[: mention.start].rstrip(" (["), text[mention.end :].lstrip(" )]")
    beside = map(_words_beside, (before, after))
    of = " ".join(words for words in beside if words)
    # Without the word, a statistic is of times where it has their unit, or stands beside the name of a run.
    said = said_by(of)
    if not in_full and mention.lacks_unit and not (said.version or said.product or said.workload):
        return None
    return MetricHead(mention.metric, of, mention.lacks_unit)


def _statistic_beside(text: str) -> list[Mention]:
    """Return the response time that a head names without the word, beside other words."""
    found = _STATISTIC_BESIDE.search(text)
    if found is None or found.group() == text:
        return []
    metric, unit = Metric(_statistic(found["statistic"])), found["unit"]
    if metric.name == "latency_stddev" and not unit:
        return []  # of a rate
    metric = metric.in_unit(unit, 1) if unit else metric
    return [Mention(metric, found.start(), found.end(), not unit)]


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
    found = _DECLARED.fullmatch(head.strip())
    return bool(found and found["direction"])


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
    found = metric_of_head(text)
    metric = found.metric if found and not found.of else statistic_of_head(text) or own_metric(text)
    if metric is None:
        raise FormatError(
            f"{text[:40]!r} is no name of a metric, such as tps, latency_p95 or rss_mb [MB, lower]"
        )
    return metric


# --- heads of columns -------------------------------------------------------------------------------------

_MEANINGS = {
    **dict.fromkeys(("query", "queries", "workload", "workloads", "benchmark", "test", "tests"), "workload"),
    **dict.fromkeys(("test case", "test name", "operation", "scenario", "script", "command"), "workload"),
    **dict.fromkeys(("kind", "query type", "workload type", "test type"), "workload"),
    **dict.fromkeys(("client", "product", "driver"), "product"),
    **dict.fromkeys(("version", "release", "server version"), "version"),
    **dict.fromkeys(("build", "variant"), "build"),
    **dict.fromkeys(("configuration", "config"), "configuration"),
    **dict.fromkeys(("repetition", "iteration", "trial", "round"), "repetition"),
    **dict.fromkeys(("commit", "commit id", "commit hash", "commit sha", "git commit", "sha"), "commit"),
    **dict.fromkeys(("started at", "time"), "time"),
    **dict.fromkeys(("seconds", "duration"), "seconds"),
    **{name: name for name in ("server", "count", "error", "metric", "value", "unit")},
}
_THREADS = re.compile(
    r"(?:(?:number|no|num|nr|#|n)\.?\s*(?:of\s*)?)?"
    r"(?:(?:concurrent|simultaneous|user|client|worker|parallel|sysbench|pgbench|ycsb|jmeter|hammerdb)\s+)?"
    r"(?:threads?|clients|conns?|connections?|users|sessions?|concurrency|terminals|vus?|vusers?"
    r"|virtual users|nthreads|callers|concurrent)"
    r"(?:\s*(?:count|number|#))?"
)
_WORKLOADS = re.compile(r"(?:\w+ ){1,3}(?:tests|queries|workloads?|benchmarks?)")
_DATABASES = frozenset({"database", "db", "dbms", "engine", "system", "database system"})
_DERIVED = re.compile(
    r"(?:.*\b)?(?:improvements?|speed-?ups?|(?<!hit )(?<!compression )ratios?|multiples?|multipliers?"
    r"|relative|normali[sz]ed|difference|diff|delta"
    r"|change|gains?|overhead|regression|slow-?down|uplift|increase|decrease|vs\.?|versus|compared|comp|comparison|faster"
    r"|slower|scale-?up)(?:\b.*)?|.*[Δ×].*|[+\-±]?\s*%|.*(?:提升|下降|倍数|对比).*",
    re.IGNORECASE,
)
# fmt: off
_NOTES = frozenset({
    "comment", "comments", "date", "description", "finding", "link", "note", "notes", "observation",
    "remark", "remarks", "source", "status", "verdict",
})
_CLOCKS = frozenset({
    "datetime", "elapsed", "elapsed s", "elapsed time", "hour", "interval", "minute", "sec", "second",
    "seconds", "secs", "t", "time", "time s", "time sec", "timestamp",
})
# fmt: on
# How far figures scatter, in the unit of these; of errors that happened there is a count.
_SPREAD = re.compile(
    r"(?:score )?err(?:or)? ?[(\[].*|(?:(?:std|standard) ?\.? ?dev(?:iation)?|stdev)(?: ?[(\[].*)?"
    r"|margin of error.*|±.*"
)
_DEVICES = frozenset({"device", "dev", "disk", "disks"})
# Without any of these no line names a metric; most lines of most files have none.
HINT = re.compile(
    r"tps|qps|ops|rps|throughput|sec|/\s*s|p/s|lat|response|tpm|nopm|_|value|[\[(]|[^\x00-\x7f]|avg|average|p[0-9]|[0-9]%|[0-9]th",
    re.IGNORECASE,
)
# Words that tools beside a benchmark do not print in columns of their own.
_OF_BENCHMARKS = re.compile(r"qps|tps|events_per_s|ops_per_s|nopm|tpm|throughput|(?:\w+\.)?latency_\w+")
_NAMING = frozenset({"workload", "product", "server", "version", "configuration"})


@dataclass(frozen=True, slots=True)
class ColumnHead:
    """A name over a column as it was understood.

    ``meaning`` is the fact that stands below it, ``named`` the metric that it names. ``is_declared`` says
    that it names a metric of the project's own and which is better: ``rss_mb [MB, lower]``.
    """

    text: str
    meaning: str | None = None
    named: MetricHead | None = None
    is_declared: bool = False

    @property
    def is_unknown(self) -> bool:
        return self.meaning is None and self.named is None and not self.is_declared

    @property
    def own(self) -> Metric | None:
        """The column as a metric of the project's own."""
        return own_metric(self.text)

    @property
    def statistic(self) -> Metric | None:
        """The response time that it names without the word: ``p95``."""
        return statistic_of_head(self.text) if self.is_unknown else None

    @property
    def is_derived(self) -> bool:
        """Tell whether the numbers below are computed from others: ``Improvement (%)``, ``TPS/$``."""
        if self.meaning is not None or self.named is not None:
            return False
        return is_quotient(self.text) or _DERIVED.fullmatch(in_english(self.text)) is not None

    @property
    def is_note(self) -> bool:
        words = _words(self.text)
        return words in _NOTES or _SPREAD.fullmatch(words) is not None

    @property
    def is_database(self) -> bool:
        return _words(self.text) in _DATABASES


@remembering
def meaning_of(name: str) -> str | None:
    """Return the fact that a name over a column stands for, None for one that nobody has agreed on."""
    words = _words(name)
    if meaning := _MEANINGS.get(words):
        return meaning
    if _THREADS.fullmatch(words):
        return "threads"
    if product_of_versions(name):
        return "version"
    return "workload" if _WORKLOADS.fullmatch(words) else None


def product_of_versions(name: str) -> str | None:
    """Return the product whose versions stand under a head such as ``PostgreSQL Version``."""
    words = name.split()
    if len(words) < 2 or words[-1].casefold() not in {"version", "versions", "release", "releases"}:
        return None
    return product_alone(" ".join(words[:-1]))


def product_alone(name: str) -> str | None:
    """Return the product that a head such as ``MySQL`` is, without other words; None for any other."""
    said = said_by(name)
    return said.product if said == Said(product=said.product) else None


def counts_threads(head: str) -> bool:
    """Return whether a head such as ``Concurrent clients`` says that thread counts follow."""
    return _THREADS.fullmatch(_words(head)) is not None


def heads_workloads(head: str) -> bool:
    return meaning_of(head) == "workload"


@remembering
def head_of(text: str) -> ColumnHead:
    """Return what a name over a column means."""
    if (meaning := meaning_of(text)) is not None:
        return ColumnHead(text, meaning)
    if not HINT.search(text):
        return ColumnHead(text)
    named = metric_of_head(text)
    if named and named.of and _DERIVED.fullmatch(named.of):
        named = None
    return ColumnHead(text, named=named, is_declared=is_declaration(text))


def heads_of(names: Iterable[str]) -> list[ColumnHead]:
    return [head_of(name) for name in names]


def tell_runs(names: Iterable[str], *, may_name_rows: bool = False) -> bool:
    """Return whether names can only head a table with a row for each run.

    That is so where there is a metric, and a name of what was measured or the points of a scaling curve. A
    thread count beside a time is one run's series of intervals. ``may_name_rows`` says that rows of numbers
    follow: then a metric may have other words beside it, and the first column may be what the rows are
    called, though nobody knows its name.
    """
    names = tuple(names)
    if is_of_another_format(names) or not HINT.search(" ".join(names)):
        return False
    heads = heads_of(names)
    meanings = {head.meaning for head in heads}
    named = [head.named for head in heads if head.named and (may_name_rows or not head.named.of)]
    has_metric = bool(named) or any(head.is_declared for head in heads)
    has_value = "value" in meanings and not {"metric", "unit"}.isdisjoint(meanings)
    is_named = not _NAMING.isdisjoint(meanings)
    is_curve = "threads" in meanings and not any(map(is_of_time, names))
    is_of_benchmark = any(_OF_BENCHMARKS.fullmatch(one.metric.name) for one in named)
    names_rows = may_name_rows and len(heads) > 1 and heads[0].is_unknown and not is_of_time(heads[0].text)
    names_rows = names_rows or any(head.is_database and _words(head.text) != "system" for head in heads)
    return (has_metric or has_value) and (is_named or is_curve or (names_rows and is_of_benchmark))


def is_transposed(names: Sequence[str], labels: Sequence[object]) -> bool:
    """Return whether metrics stand beside the rows, and what was measured over the columns."""
    heads = heads_of(map(str, labels))
    named = [head for head in heads if head.named or head.statistic]
    is_ranked = len(named) > 1 and len(named) == len(heads)
    is_measured = (is_ranked or any(head.named for head in named)) and len(named) * 2 > len(heads)
    is_measured = is_measured or (bool(named) and meaning_of(names[0]) == "metric")
    over_columns = heads_of(names[1:])
    return is_measured and (
        [head.meaning for head in over_columns] == ["value"]
        or all(head.is_unknown and not head.is_derived for head in over_columns)
    )


def is_of_another_format(names: Iterable[str]) -> bool:
    """Return whether it is a table of JMH or of the insert benchmark, which other formats read."""
    words = {name.casefold() for name in names}
    return not words.isdisjoint({"score", "mean"}) or {"ips", "tag"} <= words or {"ips", "rpq"} <= words


def is_of_time(name: str) -> bool:
    """Return whether the rows below are moments of one run, or the devices of a machine."""
    words = _words(re.sub(r"\(.{0,200}?\)", "", name))
    return words in _CLOCKS or words in _DEVICES


def _words(name: str) -> str:
    return " ".join(re.sub(r"[-_]", " ", in_english(name)).casefold().split())
