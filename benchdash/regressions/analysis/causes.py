"""The settings that were switched at a change of level, in a sentence."""

from collections.abc import Iterable, Sequence
from typing import Final

from benchdash.regressions.models import ChangePoint
from benchdash.regressions.queries import Difference, Surroundings, Switches, read_differences
from benchdash.results.wording import listed

MAX_NAMED: Final = 2
_MAX_VALUE: Final = 40
_ON: Final = frozenset({"on", "true", "yes", "enabled"})
_OFF: Final = frozenset({"off", "false", "no", "disabled"})


def switches_of(change_points: Iterable[ChangePoint]) -> Switches:
    """Read what differs between the sides of change points, in at most two statements."""
    sides = (_sides(change_point) for change_point in change_points)
    return read_differences(pair for pair in sides if pair and pair[0] != pair[1])


def cause_of(change_points: Iterable[ChangePoint], switches: Switches) -> str:
    """Say what was switched where all of these begin; empty where nothing was, or not with each of them."""
    found = [switches.get(sides, ()) for one in change_points if (sides := _sides(one))]
    return in_words([one for one in found[0] if all(one in other for other in found)]) if found else ""


def in_words(switched: Sequence[Difference]) -> str:
    """``slow_query_log was switched on and long_query_time was set to 0``."""
    # A switch that is on or off tells more than values.
    said = [_said(one) for one in sorted(switched, key=lambda one: not _is_of_a_switch(one))]
    more = len(said) - MAX_NAMED
    if more > 0:
        said = [*said[:MAX_NAMED], f"{more} more thing{'' if more == 1 else 's'} changed"]
    return listed(said)


def _sides(one: ChangePoint) -> tuple[Surroundings, Surroundings] | None:
    if one.last_good is None:
        return None
    before, after = ((run.content_id, run.environment_id) for run in (one.last_good, one.run))
    return before, after


def _is_of_a_switch(switched: Difference) -> bool:
    return any(value and value.lower() in _ON | _OFF for value in (switched.before, switched.after))


def _said(switched: Difference) -> str:
    before, after = (value and _shortened(value) for value in (switched.before, switched.after))
    if after and after.lower() in _ON and (before is None or before.lower() in _OFF):
        return f"{switched.name} was switched on"
    if after and after.lower() in _OFF and before and before.lower() in _ON:
        return f"{switched.name} was switched off"
    if before is None:
        return f"{switched.name} was set to {after or 'nothing'}"
    if after is None:
        return f"{switched.name} was no longer set to {before or 'nothing'}"
    return f"{switched.name} went from {before or 'nothing'} to {after or 'nothing'}"


def _shortened(value: str) -> str:
    return value if len(value) <= _MAX_VALUE else f"{value[: _MAX_VALUE - 1]}…"
