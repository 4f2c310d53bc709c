"""Rows and objects with named fields, each telling of one run: its names, its facts, its metrics."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from benchdash.results.readings import Reading
from ingest.formats.cells import decimals, is_missing, is_number, number, whole_number
from ingest.formats.outputs import bounded
from ingest.formats.product_names import split_product_version
from ingest.formats.report import Fact, FormatError, ParsedReport, ParsedRun
from ingest.formats.tables.entries import RunEntry, distinct_runs, join_metrics, refuse_copies
from ingest.formats.tables.machine_columns import counters, cpu_columns
from ingest.formats.tables.metric_words import Metric, metric_named

Cell = str | int | float | None

# A line with more names than this heads no table of measurements.
MAX_COLUMNS = 1_000

_NAMES = {
    "workload": ("query", "workload", "benchmark", "test"),
    "product": ("client", "product", "driver"),
    "version": ("version",),
    "build": ("build", "variant"),
    "configuration": ("configuration", "config"),
    "server": ("server",),
    "threads": (
        *("threads", "clients", "concurrency", "connections", "users", "sessions", "user_threads"),
        *("client_threads", "number_of_threads", "concurrent_threads", "concurrent_clients"),
        *("concurrent_connections", "concurrent_users"),
    ),
    "repetition": ("repetition",),
    "time": ("started_at", "time"),
    "count": ("count",),
    "seconds": ("seconds", "duration"),
    **{name: (name,) for name in ("error", "metric", "value", "unit")},
}
_MEANINGS = {name: meaning for meaning, names in _NAMES.items() for name in names}
_NAMING = frozenset({"workload", "product", "server", "version"})
_COUNTED_RATES = frozenset({"qps", "tps", "events_per_s", "ops_per_s"})


@dataclass(frozen=True, slots=True)
class Record:
    """One row. A field without a value is missing or None; the numbers of a CSV file are still text."""

    line: int
    fields: Mapping[str, Cell]


@dataclass(frozen=True, slots=True)
class RecordColumns:
    """What the names over the columns mean.

    ``known`` gives a column's name for each meaning, ``metrics`` the metric of each column that has one,
    ``other`` the columns whose meaning only the values tell, and ``names`` all of them in their order.
    """

    names: tuple[str, ...]
    known: Mapping[str, str]
    metrics: Mapping[str, Metric]
    other: tuple[str, ...]

    @property
    def tell_runs(self) -> bool:
        """Whether there is a metric, and a name of what was measured or the points of a scaling curve.

        A thread count beside a time is one run's series of intervals.
        """
        named_value = "value" in self.known and not {"metric", "unit"}.isdisjoint(self.known)
        named_run = not _NAMING.isdisjoint(self.known)
        is_curve = "threads" in self.known and "time" not in self.known
        return (bool(self.metrics) or named_value) and (named_run or is_curve)


def meaning_of(name: str) -> str | None:
    """Return the meaning of a column's name, None for one that nobody has agreed on."""
    return _MEANINGS.get("_".join(name.casefold().replace("-", " ").split()))


def understand(names: Iterable[str]) -> RecordColumns:
    names = tuple(names)
    meanings = {name: meaning_of(name) for name in names}
    known = {meaning: name for name in reversed(names) if (meaning := meanings[name])}
    without = [name for name in names if meanings[name] is None]
    metrics = {name: metric for name in without if (metric := metric_named(name)) is not None}
    other = tuple(name for name in without if name not in metrics)
    return RecordColumns(names, known, metrics, other)


