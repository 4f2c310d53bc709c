"""Results as JSON objects with the fields of the tables in CSV: ``{"query", "client", "qps", ...}``.

They stand in ``{"unit": "queries/second", "server": {...}, "measurements": [...]}``, in a bare list, or one
on each line (JSON Lines). Wide tables, with a field for each version, are read as well:

{"unit": "queries/second", "results": {"SELECT 1": {"ConnectorJ-5.1.24": 10572, "Drizzle-JDBC-1.3": 30804}}}
[{"query": "SELECT 1", "ConnectorJ-5.1.24": 10572, "Drizzle-JDBC-1.3": 30804}]
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, starmap
from typing import TypeGuard, cast

from ingest.formats.cells import is_missing, whole_number
from ingest.formats.headings import product_and_version
from ingest.formats.json_source import line_of, lines_of_items, load, load_lines
from ingest.formats.report import Fact, FormatError, ParsedReport
from ingest.formats.source import Source
from ingest.formats.tables.entries import distinct_runs
from ingest.formats.tables.grids import read_grid
from ingest.formats.tables.heads import heads_workloads, meaning_of, tell_runs
from ingest.formats.tables.metric_words import Metric, metric_named, metric_of_sender
from ingest.formats.tables.reading import Entries, read_rows
from ingest.formats.tables.table import Cell, Table, TableRow

_MEASUREMENTS = re.compile(r'"measurements"\s*:\s*\[\s*(?=\{)')
# Keys of the JSON of go-tpc, which prints numbers as texts.
_GO_TPC = frozenset({"Prefix", "Operation"})
_LIST = re.compile(r"\s*\[\s*(?=\{)")
_NUMBERS = frozenset({"threads", "repetition", "count", "seconds", "value"})
# What may be said once for all measurements; other facts of the file, such as its "version", are not theirs.
_SHARED = frozenset({"unit", "threads"})
_SAYS_METRIC = re.compile(r'"(?:unit|metric)"\s*:\s*"([^"\\]{1,80})"')
_ROW = re.compile(r'"\s*:\s*(?=\{\s*"[^"\\]{1,200}"\s*:\s*(?:[0-9]|null|"))')

_MAX_ROWS_TRIED = 20


def recognise(head: bytes) -> bool:
    text = head.decode("utf-8", "replace").lstrip()
    if text.startswith("{"):
        measurements = _MEASUREMENTS.search(text)
        if measurements:
            return tell_runs([*_object_at(text, measurements.end()), "unit"])
        return tell_runs(_object_on_line(text.partition("\n")[0])) or _begins_wide_object(text)
    if not (first := _LIST.match(text)):
        return False
    item = _object_at(text, first.end())
    if _GO_TPC.issubset(item):
        return False
    return tell_runs(item) or _begins_wide_list(item)


def parse(source: Source) -> ParsedReport:
    """Return a run for each measurement. Raise FormatError with the line that cannot be understood."""
    source.check()
    first = source.head.decode("utf-8", "replace").lstrip().partition("\n")[0]
    if (
        (on_line := _object_on_line(first))
        and "measurements" not in on_line
        and not _begins_wide_object(first)
    ):
        report = _report([*starmap(_record, load_lines(source))], {})
        if source.ends_with_newline:
            return report
        cut = "the last line has no line end; if the file was cut off, lines are missing"
        return replace(report, warnings=(*report.warnings, cut))
    document = load(source)
    wide = _read_wide(source, document)
    return wide or _report(*_records_and_facts(source, document))


@dataclass(frozen=True, slots=True)
class Record:
    """One measurement. A field without a value is missing or None."""

    line: int
    fields: Mapping[str, Cell]


def _report(records: Sequence[Record], facts: Mapping[str, Fact]) -> ParsedReport:
    if not records:
        raise FormatError("there is no list of measurements, or it is empty", line=1)
    names = tuple(dict.fromkeys(name for record in records for name in record.fields))
    if not tell_runs(names):
        raise FormatError("the columns name no metric, or nothing that it was measured on", records[0].line)
    rows = tuple(
        TableRow(record.line, tuple(record.fields.get(name) for name in names)) for record in records
    )
    return _report_of(read_rows(Table(records[0].line, names, rows)), facts)


def _report_of(found: Entries, facts: Mapping[str, Fact]) -> ParsedReport:
    return ParsedReport(distinct_runs(found.entries), facts=facts, warnings=found.warnings)


def _records_and_facts(source: Source, document: object) -> tuple[Sequence[Record], Mapping[str, Fact]]:
    if isinstance(document, list):
        return [*map(_record, lines_of_items(source), document)], {}
    if not isinstance(document, dict) or not isinstance(document.get("measurements"), list):
        return (), {}
    shared = _shared_fields(document)
    lines = lines_of_items(source, "measurements")
    records = [*map(_record, lines, document["measurements"])]
    if shared:
        records = [Record(record.line, {**shared, **record.fields}) for record in records]
    return records, _scalars(document)


def _shared_fields(document: Mapping[str, object]) -> dict[str, Cell]:
    """Return the fields that hold for all measurements: the unit, the thread count, the server."""
    fields: dict[str, Cell] = {
        name: value for name, value in _scalars(document).items() if meaning_of(name) in _SHARED
    }
    server = document.get("server")
    if isinstance(server, dict):
        parts = (server.get("product"), server.get("version"))
        server = "-".join(part for part in parts if isinstance(part, str) and part)
    return {**fields, "server": server} if isinstance(server, str) and server else fields


def _record(line: int, value: object) -> Record:
    if not isinstance(value, dict):
        raise FormatError(f"a measurement must be an object with fields, not {_kind(value)}", line)
    for name, cell in value.items():
        meant = _meant(name) if _is_scalar(cell) else "a text or a number"
        if (
            not _is_scalar(cell)
            or (meant == "a number" and isinstance(cell, str | bool))
            or (meant == "a text" and cell is not None and not isinstance(cell, str))
        ):
            raise FormatError(f"{name!r} holds {_kind(cell)}, where {meant} is meant", line)
    return Record(line, value)


def _meant(name: str) -> str:
    """Return the kind of value that must stand under a name."""
    meaning = meaning_of(name)
    if meaning in _NUMBERS or metric_named(name) is not None:
        return "a number"
    return "a text" if meaning else "a text or a number"


def _is_scalar(value: object) -> TypeGuard[Fact]:
    return value is None or isinstance(value, str | int | float)


def _scalars(fields: Mapping[str, object]) -> dict[str, Fact]:
    return {name: value for name, value in fields.items() if _is_scalar(value)}


def _kind(value: object) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def _object_on_line(line: str) -> dict[str, object]:
    """Return the object that a line holds alone, as in JSON Lines; an empty one for any other line."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


