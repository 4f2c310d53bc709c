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
from datetime import datetime
from enum import Enum
from functools import cached_property

from benchdash.results.readings import LOWER, UNKNOWN
from ingest.formats.cells import Quantity, quantity
from ingest.formats.configuration import is_server_setting
from ingest.formats.headings import Said, product_and_version, said_by
from ingest.formats.report import FormatError
from ingest.formats.tables.heads import ColumnHead, heads_of, is_of_time, product_alone
from ingest.formats.tables.metric_words import Metric, declared_direction, own_name, time_factor
from ingest.formats.tables.other_languages import in_english
from ingest.formats.tables.table import Cell, Table

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


class ColumnRole(Enum):
    FACT = "fact"
    VALUE = "value"
    SETTING = "setting"
    TEXT = "text"
    NOTE = "note"
    LEFT_OUT = "left out"


NAMING_ROLES = (ColumnRole.FACT, ColumnRole.TEXT, ColumnRole.SETTING)


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

    def fact(self, meaning: str) -> TableColumn | None:
        return self._facts.get(meaning)

    @cached_property
    def _facts(self) -> dict[str, TableColumn]:
        """The first column of each fact; every row is asked for all of them."""
        return {one.fact: one for one in reversed(self.all) if one.role is ColumnRole.FACT}


def columns_of(table: Table) -> Columns:
    """Return what the columns of a table with a row for each run are.

    Raise FormatError for columns without a name, and for two that say the same.
    """
    return _Understanding(table).columns()