def read_records(columns: RecordColumns, records: Sequence[Record], line: int) -> ParsedReport:
    """Return the runs that the records tell of. ``line`` is where the names of the columns stand.

    Records with an error instead of a value are left out with a warning. Raise FormatError for columns
    that contradict each other and for every field that cannot be understood.
    """
    _check_columns(columns, line)
    refuse_copies((record.line, tuple(sorted(record.fields.items()))) for record in records)
    columns = _with_cpu_times(columns, records)
    numeric = tuple(name for name in columns.other if _is_numeric(name, records))
    warnings: list[str] = []
    entries: list[RunEntry] = []
    for record in records:
        row = _Row(record, columns, numeric)
        readings = row.readings()
        error = row.text("error")
        if error or not readings:
            what = f"error {error[:200]!r}" if error else "no value"
            warnings.append(f"line {record.line}: {what}{'' if readings else '; left out'}")
        if readings:
            entries.append(RunEntry(record.line, row.run(readings)))
    if not entries:
        raise FormatError(
            f"no row holds a value; {warnings[-1]}" if records else "the table has no rows", line
        )
    remarks = [f"the column {name!r} is kept as a fact, not as a metric" for name in numeric]
    if any(entry.run.started_at and entry.run.started_at.tzinfo is None for entry in entries):
        remarks.append("the times have no offset; they are taken as UTC")
    if "value" in columns.known:
        entries = join_metrics(entries)
    runs = distinct_runs(map(_in_utc, entries))
    return ParsedReport(runs, warnings=(*remarks, *bounded(warnings)))


def _check_columns(columns: RecordColumns, line: int) -> None:
    """Raise FormatError for columns that tell no runs, have no name, or say what another says."""
    if not columns.tell_runs:
        raise FormatError("the columns name no metric, or nothing that it was measured on", line)
    given: dict[str, str] = {}
    for number_, name in enumerate(columns.names, start=1):
        if not name:
            raise FormatError(f"column {number_} has no name", line)
        says = columns.metrics[name].name if name in columns.metrics else meaning_of(name) or name
        if says in given:
            raise FormatError(f"the columns {given[says]!r} and {name!r} both give the {says}", line)
        given[says] = name
    if columns.metrics and "value" in columns.known:
        other = next(iter(columns.metrics))
        raise FormatError(
            f"the numbers stand both under {other!r} and under {columns.known['value']!r}", line
        )


def _with_cpu_times(columns: RecordColumns, records: Sequence[Record]) -> RecordColumns:
    """Return the columns, with those that hold CPU times for metrics."""
    numbers = {
        name: [number(record.fields[name] or 0, record.line) for record in records]
        for name in columns.other
        if all(not _is_empty(record.fields.get(name)) for record in records) and _is_numeric(name, records)
    }
    named = {metric.name for metric in columns.metrics.values()}
    times = {name: Metric(metric) for name, metric in cpu_columns(numbers).items() if metric not in named}
    other = tuple(name for name in columns.other if name not in times)
    return replace(columns, metrics={**columns.metrics, **times}, other=other)


def _is_numeric(name: str, records: Iterable[Record]) -> bool:
    """Return whether a column holds numbers and nothing else."""
    cells = [cell for record in records if not _is_empty(cell := record.fields.get(name))]
    return bool(cells) and all(not isinstance(cell, str) or is_number(cell) for cell in cells)


def _is_empty(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, str) and is_missing(cell))


def _in_utc(entry: RunEntry) -> RunEntry:
    time = entry.run.started_at
    if time is None or time.tzinfo is not None:
        return entry
    return RunEntry(entry.line, replace(entry.run, started_at=time.replace(tzinfo=UTC)))