# --- wide tables ---------------------------------------------------------------------------------------


def _begins_wide_object(text: str) -> bool:
    """Return whether an object says what its numbers are, and has a row of them under names with versions."""
    if not any(metric_named(name) for name in _SAYS_METRIC.findall(text)):
        return False
    rows = islice(_ROW.finditer(text), _MAX_ROWS_TRIED)
    return any(_is_row(_object_at(text, row.end())) for row in rows)


def _begins_wide_list(first: Mapping[str, object]) -> bool:
    """Return whether the first object of a list has a workload, and numbers under versions."""
    heads = [name for name in first if heads_workloads(name)]
    rest = {name: value for name, value in first.items() if name not in heads}
    return len(heads) == 1 and isinstance(first[heads[0]], str) and _is_row(rest)


def _read_wide(source: Source, document: object) -> ParsedReport | None:
    """Return the runs of such a table, or None where the document is none.

    Raise FormatError for a field that cannot be understood.
    """
    if isinstance(document, list):
        first = document[0] if document and isinstance(document[0], dict) else {}
        head = next((name for name in first if heads_workloads(name)), "")
        return _read_list(source, document, head) if _begins_wide_list(first) else None
    if isinstance(document, dict) and (path := _path_of_table(document)) is not None:
        return _read_object(source, document, path)
    return None


