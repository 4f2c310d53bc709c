"""Results as JSON objects with the fields of the tables in CSV: ``{"query", "client", "qps", ...}``.

They stand in ``{"unit": "queries/second", "server": {...}, "measurements": [...]}``, in a bare list, or one
on each line (JSON Lines).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeGuard

from ingest.formats.json_source import lines_of_items, load, load_lines, object_at
from ingest.formats.outputs import missing_line_end
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.source import Source
from ingest.formats.tables.entries import distinct_runs
from ingest.formats.tables.reading import read_rows
from ingest.formats.tables.table import Cell, Table, TableRow
from ingest.formats.tables.vocabulary import meaning_of, tell_runs

_LIST = re.compile(r'\s*(?:\[|\{.*?"measurements"\s*:\s*\[)\s*(?=\{)', re.DOTALL)
# Keys of the JSON of go-tpc, which prints numbers as texts.
_GO_TPC = frozenset({"Prefix", "Operation"})
_NUMBERS = frozenset({"threads", "repetition", "count", "seconds", "value"})
# Facts that may be said once for all measurements; others, such as the "version" of the file, are not theirs.
_SHARED = frozenset({"unit", "threads"})


def recognise(head: bytes) -> bool:
    text = head.decode("utf-8", "replace")
    if not text.lstrip().startswith(("{", "[")):
        return False
    found = _LIST.match(text)
    first = object_at(text, found.end()) if found else object_at(text.lstrip().partition("\n")[0], 0)
    shared = ["unit"] if found and '"unit"' in found.group() else []
    return not _GO_TPC.issubset(first) and tell_runs([*first, *shared])


def parse(source: Source) -> ParsedReport:
    """Return a run for each measurement. Raise FormatError with the line that cannot be understood."""
    source.check()
    text = source.head.decode("utf-8", "replace")
    if not _LIST.match(text) and object_at(text.lstrip().partition("\n")[0], 0):
        report = _report(load_lines(source), {})
        return replace(report, warnings=(*report.warnings, *missing_line_end(source)))
    document = load(source)
    fields = document if isinstance(document, dict) else {}
    rows = fields.get("measurements") if fields else document
    if not isinstance(rows, list) or not rows:
        raise FormatError("there is no list of measurements, or it is empty", line=1)
    lines = lines_of_items(source, *(["measurements"] if fields else []))
    return _report(zip(lines, rows, strict=True), fields)


def _report(items: Iterable[tuple[int, object]], document: Mapping[str, object]) -> ParsedReport:
    facts = {name: value for name, value in document.items() if _is_cell(value)}
    shared = dict(_shared(document))
    rows = [(line, {**shared, **_fields(item, line)}) for line, item in items]
    names = tuple(dict.fromkeys(name for _, fields in rows for name in fields))
    if not tell_runs(names):
        raise FormatError("the columns name no metric, or nothing that it was measured on", rows[0][0])
    cells = (TableRow(line, tuple(map(fields.get, names))) for line, fields in rows)
    found = read_rows(Table(rows[0][0], names, tuple(cells)))
    return ParsedReport(distinct_runs(found.entries), facts=facts, warnings=found.warnings)


def _shared(document: Mapping[str, object]) -> Iterator[tuple[str, Cell]]:
    """Yield the fields that hold for all measurements: the unit, the thread count, the server."""
    for name, value in document.items():
        if meaning_of(name) in _SHARED and _is_cell(value):
            yield name, value
    server = document.get("server")
    if isinstance(server, dict):
        parts = (server.get("product"), server.get("version"))
        server = "-".join(part for part in parts if isinstance(part, str) and part)
    if isinstance(server, str) and server:
        yield "server", server


def _fields(item: object, line: int) -> dict[str, Cell]:
    """Return the fields of a measurement. Raise FormatError for one of a kind that its name cannot have.

    As a number, the version 10.10 would be 10.1.
    """
    if not isinstance(item, dict):
        raise FormatError(f"a measurement must be an object with fields, not {json.dumps(item):.40}", line)
    for name, value in item.items():
        meaning = meaning_of(name)
        is_number = isinstance(value, int | float)
        is_text_alone = meaning is not None and meaning not in _NUMBERS
        if not _is_cell(value) or isinstance(value, bool) or (is_text_alone and is_number):
            meant = "a text" if is_text_alone else "a text or a number"
            raise FormatError(f"{name[:80]!r} holds {json.dumps(value):.40}, where {meant} is meant", line)
    return item


def _is_cell(value: object) -> TypeGuard[Cell]:
    return value is None or isinstance(value, str | int | float)
