"""Reads single values as people and programs send them: clean, or ValueError with a sentence."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from benchdash.results.wording import nearest
from ingest.formats.report import FormatError
from ingest.formats.tables.vocabulary import metric_of_sender
from ingest.masking import mask_identity, mask_text
from ingest.masking.token_shapes import token_in

# Characters that no database stores.
NOT_TEXT = re.compile(r"[\x00\ud800-\udfff]")
_MAX_METRIC_LENGTH = 150
_MAX_NOTES_LENGTH = 20_000
_MAX_ENTRIES = 2_000
_MAX_DEPTH = 20
_MAX_WARNINGS = 10
_MIN_YEAR, _MAX_YEAR = 1970, 2200

# Characters that no name holds: control characters, those that turn the direction of the rest, and those
# that took the place of bytes that are no UTF-8.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffd\ud800-\udfff]")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_YES_AND_NO = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False}
_WHOLE_NUMBER = re.compile(r"\s*[0-9]{1,18}\s*", re.ASCII)


def read_json(text: str) -> Any:
    """Parse JSON. Raises ValueError with a sentence, also for numbers that no database stores."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"is not valid JSON: {error}") from None


def flatten(values: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten nested JSON to facts: ``{"a": {"b": 1}, "c": [1, 2]}`` is ``{"a.b": 1, "c": "1, 2"}``."""
    return dict(_flat("", values))


def unknown_field_warnings(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return a warning for each unknown name, with the one that was probably meant."""
    known, unknown = list(known), list(names)
    warnings = []
    for name in unknown[:_MAX_WARNINGS]:
        meant = in_case_of_a_slip(name, known)
        warnings.append(mask_text(f"the field '{shortened(name)}' is not known and was ignored{meant}"))
    if more := len(unknown) - _MAX_WARNINGS:
        warnings += [f"{more} more unknown fields were ignored"] if more > 0 else []
    return warnings


def in_case_of_a_slip(name: str, known: Iterable[str], written: str = "{}") -> str:
    """Return ``; did you mean 'version'?`` for a name that is nearly a known one, else nothing."""
    near = nearest(name, known)
    return f"; did you mean '{written.format(near[0])}'?" if near else ""


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _flat(f"{prefix}.{name}" if prefix else name, inner)
    elif isinstance(value, list | tuple):
        yield prefix, ", ".join(item if isinstance(item, str) else json.dumps(item) for item in value)
    elif value is not None:
        yield prefix, value


def name_of(longest: int) -> Callable[[Any], str]:
    """Return a reader of names: one line, without blanks at its ends or doubled ones."""

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
        return as_identity(name)

    return read


def as_identity(name: str) -> str:
    """Return a name as it is kept. Raises ValueError for one that holds a token: names are never masked."""
    if token := token_in(name):
        raise ValueError(
            f"holds '{token[:4]}…', which has the shape of a token, and names are never masked: "
            "say another name, and replace the token if it is one"
        )
    return mask_identity(name)


def notes_of(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text")  # noqa: TRY004
    if NOT_TEXT.search(value):
        raise ValueError("holds a character that is no text")
    if len(value) > _MAX_NOTES_LENGTH:
        raise ValueError(f"has {len(value)} characters, more than {_MAX_NOTES_LENGTH}")
    return value.replace("\r\n", "\n").strip()


def number_between(lowest: int, highest: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value):
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
            raise ValueError(f"must be a whole number between {lowest} and {highest:,}".replace(",", " "))
        return value

    return read


def commit_of(value: Any) -> str:
    text = value.strip().lower() if isinstance(value, str) else ""
    if not _COMMIT.fullmatch(text):
        raise ValueError("must be 7 to 40 hex digits")
    return text


def time_of(value: Any) -> tuple[datetime, str]:
    """Return the time in UTC and, where it has no offset, a warning with a place for the field's name."""
    example = "2026-11-20T15:56:28Z"
    try:
        time = value if isinstance(value, datetime) else datetime.fromisoformat(value.strip())
        is_naive = time.utcoffset() is None
        time = time.replace(tzinfo=UTC) if is_naive else time.astimezone(UTC)
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise ValueError(f"must be a time such as {example}") from None
    if not _MIN_YEAR <= time.year <= _MAX_YEAR:
        raise ValueError(f"must be a time such as {example}, between {_MIN_YEAR} and {_MAX_YEAR}")
    return time, "'{}' has no offset and is taken as UTC" if is_naive else ""


def list_of(read_one: Callable[[Any], str], max_length: int) -> Callable[[Any], tuple[str, ...]]:
    def read(value: Any) -> tuple[str, ...]:
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list | tuple):
            raise ValueError("must be a list of texts")  # noqa: TRY004
        if len(values) > max_length:
            raise ValueError(f"are {len(values)}, more than {max_length}")
        return tuple(map(read_one, values))

    return read


def object_of(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError("must be a JSON object")  # noqa: TRY004
    entries = _count_values(value, _MAX_DEPTH)
    if entries > _MAX_ENTRIES:
        raise ValueError(f"has {entries} entries, more than {_MAX_ENTRIES}")
    return dict(value)


def _count_values(value: Any, depth: int) -> int:
    """Count the values in some JSON. Raises ValueError for what no database stores, or nested too deep."""
    if depth == 0:
        raise ValueError(f"is nested more than {_MAX_DEPTH} deep")
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


def path_map_of(value: Any) -> dict[str, Any]:
    path_map = object_of(value)
    as_identity(json.dumps(path_map))
    return path_map


def metric_of(value: Any) -> str:
    text = as_identity(line_of(_MAX_METRIC_LENGTH)(value))
    try:
        metric_of_sender(text)
    except FormatError as error:
        raise ValueError(error.message) from None
    return text


def choice_of(choices: Iterable[str], refusal: str = "'{}' is none of {}") -> Callable[[Any], str]:
    known = list(choices)

    def read(value: Any) -> str:
        if value not in known:
            raise ValueError(refusal.format(shortened(value), ", ".join(known)))
        return str(value)

    return read


def positive(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e15:
        raise ValueError(f"'{shortened(value)}' is no number greater than 0")
    return float(value)


def line_of(longest: int) -> Callable[[Any], str]:
    """Return a reader of one line, which keeps the blanks within it."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or not value.strip() or _CONTROL.search(value):
            raise ValueError("must be a line of text")
        if len(value) > longest:
            raise ValueError(f"has {len(value)} characters, more than {longest}")
        return value.strip()

    return read


def read_yes_or_no(value: Any) -> bool:
    """Return whether a text or a value of JSON says yes. Raises ValueError."""
    answer = value if isinstance(value, bool) else _YES_AND_NO.get(str(value).strip().lower())
    if answer is None:
        raise ValueError("must be true or false")
    return answer


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"holds {constant}, which is no number")


def shortened(text: Any) -> str:
    """Shorten a sender's text for a message, on one line."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(text))[:50]
