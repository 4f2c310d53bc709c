"""The values of a setting: which of them are the same, their order, and where they lie on an axis."""

import re
from collections.abc import Sequence
from typing import Final, Literal

Value = str | None
"""The text of a setting; None where it was not set."""

Spacing = Literal["log", "linear", "even"]

NOT_SET: Final = "not set"

_NUMBER = re.compile(
    r"([-+]?[0-9]{1,18}(?:\.[0-9]{1,9})?(?:e[-+]?[0-9]{1,2})?)\s*([a-zµ%]{0,3})", re.IGNORECASE
)
_BYTES: Final = {letter: 1024.0**power for power, letter in enumerate("kmgtpe", 1)}
# Units that PostgreSQL writes; beside these a bare number may be pages, or whatever the setting counts in.
_WORDS: Final = {
    "b": ("bytes", 1.0),
    **{f"{letter}b": ("bytes", size) for letter, size in _BYTES.items()},
    **{f"{letter}ib": ("bytes", size) for letter, size in _BYTES.items()},
    "us": ("seconds", 1e-6),
    "\N{GREEK SMALL LETTER MU}s": ("seconds", 1e-6),
    "ms": ("seconds", 1e-3),
    "s": ("seconds", 1.0),
    "min": ("seconds", 60.0),
    "h": ("seconds", 3600.0),
    "d": ("seconds", 86400.0),
    "%": ("per cent", 1.0),
}
_SPANS: Final = 8
_DIGITS = re.compile(r"([0-9]{1,18})")


def same_text(value: str) -> str:
    """Write alike what means the same: ``128M``, ``128m`` and ``134217728``; ``ON`` and ``on``."""
    text = value.strip().casefold()
    number, kind = _read(text) or (0.0, "")
    if not kind:
        return text
    return f"{number:.0f}" if kind == "letters" else f"{number!r} {kind}"


def as_numbers(values: Sequence[str]) -> list[float] | None:
    """Read values as numbers of one kind, sizes in bytes and times in seconds; None where they are not.

    A bare number beside MySQL's ``128M`` is bytes. Beside ``128MB`` or ``10s`` nobody knows, but of 0 and -1.
    """
    read = [_read(value) for value in values]
    if not read or any(one is None for one in read):
        return None
    known = [one for one in read if one is not None]
    kinds = {kind for _, kind in known} - {""}
    bare = {number for number, kind in known if not kind}
    if len(kinds) > 1 or (kinds and kinds != {"letters"} and bare - {0, -1}):
        return None
    return [number for number, _ in known]


def are_numbers(values: Sequence[Value]) -> bool:
    """Tell whether all that were set are numbers of one kind."""
    return as_numbers([value for value in values if value is not None]) is not None


def _read(value: str) -> tuple[float, str] | None:
    """Read number and kind; the kind of a bare number is empty, that of ``128M`` is ``letters``."""
    match = _NUMBER.fullmatch(value.strip())
    if not match:
        return None
    number, unit = float(match[1]), match[2].casefold()
    if not unit:
        return number, ""
    if unit in _BYTES:
        return number * _BYTES[unit], "letters"
    if unit in _WORDS:
        kind, factor = _WORDS[unit]
        return number * factor, kind
    return None


def in_order(values: Sequence[Value]) -> list[Value]:
    """Order numbers by size, texts by their words and the numbers in them; what was not set comes first."""
    said = [value for value in values if value is not None]
    numbers = as_numbers(said)
    if numbers is None:
        ordered = sorted(said, key=_natural)
    else:
        ordered = [value for _, value in sorted(zip(numbers, said, strict=True))]
    return [*([None] if len(said) < len(values) else []), *ordered]


def positions(values: Sequence[Value]) -> tuple[list[float], Spacing]:
    """Lay values that are in order on an axis.

    Numbers lie where they are, on a logarithmic axis where the largest is many times the smallest. Side by
    side, at 0, 1, 2 ..., lie texts, and numbers that no logarithm has (0 is often a special value) or that
    stand beside what was not set.
    """
    said = [value for value in values if value is not None]
    numbers = as_numbers(said)
    even: list[float] = [float(index) for index in range(len(values))]
    if numbers is None or len(said) < len(values) or len(set(numbers)) < len(numbers):
        return even, "even"
    positive = [number for number in numbers if number > 0]
    spans = bool(positive) and max(positive) / min(positive) >= _SPANS
    if not spans:
        return numbers, "linear"
    return (numbers, "log") if len(positive) == len(numbers) else (even, "even")


def _natural(value: str) -> list[tuple[int, float, str]]:
    """Order ``disk2`` before ``disk10``."""
    parts = _DIGITS.split(value.casefold())
    return [(0, float(part), "") if _DIGITS.fullmatch(part) else (1, 0.0, part) for part in parts if part]
