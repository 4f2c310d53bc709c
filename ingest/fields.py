"""The single fields of an upload: what each may hold, and the sentence for what it may not."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from benchdash.results.models import Configuration, Hardware, Product, Run, ServerVersion, Workload
from benchdash.results.sessions import SESSION_TAG
from ingest.formats import FORMATS
from ingest.masking import mask_text

MOST_THREADS = 1_000_000
LONGEST_PATTERN = 500
# What no database stores.
NOT_TEXT = re.compile(r"[\x00\ud800-\udfff]")
# What one column or benchmark of a file may be said to be.
MAPPED = ("product", "version", "build", "configuration", "workload")

_MOST_REPETITIONS = 2**31 - 1
_LONGEST_NOTES = 20_000
_MOST_TAGS = 50
_LONGEST_TAG = 100
_MOST_ENTRIES = 2_000
_MOST_PATTERNS = 20
_DEEPEST = 20
_MOST_WARNINGS = 10
_FIRST_YEAR, _LAST_YEAR = 1970, 2200

# What no name holds: control characters, those that turn the direction of what follows, and what took the
# place of bytes that are no UTF-8.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffd\ud800-\udfff]")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_WHOLE_NUMBER = re.compile(r"\s*[0-9]{1,12}\s*", re.ASCII)


def read_field(name: str, value: Any) -> tuple[Any, str]:
    """One field's clean value and a warning, which is mostly empty. Raises ValueError with a sentence."""
    if name in TIMES:
        return _time(value)
    return _READERS[name](value), ""


def read_json(text: str) -> Any:
    """Raises ValueError, with a sentence, for what is no JSON or holds what no database stores."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"is not valid JSON: {error}") from None


def flatten(values: Mapping[str, Any]) -> dict[str, Any]:
    """Nested JSON as flat facts: ``{"a": {"b": 1}, "c": [1, 2]}`` is ``{"a.b": 1, "c": "1, 2"}``."""
    return dict(_flat("", values))


def unknown_field_warnings(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """A warning for each unknown name, with the one that was probably meant."""
    known, unknown = list(known), list(names)
    warnings = []
    for name in unknown[:_MOST_WARNINGS]:
        nearest = get_close_matches(name, known, n=1)
        meant = f"; did you mean '{nearest[0]}'?" if nearest else ""
        warnings.append(mask_text(f"the field '{_shown(name)}' is not known and was ignored{meant}"))
    if more := len(unknown) - _MOST_WARNINGS:
        warnings += [f"{more} more unknown fields were ignored"] if more > 0 else []
    return warnings


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _flat(f"{prefix}.{name}" if prefix else name, inner)
    elif isinstance(value, list | tuple):
        yield prefix, ", ".join(item if isinstance(item, str) else json.dumps(item) for item in value)
    elif value is not None:
        yield prefix, value


def _longest(model: Any, name: str = "name") -> int:
    longest: int = model._meta.get_field(name).max_length
    return longest


def _name(longest: int) -> Callable[[Any], str]:
    """Reads a name: one line, blanks at its ends and doubled ones taken out."""

    def read(value: Any) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if isinstance(value, float):
            raise ValueError(f"must be a text in quotes: as a number, {value!r} may have lost digits")  # noqa: TRY004
        if not isinstance(value, str):
            raise ValueError("must be a text")  # noqa: TRY004 - it is the sender's value that is wrong
        name = " ".join(value.split())
        if _CONTROL.search(name):
            raise ValueError("holds a character that is no text")
        if len(name) > longest:
            raise ValueError(f"has {len(name)} characters, more than {longest}")
        if not name:
            raise ValueError("is empty")
        return name

    return read


def _notes(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text")  # noqa: TRY004
    if NOT_TEXT.search(value):
        raise ValueError("holds a character that is no text")
    if len(value) > _LONGEST_NOTES:
        raise ValueError(f"has {len(value)} characters, more than {_LONGEST_NOTES}")
    return value.replace("\r\n", "\n").strip()


def _number(lowest: int, highest: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value):
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
            raise ValueError(f"must be a whole number between {lowest} and {highest:,}".replace(",", " "))
        return value

    return read


def _commit(value: Any) -> str:
    text = value.strip().lower() if isinstance(value, str) else ""
    if not _COMMIT.fullmatch(text):
        raise ValueError("must be 7 to 40 hex digits")
    return text


def _time(value: Any) -> tuple[datetime, str]:
    """The time in UTC, and a warning with a place for the field's name where no offset was given."""
    example = "2026-11-20T15:56:28Z"
    try:
        time = value if isinstance(value, datetime) else datetime.fromisoformat(value.strip())
        is_naive = time.utcoffset() is None
        time = time.replace(tzinfo=UTC) if is_naive else time.astimezone(UTC)
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise ValueError(f"must be a time such as {example}") from None
    if not _FIRST_YEAR <= time.year <= _LAST_YEAR:
        raise ValueError(f"must be a time such as {example}, between {_FIRST_YEAR} and {_LAST_YEAR}")
    return time, "'{}' has no offset and is taken as UTC" if is_naive else ""


