"""A shift of one series with the groups around it, as it is stored."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from benchdash.regressions.analysis.places import Group, History
from benchdash.regressions.detection.shifts import Shift

MIN_SESSIONS: Final = 2
"""Independent sessions of each level, all its releases together, without which no step is confirmed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """``first`` is the first group of the new level, ``last_good`` the last one certainly of the old.

    ``first_bad`` is the first one certainly of the new level, where that is known.

    ``groups`` counts those of both levels. ``origin`` is as of ChangePoint.
    """

    shift: Shift
    history: History
    first: Group
    last_good: Group | None
    groups: tuple[int, int]
    origin: str = ""
    first_bad: Group | None = None

    @classmethod
    def of(cls, shift: Shift, history: History) -> "Finding":
        """Take a shift at its position of the history."""
        at = shift.index
        first, last = shift.began or (at, at)
        first_bad = history.at(last) if shift.began and history.has(last) else None
        around = history.groups_around(at)
        return cls(shift, history, history.at(at), history.before(first), around, first_bad=first_bad)

    @property
    def run_id(self) -> int:
        return self.first.first_run_id

    @property
    def is_fall(self) -> bool:
        return self.shift.after < self.shift.before


def held_to_sessions(findings: Sequence[Finding]) -> list[Finding]:
    """Take those findings of one series for suspected whose levels have too few independent sessions.

    Nine builds of one evening are nine groups, and one session of the machine.
    """
    edges = [one.shift.index for one in findings if one.shift.state == "confirmed"]

    def held(finding: Finding) -> Finding:
        at, history = finding.shift.index, finding.history
        start = max((edge for edge in edges if edge < at), default=0)
        end = min((edge for edge in edges if edge > at), default=history.length)
        if min(history.independent(start, at), history.independent(at, end)) >= MIN_SESSIONS:
            return finding
        return replace(finding, shift=replace(finding.shift, state="suspected"))

    return [held(one) for one in findings]
