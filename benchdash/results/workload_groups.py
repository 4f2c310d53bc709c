"""Groups of like workloads (point queries, ranges, writes), by patterns of their names."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Final

from django.db import transaction

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.accounts.services import audit
from benchdash.results.models import WorkloadGroup

MAX_GROUPS: Final = 30
MAX_PATTERNS: Final = 100
MAX_NAME_LENGTH: Final = 100
MAX_PATTERN_LENGTH: Final = 300


class GroupingError(Exception):
    """Groups that cannot be, with a sentence for the person who wanted them."""


@dataclass(frozen=True, slots=True)
class PatternGroup:
    """A named group; ``*`` in a pattern stands for anything, ``?`` for one character, in any case."""

    name: str
    patterns: tuple[str, ...]

    def has(self, workload: str) -> bool:
        name = workload.casefold()
        return any(fnmatchcase(name, pattern.casefold()) for pattern in self.patterns)

    def __str__(self) -> str:
        return f"{self.name}: {', '.join(self.patterns)}"


@dataclass(frozen=True)
class Grouping:
    """The groups of a project in their order; ``is_automatic`` where nobody has said any."""

    groups: tuple[PatternGroup, ...]
    is_automatic: bool = False

    def of(self, workload: str) -> str | None:
        """Return the name of the first group that has the workload."""
        if workload not in self._known:
            self._known[workload] = next((one.name for one in self.groups if one.has(workload)), None)
        return self._known[workload]

    @property
    def names(self) -> list[str]:
        return [group.name for group in self.groups]

    @cached_property
    def _known(self) -> dict[str, str | None]:
        return {}

    def __str__(self) -> str:
        return "automatic" if self.is_automatic else "; ".join(map(str, self.groups))


AUTOMATIC: Final = Grouping(
    (
        PatternGroup("point queries", ("*point*", "*select-only*", "*select_only*")),
        PatternGroup("range queries", ("range*", "scan*", "*random_ranges*", "oltp_range*")),
        PatternGroup("range queries with aggregation", ("read-only*", "oltp_read_only*")),
        PatternGroup(
            "writes",
            (
                *("update*", "insert*", "delete*", "write*", "read-write*", "bulk_insert*"),
                *("oltp_update*", "oltp_insert*", "oltp_delete*", "oltp_write*", "oltp_read_write*"),
                *("*tpcb*", "simple-update*"),
            ),
        ),
    ),
    is_automatic=True,
)
"""For names as sysbench, pgbench and what was made from them give."""


def grouping_of(project: Project) -> Grouping:
    """Return the groups of a project; one statement."""
    return groupings_of([project.pk])[project.pk]


def groupings_of(project_ids: Collection[int]) -> dict[int, Grouping]:
    """Return the groups of several projects; one statement."""
    own: dict[int, list[PatternGroup]] = {pk: [] for pk in project_ids}
    for one in WorkloadGroup.objects.filter(project__in=project_ids):
        own[one.project_id].append(PatternGroup(one.name, tuple(one.patterns)))
    return {pk: Grouping(tuple(groups)) if groups else AUTOMATIC for pk, groups in own.items()}


@transaction.atomic
def set_groups(project: Project, groups: Sequence[PatternGroup], *, by: Viewer, reason: str = "") -> None:
    """Replace the groups of a project, in this order; without any, it has the automatic ones.

    Raises GroupingError.
    """
    check_groups(groups)
    # Two people may save at once: the second waits here, and its groups stay.
    Project.objects.select_for_update().get(pk=project.pk)
    before = grouping_of(project)
    after = Grouping(tuple(groups)) if groups else AUTOMATIC
    if after == before:
        return
    WorkloadGroup.objects.filter(project=project).delete()
    WorkloadGroup.objects.bulk_create(
        WorkloadGroup(project=project, name=group.name, position=position, patterns=list(group.patterns))
        for position, group in enumerate(groups)
    )
    detail = {"before": str(before), "after": str(after)}
    audit(project, by, "workload groups changed", project.slug, reason=reason, detail=detail)


def check_groups(groups: Sequence[PatternGroup]) -> None:
    """Raise GroupingError for groups that cannot be."""
    names = [group.name for group in groups]
    if len(groups) > MAX_GROUPS:
        raise GroupingError(f"at most {MAX_GROUPS} groups")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise GroupingError(f"two groups are called {twice!r}")
    for group in groups:
        if not group.name or len(group.name) > MAX_NAME_LENGTH:
            raise GroupingError(f"a group has a name of at most {MAX_NAME_LENGTH} characters")
        if not group.patterns or len(group.patterns) > MAX_PATTERNS:
            raise GroupingError(f"the group {group.name!r} needs a pattern, and has at most {MAX_PATTERNS}")
        if any(not pattern or len(pattern) > MAX_PATTERN_LENGTH for pattern in group.patterns):
            raise GroupingError(
                f"the group {group.name!r} has a pattern that is empty or longer than {MAX_PATTERN_LENGTH}"
            )
