"""The matrix of the overview: workloads against the newest versions, or groups of a branch, at one place."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from django.http import QueryDict

from benchdash.accounts.models import Project
from benchdash.dashboard import numbers
from benchdash.dashboard.branch_table import branch_table, day, group_name
from benchdash.dashboard.charts.matrix import Head, Link, Matrix, matrix
from benchdash.dashboard.columns import short_id
from benchdash.dashboard.filters import Filter
from benchdash.dashboard.forms import overview as form
from benchdash.dashboard.measured import measured_of
from benchdash.dashboard.navigation import page_url
from benchdash.dashboard.places import Place, recent_columns
from benchdash.regressions.column_names import names
from benchdash.regressions.comparison import Column, ComparisonTable, Row, SelectorError, compare_columns
from benchdash.results.queries import Point
from benchdash.results.versions import release_line

# A click on the cell of several thread counts shows so many of their series at most.
_MOST_SERIES: Final = 8


@dataclass(frozen=True)
class OverviewMatrix:
    """``matrix`` is None where no shown column has the metric. ``opens`` are addresses by workload that show
    or hide its thread counts.
    """

    place: Place
    metric: str
    filters: Sequence[Filter]
    base: Head
    heads: Sequence[Head]
    matrix: Matrix | None
    opens: Mapping[str, str]


@dataclass(frozen=True)
class _Source:
    """Where the numbers come from: versions that were released, or groups of a branch."""

    base: Head
    heads: Sequence[Head]
    filters: Sequence[Filter]
    table: ComparisonTable | None
    link: Link


def overview_matrix(
    project: Project, query: QueryDict, path: str, available: Sequence[Column]
) -> OverviewMatrix:
    """What the address chooses, in a constant number of statements. ``available`` is not empty."""
    place, chips = form.read_place(query, available, recent_columns(project, available))
    at_place = [column for column in available if Place.of(column) == place]
    measured = measured_of(project, at_place)
    metric, metric_chip = form.read_metric(query, measured.metrics)
    ids = {name: str(pk) for pk, name in measured.workloads.items()}
    if place.branch:
        releases = [column for column in available if Place.of(column) == replace(place, branch="")]
        source = _groups(project, query, at_place[0], releases, metric)
    else:
        source = _versions(project, query, at_place, metric, ids)
    opened = {name for name, pk in ids.items() if pk in query.getlist("open")}
    return OverviewMatrix(
        place=place,
        metric=metric,
        filters=[*chips, metric_chip, *source.filters],
        base=source.base,
        heads=source.heads,
        matrix=_matrix(source, opened),
        opens={name: _toggled(query, path, pk) for name, pk in ids.items()},
    )


def _matrix(source: _Source, opened: Collection[str]) -> Matrix | None:
    if source.table is None:
        return None
    return matrix(source.table, write=numbers.ratio, link=source.link, opened=opened)


def _versions(
    project: Project, query: QueryDict, at_place: Sequence[Column], metric: str, ids: Mapping[str, str]
) -> _Source:
    shown, shown_chip = form.read_shown(query, what="versions", lines=_has_lines(at_place))
    newest = shown.of(at_place)
    base, base_chip = form.read_base(query, at_place, newest[0])
    base = base or newest[0]
    columns = [column for column in newest if column != base]
    base_name, *others = names([base, *columns])
    try:
        table = compare_columns(project, metric=metric, base=base, columns=columns)
    except SelectorError:
        table = None
    url = page_url("compare", project)

    def link(rows: Sequence[Row], column: int | None) -> str:
        pair = [base] if column is None else [base, columns[column]]
        chosen = "&".join(f"v={short_id(one)}" for one in pair)
        threads = f"&threads={rows[0].threads}" if len(rows) == 1 and rows[0].threads is not None else ""
        return f"{url}?{chosen}&base={short_id(base)}&workload={ids[rows[0].workload]}{threads}"

    return _Source(Head(base_name), list(map(Head, others)), [shown_chip, base_chip], table, link)


def _groups(
    project: Project, query: QueryDict, branch: Column, releases: Sequence[Column], metric: str
) -> _Source:
    """Relative to the newest release at the same place or, where none was measured, to the oldest group."""
    shown, shown_chip = form.read_shown(query, what="groups", lines=False)
    newest = releases[-1] if releases else None
    base, base_chip = form.read_base(query, releases, newest, empty="the oldest shown")
    found = branch_table(project, branch, metric=metric, last=shown.last, base=base)
    url = page_url("history", project)

    def link(rows: Sequence[Row], column: int | None) -> str:
        cells = [row.base if column is None else row.cells[column] for row in rows]
        series = "&".join(f"series={cell.series_id}" for cell in cells[:_MOST_SERIES] if cell)
        return f"{url}?{series}"

    chips = [shown_chip, *([base_chip] if releases else [])]
    if found is None:
        return _Source(Head(""), [], chips, None, link)
    base_head = _head(found.base_group) if found.base_group else Head(names([found.table.base])[0])
    return _Source(base_head, [_head(group) for group in found.groups], chips, found.table, link)


def _head(group: Point) -> Head:
    return Head(group_name(group), day(group.time) if group.commit else "")


def _has_lines(columns: Sequence[Column]) -> bool:
    lines = {release_line(column.version.product.name, column.version.version) for column in columns}
    return len(lines - {""}) > 1


def _toggled(query: QueryDict, path: str, workload: str) -> str:
    """The address with the thread counts of a workload shown instead of hidden, or the other way round."""
    changed = query.copy()
    opened = query.getlist("open")
    changed.setlist(
        "open",
        [one for one in opened if one != workload] if workload in opened else [*opened, workload],
    )
    return f"{path}?{changed.urlencode()}"