def _read_list(source: Source, items: Sequence[object], head: str) -> ParsedReport:
    tables: list[tuple[int, str, Mapping[str, object]]] = []
    for line, item in zip(lines_of_items(source), items, strict=True):
        if not isinstance(item, dict) or not isinstance(item.get(head), str):
            raise FormatError(f"a row must be an object with a text as {head!r}", line)
        tables.append((line, item[head], {name: value for name, value in item.items() if name != head}))
    return _report_of(read_grid(_grid(head, tables, None), metric_of_sender(source.metric)), {})


def _read_object(source: Source, document: Mapping[str, object], path: tuple[str, ...]) -> ParsedReport:
    table = cast(dict[str, object], document[path[0]] if path else document)
    lines = lines_of_items(source, *path)
    columns = {name for row in table.values() if isinstance(row, dict) and _is_row(row) for name in row}
    tables = [
        (line, name, row)
        for line, (name, row) in zip(lines, table.items(), strict=True)
        if isinstance(row, dict) and (path or not columns.isdisjoint(row))
    ]
    found = read_grid(_grid("", tables, _metric(source, document)), metric_of_sender(source.metric))
    facts = _scalars(document)
    report = _report_of(found, facts)
    threads = document.get("threads")
    if threads is None:
        return report
    if isinstance(threads, bool) or not isinstance(threads, int | float | str):
        raise FormatError("'threads' must be a number", line_of(source, "threads"))
    count = whole_number(threads, "threads", line_of(source, "threads") or 1)
    return replace(report, runs=tuple(replace(run, threads=count) for run in report.runs))


def _path_of_table(document: Mapping[str, object]) -> tuple[str, ...] | None:
    """Return the path of the rows: ``()`` beside other fields, or ``("results",)`` in one of them."""
    if _metric_words(document) is None:
        return None
    if any(isinstance(value, dict) and _is_row(value) for value in document.values()):
        return ()
    within = [
        name
        for name, value in document.items()
        if isinstance(value, dict) and any(isinstance(row, dict) and _is_row(row) for row in value.values())
    ]
    return (within[0],) if len(within) == 1 else None


def _metric_words(document: Mapping[str, object]) -> Metric | None:
    names = [document.get(name) for name in ("metric", "unit")]
    return next((metric for text in names if isinstance(text, str) and (metric := metric_named(text))), None)


def _metric(source: Source, document: Mapping[str, object]) -> Metric | None:
    metric, unit = _metric_words(document), document.get("unit")
    if metric is None or not isinstance(unit, str):
        return metric
    return metric.in_unit(unit, line_of(source, "unit") or 1)


def _grid(head: str, rows: Sequence[tuple[int, str, Mapping[str, object]]], metric: Metric | None) -> Table:
    columns = tuple(dict.fromkeys(name for _, _, row in rows for name in row))
    return Table(
        line=rows[0][0],
        names=(head, *columns),
        rows=tuple(
            TableRow(line, (label, *(_cell(row.get(name), name, line) for name in columns)))
            for line, label, row in rows
        ),
        metric=metric,
    )


def _cell(value: object, name: str, line: int) -> str:
    """Return a cell as tables have it. Raise FormatError for what is neither a number nor a sign for none."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise FormatError(f"{name[:80]!r} holds no number", line)
    if isinstance(value, str) and not is_missing(value):
        raise FormatError(f"{name[:80]!r} holds a text, where a number is meant", line)
    return str(value)


def _is_row(row: Mapping[str, object]) -> bool:
    """Return whether there are only numbers, and at least one name is that of a product with its version."""
    has_version = any(product_and_version(name)[0] and product_and_version(name)[1] for name in row)
    return has_version and all(
        meaning_of(name) is None and metric_named(name) is None and _may_be_cell(value)
        for name, value in row.items()
    )


def _may_be_cell(value: object) -> bool:
    if isinstance(value, str):
        return is_missing(value)
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _object_at(text: str, start: int) -> dict[str, object]:
    """Return the object that begins there; an empty one where it does not end or is none."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
