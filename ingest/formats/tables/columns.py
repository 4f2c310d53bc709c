"""The role of each column of a table: a fact of its runs, a metric, a setting, or nothing that is kept.

A column of numbers that is neither a fact nor a known metric is a setting where its head says so: by the name
of a server variable (``innodb_buffer_pool_size``), by *(setting)* behind its name, or by a word of settings
(``tables``, ``scale_factor``, ``pool``, ``warehouses``) and none of measurements (``buffer_pool_hit_ratio``).
So is the first column where nothing else names the rows. Any other is a metric of the project's own. What the
numbers are decides nothing: the same head is the same thing on every night.

A head that says which is better (``rows [rows, lower]``) is always one of a metric.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from functools import cached_property

from benchdash.results.readings import LOWER, UNKNOWN
from ingest.formats.cells import Quantity, quantity
from ingest.formats.configuration import is_server_setting
from ingest.formats.headings import Said, product_and_version, said_by
from ingest.formats.report import FormatError
from ingest.formats.tables.table import Cell, Table
from ingest.formats.tables.vocabulary import (
    ColumnHead,
    Metric,
    heads_of,
    in_english,
    is_of_time,
    own_name,
    product_alone,
    time_factor,
)

# fmt: off
_SETTING_WORDS = frozenset({
    "batch", "batchsize", "block", "blocks", "blocksize", "buffer", "buffers", "capacity",
    "clients", "concurrency", "connections", "core", "cores", "cpus", "depth", "factor",
    "instances", "iodepth", "key", "keys", "level", "limit", "node", "nodes", "partition",
    "partitions", "pod", "pods", "pool", "processes", "range", "records", "regions",
    "replica", "replicas", "row", "rows", "scale", "sf", "shard", "shards", "table", "tables",
    "target", "tasks", "tenants", "terminals", "threads", "ttl", "vcpu", "vcpus", "warehouse",
    "warehouses", "wh", "worker", "workers", "并发", "核数", "节点数", "行数", "表数", "返回行数",
})
_MEASURED_WORDS = frozenset({
    "aborts", "achieved", "active", "busy", "deadlocks", "error", "errors", "exceptions", "failed",
    "failures", "retries", "timeouts",
    "%", "average", "avg", "dump", "free", "growth", "hit", "hits", "index", "max", "mean",
    "idle", "iowait", "median", "min", "miss", "misses", "p50", "p95", "p99", "peak", "per", "percent",
    "rate", "ratio", "read", "reads", "recall", "rss", "steal", "sys", "total", "usage", "usec", "used",
    "user", "util", "utilization", "wal", "write", "writes", "written",
})
# fmt: on
# They name a run or say when and where it ran; they differ between repetitions and mean nothing there.
_IDENTITY = re.compile(
    r"(?:.*[\s_-])?(?:ids?|pid|port|seed|code|uuid|child|run)|index|no\.?|nr\.?|year|#", re.IGNORECASE
)
_DECIMAL_COMMA = re.compile(r"\s*[0-9]{1,9},[0-9]{1,9}\s*")
_SAID_SETTING = re.compile(r"\s*\((?:setting|parameter)\)", re.IGNORECASE)
# Settings of a server; innodb_rows_read counts its work.
_SERVER_LIMIT = re.compile(
    r"max_\w+|min_\w+|\w+_(?:threads|connections|buffers|workers|instances|capacity|method)"
)
_TIME_RANGE = re.compile(
    r"(?P<start>[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:.]{5,}(?:Z|[+-][0-9:]{5})?)(?:\s*(?:~|-|–|to)\s*\S.*)?"
)
_MEASURE = re.compile(
    r"\b(?:lat|latency|latencies|response|qps|tps|tpmc?|iops|ops|rps|throughput|duration|elapsed)\b",
    re.IGNORECASE,
)
_COMMIT = re.compile(r"[0-9A-Fa-f]{7,40}")
_DATES = frozenset({"date", "day"})
_DIGIT = re.compile(r"[0-9]")
_RATES = frozenset({"qps", "tps", "events_per_s", "ops_per_s"})
_OF_RUNS = re.compile(r"(?:^| )(?:of [0-9]{1,3}(?: runs)?|[0-9]{1,3} runs)$", re.IGNORECASE)
_STATISTICS_OF_RATES = frozenset({"", "average", "avg", "mean"})
_DEVIATIONS = frozenset({"sd", "std", "stddev", "stdev"})
_OTHER_STATISTICS = _DEVIATIONS | frozenset(
    {"min", "max", "lowest", "highest", "peak", "minimum", "maximum", "median", "worst", "best"}
)
# The work of a machine beside a rate, as its tools call it.
_CPU_NAMES = {
    "cpu_user": ("user", "usr", "us"),
    "cpu_system": ("system", "sys", "sy"),
    "cpu_idle": ("idle", "id", "idl"),
    "cpu_wait": ("wait", "iowait", "wa", "wt"),
}
_CPU_TIMES = {name: metric for metric, names in _CPU_NAMES.items() for name in names}
_WHOLE, _ROUNDING = 100, 2
_OF_VMSTAT = frozenset({"us", "sy"})
_MAX_SHOWN, _MAX_NAMED = 60, 5
_MIN_MOMENTS = 2
# Facts in which the rows of one run differ.
_FACTS_THAT_DIFFER = frozenset({"count", "seconds", "time"})
FACTORS = frozenset({"x", "×", "倍"})


class ColumnRole(Enum):
    FACT = "fact"
    VALUE = "value"
    SETTING = "setting"
    TEXT = "text"
    NOTE = "note"
    LEFT_OUT = "left out"


NAMING_ROLES = (ColumnRole.FACT, ColumnRole.TEXT, ColumnRole.SETTING)
_TOLD = {
    ColumnRole.LEFT_OUT: "is computed from others and was left out",
    ColumnRole.SETTING: "is taken for a setting, not for a metric",
    ColumnRole.NOTE: "is kept as a fact, not as a metric",
}


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column and what it is.

    ``fact`` is the meaning of a fact (``threads``), ``metric`` that of a value, and ``of`` what else the head
    of a value names: a version, a product, a workload; a product alone where ``names_product``. ``threads``
    is the thread count that a head is.
    """

    index: int
    name: str
    role: ColumnRole
    fact: str = ""
    metric: Metric | None = None
    of: str = ""
    names_product: bool = False
    threads: int | None = None


