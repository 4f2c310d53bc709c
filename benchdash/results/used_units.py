"""The units that people use: figures are stored normalised, and shown in the unit of the newest file.

A JMH score of 62.715 us/op is stored as 62,715 ns/op and shown as 62.715 us/op. Only what is shown is turned:
thresholds, comparisons and answers of the API are in stored units.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from benchdash.results.units import conversion


class HasUnits(Protocol):
    """A series, or what has the units of one; ``printed_unit`` is empty where files are in ``unit``."""

    @property
    def unit(self) -> str: ...
    @property
    def printed_unit(self) -> str: ...


class UsedUnit(NamedTuple):
    """A unit, and what stored figures are multiplied by to be in it."""

    unit: str
    factor: float = 1.0

    def of(self, value: float) -> float:
        return value * self.factor

    def maybe(self, value: float | None) -> float | None:
        return None if value is None else value * self.factor


def used_unit(series: HasUnits) -> UsedUnit:
    """Return the unit that people use of one series."""
    return unit_printed(series.unit, series.printed_unit)


def used_units(series: Iterable[HasUnits]) -> Mapping[str, UsedUnit]:
    """Return the one unit that several series are shown in, by their stored unit: that of most of them."""
    counts: dict[str, Counter[str]] = {}
    for one in series:
        counts.setdefault(one.unit, Counter())[one.printed_unit] += 1
    return {unit: unit_printed(unit, printed.most_common(1)[0][0]) for unit, printed in counts.items()}


def unit_printed(unit: str, printed_unit: str) -> UsedUnit:
    """Return the unit that a file printed for figures that are stored in ``unit``."""
    factor = conversion(unit, printed_unit) if printed_unit else None
    return UsedUnit(unit) if factor is None else UsedUnit(printed_unit, factor)
