"""One thing varied: what varies among runs, and which runs may be compared for it.

Runs are put together by what they were measured under, their conditions. A sweep goes along one of these,
the factor. At each of its values the runs count whose other conditions are those of most of the sweep, or
else come nearest to them; what still differs is named.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from benchdash.regressions.queries import Difference
from benchdash.regressions.sweeps.values import NOT_SET, Value, in_order, same_text

Kind = Literal["setting", "parameter", "option", "fact", "name", "pair"]

_KIND_ORDER: Final[Mapping[Kind, int]] = {"setting": 0, "parameter": 1, "option": 2, "name": 3, "fact": 4}
# The subjects that may be asked for.
KINDS: Final = tuple(_KIND_ORDER)
_SEPARATOR: Final = ":"
_NOT_KNOWN: Final = "not known"
# If no two runs were made under the same conditions, only the newest are compared with all others.
_MAX_CANDIDATES: Final = 50


@dataclass(frozen=True, slots=True, order=True)
class Factor:
    """One thing that runs may differ in.

    A setting of the server, a parameter in the name of a workload, an option of the tool, a fact of the
    machine, or the name of a machine or configuration. A pair is two of these that are varied together.
    """

    kind: Kind
    name: str

    @property
    def key(self) -> str:
        """Its name in addresses: ``innodb_flush_method``, ``fact:cores``."""
        return self.name if self.kind == "setting" else f"{self.kind}{_SEPARATOR}{self.name}"

    @classmethod
    def of_key(cls, key: str) -> "Factor":
        kind, separator, name = key.partition(_SEPARATOR)
        known = next((one for one in _KIND_ORDER if separator and one == kind), None)
        return cls(known, name) if known else cls("setting", key)


HARDWARE: Final = Factor("name", "hardware")
CONFIGURATION: Final = Factor("name", "configuration")

Conditions = Mapping[Factor, Value]
"""A factor that is missing is not known; None is known not to be set."""

_Profile = frozenset[tuple[Factor, Value]]


@dataclass(frozen=True, slots=True)
class RunGroup:
    """Runs of one workload under the same conditions. ``threads`` is how many thread counts they have."""

    workload: str
    conditions: Conditions
    runs: tuple[int, ...]
    threads: int
    newest: datetime
    seconds: float | None = None
    settings_are_known: bool = True

    def value(self, factor: Factor) -> Value:
        return self.conditions.get(factor)

    def others(self, factor: Factor) -> Conditions:
        """Return all conditions but the factor, nor the name of a configuration whose settings are known."""
        left_out = {factor, CONFIGURATION} if self.settings_are_known else {factor}
        return {one: value for one, value in self.conditions.items() if one not in left_out}

    def row(self, factor: Factor) -> str:
        """Return the name of its workload without the parameter that is swept."""
        if factor.kind != "parameter":
            return self.workload
        return without_parameter(self.workload, factor.name)


def parameters_of(workload: str) -> dict[str, str]:
    """Return ``{"protocol": "text"}`` of ``bench.select protocol=text avgt``."""
    pairs = (word.partition("=") for word in workload.split())
    return {name: value for name, separator, value in pairs if name and separator and value}


def without_parameter(workload: str, name: str) -> str:
    """Return ``bench.select avgt`` of ``bench.select protocol=text avgt``, without its ``protocol``."""
    words = workload.split()
    return " ".join(word for word in words if word.partition("=")[0] != name or "=" not in word)


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that can be swept, with its ``values`` in their order.

    ``alike`` is how many of them at most were measured with nothing else different. With one, other things
    always vary along with it.
    """

    factor: Factor
    values: tuple[Value, ...]
    alike: int


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One value of the factor: its runs by row, and what else differs there from the base.

    ``left_out`` is how many more runs have the value, under conditions that come less near, and
    ``left_out_for`` in what these differ from those that count.
    """

    value: Value
    groups: Mapping[str, tuple[RunGroup, ...]]
    differences: tuple[Difference, ...]
    left_out: int
    left_out_for: tuple[str, ...]

    @property
    def name(self) -> str:
        return written(self.value)

    @property
    def runs(self) -> int:
        return sum(len(group.runs) for group in self._all)

    @property
    def seconds(self) -> float | None:
        """The average duration of its runs."""
        known = [(group.seconds, len(group.runs)) for group in self._all if group.seconds is not None]
        runs = sum(number for _, number in known)
        return sum(seconds * number for seconds, number in known) / runs if runs else None

    @property
    def _all(self) -> list[RunGroup]:
        return [group for groups in self.groups.values() for group in groups]


@dataclass(frozen=True, slots=True)
class Sweep:
    """``points`` are in the order of the values, with the base among them.

    ``left_out`` is how many values there are beyond the most that are wanted.
    """

    factor: Factor
    points: tuple[SweepPoint, ...]
    base: SweepPoint
    left_out: int = 0

    @property
    def others(self) -> list[SweepPoint]:
        return [point for point in self.points if point is not self.base]


# --- what varies ------------------------------------------------------------------------------------------


def choices(groups: Sequence[RunGroup]) -> list[Choice]:
    """List what takes two values or more, that first which was varied alone most often."""
    found = [
        Choice(factor, tuple(values), _alike(groups, factor))
        for factor in {one for group in groups for one in group.conditions}
        if len(values := _values(groups, factor)) > 1
    ]
    return sorted(found, key=lambda one: (-one.alike, _KIND_ORDER[one.factor.kind], one.factor.name))


def find_choice(among: Sequence[Choice], text: str) -> Choice | None:
    """Find a choice by its key, or else by its name alone."""
    of_key = (one for one in among if one.factor.key == text)
    of_name = (one for one in among if one.factor.name == text)
    return next(of_key, None) or next(of_name, None)


def only_with(groups: Sequence[RunGroup], wanted: Iterable[str]) -> list[RunGroup]:
    """Keep the groups under chosen conditions, each ``key=value``; of several values of one any counts."""
    values: dict[Factor, set[Value]] = defaultdict(set)
    for text in wanted:
        key, _, value = text.partition("=")
        factor = Factor.of_key(key)
        values[factor].add(None if value == NOT_SET else meaning(factor, value))
    return [
        group
        for group in groups
        if all(
            factor in group.conditions and meaning(factor, group.value(factor)) in allowed
            for factor, allowed in values.items()
        )
    ]


def without_constants(groups: Sequence[RunGroup]) -> list[RunGroup]:
    """Reduce the conditions of groups to their machine and what varies among them.

    Where its settings or options are known, what a group lacks of them was not set.
    """
    known = {factor for group in groups for factor in group.conditions}
    settings = {factor for factor in known if factor.kind == "setting"}
    options = {factor for factor in known if factor.kind == "option"}
    filled = []
    for group in groups:
        unset: set[Factor] = set()
        if group.settings_are_known:
            unset |= settings - group.conditions.keys()
        if not options.isdisjoint(group.conditions):
            unset |= options - group.conditions.keys()
        filled.append({**group.conditions, **dict.fromkeys(unset)})
    meanings: dict[Factor, set[Value]] = defaultdict(set)
    for of_group in filled:
        for factor, value in of_group.items():
            meanings[factor].add(meaning(factor, value))
    varying = {factor for factor, found in meanings.items() if len(found) > 1 or factor == HARDWARE}
    return [
        replace(group, conditions={one: value for one, value in conditions.items() if one in varying})
        for group, conditions in zip(groups, filled, strict=True)
    ]


def on_one_machine(groups: Sequence[RunGroup], factor: Factor) -> list[RunGroup]:
    """Keep the groups of the machine with most values; all where machines are what varies."""
    if factor.kind in ("fact", "name"):
        return list(groups)
    machines: dict[Value, list[RunGroup]] = defaultdict(list)
    for group in groups:
        machines[group.value(HARDWARE)].append(group)

    def weight(found: Sequence[RunGroup]) -> tuple[int, int, datetime]:
        return (
            _alike(found, factor),
            sum(len(group.runs) for group in found),
            max(one.newest for one in found),
        )

    return max(machines.values(), key=weight, default=[])


def meaning(factor: Factor, value: Value) -> Value:
    """Return a text that is equal for values that are written differently and mean the same."""
    return same_text(value) if factor.kind == "setting" and value is not None else value


def _values(groups: Iterable[RunGroup], factor: Factor) -> list[Value]:
    """List each value once, as its newest runs write it."""
    written: dict[Value, Value] = {}
    for group in sorted(groups, key=lambda group: group.newest):
        if factor in group.conditions:
            value = group.value(factor)
            written[meaning(factor, value)] = value
    return in_order(list(written.values()))


def _alike(groups: Iterable[RunGroup], factor: Factor) -> int:
    """Count the most values that one row has under the same other conditions."""
    values: dict[tuple[str, _Profile], set[Value]] = defaultdict(set)
    for group in groups:
        if factor in group.conditions:
            values[group.row(factor), _profile(group, factor)].add(meaning(factor, group.value(factor)))
    return max((len(found) for found in values.values()), default=0)


def _profile(group: RunGroup, factor: Factor) -> _Profile:
    return frozenset((one, meaning(one, value)) for one, value in group.others(factor).items())


# --- one sweep --------------------------------------------------------------------------------------------


def sweep(
    groups: Sequence[RunGroup],
    factor: Factor,
    *,
    base: str = "",
    most: int,
    order: Sequence[Value] | None = None,
) -> Sweep | None:
    """Make the sweep along a factor; None where no row has two values of it.

    ``base`` is a value as pages write it; without one it is the first that was measured under the conditions
    of most rows. Of more values than ``most`` the last ones are left out. ``order`` is that of the values,
    where they do not tell it themselves.
    """
    by_row = _by_row([group for group in groups if factor in group.conditions], factor)
    found = _values(
        (group for row in by_row.values() for groups in row.of_value.values() for group in groups), factor
    )
    if not found:
        return None
    if order is not None:
        found = [value for value in order if value in found]
    counting = {value: _counting(by_row, value, factor) for value in found[:most]}

    def rows_under_reference(value: Value) -> int:
        rows = counting[value].items()
        return sum(_profile(groups[0], factor) == by_row[row].reference for row, groups in rows)

    meant = [value for value in counting if base and written(value) == base]
    at = meant[0] if meant else max(counting, key=rows_under_reference)
    points = [_point(value, counting, counting[at], by_row, factor) for value in counting]
    of_base = next(point for point in points if point.value == at)
    return Sweep(factor, tuple(points), of_base, left_out=len(found) - len(points))


def written(value: Value) -> str:
    return NOT_SET if value is None else value


_Counting = Mapping[str, tuple[RunGroup, ...]]


@dataclass(frozen=True, slots=True)
class _InRow:
    """The groups of one row by value, and the conditions that most of the values were measured under."""

    of_value: Mapping[Value, Sequence[RunGroup]]
    reference: _Profile


def _by_row(groups: Iterable[RunGroup], factor: Factor) -> dict[str, _InRow]:
    """Find the rows that have two values or more."""
    rows: dict[str, dict[Value, list[RunGroup]]] = defaultdict(lambda: defaultdict(list))
    for group in groups:
        rows[group.row(factor)][meaning(factor, group.value(factor))].append(group)
    return {
        row: _InRow(of_value, _reference(of_value, factor))
        for row, of_value in rows.items()
        if len(of_value) > 1
    }


def _counting(by_row: Mapping[str, _InRow], value: Value, factor: Factor) -> _Counting:
    """Find, by row, the groups of a value that come nearest to the others of the row."""
    same = meaning(factor, value)
    return {
        row: _nearest(in_row.of_value[same], in_row.reference, factor)
        for row, in_row in by_row.items()
        if same in in_row.of_value
    }


def _reference(of_value: Mapping[Value, Sequence[RunGroup]], factor: Factor) -> _Profile:
    """Choose the conditions with the most values, then the nearest to all other values, then the newest."""
    by_profile: dict[_Profile, dict[Value, list[RunGroup]]] = defaultdict(lambda: defaultdict(list))
    of_values: dict[Value, set[_Profile]] = defaultdict(set)
    for value, groups in of_value.items():
        for group in groups:
            profile = _profile(group, factor)
            by_profile[profile][value].append(group)
            of_values[value].add(profile)

    def newest(profile: _Profile) -> datetime:
        return max(group.newest for groups in by_profile[profile].values() for group in groups)

    def distance(profile: _Profile) -> int:
        return sum(min(_distance(profile, other) for other in found) for found in of_values.values())

    most = max(map(len, by_profile.values()))
    tied = [profile for profile, values in by_profile.items() if len(values) == most]
    tied = sorted(tied, key=newest, reverse=True)[:_MAX_CANDIDATES]
    return min(tied, key=distance) if len(tied) > 1 else tied[0]


def _nearest(groups: Sequence[RunGroup], reference: _Profile, factor: Factor) -> tuple[RunGroup, ...]:
    """Choose the groups under the one set of conditions that differs least from the reference."""
    by_profile: dict[_Profile, list[RunGroup]] = defaultdict(list)
    for group in groups:
        by_profile[_profile(group, factor)].append(group)

    def order(profile: _Profile) -> tuple[int, int, float]:
        found = by_profile[profile]
        newest = max(group.newest for group in found)
        return _distance(profile, reference), -sum(group.threads for group in found), -newest.timestamp()

    return tuple(by_profile[min(by_profile, key=order)])


def _distance(one: _Profile, other: _Profile) -> int:
    """Count the conditions in which they differ."""
    return len({factor for factor, _ in one ^ other})


def _point(
    value: Value,
    counting: Mapping[Value, _Counting],
    base: _Counting,
    by_row: Mapping[str, _InRow],
    factor: Factor,
) -> SweepPoint:
    own, same = counting[value], meaning(factor, value)
    found = (one for row, groups in own.items() for one in _differences(base.get(row, ()), groups, factor))
    aside = [
        (group, groups)
        for row, groups in own.items()
        for group in by_row[row].of_value[same]
        if group not in groups
    ]
    reasons = (one.name for group, groups in aside for one in _differences(groups, [group], factor))
    return SweepPoint(
        value=value,
        groups=own,
        differences=tuple(dict.fromkeys(found)),
        left_out=sum(len(group.runs) for group, _ in aside),
        left_out_for=tuple(dict.fromkeys(reasons)),
    )


def are_alike(base: Sequence[RunGroup], other: Sequence[RunGroup], factor: Factor) -> bool:
    """Tell whether nothing but the factor is known to differ between the groups of two sides.

    The name of a machine is no difference of its own beside a fact of machines.
    """
    of_machines = {HARDWARE.name} if factor.kind == "fact" else set()
    return all(one.name in of_machines for one in _differences(base, other, factor))


def _differences(base: Sequence[RunGroup], other: Sequence[RunGroup], factor: Factor) -> Iterator[Difference]:
    """Yield the conditions in which the groups of two sides differ, all of a side having the same."""
    if not base or not other:
        return
    before, after = base[0].others(factor), other[0].others(factor)
    for one in sorted(before.keys() | after.keys()):
        left, right = before.get(one, _NOT_KNOWN), after.get(one, _NOT_KNOWN)
        if meaning(one, left) != meaning(one, right):
            yield Difference(one.name, left, right)
