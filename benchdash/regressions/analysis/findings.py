"""A shift of one series with the groups around it, as it is stored."""

from dataclasses import dataclass

from benchdash.regressions.analysis.places import Group, History
from benchdash.regressions.detection.shifts import Shift


@dataclass(frozen=True, slots=True)
class Finding:
    """``first`` is the first group of the new level, ``last_good`` the last one of the old.

    ``groups`` counts those of both levels. ``origin`` is as of ChangePoint.
    """

    shift: Shift
    history: History
    first: Group
    last_good: Group | None
    groups: tuple[int, int]
    origin: str = ""

    @classmethod
    def of(cls, shift: Shift, history: History) -> "Finding":
        """Take a shift at its position of the history."""
        at = shift.index
        return cls(shift, history, history.at(at), history.before(at), history.groups_around(at))

    @property
    def run_id(self) -> int:
        return self.first.first_run_id

    @property
    def is_fall(self) -> bool:
        return self.shift.after < self.shift.before
