"""The meaning of a name over a column, before the numbers below it are looked at."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ingest.formats.headings import Said, said_by
from ingest.formats.limits import remembering
from ingest.formats.tables.metric_words import (
    Metric,
    MetricHead,
    is_declaration,
    is_quotient,
    metric_of_head,
    own_metric,
    statistic_of_head,
)
from ingest.formats.tables.other_languages import in_english

_MEANINGS = {
    **dict.fromkeys(("query", "queries", "workload", "workloads", "benchmark", "test", "tests"), "workload"),
    **dict.fromkeys(("test case", "test name", "operation", "scenario", "script", "command"), "workload"),
    **dict.fromkeys(("kind", "query type", "workload type", "test type"), "workload"),
    **dict.fromkeys(("client", "product", "driver"), "product"),
    **dict.fromkeys(("version", "release", "server version"), "version"),
    **dict.fromkeys(("build", "variant"), "build"),
    **dict.fromkeys(("configuration", "config"), "configuration"),
    **dict.fromkeys(("repetition", "iteration", "trial", "round"), "repetition"),
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
_TIMES = frozenset({
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
    return words in _TIMES or words in _DEVICES


def _words(name: str) -> str:
    return " ".join(re.sub(r"[-_]", " ", in_english(name)).casefold().split())
