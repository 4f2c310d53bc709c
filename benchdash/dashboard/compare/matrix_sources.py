"""The sources of a matrix: versions side by side, or the newest groups of a branch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Final

from benchdash.accounts.models import Project
from benchdash.addresses import HistoryQuery, MatrixQuery, PairQuery, history_of
from benchdash.dashboard.charts.matrix import Head, Link
from benchdash.regressions.comparison.branch_table import (
    Around,
    Base,
    BranchGroup,
    Rows,
    branch_table,
    day,
)
from benchdash.regressions.comparison.cells import Cell
from benchdash.regressions.comparison.columns import Column, SelectorError, names, short_id
from benchdash.regressions.comparison.comparability import SingleSessions
from benchdash.regressions.comparison.rows import RelativeTo, Row
from benchdash.regressions.comparison.shown_units import table_in_used_units
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.regressions.comparison.version_table import compare_columns
from benchdash.results.workload_groups import Grouping

# Maximum number of series that a click on a cell of several thread counts shows.
_MAX_SERIES: Final = 8


@dataclass(frozen=True)
class MatrixSource:
    """The columns and the numbers of a matrix; ``table`` is None where nothing of it has the metric.

    ``groups`` are those of a branch, ``base_group`` the one that they are held against, if there is one.
    """

    base: Head
    heads: Sequence[Head]
    table: ComparisonTable[Column] | None
    link: Link
    groups: Sequence[BranchGroup] = ()
    base_group: BranchGroup | None = None
    around: Around | None = None

    @property
    def headline(self) -> str:
        """The sentence above a table in which nothing can be judged; else empty."""
        called = [self.base.name, *(head.name for head in self.heads)]
        return SingleSessions.of(self.table.rows, called).headline if self.table else ""

    @property
    def all_groups(self) -> Sequence[BranchGroup]:
        return [*([self.base_group] if self.base_group else []), *self.groups]


@dataclass(frozen=True)
class MatrixReading:
    """The rows and the metric to read of any source."""

    metric: str
    rows: Rows = field(default_factory=Rows)
    relative_to: RelativeTo = "base"
    grouping: Grouping | None = None

    def of(self, metric: str, workloads: Sequence[str]) -> "MatrixReading":
        """Return the same reading of another metric of some workloads."""
        return replace(self, metric=metric, rows=replace(self.rows, workloads=workloads), grouping=None)


def of_versions(
    project: Project,
    reading: MatrixReading,
    base: Column,
    others: Sequence[Column],
    workloads: Mapping[str, str],
    *,
    relative: bool = False,
) -> MatrixSource:
    """Return versions side by side; a click leads to two of them in one workload, or to one's history.

    ``workloads`` are ids by name. ``relative``: a click opens the row, for who may see neither.
    """
    called = names([base, *others])
    builds = {column.version.build for column in (base, *others)}
    if others and len(builds) == 1 and base.version.build:
        # A build that all share stands above them.
        called = [name.replace(f" {base.version.build}", "", 1) for name in called]
    try:
        table = compare_columns(
            project,
            metric=reading.metric,
            base=base,
            columns=others,
            workloads=reading.rows.workloads,
            threads=reading.rows.threads,
            relative_to=reading.relative_to,
            grouping=reading.grouping,
        )
    except SelectorError:
        table = None
    ids = tuple(short_id(one) for one in (base, *others))

    def link(rows: Sequence[Row], column: int | None) -> str:
        first, workload = rows[0], (workloads[rows[0].workload],)
        if relative:
            return MatrixQuery(versions=ids, base=ids[0], open=workload).url(project)
        if column is None:
            return _history([row.base for row in rows]).url(project)
        query = PairQuery(
            base=ids[column] if reading.relative_to == "previous" else ids[0],
            against=ids[column + 1],
            workloads=workload,
            threads=(str(first.threads),) if len(rows) == 1 and first.threads is not None else (),
        )
        return query.url(project)

    shown = table and table_in_used_units(table)
    return MatrixSource(Head(called[0]), list(map(Head, called[1:])), shown, link)


def of_branch(
    project: Project,
    reading: MatrixReading,
    branch: Column,
    *,
    last: int,
    base: Base | None,
    until: datetime | None = None,
) -> MatrixSource:
    """Return the newest groups of a branch; a click leads to the history of the series."""
    found = branch_table(
        project,
        branch,
        metric=reading.metric,
        last=last,
        base=base,
        until=until,
        rows=reading.rows,
        relative_to=reading.relative_to,
        grouping=reading.grouping,
    )

    def link(rows: Sequence[Row], column: int | None) -> str:
        return _history([row.base if column is None else row.cells[column] for row in rows]).url(project)

    if found is None:
        return MatrixSource(Head(""), [], None, link)
    return MatrixSource(
        base=_head(found.base_group) if found.base_group else base_head(base),
        heads=[_head(group) for group in found.groups],
        table=table_in_used_units(found.table),
        link=link,
        groups=found.groups,
        base_group=found.base_group,
        around=found.around,
    )


def _history(cells: Sequence[Cell | None]) -> HistoryQuery:
    return history_of(*(cell.series_id for cell in cells[:_MAX_SERIES] if cell))


def dated(source: MatrixSource) -> MatrixSource:
    """Name the groups of a branch by their days, with their commits below."""
    groups = source.all_groups
    days = [group.time.astimezone(UTC).date() for group in groups]
    years = {one.year for one in days}
    heads = [
        Head(_date(one, with_year=len(years) > 1), (group.commit or "")[:8])
        for one, group in zip(days, groups, strict=True)
    ]
    if source.base_group:
        return replace(source, base=heads[0], heads=heads[1:])
    return replace(source, heads=heads)


def group_label(group: BranchGroup) -> str:
    """``1 Mar 2026, commit 3f9a2c1a``."""
    day = _date(group.time.astimezone(UTC).date(), with_year=True)
    return f"{day}, commit {group.commit[:8]}" if group.commit else day


def _date(one: date, *, with_year: bool) -> str:
    return f"{one.day} {one:%b %Y}" if with_year else f"{one.day} {one:%b}"


def base_head(base: Base | None) -> Head:
    """Name a release by its version, and a group of the branch by its day."""
    if base is None:
        return Head("")
    commit = base.column.version.commit
    if base.day:
        return Head(_date(base.day, with_year=True), (commit or "")[:8])
    return Head(names([base.column])[0])


def _head(group: BranchGroup) -> Head:
    return Head(group.name, day(group.time) if group.commit else "")
