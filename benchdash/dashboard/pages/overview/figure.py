"""The matrix of the overview: workloads against the newest versions, or groups of a branch, at one place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import QueryDict

from benchdash.accounts.models import Project
from benchdash.dashboard.charts.matrix import Head, Matrix, MatrixLook, matrix
from benchdash.dashboard.compare import matrix_selection as form
from benchdash.dashboard.compare.matrix_sources import MatrixReading, MatrixSource, of_branch, of_versions
from benchdash.dashboard.compare.places import Place, recent_use
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.filters import FilterChip
from benchdash.regressions.comparison.columns import Column, contents_of
from benchdash.results.versions import release_line


@dataclass(frozen=True)
class OverviewMatrix:
    """``matrix`` is None where no shown column has the metric. ``opens`` are addresses by workload that show
    or hide its thread counts.
    """

    place: Place
    metric: str
    filters: Sequence[FilterChip]
    base: Head
    heads: Sequence[Head]
    matrix: Matrix | None
    opens: Mapping[str, str]


def overview_matrix(
    project: Project, query: QueryDict, path: str, available: Sequence[Column]
) -> OverviewMatrix:
    """Read the matrix of an address, in a constant number of statements. ``available`` is not empty."""
    place, chips = form.read_place(query, available, recent_use(project))
    at_place = [column for column in available if Place.of(column) == place]
    measured = contents_of(project, at_place)
    metric, metric_chip = form.read_metric(query, measured.metrics)
    ids = {name: str(pk) for pk, name in measured.workloads.items()}
    if place.branch:
        of_releases = place._replace(branch="")
        releases = [column for column in available if Place.of(column) == of_releases]
        source, source_chips = _groups(project, query, at_place[0], releases, metric)
    else:
        source, source_chips = _versions(project, query, at_place, metric, ids)
    opened = {name for name, pk in ids.items() if pk in query.getlist("open")}
    return OverviewMatrix(
        place=place,
        metric=metric,
        filters=[*chips, metric_chip, *source_chips],
        base=source.base,
        heads=source.heads,
        matrix=matrix(source.table, write=numbers.ratio, link=source.link, look=MatrixLook(opened=opened))
        if source.table
        else None,
        opens={name: form.toggled(query, path, pk) for name, pk in ids.items()},
    )


def _versions(
    project: Project, query: QueryDict, at_place: Sequence[Column], metric: str, ids: Mapping[str, str]
) -> tuple[MatrixSource, list[FilterChip]]:
    shown, shown_chip = form.read_shown(query, what="versions", lines=_has_lines(at_place))
    newest = shown.of(at_place)
    base, base_chip = form.read_base(query, at_place, newest[0])
    others = [column for column in newest if column != base]
    return of_versions(project, MatrixReading(metric), base, others, ids), [shown_chip, base_chip]


def _groups(
    project: Project, query: QueryDict, branch: Column, releases: Sequence[Column], metric: str
) -> tuple[MatrixSource, list[FilterChip]]:
    """Relative to the baseline of the branch, else to the newest release at the same place, else to the
    oldest group.
    """
    shown, shown_chip = form.read_shown(query, what="groups", lines=False)
    held = form.branch_base(project, query, branch, releases)
    source = of_branch(project, MatrixReading(metric), branch, last=shown.last, base=held.base)
    return source, [shown_chip, *([held.chip] if len(held.chip.choices) > 1 else [])]


def _has_lines(columns: Sequence[Column]) -> bool:
    lines = {release_line(column.version.product.name, column.version.version) for column in columns}
    return len(lines - {""}) > 1