class _Understanding:
    """Goes over the columns of one table."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.heads = heads_of(table.names)
        self.cells = [table.cells_of(index) for index in range(len(table.names))]
        self.quantities = [[_quantity(cell) for cell in cells] for cells in self.cells]
        self.meanings = {head.meaning for head in self.heads}
        self.cpu_times = _cpu_columns([head.text for head in self.heads if head.is_unknown])
        self.warnings: list[str] = []
        self.line_of_no_per_cents = self._line_of_no_per_cents()

    def columns(self) -> Columns:
        found = [column for index in range(len(self.heads)) if (column := self._column(index))]
        found = list(self._with_metrics_of_parts(found))
        self._check_twice(found)
        self._refuse_moments(found)
        if names := [column.name for column in found if column.role is ColumnRole.TEXT]:
            shown = ", ".join(repr(name[:_MAX_SHOWN]) for name in names[:_MAX_NAMED])
            self.warnings.append(f"the texts under {shown} are taken for the configuration of the runs")
        for column in found:
            self._tell(column)
        return Columns(tuple(found), tuple(self.warnings))

    def _line_of_no_per_cents(self) -> int | None:
        """Return the first line whose CPU times are no per cents, with a warning; None where all may be."""
        places = [index for index, name in enumerate(self.table.names) if name in self.cpu_times]
        for row in self.table.rows:
            shares = [one.value for index in places if (one := _quantity(row.cells[index]))]
            if len(shares) == len(places) and not _may_be_per_cents(shares, self.cpu_times.values()):
                self.warnings.append(
                    f"line {row.line}: its CPU times add up to {sum(shares):g}, and are no per cents"
                )
                return row.line
        return None

    def _is_numeric(self, index: int) -> bool:
        return bool(self.quantities[index]) and None not in self.quantities[index]

    def _numbers(self, index: int) -> list[Quantity]:
        return [one for one in self.quantities[index] if one is not None]

    def _column(self, index: int) -> TableColumn | None:
        """Return what a column is by its own head and cells; None for one that only counts the rows."""
        head, name = self.heads[index], self.table.names[index]
        if not name:
            if self._is_index(index) or not self.cells[index]:
                return None
            if index or self._is_numeric(index):
                raise FormatError(f"column {index + 1} has no name", self.table.line)
            return self._text(index, head)
        if head.meaning is not None:
            return self._fact(index, head)
        are_versions = all(product_and_version(str(cell))[1] for cell in self.cells[index])
        if index == 0 and "version" not in self.meanings and product_alone(head.text) and are_versions:
            return TableColumn(index, name, ColumnRole.FACT, fact="version")
        if not self.cells[index] and head.named is None:
            return None
        if head.is_derived and (self._is_numeric(index) or not self.cells[index]):
            return TableColumn(index, name, ColumnRole.LEFT_OUT)
        if head.named is not None:
            return TableColumn(index, name, ColumnRole.VALUE, metric=head.named.metric, of=head.named.of)
        if self._is_numeric(index):
            return self._column_of_numbers(index, head)
        return self._text(index, head)

    def _fact(self, index: int, head: ColumnHead) -> TableColumn:
        meaning = head.meaning or ""
        if meaning == "workload" and index and self._is_numeric(index):
            return self._column_of_numbers(index, head)  # counts: "Queries", "Tests"
        if meaning == "time" and self._is_numeric(index):
            in_seconds = {one.unit for one in self._numbers(index)} == {"s"}
            meaning = "seconds" if in_seconds else meaning
        return TableColumn(index, head.text, ColumnRole.FACT, fact=meaning)

    def _text(self, index: int, head: ColumnHead) -> TableColumn:
        texts = [str(cell) for cell in self.cells[index]]
        name = head.text
        self._refuse_numbers(index, head, texts)
        if texts and all(map(_time_of, texts)) and "time" not in self.meanings:
            return TableColumn(index, name, ColumnRole.FACT, fact="time")
        is_vague = _measures(name) and any(_DIGIT.search(text) for text in texts)
        if head.is_note or is_vague:
            return TableColumn(index, name, ColumnRole.NOTE)
        if head.is_derived:
            return TableColumn(index, name, ColumnRole.LEFT_OUT)
        has_workloads = bool(texts) and all(_is_workload(text) for text in texts)
        if has_workloads and "workload" not in self.meanings:
            return TableColumn(index, name, ColumnRole.FACT, fact="workload")
        names_products = any(map(_is_product, texts)) or (
            head.is_database
            and any(said_by(text).product or all(product_and_version(text)) for text in texts)
        )
        if names_products and "product" not in self.meanings:
            return TableColumn(index, name, ColumnRole.FACT, fact="product")
        return TableColumn(index, name, ColumnRole.TEXT)

    def _refuse_numbers(self, index: int, head: ColumnHead, texts: Sequence[str]) -> None:
        """Raise FormatError for decimal commas, and for words under ``p95``: neither is a setting."""
        has_commas = bool(texts) and all(map(_DECIMAL_COMMA.fullmatch, texts))
        if not has_commas and (head.statistic is None or not texts):
            return
        words = next(text for text in texts if _quantity(text) is None)
        line = next(row.line for row in self.table.rows if str(row.cells[index]) == words)
        if _DECIMAL_COMMA.fullmatch(words):
            raise FormatError(
                f"the number {words[:40]!r} has a comma; write digits and a decimal point", line
            )
        raise FormatError(f"{words[:40]!r} under {head.text[:40]!r} is not a number", line)

    def _column_of_numbers(self, index: int, head: ColumnHead) -> TableColumn:
        name, numbers = head.text, self._numbers(index)
        if cpu_time := self.cpu_times.get(name):
            role = ColumnRole.NOTE if self.line_of_no_per_cents else ColumnRole.VALUE
            return TableColumn(index, name, role, metric=Metric(cpu_time))
        counts_repetitions = name.casefold() == "run" and self._is_whole(index)
        if counts_repetitions and "repetition" not in self.meanings:
            return TableColumn(index, name, ColumnRole.FACT, fact="repetition")
        is_identity = _IDENTITY.fullmatch(name) and not _names_cpu_time(name)
        if head.is_note or is_identity:
            return TableColumn(index, name, ColumnRole.NOTE)
        if any(one.sign for one in numbers) or all(one.unit in {"x", "×", "倍"} for one in numbers):
            return TableColumn(index, name, ColumnRole.LEFT_OUT)
        if (metric := self._time_of_statistic(index, head)) is not None:
            return TableColumn(index, name, ColumnRole.VALUE, metric=metric)
        if head.own is None:
            return TableColumn(index, name, ColumnRole.NOTE)
        metric = _with_unit_of_cells(head.own, numbers)
        if metric is None:
            return TableColumn(index, name, ColumnRole.NOTE)
        if not head.is_declared and names_setting(name):
            return TableColumn(index, _SAID_SETTING.sub("", name), ColumnRole.SETTING)
        return TableColumn(index, name, ColumnRole.VALUE, metric=metric)

    def _time_of_statistic(self, index: int, head: ColumnHead) -> Metric | None:
        """Return the response time of a head such as ``p95`` or ``avg``, with units or beside rates.

        An average alone may be of anything; beside a percentile it is of the same times.
        """
        if head.statistic is None or all(time_factor(one.unit) for one in self._numbers(index)):
            return head.statistic
        has_rate = any(one.named and one.named.metric.name in _RATES for one in self.heads)
        is_rank = [
            one.statistic
            for one in self.heads
            if one.statistic and one.statistic.name.startswith("latency_p")
        ]
        if not has_rate or not (is_rank or any(one.named and one.named.lacks_unit for one in self.heads)):
            return None
        return head.statistic

    def _is_whole(self, index: int) -> bool:
        return self._is_numeric(index) and all(one.is_whole for one in self._numbers(index))

    def _is_index(self, index: int) -> bool:
        """Return whether the first column only counts the rows, as data frames write it."""
        values = [one.value for one in self._numbers(index)]
        counts = [[*range(first, first + len(values))] for first in (0, 1)]
        return index == 0 and self._is_whole(index) and values in counts

    @staticmethod
    def _identity(cells: Sequence[Cell], naming: Sequence[TableColumn]) -> tuple[Cell, ...]:
        return tuple(
            cells[column.index] for column in naming if column.fact not in {"count", "seconds", "time"}
        )

    def _with_metrics_of_parts(self, found: list[TableColumn]) -> Iterator[TableColumn]:
        """Yield the columns, those of a known metric with what the rest of their head means.

        Where every metric is one of a part, and a version, product or workload is named or a metric comes
        again, each part has its own runs. Else a head such as ``P99 latency for TiKV`` names a metric of its
        own.
        """
        values = [
            column
            for column in found
            if column.role is ColumnRole.VALUE and column.metric and not column.metric.is_own
        ]
        parts = {_statistic_free(column) for column in values}
        names_operations = any(column.fact == "workload" for column in found) and any(
            said_by(part).workload for part in parts
        )
        are_alike = len({column.metric for column in values}) < len(values)
        has_own_runs = (
            "" not in parts
            and not names_operations
            and (any(map(_names_run, parts)) or (len(parts) > 1 and are_alike))
        )
        for column in found:
            if column not in values:
                yield column
                continue
            part = _statistic_free(column)
            if _bare(column.of) == "median" and [one.metric for one in values].count(column.metric) == 1:
                yield replace(column, of="")
                continue
            if _is_other_statistic(column) or (part and not has_own_runs and len(parts) > 1):
                yield replace(column, metric=self._own_of_part(column), of="")
            elif part and not has_own_runs and len(parts) == 1:
                yield replace(column, of="")
            else:
                yield replace(column, of=part)

    def _own_of_part(self, column: TableColumn) -> Metric:
        known, head = column.metric or Metric(column.name), self.heads[column.index]
        own = head.own
        name = own.name if own and (not own.unit or known.accepts(own.unit)) else own_name(head.text)
        direction = UNKNOWN if _bare(column.of) in _DEVIATIONS else known.reading(0, 1).direction
        unit = known.normal_unit
        return replace(known, name=name, unit=unit, direction=direction, is_own=True, is_declared=True)

    def _refuse_moments(self, found: Sequence[TableColumn]) -> None:
        """Raise FormatError where a clock tells rows apart: they are moments of one run, and no runs."""
        naming = [one for one in found if one.role in NAMING_ROLES]
        clocks = [one for one in found if one.role is ColumnRole.VALUE and is_of_time(one.name)]
        for clock in clocks if self.table.rows else ():
            times: dict[object, list[float]] = {}
            for row, time in zip(self.table.rows, self.quantities[clock.index], strict=False):
                times.setdefault(self._identity(row.cells, naming), []).append(time.value if time else 0)
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

    def _tell(self, column: TableColumn) -> None:
        """Note what the sender should know of a column."""
        name = column.name[:_MAX_SHOWN]
        match column.role:
            case ColumnRole.LEFT_OUT:
                self.warnings.append(f"the column {name!r} is computed from others and was left out")
            case ColumnRole.SETTING:
                self.warnings.append(f"the column {name!r} is taken for a setting, not for a metric")
            case ColumnRole.NOTE:
                self.warnings.append(f"the column {name!r} is kept as a fact, not as a metric")
            case ColumnRole.VALUE if (
                column.metric and column.metric.is_own and not self.heads[column.index].is_declared
            ):
                self.warnings.append(own_metric_warning(column.metric, name))
            case ColumnRole.VALUE if column.metric and self._contradicts(column):
                better = column.metric.reading(0, 1).direction
                self.warnings.append(
                    f"the column {name!r} says otherwise, but of {column.metric.name} {better} is better"
                )
            case ColumnRole.VALUE if column.metric and self._lacks_unit(column):
                self.warnings.append(
                    f"the column {name!r} names no unit; its times were taken as milliseconds: "
                    "write '(ms)' behind it"
                )

    def _contradicts(self, column: TableColumn) -> bool:
        said = declared_direction(column.name)
        return column.metric is not None and said not in (None, column.metric.reading(0, 1).direction)

    def _lacks_unit(self, column: TableColumn) -> bool:
        head = self.heads[column.index]
        is_time = column.metric is not None and column.metric.normal_unit == "ms"
        names_none = (head.named is not None and head.named.lacks_unit) or head.statistic is not None
        has_unit = any(time_factor(one.unit) for one in self._numbers(column.index))
        return is_time and names_none and not has_unit and not (head.named and not head.named.lacks_unit)


def names_setting(name: str) -> bool:
    """Return whether a name over a column is one of settings, whatever stands below it."""
    words = _words(name)
    bare = _bare(name)
    of_server = is_server_setting(bare)
    if "prime" in words or _SAID_SETTING.search(name) or (of_server and _SERVER_LIMIT.fullmatch(bare)):
        return True
    return (bool(words & _SETTING_WORDS) or of_server) and not words & _MEASURED_WORDS


def own_metric_warning(metric: Metric, printed: str) -> str:
    """Return the sentence about a metric that the project measures and benchdash does not know."""
    called = "kept as" if metric.name == printed else f"kept as {metric.name!r},"
    known = f", in {metric.unit}" if metric.unit else ""
    return f"{printed!r} is no metric that benchdash knows: {called} one of the project's own{known}"


def time_range_start(text: str) -> str | None:
    """Return the first time of ``2025-11-23 18:56:52 ~ 2025-11-23 18:57:22``; None for any other text."""
    found = _TIME_RANGE.fullmatch(text.strip())
    return found["start"] if found else None


def _time_of(text: str) -> bool:
    start = time_range_start(text)
    if start is None:
        return False
    try:
        datetime.fromisoformat(start)
    except ValueError:
        return False
    return True


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


def _is_other_statistic(column: TableColumn) -> bool:
    return _bare(column.of) in _OTHER_STATISTICS


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
