"""From a table to its runs: one for each row, or for each row and product over its columns."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from benchdash.results.readings import Reading
from ingest.formats.cells import decimals, is_number, number, quantity, whole_number
from ingest.formats.headings import Said, product_and_version, said_by
from ingest.formats.outputs import bounded
from ingest.formats.report import Fact, FormatError, ParsedRun
from ingest.formats.tables.columns import (
    NAMING_ROLES,
    ColumnRole,
    Columns,
    TableColumn,
    columns_of,
    moment,
    own_metric_warning,
)
from ingest.formats.tables.entries import RunEntry, join_metrics
from ingest.formats.tables.table import Cell, Table, TableRow, is_empty, refuse_copies
from ingest.formats.tables.vocabulary import (
    Metric,
    in_english,
    metric_named,
    own_metric,
    product_alone,
    product_of_versions,
)

_COUNTED_RATES = frozenset({"qps", "tps", "events_per_s", "ops_per_s"})
_COMMA = ","
_NUMBERED_QUERY = re.compile(r"Q[0-9]+[a-z]?|Total", re.IGNORECASE)
_COMMA_IN_NUMBER = re.compile(r"\s*[0-9]+,[0-9]")
_MIN_WITH_THOUSANDS = 1000
_SETTING_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+")
# How the settings of servers begin whose values are words: innodb_flush_method, wal_compression.
_OF_SERVERS = ("innodb_", "sync_", "thread_", "binlog_", "query_cache_", "wal_", "synchronous_")
_REPETITION = re.compile(
    r"(?:run|rep|repetition|iteration|trial|round)\s*#?\s*(?P<number>[1-9][0-9]{0,3})", re.IGNORECASE
)
# A point before three digits may part thousands.
_MAY_HAVE_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")
_MAY_HAVE_ONE_THOUSAND = re.compile(rf"{_MAY_HAVE_THOUSANDS.pattern}|[0-9]{{1,3}}")
_SWITCHES = frozenset(
    {"on", "off", "yes", "no", "true", "false", "enabled", "disabled", "启用", "关闭", "开启"}
)


@dataclass(frozen=True, slots=True)
class Entries:
    """The contents of one table: the runs, their keys still empty, and what their sender should know."""

    entries: tuple[RunEntry, ...]
    warnings: tuple[str, ...]


def read_rows(table: Table) -> Entries:
    """Return the runs of a table whose columns name their metrics.

    Rows with an error instead of a value are left out with a warning. Raise FormatError for columns that
    contradict each other and for every cell that cannot be understood.
    """
    refuse_copies((row.line, tuple(map(_comparable, row.cells))) for row in table.rows)
    return read_columns(table, columns_of(table))


def read_columns(table: Table, columns: Columns) -> Entries:
    """Return the runs of a table of which every column is understood. Raise FormatError as read_rows does."""
    if not table.rows:
        raise FormatError("the table has no rows", table.line)
    reading = _Reading(table, columns)
    entries = [entry for row in table.rows for entry in reading.entries(row)]
    if not entries:
        last = f"; {reading.warnings[0]}" if reading.warnings else ""
        raise FormatError(f"no row holds a value{last}", table.line)
    remarks = [*columns.warnings, *reading.remarks()]
    if any(entry.run.started_at and entry.run.started_at.tzinfo is None for entry in entries):
        remarks.append("the times have no offset; they are taken as UTC")
    if "value" in columns.facts:
        entries = join_metrics(entries)
    return Entries(tuple(map(_in_utc, entries)), (*remarks, *bounded(reading.warnings)))


@dataclass(slots=True)
class _Reading:
    """Reads the rows of one table. ``warnings`` are those of single rows and cells."""

    table: Table
    columns: Columns
    warnings: list[str] = field(default_factory=list)
    with_thousands: str = ""
    with_remark: str = ""
    own: dict[str, Metric] = field(default_factory=dict)
    missing: list[tuple[int, str]] = field(default_factory=list)
    beside: tuple[TableColumn, ...] = ()
    of_no_run: Sequence[TableColumn] = ()
    _parts: dict[tuple[str, int | None], list[TableColumn]] = field(default_factory=dict)
    constant: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        for column in self.columns.with_role(ColumnRole.VALUE):
            self._parts.setdefault((column.of, column.threads), []).append(column)
            _check_commas(self.table, column.index)
        # A figure of a whole row, beside figures of parts, belongs to no run.
        if len(self._parts) > 1:
            self.of_no_run = self._parts.pop(("", None), [])
        roles = (ColumnRole.TEXT, ColumnRole.SETTING, ColumnRole.NOTE)
        self.beside = tuple(
            column
            for column in self.columns.all
            if column.role in roles or column.fact in {"configuration", "count", "seconds"}
        )
        self.constant = frozenset(
            column.index
            for column in self.columns.with_role(ColumnRole.SETTING)
            if len(set(self.table.cells_of(column.index))) < 2
        )

    def remarks(self) -> Iterator[str]:
        if self.of_no_run:
            names = ", ".join(repr(one.name[:60]) for one in self.of_no_run)
            yield f"{names} stands beside figures of several runs and belongs to none of them; left out"
        if self.missing:
            line, name = self.missing[0]
            more = f", and {len(self.missing) - 1} more cells like it" if len(self.missing) > 1 else ""
            yield f"line {line}: no figure under {name[:60]!r}{more}"
        for printed, metric in self.own.items():
            yield own_metric_warning(metric, printed)
        for column in self.columns.all[:1]:
            gaps = [row.line for row in self.table.rows if is_empty(row.cells[column.index])]
            if gaps and gaps[0] > self.table.rows[0].line and column.role in NAMING_ROLES:
                yield (
                    f"line {gaps[0]}: nothing stands under {column.name[:60]!r}; "
                    "if it is that of the row above, write it into each row"
                )
        if self.with_thousands:
            yield f"the commas in numbers such as {self.with_thousands} are taken for separators of thousands"
        rates = list(self._texts_of_rates())
        with_points = [rate for rate in rates if _MAY_HAVE_THOUSANDS.fullmatch(rate)]
        if len(rates) > 1 and with_points and all(map(_MAY_HAVE_ONE_THOUSAND.fullmatch, rates)):
            rate, whole = with_points[0], with_points[0].replace(".", "")
            yield f"rates such as {rate} are read with a decimal point; if it parts thousands, write {whole}"
        if self.with_remark:
            yield f"what stands behind figures, as in {self.with_remark!r}, was left out"

    def _texts_of_rates(self) -> Iterator[str]:
        for column in self.columns.with_role(ColumnRole.VALUE):
            if column.metric and not column.metric.is_own and column.metric.normal_unit in ("1/s", "1/min"):
                yield from (str(cell).strip() for cell in self.table.cells_of(column.index))

    def entries(self, row: TableRow) -> Iterator[RunEntry]:
        """Yield the runs that a row tells of. Raise FormatError with the line."""
        cells = _RowCells(self, row)
        error = cells.text("error")
        for columns in self._parts.values() or ((),):
            try:
                yield from self._entry(cells, columns, error)
            except FormatError as refusal:
                if not self.table.is_published:
                    raise
                self.warnings.append(f"line {row.line}: {refusal.message}; the row was left out")
                return

    def _entry(
        self, cells: "_RowCells", columns: Sequence[TableColumn], error: str | None
    ) -> Iterator[RunEntry]:
        told = len(self.warnings)
        readings = cells.readings(columns)
        part = columns[0] if columns else None
        if error or (not readings and len(self.warnings) == told):
            is_part = part is not None and (part.of or part.threads is not None)
            names = (cells.row.cells[one.index] for one in self.columns.all if one.role in NAMING_ROLES)
            label = next((str(name) for name in names if not is_empty(name)), f"line {cells.line}")
            place = f" for {label} and {part.name}" if part and is_part else ""
            what = f"error {error[:200]!r}" if error else f"no value{place}"
            self.warnings.append(f"line {cells.line}: {what}{'' if readings else '; left out'}")
        if readings:
            yield RunEntry(cells.line, cells.run(readings, part))

    def number(self, cell: Cell, line: int) -> float:
        """Return the number of a cell. Raise FormatError for anything else."""
        if not isinstance(cell, str) or is_number(cell):
            return number(0 if cell is None else cell, line)
        found = quantity(cell)
        if found is None or found.sign == "-" or not math.isfinite(found.value):
            return number(cell, line)
        if found.has_thousands and _COMMA in cell:
            self.with_thousands = self.with_thousands or f"{cell.strip()[:40]} (line {line})"
        if found.remark:
            self.with_remark = self.with_remark or cell.strip()[:60]
        return found.value


class _RowCells:
    """A row with what its columns mean: ``facts`` are the cells of those that hold something."""

    def __init__(self, reading: _Reading, row: TableRow) -> None:
        self.reading, self.row, self.line, self.columns = reading, row, row.line, reading.columns
        cells = ((fact, self._cell(column)) for fact, column in self.columns.facts.items())
        self.facts = {fact: cell for fact, cell in cells if cell is not None}

    def text(self, meaning: str) -> str | None:
        cell = self.facts.get(meaning)
        return None if cell is None else " ".join(str(cell).split())

    def _cell(self, column: TableColumn) -> str | float | None:
        cell = self.row.cells[column.index]
        return None if is_empty(cell) else cell

    # --- readings -----------------------------------------------------------------------------------------

    def readings(self, columns: Sequence[TableColumn]) -> tuple[Reading, ...]:
        unit = self.text("unit")
        found = []
        without: list[tuple[int, str]] = []
        for column in columns:
            metric, cell = column.metric, self._cell(column)
            if metric is None or cell is None:
                without += [(self.line, column.name)] if metric else []
                continue
            if unit is not None:
                metric = self._in_its_unit(metric, unit)
            if (one := self._reading(metric, cell)) is not None:
                found.append(one)
        if (value := self.facts.get("value")) is not None:
            metric = self._named_metric()
            found.append(metric.reading(self._most_exact(metric, value), self.line))
        # A row without any figure has a warning of its own.
        self.reading.missing += without if found else []
        return tuple(found)

    def _reading(self, metric: Metric, cell: str | float) -> Reading | None:
        """Return the reading of a cell in its own unit; None for one that is left out with a warning."""
        try:
            found = quantity(cell) if isinstance(cell, str) and not is_number(cell) else None
            is_plain = metric.multiplier == metric.divisor
            if (
                found
                and found.unit
                and (not is_plain or found.unit.casefold() != metric.normal_unit.casefold())
            ):
                metric = metric.in_unit(found.unit, self.line)
            return metric.reading(self._most_exact(metric, cell), self.line)
        except FormatError as error:
            if not self.reading.table.is_published:
                raise
            self.reading.warnings.append(f"line {self.line}: {error.message}; left out")
            return None

    def _in_its_unit(self, metric: Metric, unit: str) -> Metric:
        """Return the metric in the row's unit; of several metrics only those that can have it change."""
        others = [one.metric for one in self.columns.with_role(ColumnRole.VALUE) if one.metric]
        if not metric.accepts(unit) and any(other.accepts(unit) for other in others):
            return metric
        return metric.in_unit(unit, self.line)

    def _named_metric(self) -> Metric:
        """Return the metric that the row names beside its value, in the unit that it names."""
        name, unit = self.text("metric"), self.text("unit")
        metric = metric_named(name or unit or "")
        if metric is None and name and (metric := own_metric(name)) is not None:
            self.reading.own.setdefault(name, metric.in_unit(unit, self.line) if unit else metric)
        if metric is None:
            raise FormatError(
                f"{(name or unit or '')[:40]!r} is not a metric such as tps, qps or latency_p95", self.line
            )
        return metric.in_unit(unit, self.line) if unit else metric

    def _most_exact(self, metric: Metric, cell: str | float) -> float:
        """Return the number of a cell, or count over seconds where that rounds to it."""
        printed = self.reading.number(cell, self.line)
        if metric.name not in _COUNTED_RATES:
            return printed
        count, seconds = self._number("count"), self._number("seconds")
        if count is None or not seconds:
            return printed
        rounding = 0.5 * 10.0 ** -decimals(cell)
        rate = count / seconds
        return rate if abs(rate - printed) <= rounding else printed

    def _number(self, meaning: str) -> float | None:
        cell = self.facts.get(meaning)
        return None if cell is None else self.reading.number(cell, self.line)

    # --- the run ------------------------------------------------------------------------------------------

    def run(self, readings: tuple[Reading, ...], part: TableColumn | None) -> ParsedRun:
        """Return the run that these readings belong to, as the row and the head above them say."""
        product, version = self.text("product"), self.text("version")
        server = self.text("server")
        if "product" not in self.columns.facts:
            product, server = server, None
        column = "-".join(part for part in (product, version) if part) or self.text("workload")
        head = self.columns.facts.get("version")
        of_head = (product_of_versions(head.name) or product_alone(head.name)) if head else None
        if version and product is None and (named := of_head):
            said = said_by(version)
            product = named
            version = said.version if said == Said(product=said.product, version=said.version) else version
        elif version:
            named, alone = product_and_version(version)
            product, version = product or (named if alone else None), alone or version
        elif product:
            product, version = product_and_version(product)
        configuration, settings, options = self._beside()
        run = ParsedRun(
            readings,
            column=column,
            product=product,
            version=version,
            build=self.text("build"),
            commit=self.text("commit"),
            configuration=configuration,
            counterpart=server,
            workload=self.text("workload"),
            threads=self._whole_number("threads"),
            repetition=self._whole_number("repetition"),
            started_at=self._started_at(),
            duration_s=self._number("seconds"),
            options=options,
            settings=settings,
        )
        if part is None:
            return run
        if part.threads is not None:
            run = replace(run, threads=part.threads)
        return _with_part(run, part) if part.of else run

    def _beside(self) -> tuple[str | None, dict[str, str], dict[str, Fact]]:
        """Return the configuration, settings of the server and options that the other columns tell of.

        Texts and settings that differ between the rows are the configuration: ``tcp, unprepared, pool=8``.
        """
        parts: list[str] = []
        settings: dict[str, str] = {}
        options: dict[str, Fact] = {}
        for column in self.reading.beside:
            name, cell = column.name, self._cell(column)
            text = " ".join(str(self.row.cells[column.index] or "").split())
            is_text = column.role is ColumnRole.TEXT
            varies = column.role is ColumnRole.SETTING and column.index not in self.reading.constant
            is_switch = text.casefold() in _SWITCHES
            if text.casefold() in {"none", "/"} or (cell is not None and text):
                is_name = is_text and quantity(text) is None and not is_switch
                if column.fact == "configuration" or is_name:
                    parts.append(text)
                elif is_text or varies:
                    parts.append(f"{name}={text}")
            if cell is None:
                continue
            of_server = is_text and (is_switch or name.casefold().startswith(_OF_SERVERS))
            if _SETTING_NAME.fullmatch(name) and (varies or of_server):
                settings[name] = str(cell)
            if column.fact in {"count", "seconds"} or column.index in self.reading.constant:
                options[name] = self._plain(cell)
            elif column.role is ColumnRole.NOTE:
                plain = self._plain(cell)
                # A count is no option of the workload; options are whole numbers and texts.
                options[name] = plain if isinstance(plain, str) else float(plain)
        return ", ".join(parts) or None, settings, options

    def _whole_number(self, meaning: str) -> int | None:
        cell = self.facts.get(meaning)
        if cell is None:
            return None
        found = quantity(cell) if isinstance(cell, str) else None
        is_count = found is not None and not found.sign and (found.has_thousands or in_english(found.unit))
        return whole_number(found.value if found and is_count else cell, meaning, self.line)

    def _started_at(self) -> datetime | None:
        text = self.text("time")
        if text is not None and (time := moment(text)) is None:
            raise FormatError(f"{text[:40]!r} is not a time such as 2026-11-20T15:37:30Z", self.line)
        return time if text is not None else None

    def _plain(self, cell: str | float) -> str | int | float:
        if isinstance(cell, str) and ((found := quantity(cell)) is None or found.unit or found.sign):
            return " ".join(cell.split())
        value = self.reading.number(cell, self.line)
        return int(value) if value.is_integer() and decimals(cell) == 0 else value


