"""The settings that were switched at a change of level, in a sentence."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from benchdash.regressions.models import ChangePoint
from benchdash.regressions.queries import Difference, differences
from benchdash.results.models import ConfigurationContent, Environment, Run
from benchdash.results.wording import listed

MAX_NAMED: Final = 2
_MAX_VALUE: Final = 40
_ON: Final = frozenset({"on", "true", "yes", "enabled"})
_OFF: Final = frozenset({"off", "false", "no", "disabled"})

# The contents of configuration and environment of a run.
_Surroundings = tuple[int | None, int | None]
Sides = tuple[_Surroundings, _Surroundings]
Switches = Mapping[Sides, Sequence[Difference]]


def switches_of(change_points: Iterable[ChangePoint]) -> Switches:
    """Read what differs between the sides of change points, in at most two statements."""
    sides = {found for one in change_points if (found := _sides(one)) and found[0] != found[1]}
    contents = ConfigurationContent.objects.in_bulk({side[0] for pair in sides for side in pair} - {None})
    environments = Environment.objects.in_bulk({side[1] for pair in sides for side in pair} - {None})

    def as_run(side: _Surroundings) -> Run:
        return Run(content=contents.get(side[0] or 0), environment=environments.get(side[1] or 0))

    return {(before, after): differences(as_run(before), as_run(after)) for before, after in sides}


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


def _sides(one: ChangePoint) -> Sides | None:
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