def _tags(value: Any) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple):
        raise ValueError("must be a list of texts")  # noqa: TRY004
    if len(values) > _MOST_TAGS:
        raise ValueError(f"are {len(values)}, more than {_MOST_TAGS}")
    return tuple(_name(_LONGEST_TAG)(tag) for tag in values)


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError("must be a JSON object")  # noqa: TRY004
    entries = _count_values(value, _DEEPEST)
    if entries > _MOST_ENTRIES:
        raise ValueError(f"has {entries} entries, more than {_MOST_ENTRIES}")
    return dict(value)


def _count_values(value: Any, depth: int) -> int:
    """The number of values in some JSON. Raises ValueError for what no database stores, or too deep."""
    if depth == 0:
        raise ValueError(f"is nested more than {_DEEPEST} deep")
    if isinstance(value, str) and NOT_TEXT.search(value):
        raise ValueError("holds a character that is no text")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("holds a number that is too large")
    if isinstance(value, Mapping):
        names = sum(_count_values(name, depth) for name in value)
        return max(names, sum(_count_values(inner, depth - 1) for inner in value.values()))
    if isinstance(value, list | tuple):
        return sum(_count_values(inner, depth - 1) for inner in value)
    return 1


def _map(value: Any) -> dict[str, dict[str, str]]:
    mapped: dict[str, dict[str, str]] = {}
    for pattern, given in _object(value).items():
        if not isinstance(given, Mapping):
            raise ValueError(f"must give a JSON object for '{_shown(pattern)}'")  # noqa: TRY004
        if unknown := [name for name in given if name not in MAPPED]:
            raise ValueError(
                f"'{_shown(pattern)}' gives '{_shown(unknown[0])}'; a column can be given {', '.join(MAPPED)}"
            )
        mapped[pattern] = {}
        for name, text in given.items():
            if text in (None, ""):
                continue
            try:
                mapped[pattern][name] = _READERS[name](text)
            except ValueError as error:
                raise ValueError(f"'{_shown(pattern)}': {name} {error}") from None
    return mapped


def _text(longest: int) -> Callable[[Any], str]:
    """Reads one line as it is, blanks within it too."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or not value.strip() or _CONTROL.search(value):
            raise ValueError("must be a line of text")
        if len(value) > longest:
            raise ValueError(f"has {len(value)} characters, more than {longest}")
        return value.strip()

    return read


def _patterns(value: Any) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple):
        raise ValueError("must be a list of texts")  # noqa: TRY004
    if len(values) > _MOST_PATTERNS:
        raise ValueError(f"are {len(values)}, more than {_MOST_PATTERNS}")
    return tuple(_text(LONGEST_PATTERN)(one) for one in values)


def _format(value: Any) -> str:
    if not isinstance(value, str) or value not in FORMATS:
        raise ValueError(f"must be one of {', '.join(FORMATS)}")
    return value


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"holds {constant}, which is no number")


def _shown(text: Any) -> str:
    """A sender's text for a message: short, on one line."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(text))[:50]


JSON_FIELDS = frozenset({"options", "map", "meta", "path_map"})
# They may be given several times.
LIST_FIELDS = frozenset({"tags", "companion_pattern"})
TIMES = ("committed_at", "started_at")
_READERS: dict[str, Callable[[Any], Any]] = {
    "product": _name(_longest(Product)),
    "version": _name(_longest(ServerVersion, "version")),
    "hardware": _name(_longest(Hardware)),
    "workload": _name(_longest(Workload)),
    "threads": _number(1, MOST_THREADS),
    "build": _name(_longest(ServerVersion, "build")),
    "commit": _commit,
    "branch": _name(_longest(Run, "branch")),
    "configuration": _name(_longest(Configuration)),
    "counterpart": _name(_longest(Run, "counterpart")),
    "repetition": _number(0, _MOST_REPETITIONS),
    "tags": _tags,
    "session": _name(_LONGEST_TAG - len(SESSION_TAG)),
    "notes": _notes,
    "options": _object,
    "map": _map,
    "meta": _object,
    "format": _format,
    "pattern": _text(LONGEST_PATTERN),
    "path_map": _object,
    "companion_pattern": _patterns,
}
# How the names of files in an archive are read.
ARCHIVE_FIELDS = ("pattern", "path_map", "companion_pattern")
# What is said of a single file, or of every file in an archive.
FIELDS = (*(name for name in _READERS if name not in ARCHIVE_FIELDS), *TIMES)
ALL_FIELDS = (*FIELDS, *ARCHIVE_FIELDS)
