"""JSON as formats read it: strict, and an error names its line."""

import json
import math
import re
from collections.abc import Iterator
from typing import NoReturn

from ingest.budget import check_budget
from ingest.formats.report import FormatError
from ingest.formats.source import Source

Path = tuple[str | int | None, ...]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_SUSPICIOUS_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


class _RefusedError(Exception):
    """Raised within the decoder, which does not tell its hooks where it is."""


def load(source: Source) -> object:
    """Return the value of a JSON file: dict, list, str, int, float, bool or None.

    Raise FormatError, with the line, for what is no JSON, a key given twice, NaN and Infinity, numbers
    too large for a double, strings that no database stores, for nesting that is too deep, and for a file
    beyond the limits: its values take several times its size of memory.
    """
    source.check()
    # A value follows a bracket or a comma.
    values = sum(source.data.count(sign) for sign in (b"[", b"{", b","))
    source.limits.check("json_bytes", source.size)
    source.limits.check("json_values", values)
    return _decode(source.text, first_line=1)


def load_lines(source: Source) -> Iterator[tuple[int, object]]:
    """Yield line number and value of each line of a JSON Lines file; blank lines are left out.

    Raise FormatError as ``load`` does.
    """
    source.limits.check("runs", len(source.lines))
    for number, line in enumerate(source.lines, start=1):
        if line.strip():
            yield number, _decode(line, first_line=number)


def object_at(text: str, start: int = 0) -> dict[str, object]:
    """Return the object that begins there; an empty one where it does not end or is none."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def line_of(source: Source, *path: str | int) -> int | None:
    """Return the line on which the value at ``path`` begins (``"measurements", 3, "qps"``), for messages."""
    for found, offset, _ in _values(source.text):
        if found == path:
            return _line(source.text, offset)
    return None


def lines_of_items(source: Source, *path: str | int) -> list[int]:
    """Return the lines on which the items of the loaded list or object at ``path`` begin."""
    text, depth = source.text, len(path)
    lines: list[int] = []
    line, counted = 1, 0
    for found, offset, _ in _values(text):
        if len(found) == depth + 1 and found[:-1] == path:
            line += text.count("\n", counted, offset)
            counted = offset
            lines.append(line)
    return lines


def _decode(text: str, *, first_line: int) -> object:
    check_budget(first_line)
    try:
        value = _strict_value(text, first_line)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            raise FormatError("the JSON breaks off in the middle; is the file complete?", line) from None
        several = "; if another JSON begins there, send each as a file of its own"
        advice = several if error.msg == "Extra data" else ""
        raise FormatError(f"not valid JSON: {error.msg}, column {error.colno}{advice}", line) from None
    except RecursionError:
        raise FormatError("the JSON is nested too deeply for a result file", first_line) from None
    if _SUSPICIOUS_ESCAPE.search(text):
        _explain(text, first_line)
    return value


def _strict_value(text: str, first_line: int) -> object:
    try:
        value: object = json.loads(
            text, parse_constant=_refuse, parse_int=_integer, parse_float=_number, object_pairs_hook=_object
        )
    except _RefusedError:
        # A text that is no JSON further on is told as such: only JSON can be explained.
        json.loads(text, parse_int=float)
        _explain(text, first_line)
        raise
    return value


def _integer(text: str) -> int:
    _number(text)
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        _refuse(text)
    return value


def _refuse(_text: str) -> NoReturn:
    raise _RefusedError


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise _RefusedError
    return value


def _explain(text: str, first_line: int) -> None:
    """Read token by token to find the first value that is to be refused; raise FormatError with its line."""
    # The keys of each object that is open, by its depth.
    seen: dict[int, set[str]] = {}
    for path, offset, lexeme in _values(text):
        reason = _reason_to_refuse(path, lexeme)
        if path and isinstance(path[-1], str):
            if path[-1] in seen[len(path)]:
                reason = f"the key {path[-1][:80]!r} is given twice in one object"
            seen[len(path)].add(path[-1])
        if reason:
            raise FormatError(reason, first_line - 1 + _line(text, offset))
        if lexeme == "{":
            seen[len(path) + 1] = set()


def _reason_to_refuse(path: Path, lexeme: str) -> str | None:
    if lexeme in {"NaN", "Infinity", "-Infinity"}:
        return f"{lexeme} is not a number that can be compared"
    if lexeme[0] in "-0123456789" and math.isinf(float(lexeme)):
        return f"the number {lexeme[:40]} is too large"
    strings = [part for part in path[-1:] if isinstance(part, str)]
    if lexeme[0] == '"':
        strings.append(_string(lexeme))
    if any(character == "\0" or "\ud800" <= character <= "\udfff" for character in "".join(strings)):
        return "a string holds a NUL or half of a surrogate pair, which is not text"
    return None


def _values(text: str) -> Iterator[tuple[Path, int, str]]:
    """Yield path, offset and first lexeme of every value in well-formed JSON, in the order of the text."""
    # The last part is a list's index, an object's key, or None before an object's key was read.
    path: list[str | int | None] = []
    for match in _TOKEN.finditer(text):
        lexeme = match.group()
        if lexeme in "}]":
            path.pop()
        elif lexeme == ",":
            path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
        elif lexeme != ":":
            if lexeme[0] == '"' and path and path[-1] is None:
                path[-1] = _string(lexeme)
                continue
            yield tuple(path), match.start(), lexeme
            if lexeme in "{[":
                path.append(None if lexeme == "{" else 0)


def _string(lexeme: str) -> str:
    return str(json.loads(lexeme))


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
