"""Results as JSON objects with the fields of the tables in CSV: ``{"query", "client", "qps", ...}``.

They stand in ``{"unit": "queries/second", "server": {...}, "measurements": [...]}``, in a bare list, or one
on each line (JSON Lines). Tables with a field for each version are read as well.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum, auto

from ingest.formats.json_source import lines_of_items, load, load_lines
from ingest.formats.metric_words import metric_named
from ingest.formats.records import Cell, Record, meaning_of, read_records, understand
from ingest.formats.report import Fact, FormatError, ParsedReport
from ingest.formats.source import Source
from ingest.formats.wide_json import begins_wide_list, begins_wide_object, object_at, read_wide

_MEASUREMENTS = re.compile(r'"measurements"\s*:\s*\[\s*(?=\{)')
_LIST = re.compile(r"\s*\[\s*(?=\{)")
_NUMBERS = frozenset({"threads", "repetition", "count", "seconds", "value"})
# What may be said once for all measurements; other facts of the file, such as its "version", are not theirs.
_SAID_ONCE = frozenset({"unit", "threads"})


def recognise(head: bytes) -> bool:
    text = head.decode("utf-8", "replace").lstrip()
    if text.startswith("{"):
        measurements = _MEASUREMENTS.search(text)
        if measurements:
            return understand([*object_at(text, measurements.end()), "unit"]).tell_runs
        return understand(_object_on_line(text.partition("\n")[0])).tell_runs or begins_wide_object(text)
    if not (first := _LIST.match(text)):
        return False
    item = object_at(text, first.end())
    return understand(item).tell_runs or begins_wide_list(item)


def parse(source: Source) -> ParsedReport:
    """A run for each measurement. Raises FormatError with the line that cannot be understood."""
    source.check()
    first = source.head.decode("utf-8", "replace").lstrip().partition("\n")[0]
    if (
        (on_line := _object_on_line(first))
        and "measurements" not in on_line
        and not begins_wide_object(first)
    ):
        report = _report(_records(load_lines(source)), {})
        if source.ends_with_newline:
            return report
        cut = "the last line has no line end; if the file was cut off, lines are missing"
        return replace(report, warnings=(*report.warnings, cut))
    document = load(source)
    wide = read_wide(source, document)
    return wide or _report(*_records_and_facts(source, document))


def _report(records: Sequence[Record], facts: Mapping[str, Fact]) -> ParsedReport:
    if not records:
        raise FormatError("there is no list of measurements, or it is empty", line=1)
    names = dict.fromkeys(name for record in records for name in record.fields)
    report = read_records(understand(names), records, records[0].line)
    return replace(report, facts=facts)


def _records_and_facts(source: Source, document: object) -> tuple[Sequence[Record], Mapping[str, Fact]]:
    if isinstance(document, list):
        return _records(zip(lines_of_items(source), document, strict=True)), {}
    if not isinstance(document, dict) or not isinstance(document.get("measurements"), list):
        return (), {}
    said_once = _said_once(document)
    lines = lines_of_items(source, "measurements")
    records = _records(zip(lines, document["measurements"], strict=True))
    if said_once:
        records = [Record(record.line, {**said_once, **record.fields}) for record in records]
    return records, {name: value for name, value in document.items() if _is_scalar(value)}


def _said_once(document: Mapping[str, object]) -> dict[str, Cell]:
    """What the file says of all its measurements: the unit, the thread count, the server."""
    fields: dict[str, Cell] = {
        name: value
        for name, value in document.items()
        if meaning_of(name) in _SAID_ONCE and (isinstance(value, str | int | float) or value is None)
    }
    server = document.get("server")
    if isinstance(server, dict):
        parts = (server.get("product"), server.get("version"))
        server = "-".join(part for part in parts if isinstance(part, str) and part)
    return {**fields, "server": server} if isinstance(server, str) and server else fields


def _records(items: Iterable[tuple[int, object]]) -> list[Record]:
    """Of measurements with their lines."""
    meant: dict[str, _Meant] = {}
    return [_record(line, value, meant) for line, value in items]


def _record(line: int, value: object, meant: dict[str, "_Meant"]) -> Record:
    """``meant`` is by the names so far: the measurements of a file have the same names."""
    if not isinstance(value, dict):
        raise FormatError(f"a measurement must be an object with fields, not {_kind(value)}", line)
    for name, cell in value.items():
        what = meant.get(name) or meant.setdefault(name, _Meant.of(name))
        if not _is_scalar(cell):
            raise FormatError(f"{name!r} holds {_kind(cell)}, where a text or a number is meant", line)
        if what is _Meant.NUMBER and (isinstance(cell, str | bool)):
            raise FormatError(f"{name!r} holds {_kind(cell)}, where a number is meant", line)
        if what is _Meant.TEXT and cell is not None and not isinstance(cell, str):
            raise FormatError(f"{name!r} holds {_kind(cell)}, where a text is meant", line)
    return Record(line, value)


class _Meant(Enum):
    """What must stand under a name."""

    NUMBER = auto()
    TEXT = auto()
    EITHER = auto()

    @classmethod
    def of(cls, name: str) -> "_Meant":
        meaning = meaning_of(name)
        if meaning in _NUMBERS or metric_named(name) is not None:
            return cls.NUMBER
        return cls.EITHER if meaning is None else cls.TEXT


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _kind(value: object) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def _object_on_line(line: str) -> dict[str, object]:
    """The object that a line holds alone, as in JSON Lines; an empty one for any other line."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
