"""Numbers as JMH and people print them: with a decimal point or comma, and with signs between thousands."""

from collections.abc import Iterable
from typing import NamedTuple

NOT_A_NUMBER = ("NaN", "Infinity")

_DECIMALS = r"(?:[.,][0-9]*)?(?:[eE][+-]?[0-9]{1,4})?"
_WHOLE = r"(?:[0-9]{1,3}(?:(?:,[0-9]{3})+|(?:\.[0-9]{3})+|(?:'[0-9]{3})+)|[0-9]+)"
NUMBER = rf"(?:{_WHOLE}{_DECIMALS}|{'|'.join(NOT_A_NUMBER)})"
# Blanks may part the thousands of a number whose end is clear.
NUMBER_WITH_BLANKS = rf"(?:[0-9]{{1,3}}(?: [0-9]{{3}})+(?![0-9]){_DECIMALS}|{NUMBER})"


class NumberStyle(NamedTuple):
    """The sign before the decimals of a table; the other one of ``.`` and ``,`` parts thousands.

    ``doubtful`` is the first number that could be meant in another way.
    """

    decimal: str = "."
    doubtful: str = ""

    @property
    def thousands(self) -> str:
        return "," if self.decimal == "." else "."

    def value_of(self, text: str) -> float | None:
        """Return the number; None for NaN and Infinity.

        Raise ValueError where it is printed in another style.
        """
        if text in NOT_A_NUMBER:
            return None
        whole, mark, rest = _plain(text).partition(self.decimal)
        if self.thousands in whole:
            first, *groups = whole.split(self.thousands)
            if not 1 <= len(first) <= 3 or any(len(group) != 3 for group in groups):
                raise ValueError(text)
            whole = "".join([first, *groups])
        return float(f"{whole}{'.' if mark else ''}{rest}")


def style_of(texts: Iterable[str]) -> NumberStyle:
    """Return how the numbers of one table are printed.

    JMH prints three decimals, so ``365,935`` has them where nothing speaks against it: a decimal point in
    another number of the table, or a number without any decimals. ``value_of`` refuses numbers of two hands.
    """
    decimal = comma = point = ""
    has_point = has_whole = False
    for text in texts:
        digits = "" if text in NOT_A_NUMBER else _plain(text).lower().partition("e")[0]
        commas, points = digits.count(","), digits.count(".")
        if commas and points:
            decimal = decimal or max(",.", key=digits.rindex)
        elif commas > 1 or points > 1:
            decimal = decimal or ("." if commas else ",")
        elif commas and _may_be_thousands(digits, ","):
            comma = comma or text
        elif commas:
            decimal = decimal or ","
        elif points:
            has_point = True
            point = point or (text if _may_be_thousands(digits, ".") else "")
        elif digits.strip("0"):
            has_whole = True
    if decimal == ",":
        return NumberStyle(",", doubtful=point)
    if decimal or not comma:
        return NumberStyle(".")
    return NumberStyle("." if has_point or has_whole else ",", doubtful=comma)


def _may_be_thousands(digits: str, sign: str) -> bool:
    whole, _, rest = digits.partition(sign)
    return len(rest) == 3 and len(whole) <= 3 and not whole.startswith("0")


def _plain(text: str) -> str:
    return text.replace(" ", "").replace("'", "")
