"""The numbers that sysbench prints, and what of its text may be repeated in a message."""

import re
from typing import NamedTuple

from ingest.formats.report import FormatError

_is_number = re.compile(r"[0-9]{1,13}(?:\.[0-9]{1,9})?").fullmatch
# Where nothing was measured sysbench prints 18446744073709.55 ms.
_is_large_number = re.compile(r"[0-9]{14,18}(?:\.[0-9]{1,9})?").fullmatch
_ROUNDING = tuple(0.5 * 10.0**-decimals for decimals in range(10))

_SECRET = re.compile(r"((?:pass\w*|pwd|secret|token|key)\s*[=:]\s*)(?:'[^']*'|\"[^\"]*\"|\S+)", re.IGNORECASE)
_PASSWORD_OF_AN_ADDRESS = re.compile(r"(://[^:/@\s]*:)[^\s@]+")


class Figure(NamedTuple):
    """A printed number. ``rounding`` is half of its last digit."""

    value: float
    rounding: float
    line: int


def figure(text: str, line: int) -> Figure:
    """Raises FormatError as ``number`` does."""
    value = number(text, line)
    return Figure(value, _ROUNDING[len(text.partition(".")[2])], line)


def number(text: str, line: int) -> float:
    """Raises FormatError for anything but a plain decimal number that could have been measured."""
    if _is_number(text):
        return float(text)
    if _is_large_number(text):
        raise FormatError(f"{text} is too large to have been measured", line)
    raise FormatError(f"{quoted(text)} is not a number that sysbench measures", line)


def milliseconds(text: str, line: int) -> float:
    """``12.34`` and ``12.34ms`` are milliseconds, ``0.0123s`` is seconds.

    Raises FormatError as ``number`` does.
    """
    if text.endswith("ms"):
        return number(text[:-2], line)
    if text.endswith("s"):
        return seconds_in_ms(text[:-1], line)
    return number(text, line)


def seconds_in_ms(text: str, line: int) -> float:
    """Raises FormatError as ``number`` does."""
    number(text, line)
    # The decimal point is moved in the text: 0.0123 * 1000 is not 12.3.
    return float(f"{text}e3")


def quoted(text: str) -> str:
    """Text of the file for a message: short, and without secrets."""
    return repr(masked(text[:160]))


def masked(text: str) -> str:
    return _PASSWORD_OF_AN_ADDRESS.sub(r"\1***", _SECRET.sub(r"\1***", text))
