"""What a branch is held against on a page: what people set for it, unless the address says otherwise."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import QueryDict

from benchdash.accounts.models import Project
from benchdash.dashboard.filters import Filter
from benchdash.dashboard.forms.overview import read_branch_base
from benchdash.regressions.branch_table import Base, base_of, stream_of
from benchdash.regressions.comparison import Column
from benchdash.results.baselines import baselines
from benchdash.results.models import Baseline


@dataclass(frozen=True)
class BranchBase:
    """``base`` None: the oldest shown group. ``chip`` chooses another; ``history`` has the newest first."""

    base: Base | None
    chip: Filter
    history: Sequence[Baseline]

    @property
    def stored(self) -> Baseline | None:
        """What people set, and did not take back."""
        return next((one for one in self.history[:1] if one.version), None)


def branch_base(project: Project, query: QueryDict, branch: Column, releases: Sequence[Column]) -> BranchBase:
    """``releases`` are those at the place of the branch, in their order. One statement."""
    history = baselines(project, stream_of(branch))
    newest = history[0] if history else None
    base = base_of(newest, branch) if newest else None
    stored = (newest.name, base) if newest and base else None
    chosen, chip = read_branch_base(query, releases, stored)
    return BranchBase(chosen, chip, history)
