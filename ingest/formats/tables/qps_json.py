"""Results as JSON objects with the fields of the tables in CSV: ``{"query", "client", "qps", ...}``.

They stand in ``{"unit": "queries/second", "server": {...}, "measurements": [...]}``, in a bare list, or one
on each line (JSON Lines). Wide tables, with a field for each version, are read as well:

{"unit": "queries/second", "results": {"SELECT 1": {"ConnectorJ-5.1.24": 10572, "Drizzle-JDBC-1.3": 30804}}}
[{"query": "SELECT 1", "ConnectorJ-5.1.24": 10572, "Drizzle-JDBC-1.3": 30804}]
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from ingest.formats.cells import is_missing, whole_number
from ingest.formats.headings import product_and_version
from ingest.formats.json_source import line_of, lines_of_items, load, load_lines
from ingest.formats.outputs import missing_line_end
from ingest.formats.report import Fact, FormatError, ParsedReport
from ingest.formats.source import Source
from ingest.formats.tables.entries import distinct_runs
from ingest.formats.tables.grids import read_grid
from ingest.formats.tables.heads import heads_workloads, meaning_of, tell_runs
from ingest.formats.tables.metric_words import Metric, metric_named, metric_of_sender
from ingest.formats.tables.reading import read_rows
from ingest.formats.tables.table import Cell, Table, TableRow

Fields = Mapping[str, object]

_MEASUREMENTS = re.compile(r'"measurements"\s*:\s*\[\s*(?=\{)')
# Keys of the JSON of go-tpc, which prints numbers as texts.
_GO_TPC = frozenset({"Prefix", "Operation"})
_LIST = re.compile(r"\s*\[\s*(?=\{)")
_NUMBERS = frozenset({"threads", "repetition", "count", "seconds", "value"})
# Facts that may be said once for all measurements; others, such as the "version" of the file, are not theirs.
_SHARED = frozenset({"unit", "threads"})
_SAYS_METRIC = re.compile(r'"(?:unit|metric)"\s*:\s*"([^"\\]{1,80})"')
_ROW = re.compile(r'"\s*:\s*(?=\{\s*"[^"\\]{1,200}"\s*:\s*(?:[0-9]|null|"))')
_MAX_ROWS_TRIED = 20


def recognise(head: bytes) -> bool:
    text = head.decode("utf-8", "replace").lstrip()
    if not text.startswith("{"):
        first = _LIST.match(text)
        item = _object_at(text, first.end()) if first else {}
        return not _GO_TPC.issubset(item) and (tell_runs(item) or bool(_head_of_wide(item)))
    if measurements := _MEASUREMENTS.search(text):
        return tell_runs([*_object_at(text, measurements.end()), "unit"])
    return tell_runs(_object_at(text.partition("\n")[0], 0)) or _begins_wide_object(text)


def parse(source: Source) -> ParsedReport:
    """Return a run for each measurement. Raise FormatError with the line that cannot be understood."""
    source.check()
    if _has_lines_of_json(source):
        report = _report_of_rows(load_lines(source), {}, source)
        return replace(report, warnings=(*report.warnings, *missing_line_end(source)))
    document = load(source)
    if isinstance(document, list):
        return _report_of_rows(zip(lines_of_items(source), document, strict=True), {}, source)
    if not isinstance(document, dict):
        document = {}
    if (path := _path_of_wide(document)) is not None:
        return _report_of_wide_object(source, document, path)
    measurements = document.get("measurements")
    rows = measurements if isinstance(measurements, list) else []
    lines = lines_of_items(source, "measurements") if rows else []
    return _report_of_rows(zip(lines, rows, strict=True), document, source)


def _has_lines_of_json(source: Source) -> bool:
    """Return whether the first line is an object and no whole file."""
    first = source.head.decode("utf-8", "replace").lstrip().partition("\n")[0]
    fields = _object_at(first, 0)
    return bool(fields) and "measurements" not in fields and not _begins_wide_object(first)


def _report_of_rows(items: Iterable[tuple[int, object]], document: Fields, source: Source) -> ParsedReport:
    """Return the runs of a list of measurements, or of rows with a field for each version."""
    rows = [(line, _checked(line, item)) for line, item in items]
    if not rows:
        raise FormatError("there is no list of measurements, or it is empty", line=1)
    if shared := _shared_fields(document):
        rows = [(line, {**shared, **fields}) for line, fields in rows]
    if head := _head_of_wide(rows[0][1]):
        found = read_grid(_table(rows, head), metric_of_sender(source.metric))
    else:
        table = _table(rows)
        if not tell_runs(table.names):
            raise FormatError("the columns name no metric, or nothing that it was measured on", table.line)
        found = read_rows(table)
    return ParsedReport(distinct_runs(found.entries), facts=_scalars(document), warnings=found.warnings)


def _report_of_wide_object(source: Source, document: Fields, path: tuple[str, ...]) -> ParsedReport:
    """Return the runs of an object with a row for each workload, and in it a field for each version."""
    within = document[path[0]] if path else document
    items = within.items() if isinstance(within, dict) else ()
    named = [
        (line, name, row) for line, (name, row) in zip(lines_of_items(source, *path), items, strict=True)
    ]
    columns = {name for _, _, row in named if _is_wide_row(row) for name in row}
    rows = [
        (line, {"": name, **_checked(line, row)})
        for line, name, row in named
        if isinstance(row, dict) and (path or not columns.isdisjoint(row))
    ]
    metric, unit = _metric_of(document), document.get("unit")
    if metric and isinstance(unit, str):
        metric = metric.in_unit(unit, line_of(source, "unit") or 1)
    found = read_grid(replace(_table(rows), metric=metric), metric_of_sender(source.metric))
    runs = distinct_runs(found.entries)
    if (threads := document.get("threads")) is not None:
        line = line_of(source, "threads") or 1
        count = whole_number(_checked(line, {"threads": threads})["threads"] or 0, "threads", line)
        runs = tuple(replace(run, threads=count) for run in runs)
    return ParsedReport(runs, facts=_scalars(document), warnings=found.warnings)


def _table(rows: Sequence[tuple[int, Mapping[str, Cell]]], head: str = "") -> Table:
    """Return a table with a column for each field that a row has, that of ``head`` first."""
    names = dict.fromkeys([*([head] if head else []), *(name for _, fields in rows for name in fields)])
    cells = (TableRow(line, tuple(map(fields.get, names))) for line, fields in rows)
    return Table(rows[0][0], tuple(names), tuple(cells))


def _shared_fields(document: Fields) -> dict[str, Cell]:
    """Return the fields that hold for all measurements: the unit, the thread count, the server."""
    fields: dict[str, Cell] = {
        name: value for name, value in _scalars(document).items() if meaning_of(name) in _SHARED
    }
    server = document.get("server")
    if isinstance(server, dict):
        parts = (server.get("product"), server.get("version"))
        server = "-".join(part for part in parts if isinstance(part, str) and part)
    return {**fields, "server": server} if isinstance(server, str) and server else fields


def _checked(line: int, item: object) -> dict[str, Cell]:
    """Return the fields of a measurement. Raise FormatError for one of a kind that its name cannot have."""
    if not isinstance(item, dict):
        raise FormatError(f"a measurement must be an object with fields, not {json.dumps(item):.40}", line)
    for name, value in item.items():
        meant = _meant(name)
        is_text = isinstance(value, str)
        fits = value is None or isinstance(value, str | int | float)
        if meant == "a number":
            is_sign_for_none = is_text and _is_version(name) and is_missing(value)
            fits = fits and not isinstance(value, bool) and (not is_text or is_sign_for_none)
        elif meant == "a text":
            fits = fits and (is_text or value is None)
        if not fits:
            raise FormatError(f"{name[:80]!r} holds {json.dumps(value):.40}, where {meant} is meant", line)
    return item


def _meant(name: str) -> str:
    """Return the kind of value that must stand under a name."""
    meaning = meaning_of(name)
    if meaning in _NUMBERS or metric_named(name) is not None or (not meaning and _is_version(name)):
        return "a number"
    return "a text" if meaning else "a text or a number"


def _scalars(fields: Fields) -> dict[str, Fact]:
    return {
        name: value for name, value in fields.items() if value is None or isinstance(value, str | int | float)
    }


# --- a field for each version -------------------------------------------------------------------------------


def _begins_wide_object(text: str) -> bool:
    """Return whether an object says what its numbers are, and has a row of them under names with versions."""
    if not any(metric_named(name) for name in _SAYS_METRIC.findall(text)):
        return False
    rows = islice(_ROW.finditer(text), _MAX_ROWS_TRIED)
    return any(_is_wide_row(_object_at(text, row.end())) for row in rows)


def _head_of_wide(first: Fields) -> str:
    """Return the name of the workload in the first row of a list that else has numbers under versions."""
    heads = [name for name in first if heads_workloads(name)]
    rest = {name: value for name, value in first.items() if name not in heads}
    return heads[0] if len(heads) == 1 and isinstance(first[heads[0]], str) and _is_wide_row(rest) else ""


def _path_of_wide(document: Fields) -> tuple[str, ...] | None:
    """Return the path of the rows: ``()`` beside other fields, or ``("results",)`` in one of them."""
    if _metric_of(document) is None:
        return None
    if any(map(_is_wide_row, document.values())):
        return ()
    within = [
        name
        for name, value in document.items()
        if isinstance(value, dict) and any(map(_is_wide_row, value.values()))
    ]
    return (within[0],) if len(within) == 1 else None


def _metric_of(document: Fields) -> Metric | None:
    names = [document.get(name) for name in ("metric", "unit")]
    return next((metric for text in names if isinstance(text, str) and (metric := metric_named(text))), None)


def _is_wide_row(row: object) -> bool:
    """Return whether there are only numbers, and at least one name is that of a product with its version."""
    return (
        isinstance(row, dict)
        and any(map(_is_version, row))
        and all(
            meaning_of(name) is None and metric_named(name) is None and _may_be_cell(value)
            for name, value in row.items()
        )
    )


def _is_version(name: str) -> bool:
    return all(product_and_version(name))


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
