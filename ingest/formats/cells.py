"""The cells of a table: numbers as people and programs write them, and cells without a value."""

import csv
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ingest.formats.report import FormatError

_NUMBER = re.compile(r"(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]{1,4})?")
_COMMA = re.compile(r"[0-9]+(?:,[0-9]+)+(?:\.[0-9]*)?")
# Marks that lead to a footnote: 22104*, 413[1], 2382\u00b9. After a ten, a raised digit is an exponent.
_MARK = r"(?:[*\u2020\u2021\u00a7]+|\[[0-9a-z]\]|(?<!\b10)[\u00b9\u00b2\u00b3])"
_LIKE_A_NUMBER = re.compile(rf"[-+]?(?:[.,]?[0-9](?:\S*[\w%])?(?:{_MARK})?|nan|inf(?:inity)?)", re.IGNORECASE)
_MISSING = frozenset(
    {"", "-", "--", "\u2013", "\u2014", "/", "n/a", "n.a.", "na", "nan", "null", "none", "tbd"}
)
_MAX_COUNT = 1_000_000_000


def is_missing(cell: str) -> bool:
    """Return whether a cell says that there is no value."""
    return cell.strip().casefold() in _MISSING


def is_cell(token: str) -> bool:
    """Return whether a token stands for a number, good or bad, or for no value."""
    return _LIKE_A_NUMBER.fullmatch(token) is not None or is_missing(token)


def is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell.strip()) is not None


def number(cell: str | float, line: int) -> float:
    """Return the finite number, not negative, that a cell holds.

    Raise FormatError with the line and the reason for anything else, decimal commas and thousands
    separators included: ``12,345`` may mean either.
    """
    if isinstance(cell, str):
        text = cell.strip()
        if _COMMA.fullmatch(text):
            raise FormatError(f"the number {text[:40]!r} has a comma; write digits and a decimal point", line)
        if text.startswith("-") and is_number(text[1:]):
            raise FormatError(f"{text[:40]} is negative, which no rate and no time can be", line)
        if not is_number(text):
            raise FormatError(f"{text[:40]!r} is not a number", line)
    value = float(cell)
    if not math.isfinite(value):
        raise FormatError(f"the number {str(cell)[:40]} is too large", line)
    if value < 0:
        raise FormatError(f"{value:g} is negative, which no rate and no time can be", line)
    return value


def whole_number(cell: str | float, what: str, line: int) -> int:
    """Return the whole number from 1 on that a cell holds, for threads and repetitions.

    Raise FormatError, which names ``what``, for anything else.
    """
    value = number(cell, line)
    if not 1 <= value <= _MAX_COUNT or not value.is_integer():
        raise FormatError(f"{what} is {str(cell)[:40]}, not a whole number from 1 to {_MAX_COUNT}", line)
    return int(value)


def decimals(cell: str | float) -> int:
    """Return how many digits a number was printed with behind its decimal point."""
    mantissa, _, exponent = str(cell).strip().lower().partition("e")
    return max(0, len(mantissa.partition(".")[2]) - int(exponent or 0))


def separated_cells(
    lines: Iterable[str], separator: str, first_line: int, problem: str
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the number and the cells of each line that has any; a cell in quotes may hold line ends.

    Raise FormatError with the problem where the quotes do not fit together.
    """
    reader = csv.reader(
        (f"{line}\n" for line in lines), delimiter=separator, strict=True, skipinitialspace=True
    )
    line = first_line
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, tuple(cell.strip() for cell in cells)
            line = first_line + reader.line_num
    except csv.Error as error:
        raise FormatError(f"{problem} {error}", line) from None


# --- cells as people write them ---------------------------------------------------------------------------

_PLAIN = r"(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]{1,4})?"
# 12,345, 12'345 and 12 345.
_THOUSANDS_SIGN = "[,'\u2019 \u00a0\u202f\u2009]"
_THOUSANDS = rf"[1-9][0-9]{{0,2}}(?:{_THOUSANDS_SIGN}[0-9]{{3}})+(?:\.[0-9]*)?"
# In brackets alone it is none of a remark: 1.2 (s).
_NO_UNIT = r"(?!\s*+[(\uff08]\s*+[mnu\u00b5\u03bc]?s(?:ec(?:onds)?)?\s*+[)\uff09])"
# 1300 (+8%), 7,151 \u00b1 42, 7,151 \u2705
_REMARK = (
    rf"(?:{_MARK}|{_NO_UNIT}\s*+[(\uff08][^()\uff08\uff09]{{0,60}}[)\uff09]|\s*+(?:\u00b1|\+/-)\s*+[0-9][^()]{{0,20}}"
    r"|\s*+[\u2190-\u21ff\u25a0-\u27bf\U0001f300-\U0001faff]\ufe0f?)"
)
# A unit alone, as in 1/s, is no figure.
_QUANTITY = re.compile(
    r"(?!1/s)(?P<sign>[-+\u2212])?[~\u2248]?\s*+"
    rf"(?P<digits>{_THOUSANDS}|{_PLAIN})\s*+(?P<scale>[kKM](?![A-Za-z]))?\s*+"
    r"(?P<unit>[%\u00d7]|[^\W\d_\u00b2\u00b3\u00b9][^\W\d_]{0,14}(?:\s*+/\s*+[^\W\d_]{1,12}|\s++per\s++sec(?:ond)?)?"
    rf"|1?/s|per sec(?:ond)?)?\s*+(?P<remark>{_REMARK})?"
)
_SCALES = {"k": 1_000, "M": 1_000_000}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit, as one cell holds them: ``5.00 ms``, ``17,109 QPS``, ``+12.3%``.

    ``has_thousands`` says that signs part its thousands, ``sign`` is one that is printed in front, and
    ``remark`` what stands behind: ``*``, ``(+8%)``, ``± 42``.
    """

    value: float
    unit: str
    sign: str
    has_thousands: bool
    decimals: int
    remark: str = ""

    @property
    def is_whole(self) -> bool:
        return self.value.is_integer() and self.decimals == 0


def quantity(cell: str) -> Quantity | None:
    """Return the number and unit of a cell; None where it holds anything else."""
    found = _QUANTITY.fullmatch(cell.strip())
    if found is None:
        return None
    digits = re.sub(_THOUSANDS_SIGN, "", found["digits"])
    scale = _SCALES.get((found["scale"] or "").replace("K", "k"), 1)
    value = float(digits) * scale
    places = max(0, decimals(digits) - (len(str(scale)) - 1))
    sign = "-" if found["sign"] == "\u2212" else found["sign"] or ""
    return Quantity(
        value, found["unit"] or "", sign, digits != found["digits"], places, (found["remark"] or "").strip()
    )


def is_quantity(cell: str) -> bool:
    """Return whether a cell holds a number, with its unit or without one."""
    return quantity(cell) is not None
