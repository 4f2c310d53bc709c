"""Numbers as JMH and people print them, with their error and unit: ``62.715 ± 2.402 us/op``."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from ingest.formats.jmh.results import Score, interval_around, is_plausible

NOT_A_NUMBER = ("NaN", "Infinity")

_DECIMALS = r"(?:[.,][0-9]*)?(?:[eE][+-]?[0-9]{1,4})?"
_WHOLE = r"(?:[0-9]{1,3}(?:(?:,[0-9]{3})+|(?:\.[0-9]{3})+|(?:'[0-9]{3})+)|[0-9]+)"
_NUMBER = rf"(?:{_WHOLE}{_DECIMALS}|{'|'.join(NOT_A_NUMBER)})"
# Blanks may part the thousands of a number whose end is clear.
_NUMBER_WITH_BLANKS = rf"(?:[0-9]{{1,3}}(?: [0-9]{{3}})+(?![0-9]){_DECIMALS}|{_NUMBER})"
_UNIT = r"(?P<unit>[^\s0-9](?:[^\s/]|/(?! ))*+(?: ?/ ?[^\s0-9]\S*)?)"
# The signs ± and ≈, and what becomes of them in another encoding.
_LOST_SIGN = r"(?:\?|[^\x00-\x7f]{1,3})"
_ERROR_SIGN = re.compile(rf"{_LOST_SIGN}?\(99[.,]9%\)|\+ ?/? ?[-\u2212]")
# Remarks that somebody adds: ``62.715 (+5 %)``, ``62.715 us/op (fastest)``, ``62.715 us/op  // fastest``.
_REMARK = re.compile(r"(?:(?<!\s)\s++)?\([^()]*\)\s*+|\s//.*")
_USUAL = re.compile(
    r"(?P<score>[0-9]+[.,][0-9]+)(?: ± (?P<error>[0-9]+[.,][0-9]+))? (?P<unit>[A-Za-z][^\s(]*)"
)
_SHAPES = (
    # Two numbers that are none: both of JMH's have decimals.
    re.compile(rf"(?P<score>[0-9]{{1,3}}(?: [0-9]{{3}})+[.,][0-9]+)(?P<error>) {_UNIT}"),
    re.compile(rf"(?P<score>{_NUMBER})(?: (?P<error>{_NUMBER}))? {_UNIT}"),
    re.compile(rf"(?P<score>{_NUMBER_WITH_BLANKS}) ?{_LOST_SIGN} ?(?P<error>{_NUMBER_WITH_BLANKS}) {_UNIT}"),
)
_ABOUT = re.compile(rf"(?:~|{_LOST_SIGN}) ?(?P<power>10\S*|0) {_UNIT}")
_POWER_OF_TEN = re.compile(r"10\^?(-?[0-9]{1,4})")
_SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


class NumberStyle(NamedTuple):
    """The sign before the decimals of a table; the other one of ``.`` and ``,`` parts thousands.

    ``doubtful`` is the first number that could be meant in another way.
    """

    decimal: str = "."
    doubtful: str = ""

    def value_of(self, text: str) -> float | None:
        """Return the number; None for NaN and Infinity.

        Raise ValueError, with a sentence, for another style, and for a number that nobody measures.
        """
        if text in NOT_A_NUMBER:
            return None
        whole, mark, rest = _plain(text).partition(self.decimal)
        thousands = "," if self.decimal == "." else "."
        if thousands in whole:
            first, *groups = whole.split(thousands)
            if not 1 <= len(first) <= 3 or any(len(group) != 3 for group in groups):
                name = "comma" if self.decimal == "," else "point"
                raise ValueError(
                    f"{text!r}: other numbers of the table have a {name} before their decimals; "
                    "write all of them in one way"
                )
            whole = "".join([first, *groups])
        value = float(f"{whole}{'.' if mark else ''}{rest}")
        if not is_plausible(value):
            raise ValueError(f"{text[:40]!r} is too large to have been measured")
        return value


class NumberText(NamedTuple):
    """A number as it stands in a table, with its error, which may be empty, and its unit.

    ``power`` stands in the place of both where only a power of ten is printed.
    """

    score: str
    error: str
    unit: str
    power: str = ""

    @property
    def numbers(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.score, self.error)))

    def measured(self, style: NumberStyle) -> Score | None:
        """Return the score; None for NaN, and where the digits of a power are lost. Raise ValueError."""
        if self.power:
            match = _POWER_OF_TEN.fullmatch(self.power.translate(_SUPERSCRIPTS))
            power = 0.0 if self.power == "0" else float(f"1e{match[1]}") if match else None
            return None if power is None else Score(power, self.unit, approximate=True)
        error = style.value_of(self.error) if self.error else None
        score = style.value_of(self.score)
        return None if score is None else Score(score, self.unit, interval_around(score, error))


def number_text(text: str) -> NumberText | None:
    """Return the parts of ``62.715 ± 2.402 us/op``, ``≈ 10⁻⁶ s/op`` or ``NaN ---``; None for other texts."""
    words = " ".join(text.split())
    if usual := _USUAL.fullmatch(words):
        return NumberText(usual["score"], usual["error"] or "", usual["unit"])
    words = _REMARK.sub(" ", _ERROR_SIGN.sub(" ± ", words)).replace("’", "'").replace("**", "")
    words = " ".join(words.split())
    match = next(filter(None, (shape.fullmatch(words) for shape in _SHAPES)), None)
    if match:
        return NumberText(match["score"], match["error"] or "", match["unit"].replace(" ", ""))
    about = _ABOUT.fullmatch(words)
    return NumberText("", "", about["unit"].replace(" ", ""), about["power"]) if about else None


def measured(text: str) -> Score | None:
    """Return a number that stands alone; None for other texts, and for one that is too large."""
    number = number_text(text)
    try:
        return number.measured(style_of(number.numbers)) if number else None
    except ValueError:
        return None


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