def _with_part(run: ParsedRun, column: TableColumn) -> ParsedRun:
    """Return the run with what a head over its figures names: a version, a product, a workload, a setting."""
    name = column.of
    if repetition := repetition_number(name):
        return replace(run, repetition=repetition)
    run = replace(run, column=run.column if run.product and not column.names_product else name)
    product, version = product_and_version(name)
    if version:
        return replace(run, product=product or run.product, version=version)
    said = said_by(name)
    if said.version or (said.product and not column.names_product):
        return with_said(run, said)
    return replace(run, product=name) if column.names_product else with_said(run, said)


def repetition_number(name: str) -> int | None:
    """Return the number of the repetition that a name over a column is: ``run 2``."""
    found = _REPETITION.fullmatch(name)
    return int(found["number"]) if found else None


def _check_commas(table: Table, index: int) -> None:
    """Raise FormatError for a comma in a number that may be a decimal one.

    Commas are separators of thousands where every number of a column has them as such.
    """
    cells = [(row.line, cell) for row in table.rows if isinstance(cell := row.cells[index], str)]
    with_comma = [(line, cell) for line, cell in cells if _COMMA_IN_NUMBER.match(cell)]
    if not with_comma:
        return
    found = [quantity(cell) for _, cell in cells]
    # 307,021.0 says what its comma is.
    is_proven = any("." in cell for _, cell in with_comma)
    fit = all((one := quantity(cell)) and one.has_thousands for _, cell in with_comma)
    without = not is_proven and any(
        one and not one.has_thousands and one.value >= _MIN_WITH_THOUSANDS for one in found
    )
    if table.may_have_decimal_commas or not fit or without:
        line, cell = next((pair for pair in with_comma if not quantity(pair[1])), with_comma[0])
        raise FormatError(f"the number {cell[:40]!r} has a comma; write digits and a decimal point", line)


def with_said(run: ParsedRun, said: Said) -> ParsedRun:
    """Return the run with what a heading says of it; what the run says itself wins."""
    if said.is_empty:
        return run
    configuration = [part for part in (run.configuration, said.rest) if part]
    configuration += [f"{name}={value}" for name, value in said.settings.items()]
    own = Said(run.product, run.version, run.workload, run.threads, dict(run.settings))
    whole = own.below(said)
    if run.workload and said.workload and _NUMBERED_QUERY.fullmatch(run.workload):
        whole = replace(whole, workload=f"{said.workload} {run.workload}")
    return replace(
        run,
        product=whole.product,
        version=whole.version,
        workload=whole.workload,
        threads=whole.threads,
        configuration=", ".join(configuration) or None,
        settings=whole.settings,
    )


def _comparable(cell: Cell) -> object:
    return (type(cell).__name__, cell)


def _in_utc(entry: RunEntry) -> RunEntry:
    time = entry.run.started_at
    if time is None or time.tzinfo is not None:
        return entry
    return replace(entry, run=replace(entry.run, started_at=time.replace(tzinfo=UTC)))
