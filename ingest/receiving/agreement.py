"""Tells the same measurement in another form from a repeat that happens to have like figures.

Tools print one run with more digits in one form than in the other: JMH's JSON has fifteen, its text three
decimals. Two runs of one version, place, workload and thread count agree where each reading that both have is
the same to the digits of the coarser print. Repeats may agree in a figure or two by chance, so agreement is
weighed: a figure that a clock gave counts its digits without the first two and a half, and four at most. So
many are random where repeats scatter by 0.3 %; those of servers scatter by more. Six of them together are
chance in one of a million pairs.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Final, NamedTuple

from benchdash.results.probes import PRINTED_DIGITS, Probe, probe_of
from benchdash.results.readings import is_clocked, is_computed, is_time

MIN_DIGITS: Final = 6
"""Random digits that all figures of a file have together, before they prove it a copy."""
MIN_DIGITS_AGAINST_WORDS: Final = 12
"""The same where start, repetition or session are said of both, and differ."""
MAX_DIGITS_OF_A_FIGURE: Final = 4
SAME_START_DIGITS: Final = 3
"""The digits that count for the same start of both."""

_ANY_REPEATS_AGREE: Final = 2.5
_SAME_START: Final = timedelta(seconds=1)
# Forms of one measurement may be dated by its beginning or its end.
_SAME_EVENING: Final = timedelta(hours=2)
# Floating point adds its own.
_A_LITTLE_MORE: Final = 1 + 1e-6
_RATE: Final = "1/s"


class StoredReading(NamedTuple):
    """A reading as it is stored, with the interval that the tool printed."""

    value: float
    unit: str
    low: float | None = None
    high: float | None = None

    @property
    def is_rate(self) -> bool:
        return not is_time(self.unit.split("/")[0])

    @property
    def is_clocked(self) -> bool:
        return is_clocked(self.unit)


@dataclass(frozen=True)
class ToldRun:
    """A run as one form tells of it. ``started_at`` is None where nobody said it, empty ``session`` too.

    ``samples`` is the number of values that it has of the time within the run.
    """

    figures: Mapping[str, StoredReading]
    samples: int = 0
    started_at: datetime | None = None
    repetition: int | None = None
    session: str = ""

    @cached_property
    def probe(self) -> Probe | None:
        return probe_of((metric, one.value, one.unit) for metric, one in self.figures.items())

    @cached_property
    def content(self) -> frozenset[tuple[str, StoredReading]]:
        return frozenset(self.figures.items())

    @cached_property
    def information(self) -> tuple[int, int, int, int]:
        """The amount of its words, its readings, its samples, its digits: the form that has more is kept."""
        said = (self.started_at is not None) + (self.repetition is not None) + bool(self.session)
        digits = sum(_number_of_digits(one.value) for one in self.figures.values())
        return said, len(self.figures), self.samples, digits


def agreement(one: ToldRun, other: ToldRun) -> float | None:
    """Return how many random digits prove that both are the same run; None where a reading differs."""
    metrics = _compared(one.figures.keys() & other.figures.keys())
    pairs = [(one.figures[metric], other.figures[metric]) for metric in metrics]
    if not pairs or not all(agree(*pair) for pair in pairs):
        return None
    clocked = [pair for pair in pairs if pair[0].is_clocked]
    # Rates of a run are one another's multiples: transactions, queries and reads per second.
    rates = [_digits(*pair) for pair in clocked if pair[0].is_rate]
    times = [_digits(*pair) for pair in clocked if not pair[0].is_rate]
    return max(rates, default=0) + sum(times) + sum(_digits_of_interval(*pair) for pair in clocked)


def spans_of_prints(probe: Probe) -> Iterator[tuple[float, float]]:
    """Yield the spans in which other prints of a probe lie: those with more digits, then each with fewer."""
    value = _decimal(probe.value)
    places = int(value.as_tuple().exponent), value.adjusted() + 1
    # Whole rates are printed as such, and not rounded to tens.
    own, coarsest = [min(place, 0) for place in places] if probe.unit == _RATE else places
    half = Decimal(1).scaleb(own) / 2 * Decimal(_A_LITTLE_MORE)
    yield float(value - half), float(value + half)
    for place in range(own + 1, coarsest + 1):
        unit = Decimal(1).scaleb(place)
        below = (value // unit) * unit
        for shorter in (below, below + unit.copy_sign(value)):
            if shorter and abs(value - shorter) <= unit / 2 * Decimal(_A_LITTLE_MORE):
                yield float(shorter), float(shorter)


def proves(pairs: Iterable[tuple[ToldRun, ToldRun]], digits: float) -> bool:
    """Return whether so many digits, of all these pairs together, prove that they are the same runs."""
    pairs = list(pairs)
    if all(_have_one_start(*pair) for pair in pairs):
        digits += SAME_START_DIGITS
    is_contradicted = any(_contradict(*pair) for pair in pairs)
    return digits >= (MIN_DIGITS_AGAINST_WORDS if is_contradicted else MIN_DIGITS)


def _compared(metrics: Iterable[str]) -> list[str]:
    """Leave out what is computed from rounded readings, unless there is nothing else."""
    metrics = list(metrics)
    return [one for one in metrics if not is_computed(one)] or metrics


def _have_one_start(one: ToldRun, other: ToldRun) -> bool:
    both = one.started_at is not None and other.started_at is not None
    return both and abs(one.started_at - other.started_at) < _SAME_START  # type: ignore[operator]


def _contradict(one: ToldRun, other: ToldRun) -> bool:
    if one.started_at and other.started_at and abs(one.started_at - other.started_at) > _SAME_EVENING:
        return True
    if None not in (one.repetition, other.repetition) and one.repetition != other.repetition:
        return True
    return bool(one.session and other.session and one.session != other.session)


def agree(one: StoredReading, other: StoredReading) -> bool:
    """Return whether both are the same number to the digits of the coarser print."""
    last_place = _last_place(one, other)
    is_same = one.unit == other.unit and abs(one.value - other.value) <= last_place / 2 * _A_LITTLE_MORE
    return is_same and all(
        # An end of an interval is computed from two rounded numbers.
        abs(a - b) <= max(last_place, _ulp(a), _ulp(b)) * _A_LITTLE_MORE
        for a, b in ((one.low, other.low), (one.high, other.high))
        if a is not None and b is not None
    )


def _last_place(one: StoredReading, other: StoredReading) -> float:
    """Return the unit of the last digit of the coarser print."""
    places = [_ulp(one.value), _ulp(other.value)]
    # Whole rates are printed as such, and not rounded to tens.
    return max(min(place, 1.0) for place in places) if one.unit == _RATE else max(places)


def _ulp(value: float) -> float:
    """Return the unit of the last digit other than zero. Zero is as exact as anything."""
    return float(Decimal(1).scaleb(_decimal(value).as_tuple().exponent)) if value else 0.0  # type: ignore[arg-type]


def _number_of_digits(value: float) -> int:
    return len(_decimal(value).as_tuple().digits)


def _decimal(value: float) -> Decimal:
    return Decimal(f"{value:.{PRINTED_DIGITS}g}").normalize()


def _digits(one: StoredReading, other: StoredReading) -> float:
    return _random_digits(one.value, _last_place(one, other))


def _digits_of_interval(one: StoredReading, other: StoredReading) -> float:
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return 0
    widths = ((one.high - one.low) / 2, (other.high - other.low) / 2)
    # A width shares the last place of its value, and may end in zeros that were not printed.
    return _random_digits(widths[0], max(_last_place(one, other), *map(_ulp, widths)))


def _random_digits(value: float, last_place: float) -> float:
    """Return how many digits of a number, down to its last place, differ from repeat to repeat."""
    if not value or not last_place:
        return 0
    digits = math.floor(math.log10(abs(value)) + 1e-9) - round(math.log10(last_place)) + 1
    return min(max(digits - _ANY_REPEATS_AGREE, 0), MAX_DIGITS_OF_A_FIGURE)
