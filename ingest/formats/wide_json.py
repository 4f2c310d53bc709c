"""Tables as JSON, with a field for each version:

{"unit": "queries/second", "results": {"SELECT 1": {"ConnectorJ-5.1.24": 10572, "Drizzle-JDBC-1.3": 30804}}}
[{"query": "SELECT 1", "ConnectorJ-5.1.24": 10572, "Drizzle-JDBC-1.3": 30804}]
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import cast

from ingest.formats.cells import is_missing, whole_number
from ingest.formats.grids import WORKLOAD_HEADS, Grid, Row, product_and_version, read_grid
from ingest.formats.json_source import line_of, lines_of_items
from ingest.formats.metric_words import Metric, metric_named
from ingest.formats.records import meaning_of
from ingest.formats.report import Fact, FormatError, ParsedReport
from ingest.formats.source import Source

_SAYS_METRIC = re.compile(r'"(?:unit|metric)"\s*:\s*"([^"\\]{1,80})"')
_ROW = re.compile(r'"\s*:\s*(?=\{\s*"[^"\\]{1,200}"\s*:\s*(?:[0-9]|null|"))')

_MOST_LOOKED_AT = 20


def begins_wide_object(text: str) -> bool:
    """Whether an object says what its numbers are, and has a row of them under names with versions."""
    if not any(metric_named(said) for said in _SAYS_METRIC.findall(text)):
        return False
    rows = islice(_ROW.finditer(text), _MOST_LOOKED_AT)
    return any(_is_row(object_at(text, row.end())) for row in rows)


def begins_wide_list(first: Mapping[str, object]) -> bool:
    """Whether the first object of a list names a workload, and has numbers under names with versions."""
    heads = [name for name in first if name.casefold() in WORKLOAD_HEADS]
    rest = {name: value for name, value in first.items() if name not in heads}
    return len(heads) == 1 and isinstance(first[heads[0]], str) and _is_row(rest)


def read_wide(source: Source, document: object) -> ParsedReport | None:
    """The runs of such a table, or None where the document is none.

    Raises FormatError for a field that cannot be understood.
    """
    if isinstance(document, list):
        first = document[0] if document and isinstance(document[0], dict) else {}
        head = next((name for name in first if name.casefold() in WORKLOAD_HEADS), "")
        return _read_list(source, document, head) if begins_wide_list(first) else None
    if isinstance(document, dict) and (path := _path_of_table(document)) is not None:
        return _read_object(source, document, path)
    return None


def _read_list(source: Source, items: Sequence[object], head: str) -> ParsedReport:
    tables: list[tuple[int, str, Mapping[str, object]]] = []
    for line, item in zip(lines_of_items(source), items, strict=True):
        if not isinstance(item, dict) or not isinstance(item.get(head), str):
            raise FormatError(f"a row must be an object with a text as {head!r}", line)
        tables.append((line, item[head], {name: value for name, value in item.items() if name != head}))
    return read_grid(_grid(head, tables, None))


def _read_object(source: Source, document: Mapping[str, object], path: tuple[str, ...]) -> ParsedReport:
    table = cast(dict[str, object], document[path[0]] if path else document)
    lines = lines_of_items(source, *path)
    columns = {name for row in table.values() if isinstance(row, dict) and _is_row(row) for name in row}
    tables = [
        (line, name, row)
        for line, (name, row) in zip(lines, table.items(), strict=True)
        if isinstance(row, dict) and (path or not columns.isdisjoint(row))
    ]
    report = read_grid(_grid("", tables, _metric(source, document)))
    facts: dict[str, Fact] = {
        name: value
        for name, value in document.items()
        if value is None or isinstance(value, str | int | float)
    }
    threads = document.get("threads")
    if threads is None:
        return replace(report, facts=facts)
    if isinstance(threads, bool) or not isinstance(threads, int | float | str):
        raise FormatError("'threads' must be a number", line_of(source, "threads"))
    count = whole_number(threads, "threads", line_of(source, "threads") or 1)
    return replace(report, facts=facts, runs=tuple(replace(run, threads=count) for run in report.runs))


def _path_of_table(document: Mapping[str, object]) -> tuple[str, ...] | None:
    """Where the rows are: ``()`` beside the other fields, ``("results",)`` in the one field that has rows."""
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
    said = [document.get(name) for name in ("metric", "unit")]
    return next((metric for text in said if isinstance(text, str) and (metric := metric_named(text))), None)


def _metric(source: Source, document: Mapping[str, object]) -> Metric | None:
    metric, unit = _metric_words(document), document.get("unit")
    if metric is None or not isinstance(unit, str):
        return metric
    return metric.in_unit(unit, line_of(source, "unit") or 1)


def _grid(head: str, rows: Sequence[tuple[int, str, Mapping[str, object]]], metric: Metric | None) -> Grid:
    columns = tuple(dict.fromkeys(name for _, _, row in rows for name in row))
    return Grid(
        line=rows[0][0],
        head=head,
        columns=columns,
        rows=tuple(
            Row(line, label, tuple(_cell(row.get(name), name, line) for name in columns))
            for line, label, row in rows
        ),
        titles=(),
        metric=metric,
    )


def _cell(value: object, name: str, line: int) -> str:
    """A cell as tables have it. Raises FormatError for what is neither a number nor a sign for none."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise FormatError(f"{name[:80]!r} holds no number", line)
    if isinstance(value, str) and not is_missing(value):
        raise FormatError(f"{name[:80]!r} holds a text, where a number is meant", line)
    return str(value)


def _is_row(row: Mapping[str, object]) -> bool:
    """Whether there are only numbers, and at least one name is that of a product with its version."""
    has_version = any(product_and_version(name)[0] and product_and_version(name)[1] for name in row)
    return has_version and all(
        meaning_of(name) is None and metric_named(name) is None and _may_be_cell(value)
        for name, value in row.items()
    )


def _may_be_cell(value: object) -> bool:
    if isinstance(value, str):
        return is_missing(value)
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def object_at(text: str, start: int) -> dict[str, object]:
    """The object that begins there; an empty one where it does not end or is none."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
