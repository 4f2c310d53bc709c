"""The shifts in a growing table, look by look: a handful of groups by ``releases``, a history by ``joint``.

While there are six to ten groups, both search. Where both find the same change, the confirmed one counts, and
of two confirmed ones that of the history. A change that was confirmed by few groups stays as long as its own
evidence does, even where it lies too near the beginning for ``joint`` to find it.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from benchdash.regressions.detection.covariate import logs
from benchdash.regressions.detection.drift import Drift, find_drift, share_of_drift, without_drifts
from benchdash.regressions.detection.joint import JointShift, Key, find_joint_shifts
from benchdash.regressions.detection.levels import LASTING
from benchdash.regressions.detection.releases import MAX_RELEASE_GROUPS, Sessions, find_release_shifts
from benchdash.regressions.detection.shifts import Values, as_array
from benchdash.results.readings import Direction

_MIN_GROUPS = 2


def joint_looks(
    table: Mapping[Key, Values],
    directions: Mapping[Key, Direction],
    *,
    first_new: int,
    known: Collection[int] = (),
    expected: Collection[int] = (),
    machine: Mapping[Hashable, Values] | None = None,
    controls: Mapping[Key, Values] | None = None,
    sessions: Callable[[Key], Sessions] | None = None,
) -> Iterator[list[JointShift]]:
    """Yield what each look shows: one at every position from ``first_new`` on, the last at the whole table.

    A history that is imported at once so tells what it would have told night by night. The arguments are
    those of ``joint.find_joint_shifts``; ``sessions`` gives by position the values of the sessions behind
    a series of ``table`` (see ``releases``), as far as they are known; few groups are looked at in proportion
    to the control.
    """
    length = max(map(len, table.values()), default=0)
    first = min(max(first_new + 1, _MIN_GROUPS), length)

    # A long history asks for none of them, and they are as many lists as it has values.
    @cache
    def repeats() -> dict[Key, Sessions]:
        return {
            key: _beside(_sessions(values, sessions(key) if sessions else ()), (controls or {}).get(key))
            for key, values in table.items()
        }

    for end in range(first, length + 1):
        so_far = {key: values[:end] for key, values in table.items()}
        slow = {what: values[:end] for what, values in (machine or {}).items()}
        beside = {key: values[:end] for key, values in (controls or {}).items()}
        expected_so_far = [index for index in expected if index < end]
        found = find_joint_shifts(
            so_far, directions, known=known, expected=expected_so_far, machine=slow, controls=beside
        )
        few = _of_few_groups(
            repeats,
            directions,
            end=end,
            known=known if end <= MAX_RELEASE_GROUPS else set(known) - {shift.index for shift in found},
            expected=expected_so_far,
            search=end <= MAX_RELEASE_GROUPS,
        )
        found = _together(found, few)
        yield found
        known = _confirmed(found)


def _of_few_groups(
    sessions: Callable[[], Mapping[Key, Sessions]],
    directions: Mapping[Key, Direction],
    *,
    end: int,
    known: Collection[int],
    expected: Collection[int],
    search: bool,
) -> list[JointShift]:
    early = [index for index in known if index < MAX_RELEASE_GROUPS]
    if not early and not search:
        return []
    so_far = {key: values[:end] for key, values in sessions().items()}
    return find_release_shifts(so_far, directions, known=early, expected=expected, search=search)


def _sessions(values: Values, known: Sessions) -> Sessions:
    """List the values of the sessions by position; a group without known sessions is one session."""
    groups = [[float(value)] if np.isfinite(value) else [] for value in as_array(values)]
    return [*known[: len(groups)], *groups[len(known) :]]


def _beside(sessions: Sessions, control: Values | None) -> Sessions:
    """Return the values as they would be at the usual level of the control; without one as they are."""
    if control is None:
        return sessions
    levels = logs(as_array(control))
    usual = float(np.median(levels[np.isfinite(levels)]))
    slow = np.exp(np.where(np.isfinite(levels), levels - usual, 0.0)).tolist()
    return [[value / slower for value in values] for values, slower in zip(sessions, slow, strict=True)]


def _together(history: list[JointShift], few: list[JointShift]) -> list[JointShift]:
    kept = list(history)
    for one in few:
        same = [
            shift for shift in kept if shift.worse == one.worse and abs(shift.index - one.index) <= LASTING
        ]
        confirmed = any(shift.state == "confirmed" for shift in same)
        if not same or (one.state == "confirmed" and not confirmed):
            kept = [shift for shift in kept if shift not in same] + [one]
    return sorted(kept, key=lambda shift: shift.index)


def newest_look(
    table: Mapping[Key, Values],
    directions: Mapping[Key, Direction],
    *,
    first_new: int,
    drifts: Sequence[Drift] = (),
    drift_since: int = 0,
    known: Collection[int] = (),
    expected: Collection[int] = (),
    machine: Mapping[Hashable, Values] | None = None,
    controls: Mapping[Key, Values] | None = None,
    sessions: Callable[[Key], Sessions] | None = None,
) -> tuple[list[JointShift], Drift | None]:
    """Return what the last of ``joint_looks`` shows, and the drift that is new or goes on there.

    Shifts are searched for in what the known ``drifts`` leave, and once more where a new one is found: a step
    beside a drift stands out of it. The last one may go on. A new one begins at ``drift_since`` or later.
    """
    look = partial(
        joint_looks,
        directions=directions,
        expected=expected,
        machine=machine,
        controls=controls,
        sessions=sessions,
    )
    *_, shifts = look(without_drifts(table, drifts), first_new=first_new, known=known)
    steps = _confirmed(shifts)
    drift = find_drift(
        table,
        directions,
        steps=steps,
        expected=expected,
        since=drift_since,
        known=drifts[-1] if drifts else None,
        machine=machine or {},
        controls=controls or {},
    )
    if drift and not (drifts and drift.first <= drifts[-1].last):
        drifts = [*drifts, drift]
        length = max(map(len, table.values()))
        *_, shifts = look(without_drifts(table, drifts), first_new=length, known=steps)
    return [_amid(drifts, shift) for shift in shifts], drift


def _confirmed(shifts: Iterable[JointShift]) -> list[int]:
    return [shift.index for shift in shifts if shift.state == "confirmed"]


def _amid(drifts: Sequence[Drift], shift: JointShift) -> JointShift:
    """Put the levels of a shift, which were found beside drifts, where they were measured."""
    members = dict(shift.members)
    for drift in drifts:
        share = share_of_drift(drift.first, drift.last, shift.index + 1)[-1]
        for key in members.keys() & drift.changes.keys():
            lost, one = float(np.exp(drift.changes[key] * share)), members[key]
            members[key] = replace(one, before=one.before * lost, after=one.after * lost)
    return replace(shift, members=members)