@dataclass(frozen=True, slots=True)
class _Row:
    """A record with what its columns mean. ``numeric`` are the other columns that hold only numbers."""

    record: Record
    columns: RecordColumns
    numeric: tuple[str, ...]

    @property
    def line(self) -> int:
        return self.record.line

    def text(self, meaning: str) -> str | None:
        cell = self.cell(meaning)
        return None if cell is None else " ".join(str(cell).split())

    def cell(self, meaning: str) -> str | int | float | None:
        return self._cell(self.columns.known.get(meaning, ""))

    def _cell(self, name: str) -> str | int | float | None:
        cell = self.record.fields.get(name)
        return None if _is_empty(cell) else cell

    def readings(self) -> tuple[Reading, ...]:
        unit = self.text("unit")
        cells = [
            (metric if unit is None else self._in_its_unit(metric, unit), cell)
            for name, metric in self.columns.metrics.items()
            if (cell := self._cell(name)) is not None
        ]
        if (value := self.cell("value")) is not None:
            cells.append((self._named_metric(), value))
        return tuple(metric.reading(self._most_exact(metric, cell), self.line) for metric, cell in cells)

    def _in_its_unit(self, metric: Metric, unit: str) -> Metric:
        """Return the metric in the record's unit; of several metrics only those that can have it change."""
        others = self.columns.metrics.values()
        if not metric.accepts(unit) and any(other.accepts(unit) for other in others):
            return metric
        return metric.in_unit(unit, self.line)

    def _named_metric(self) -> Metric:
        """Return the metric that the record names beside its value, in the unit that it names."""
        name, unit = self.text("metric"), self.text("unit")
        metric = metric_named(name or unit or "")
        if metric is None:
            raise FormatError(
                f"{(name or unit or '')[:40]!r} is not a metric such as tps, qps or latency_p95", self.line
            )
        return metric.in_unit(unit, self.line) if unit else metric

    def _most_exact(self, metric: Metric, cell: str | float) -> float:
        """Return the number of a cell, or count over seconds where that rounds to it."""
        printed = number(cell, self.line)
        if metric.name not in _COUNTED_RATES:
            return printed
        count, seconds = self._number("count"), self._number("seconds")
        if count is None or not seconds:
            return printed
        rounding = 0.5 * 10.0 ** -decimals(cell)
        rate = count / seconds
        return rate if abs(rate - printed) <= rounding else printed

    def _number(self, meaning: str) -> float | None:
        cell = self.cell(meaning)
        return None if cell is None else number(cell, self.line)

    def run(self, readings: tuple[Reading, ...]) -> ParsedRun:
        product, version = self.text("product"), self.text("version")
        server = self.text("server")
        if "product" not in self.columns.known:
            product, server = server, None
        column = "-".join(part for part in (product, version) if part) or self.text("workload")
        if product and not version:
            product, version = split_product_version(product)
        return ParsedRun(
            readings,
            column=column,
            product=product,
            version=version,
            build=self.text("build"),
            configuration=self._configuration(),
            counterpart=server,
            workload=self.text("workload"),
            threads=self._whole_number("threads"),
            repetition=self._whole_number("repetition"),
            started_at=self._started_at(),
            duration_s=self._number("seconds"),
            options=self._options(),
        )

    def _configuration(self) -> str | None:
        """Join the cells of columns without another meaning, in their order: ``tcp, unprepared``."""
        named = self.columns.known.get("configuration")
        names = [name for name in self.columns.names if name == named or name in self.columns.other]
        cells = [self.record.fields.get(name) for name in names if name not in self.numeric]
        return ", ".join(" ".join(str(cell).split()) for cell in cells if cell not in {None, ""}) or None

    def _whole_number(self, meaning: str) -> int | None:
        cell = self.cell(meaning)
        return None if cell is None else whole_number(cell, meaning, self.line)

    def _started_at(self) -> datetime | None:
        text = self.text("time")
        if text is None:
            return None
        try:
            time = datetime.fromisoformat(text)
            return time.astimezone(UTC) if time.tzinfo else time
        except (ValueError, OverflowError):
            raise FormatError(
                f"{text[:40]!r} is not a time such as 2026-11-20T15:37:30Z", self.line
            ) from None

    def _options(self) -> dict[str, Fact]:
        names = [self.columns.known.get(meaning, "") for meaning in ("count", "seconds")]
        cells = {name: self._cell(name) for name in (*names, *self.numeric)}
        plain = {name: _plain(cell, self.line) for name, cell in cells.items() if cell is not None}
        # What was counted is no option of the workload; options are whole numbers and texts.
        counted = counters(plain)
        return {name: float(value) if name in counted else value for name, value in plain.items()}


def _plain(cell: str | float, line: int) -> int | float:
    value = number(cell, line)
    return int(value) if value.is_integer() and decimals(cell) == 0 else value
