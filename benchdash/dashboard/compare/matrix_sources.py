"""The sources of a matrix: versions side by side, or the newest groups of a branch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Final

from benchdash.accounts.models import Project
from benchdash.dashboard.charts.matrix import Head, Link
from benchdash.dashboard.shell.navigation import page_url
from benchdash.regressions.comparison.branch_table import (
    Around,
    Base,
    Rows,
    branch_table,
    day,
    group_name,
)
from benchdash.regressions.comparison.columns import Column, SelectorError, names, short_id
from benchdash.regressions.comparison.rows import RelativeTo, Row
from benchdash.regressions.comparison.version_table import ComparisonTable, compare_columns
from benchdash.results.points import Point
from benchdash.results.workload_groups import Grouping

# A click on the cell of several thread counts shows so many of their series at most.
_MAX_SERIES: Final = 8


@dataclass(frozen=True)
class MatrixSource:
    """``table`` is None where nothing of it has the metric; ``groups`` are those of a branch.

    ``base_group`` is one of the branch too, where that is what the others are held against.
    """

    base: Head
    heads: Sequence[Head]
    table: ComparisonTable | None
    link: Link
    groups: Sequence[Point] = ()
    base_group: Point | None = None
    around: Around | None = None


@dataclass(frozen=True)
class MatrixReading:
    """The rows and the metric to read of any source."""

    metric: str
    rows: Rows = field(default_factory=Rows)
    relative_to: RelativeTo = "base"
    grouping: Grouping | None = None


def of_versions(
    project: Project,
    reading: MatrixReading,
    base: Column,
    others: Sequence[Column],
    workloads: Mapping[str, str],
) -> MatrixSource:
    """``workloads`` are ids by name. A click leads to the comparison of two versions in one workload."""
    base_name, *other_names = _without_shared_build(names([base, *others]), [base, *others])
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
    url = page_url("compare", project)
    before = [base, *others]

    def link(rows: Sequence[Row], column: int | None) -> str:
        against = before[column] if column and reading.relative_to == "previous" else base
        pair = [base] if column is None else [against, others[column]]
        chosen = "&".join(f"v={short_id(one)}" for one in pair)
        threads = f"&threads={rows[0].threads}" if len(rows) == 1 and rows[0].threads is not None else ""
        return f"{url}?{chosen}&base={short_id(against)}&workload={workloads[rows[0].workload]}{threads}"

    return MatrixSource(Head(base_name), list(map(Head, other_names)), table, link)


def _without_shared_build(called: Sequence[str], columns: Sequence[Column]) -> list[str]:
    """A build that all of several columns share is said once, above them."""
    builds = {column.version.build for column in columns}
    if len(builds) > 1 or len(columns) == 1 or builds == {""}:
        return list(called)
    return [name.replace(f" {columns[0].version.build}", "", 1) for name in called]


def of_branch(
    project: Project,
    reading: MatrixReading,
    branch: Column,
    *,
    last: int,
    base: Base | None,
    until: datetime | None = None,
) -> MatrixSource:
    """A click leads to the history of the series."""
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
    url = page_url("history", project)

    def link(rows: Sequence[Row], column: int | None) -> str:
        cells = [row.base if column is None else row.cells[column] for row in rows]
        series = "&".join(f"series={cell.series_id}" for cell in cells[:_MAX_SERIES] if cell)
        return f"{url}?{series}"

    if found is None:
        return MatrixSource(Head(""), [], None, link)
    return MatrixSource(
        base=_head(found.base_group) if found.base_group else base_head(base),
        heads=[_head(group) for group in found.groups],
        table=found.table,
        link=link,
        groups=found.groups,
        base_group=found.base_group,
        around=found.around,
    )


def dated(source: MatrixSource) -> MatrixSource:
    """The groups of a branch under their days, with their commits below."""
    groups = [*([source.base_group] if source.base_group else []), *source.groups]
    days = [group.time.astimezone(UTC).date() for group in groups]
    years = {one.year for one in days}
    heads = [
        Head(_date(one, with_year=len(years) > 1), (group.commit or "")[:8])
        for one, group in zip(days, groups, strict=True)
    ]
    if source.base_group:
        return replace(source, base=heads[0], heads=heads[1:])
    return replace(source, heads=heads)


def group_label(group: Point) -> str:
    """``1 Mar 2026, commit 3f9a2c1a``."""
    day = _date(group.time.astimezone(UTC).date(), with_year=True)
    return f"{day}, commit {group.commit[:8]}" if group.commit else day


def _date(one: date, *, with_year: bool) -> str:
    return f"{one.day} {one:%b %Y}" if with_year else f"{one.day} {one:%b}"


def base_head(base: Base | None) -> Head:
    """A release by its version; a group of the branch by its commit or its day."""
    if base is None:
        return Head("")
    commit = base.column.version.commit
    if base.day:
        return Head(_date(base.day, with_year=True), (commit or "")[:8])
    return Head(names([base.column])[0])


def _head(group: Point) -> Head:
    return Head(group_name(group), day(group.time) if group.commit else "")