@dataclass(frozen=True)
class Columns:
    """The columns of a table in their order, and what their sender should know."""

    all: tuple[TableColumn, ...]
    warnings: tuple[str, ...]

    def with_role(self, role: ColumnRole) -> list[TableColumn]:
        return [column for column in self.all if column.role is role]

    @cached_property
    def facts(self) -> dict[str, TableColumn]:
        """The first column of each fact; every row is asked for all of them."""
        return {one.fact: one for one in reversed(self.all) if one.role is ColumnRole.FACT}


def columns_of(table: Table) -> Columns:
    """Return what the columns of a table with a row for each run are.

    Raise FormatError for columns without a name, and for two that say the same.
    """
    return _RowColumns(table).columns()


class _RowColumns:
    """Goes over the columns of one table with a row for each run."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.heads = heads_of(table.names)
        self.cells = [table.cells_of(index) for index in range(len(table.names))]
        self.quantities = [[_quantity(cell) for cell in cells] for cells in self.cells]
        self.meanings = {head.meaning for head in self.heads}
        self.warnings: list[str] = []
        self.cpu_times = self._cpu_times()
        # An average alone may be of anything; beside a rate and a percentile it is of times.
        named = [head.named for head in self.heads if head.named]
        ranks = [one for head in self.heads if (one := head.statistic) and one.name.startswith("latency_p")]
        self.has_times = any(one.metric.name in _RATES for one in named) and bool(
            ranks or any(one.lacks_unit for one in named)
        )

    def columns(self) -> Columns:
        found = [column for index in range(len(self.heads)) if (column := self._column(index))]
        found = list(self._with_metrics_of_parts(found))
        self._check_twice(found)
        self._refuse_moments(found)
        if names := [column.name for column in found if column.role is ColumnRole.TEXT]:
            shown = ", ".join(repr(name[:_MAX_SHOWN]) for name in names[:_MAX_NAMED])
            self.warnings.append(f"the texts under {shown} are taken for the configuration of the runs")
        self.warnings += [told for column in found if (told := self._told(column))]
        return Columns(tuple(found), tuple(self.warnings))

    def _cpu_times(self) -> dict[str, Metric | None]:
        """Return the metrics of columns of CPU times; None, with a warning, where they are no per cents."""
        metrics = _cpu_columns([head.text for head in self.heads if head.is_unknown])
        places = [index for index, name in enumerate(self.table.names) if name in metrics]
        for row in self.table.rows:
            shares = [one.value for index in places if (one := _quantity(row.cells[index]))]
            if len(shares) == len(places) and not _may_be_per_cents(shares, metrics.values()):
                self.warnings.append(
                    f"line {row.line}: its CPU times add up to {sum(shares):g}, and are no per cents"
                )
                return dict.fromkeys(metrics)
        return {name: Metric(metric) for name, metric in metrics.items()}

    def _numbers(self, index: int) -> list[Quantity]:
        return [one for one in self.quantities[index] if one is not None]

    def _column(self, index: int) -> TableColumn | None:
        """Return what a column is by its own head and cells; None for one that only counts the rows."""
        head, cells, numbers = self.heads[index], self.cells[index], self._numbers(index)
        column = TableColumn(index, head.text, ColumnRole.TEXT)
        is_numeric = bool(cells) and len(numbers) == len(cells)
        if not head.text:
            if not cells or (is_numeric and not index and _count_rows(numbers)):
                return None
            if index or is_numeric:
                raise FormatError(f"column {index + 1} has no name", self.table.line)
            return self._text(column, head)
        # "Queries" and "Tests" behind the first column are counts, and other texts than digests no commits.
        is_other = (head.meaning == "workload" and index and is_numeric) or (
            head.meaning == "commit" and not all(_COMMIT.fullmatch(str(cell)) for cell in cells)
        )
        if head.meaning is not None and not is_other:
            is_length = head.meaning == "time" and is_numeric and {one.unit for one in numbers} == {"s"}
            return replace(column, role=ColumnRole.FACT, fact="seconds" if is_length else head.meaning)
        are_versions = all(product_and_version(str(cell))[1] for cell in cells)
        if index == 0 and "version" not in self.meanings and product_alone(head.text) and are_versions:
            return replace(column, role=ColumnRole.FACT, fact="version")
        if head.named is not None:
            return replace(column, role=ColumnRole.VALUE, metric=head.named.metric, of=head.named.of)
        if not cells:
            return None
        return self._of_numbers(column, head, numbers) if is_numeric else self._text(column, head)

    def _text(self, column: TableColumn, head: ColumnHead) -> TableColumn:
        texts = [str(cell) for cell in self.cells[column.index]]
        if (metric := head.statistic or head.own) and (
            head.statistic or all(map(_DECIMAL_COMMA.fullmatch, texts))
        ):
            return replace(column, role=ColumnRole.VALUE, metric=metric)
        is_vague = _measures(head.text) and any(_DIGIT.search(text) for text in texts)
        if head.text.casefold() in _DATES and "time" not in self.meanings and all(map(moment, texts)):
            return replace(column, role=ColumnRole.FACT, fact="time")
        if head.is_note or is_vague:
            return replace(column, role=ColumnRole.NOTE)
        if head.is_derived:
            return replace(column, role=ColumnRole.LEFT_OUT)
        names_products = any(map(_is_product, texts)) or (
            head.is_database
            and any(said_by(text).product or all(product_and_version(text)) for text in texts)
        )
        facts = {
            "time": all(_TIME_RANGE.fullmatch(text.strip()) and moment(text) for text in texts),
            "workload": all(map(_is_workload, texts)),
            "product": names_products,
        }
        fact = next((name for name, fits in facts.items() if fits and name not in self.meanings), "")
        return replace(column, role=ColumnRole.FACT, fact=fact) if fact else column

    def _of_numbers(self, column: TableColumn, head: ColumnHead, numbers: Sequence[Quantity]) -> TableColumn:
        name = column.name
        is_whole = all(one.is_whole for one in numbers)
        if name.casefold() == "run" and is_whole and "repetition" not in self.meanings:
            return replace(column, role=ColumnRole.FACT, fact="repetition")
        is_change = any(one.sign for one in numbers) or all(one.unit in FACTORS for one in numbers)
        metric: Metric | None
        if name in self.cpu_times:
            metric = self.cpu_times[name]
        elif head.is_derived or (is_change and not head.is_note):
            return replace(column, role=ColumnRole.LEFT_OUT)
        elif head.is_note or (_IDENTITY.fullmatch(name) and not _names_cpu_time(name)):
            metric = None
        elif head.statistic and (self.has_times or all(time_factor(one.unit) for one in numbers)):
            metric = head.statistic
        else:
            metric = _with_unit_of_cells(head.own, numbers) if head.own else None
            if metric and not head.is_declared and names_setting(name):
                return replace(column, role=ColumnRole.SETTING, name=_SAID_SETTING.sub("", name))
        return replace(column, role=ColumnRole.VALUE if metric else ColumnRole.NOTE, metric=metric)

    def _with_metrics_of_parts(self, found: list[TableColumn]) -> Iterator[TableColumn]:
        """Yield the columns, those of a known metric with what the rest of their head means.

        Where every metric is one of a part, and a version, product or workload is named or a metric comes
        again, each part has its own runs. Else a head such as ``P99 latency for TiKV`` names a metric of its
        own.
        """
        found = [_of_another_part(column, found) for column in found]
        known = [column for column in found if column.metric and not column.metric.is_own]
        metrics = [column.metric for column in known]
        parts = {_statistic_free(column) for column in known}
        names_operations = any(column.fact == "workload" for column in found) and any(
            said_by(part).workload for part in parts
        )
        are_alike = len(parts) > 1 and len(set(metrics)) < len(metrics)
        has_own_runs = not names_operations and (are_alike or any(map(_names_run, parts))) and "" not in parts
        for column in found:
            part = _statistic_free(column)
            is_median = _bare(column.of) == "median" and metrics.count(column.metric) == 1
            is_other = _bare(column.of) in _OTHER_STATISTICS
            if column not in known:
                yield column
            elif not is_median and (is_other or (part and not has_own_runs and len(parts) > 1)):
                yield replace(column, metric=self._own_of_part(column), of="")
            else:
                yield replace(column, of=part if has_own_runs and not is_median else "")

    def _own_of_part(self, column: TableColumn) -> Metric:
        known, head = column.metric or Metric(column.name), self.heads[column.index]
        own = head.own
        name = own.name if own and (not own.unit or known.accepts(own.unit)) else own_name(head.text)
        direction = UNKNOWN if _bare(column.of) in _DEVIATIONS else known.reading(0, 1).direction
        unit = known.normal_unit
        return replace(known, name=name, unit=unit, direction=direction, is_own=True, is_declared=True)

    def _refuse_moments(self, found: Sequence[TableColumn]) -> None:
        """Raise FormatError where a clock tells rows apart: they are moments of one run, and no runs."""
        naming = [
            one.index for one in found if one.role in NAMING_ROLES and one.fact not in _FACTS_THAT_DIFFER
        ]
        for clock in found if self.table.rows else ():
            if clock.role is not ColumnRole.VALUE or not is_of_time(clock.name):
                continue
            times: dict[object, list[float]] = {}
            for row, time in zip(self.table.rows, self.quantities[clock.index], strict=False):
                run = tuple(row.cells[index] for index in naming)
                times.setdefault(run, []).append(time.value if time else 0)
            several = [values for values in times.values() if len(values) > _MIN_MOMENTS]
            if several and all(values == sorted(set(values)) for values in several):
                raise FormatError(
                    f"the column {clock.name!r} counts the seconds of a run, and each row is a moment of it; "
                    "send the whole output of the tool, or a table with one row for each run",
                    self.table.line,
                )

    def _check_twice(self, found: Sequence[TableColumn]) -> None:
        given: dict[tuple[str, str], str] = {}
        for column in found:
            says = column.fact or (column.metric.name if column.metric else column.name)
            if (says, column.of) in given:
                raise FormatError(
                    f"the columns {given[says, column.of]!r} and {column.name!r} both give the {says}",
                    self.table.line,
                )
            given[says, column.of] = column.name
        values = [column for column in found if column.role is ColumnRole.VALUE]
        value = next((column for column in found if column.fact == "value"), None)
        if value and values:
            raise FormatError(
                f"the numbers stand both under {values[0].name!r} and under {value.name!r}", self.table.line
            )

    def _told(self, column: TableColumn) -> str:
        """Return the sentence that the sender should read of a column, or an empty text."""
        name, head = column.name[:_MAX_SHOWN], self.heads[column.index]
        if column.role in _TOLD:
            return f"the column {name!r} {_TOLD[column.role]}"
        if column.metric is None:
            return ""
        if column.metric.is_own:
            return "" if head.is_declared else own_metric_warning(column.metric, name)
        has_unit = any(time_factor(one.unit) for one in self._numbers(column.index))
        names_none = head.named.lacks_unit if head.named else head.statistic is not None
        if column.metric.normal_unit != "ms" or has_unit or not names_none:
            return ""
        return (
            f"the column {name!r} names no unit; its times were taken as milliseconds: write '(ms)' behind it"
        )


def names_setting(name: str) -> bool:
    """Return whether a name over a column is one of settings, whatever stands below it."""
    words = _words(name)
    bare = _bare(name)
    of_server = is_server_setting(bare)
    if "prime" in words or _SAID_SETTING.search(name) or (of_server and _SERVER_LIMIT.fullmatch(bare)):
        return True
    return (bool(words & _SETTING_WORDS) or of_server) and not words & _MEASURED_WORDS


def names_statistic(name: str) -> bool:
    """Return whether a name over a column is one of a statistic alone: ``avg``, ``max``."""
    return _bare(name) in (_STATISTICS_OF_RATES | _OTHER_STATISTICS) - {""}


def is_level(name: str) -> bool:
    """Return whether a statistic says where the values lie, and not how far they scatter."""
    return _bare(name) in _STATISTICS_OF_RATES | {"median"}


def own_metric_warning(metric: Metric, printed: str) -> str:
    """Return the sentence about a metric that the project measures and benchdash does not know."""
    called = "kept as" if metric.name == printed else f"kept as {metric.name!r},"
    known = f", in {metric.unit}" if metric.unit else ""
    return f"{printed!r} is no metric that benchdash knows: {called} one of the project's own{known}"


def moment(text: str) -> datetime | None:
    """Return the time that a text is, with an offset that of UTC; of a range its start; None for other texts.

    A range is ``2025-11-23 18:56:52 ~ 2025-11-23 18:57:22``.
    """
    found = _TIME_RANGE.fullmatch(text.strip())
    try:
        time = datetime.fromisoformat(found["start"] if found else text)
        return time.astimezone(UTC) if time.tzinfo else time
    except (ValueError, OverflowError):
        return None


def _quantity(cell: Cell) -> Quantity | None:
    if isinstance(cell, bool):
        return None
    if isinstance(cell, int | float):
        return Quantity(float(cell), "", "-" if cell < 0 else "", False, 0 if isinstance(cell, int) else 1)
    return quantity(cell or "")


def _with_unit_of_cells(metric: Metric, numbers: Sequence[Quantity]) -> Metric | None:
    """Return the metric in the unit of its cells, of several units of time in ms; None for other several."""
    units = {one.unit for one in numbers if one.unit}
    if metric.unit or not units:
        return metric
    if len(units) == 1:
        return replace(metric, unit=units.pop(), is_declared=True)
    are_times = all(time_factor(unit) for unit in units)
    return replace(metric, unit="ms", direction=LOWER, is_declared=True) if are_times else None


def _count_rows(numbers: Sequence[Quantity]) -> bool:
    """Return whether a column without a name only counts the rows, as data frames write it."""
    values = [one.value for one in numbers]
    return values in ([*range(len(values))], [*range(1, 1 + len(values))])


def _is_workload(text: str) -> bool:
    said = said_by(text)
    return said.workload is not None and said == Said(workload=said.workload)


def _measures(name: str) -> bool:
    """Return whether a name is one of what is measured, whatever stands below it."""
    return _MEASURE.search(in_english(name)) is not None or bool(_words(name) & _MEASURED_WORDS)


def _is_product(text: str) -> bool:
    said = said_by(text)
    return said.product is not None and said == Said(product=said.product, version=said.version)


def _statistic_free(column: TableColumn) -> str:
    """Return the rest of a head, without words that say that it is an average rate, or of how many runs."""
    rest = _OF_RUNS.sub("", column.of)
    return "" if _bare(rest) in _STATISTICS_OF_RATES else rest


def _of_another_part(column: TableColumn, others: Sequence[TableColumn]) -> TableColumn:
    """Return ``NewDB P99`` beside ``MySQL P99`` as the same metric, any other column as it is."""
    for other in others if column.metric and column.metric.is_own else ():
        rest = other.name.removeprefix(other.of) if other.of else ""
        if rest.strip() and rest != other.name and column.name.endswith(rest):
            return replace(column, metric=other.metric, of=column.name.removesuffix(rest).strip())
    return column


def _bare(part: str) -> str:
    return part.partition("(")[0].strip().casefold()


def _names_run(part: str) -> bool:
    said = said_by(part)
    return bool(said.product or said.version or said.workload)


def _words(name: str) -> set[str]:
    text = in_english(re.sub(r"[\[(].{0,200}?[\])]", " ", name)).casefold()
    return set(re.split(r"[\s_\-/.]+", text)) | {name.casefold()}


def _cpu_columns(names: Sequence[str]) -> dict[str, str]:
    """Return the metric of each column of CPU time in per cent.

    User and system time alone may be seconds; they are per cents beside idle time, with a sign that says so,
    and as vmstat calls them.
    """
    named = {name: metric for name in names if (metric := _CPU_TIMES.get(_cpu_word(name)))}
    metrics = list(named.values())
    if len(metrics) < 2 or len(set(metrics)) < len(metrics):
        return {}
    are_per_cents = "cpu_idle" in metrics or all("%" in in_english(name) for name in named)
    return named if are_per_cents or {_cpu_word(name) for name in named} >= _OF_VMSTAT else {}


def _may_be_per_cents(shares: Sequence[float], metrics: Collection[str]) -> bool:
    """Return whether figures of one line may be per cents: at most 100, and with idle time no shares of 1."""
    least = _ROUNDING if "cpu_idle" in metrics else -1
    return not shares or least < sum(shares) <= _WHOLE + _ROUNDING


def _names_cpu_time(name: str) -> bool:
    return _cpu_word(name) in _CPU_TIMES


def _cpu_word(name: str) -> str:
    """Reduce ``%usr`` and ``CPU user (%)`` to the word that names the CPU time."""
    return re.sub(r"\bcpu\b|[%()_ ]+", "", in_english(name).casefold().replace("_", " "))
