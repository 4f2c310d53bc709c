"""The matrix page: all workloads against chosen versions, or against the newest nights of a branch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict

from benchdash.accounts.models import Project
from benchdash.dashboard.charts.matrix import Head, Matrix, MatrixLook, is_tested, matrix
from benchdash.dashboard.compare import matrix_selection as place_form
from benchdash.dashboard.compare.controls import Switch, meanings, reference_filter
from benchdash.dashboard.compare.matrix_sources import (
    MatrixReading,
    MatrixSource,
    dated,
    group_label,
    of_branch,
    of_versions,
)
from benchdash.dashboard.compare.places import Place, recent_use
from benchdash.dashboard.compare.selection import ChosenColumns, read_choice, read_columns, workload_ids
from benchdash.dashboard.compare.version_picker import VersionPicker, version_picker
from benchdash.dashboard.compare.versions import MAX_SEARCH_LENGTH, Available
from benchdash.dashboard.pages.matrix import baseline as baseline_form
from benchdash.dashboard.pages.matrix import selection as form
from benchdash.dashboard.pages.matrix.selection import MatrixPresentation
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.filters import FilterChip
from benchdash.dashboard.shell.navigation import Link, address_with, page_url
from benchdash.regressions.comparison.branch_table import Rows
from benchdash.regressions.comparison.columns import Column, ColumnContents, contents_of, names, short_id
from benchdash.regressions.comparison.comparability import Doubt, doubts
from benchdash.regressions.comparison.version_table import ComparisonTable
from benchdash.results.models import Baseline
from benchdash.results.workload_groups import grouping_of


@dataclass(frozen=True)
class Baselines:
    """The baseline of a branch and the choices to move it to.

    ``stream`` is the id of a column of the branch. ``is_missing``: the chosen one has nothing of the metric.
    ``choices`` are values and names for the form that moves it; ``earlier`` were set before the latest, with
    their values.
    """

    stream: str
    latest: Baseline | None
    earlier: Sequence[tuple[Baseline, str]]
    stored: Baseline | None
    is_missing: bool
    choices: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class WholeMatrix:
    """``matrix`` is None where nothing of the chosen has the metric. ``opens`` and ``charts`` are addresses
    by workload: with or without its thread counts, and of its charts.
    """

    view: MatrixPresentation
    look: MatrixLook
    title: str
    metric: str
    filters: Sequence[FilterChip]
    switches: Sequence[Switch]
    picker: VersionPicker | None
    columns: ChosenColumns | None
    base: Head
    heads: Sequence[Head]
    table: ComparisonTable | None
    matrix: Matrix | None
    is_tested: bool
    doubts: Sequence[Doubt]
    meanings: Sequence[tuple[str, Sequence[Link]]]
    baseline: Baselines | None
    opens: Mapping[str, str]
    charts: Mapping[str, str]
    pages: Sequence[Link] = ()

    @property
    def kept(self) -> list[tuple[str, str]]:
        """The query parameters that no filter sends."""
        said = [("over", "nights" if self.view.nights else "versions"), ("values", self.view.values)]
        until = self.view.until.isoformat() if self.view.until else ""
        said += [("relative_to", self.view.relative_to), *([("until", until)] if until else [])]
        return [*said, *(("open", pk) for pk in self.view.opened)]


@dataclass(frozen=True)
class _Chosen:
    """The columns of the matrix, and what they offer to choose from."""

    source: MatrixSource
    title: str
    measured: ColumnContents
    metric: str
    filters: Sequence[FilterChip]
    charts: Callable[[str], str]
    picker: VersionPicker | None = None
    columns: ChosenColumns | None = None
    doubts: Sequence[Doubt] = ()
    baseline: Baselines | None = None


def whole_matrix(project: Project, query: QueryDict, path: str, available: Available) -> WholeMatrix:
    """Read the matrix of an address, in a constant number of statements. ``available`` is not empty."""
    branches = [column for column in available if column.branch]
    releases = len(branches) < len(available)
    view = form.read_view(query, branches=bool(branches), releases=releases)
    if view.nights:
        chosen = _nights(project, query, view, available, branches)
    else:
        chosen = _versions(project, query, path, view, available)
    view = _with_ids(view, chosen.measured)
    source, table = chosen.source, chosen.source.table
    tested = table is not None and is_tested(table)
    ids = {name: str(pk) for pk, name in chosen.measured.workloads.items()}
    look = view.look(opened={name for name, pk in ids.items() if pk in view.opened}, tested=tested)
    return WholeMatrix(
        view=view,
        look=look,
        title=chosen.title,
        metric=chosen.metric,
        filters=[*chosen.filters, *form.row_filters(view, chosen.measured, look)],
        switches=form.switches(query, path, view, both=releases and bool(branches)),
        picker=chosen.picker,
        columns=chosen.columns,
        base=source.base,
        heads=source.heads,
        table=table,
        matrix=matrix(table, write=_writer(view), link=source.link, look=look) if table else None,
        is_tested=tested,
        doubts=chosen.doubts,
        meanings=meanings(path, read_choice(query, chosen.columns)) if chosen.columns else [],
        baseline=chosen.baseline,
        opens={name: place_form.toggled(query, path, pk) for name, pk in ids.items()},
        charts={name: chosen.charts(name) for name in ids},
        pages=form.pages(query, path, source.around) if source.around else [],
    )


def _writer(view: MatrixPresentation) -> Callable[[float], str]:
    return (lambda ratio: numbers.change(ratio - 1)) if view.nights else numbers.ratio


def _with_ids(view: MatrixPresentation, measured: ColumnContents) -> MatrixPresentation:
    return replace(view, workloads=workload_ids(view.workloads, measured.workloads))


def _reading(
    project: Project, view: MatrixPresentation, measured: ColumnContents, metric: str
) -> MatrixReading:
    asked = _with_ids(view, measured).workloads
    workloads = [name for pk, name in measured.workloads.items() if str(pk) in asked]
    rows = Rows(workloads=workloads, threads=view.threads)
    return MatrixReading(metric, rows, view.relative_to, grouping_of(project))


# --- versions -----------------------------------------------------------------------------------------------


def _versions(
    project: Project, query: QueryDict, path: str, view: MatrixPresentation, available: Available
) -> _Chosen:
    columns = read_columns(query, available, project, at_first=form.DEFAULT_COLUMNS)
    picker = _picker(query, path, available, columns)
    measured = contents_of(project, columns.chosen or available)
    metric, metric_chip = place_form.read_metric(query, measured.metrics)
    base = columns.chosen[0] if columns.chosen and view.relative_to == "previous" else columns.base
    ids = {name: str(pk) for pk, name in measured.workloads.items()}
    if base is None:
        empty = MatrixSource(Head(""), [], None, lambda *_: "")
        return _Chosen(empty, "", measured, metric, [metric_chip], lambda _: "", picker, columns)
    others = [column for column in columns.chosen if column != base]
    source = of_versions(project, _reading(project, view, measured, metric), base, others, ids)
    called = names(columns.chosen)
    base_chip = reference_filter(replace(columns, base=base), called)
    chosen = "&".join(f"v={short_id(column)}" for column in columns.chosen)
    charts = f"{page_url('compare', project)}?{chosen}&base={short_id(base)}&metric={metric}&workload="
    places = {Place.of(column) for column in columns.chosen}
    named = list(zip(columns.chosen, called, strict=True))
    return _Chosen(
        source=source,
        title=str(next(iter(places))) if len(places) == 1 else "Chosen versions",
        measured=measured,
        metric=metric,
        filters=[metric_chip, *([base_chip] if view.relative_to == "base" else [])],
        charts=lambda name: charts + ids[name],
        picker=picker,
        columns=columns,
        doubts=doubts([source.table], named, base) if source.table else [],
    )


def _picker(query: QueryDict, path: str, available: Available, columns: ChosenColumns) -> VersionPicker:
    return version_picker(
        available,
        columns.chosen,
        find=query.get("find", "")[:MAX_SEARCH_LENGTH],
        summary=f"{len(columns.chosen)} of {available.total}",
        address=lambda picked: address_with(path, query, v=list(map(short_id, picked)), base=""),
    )


# --- nights -------------------------------------------------------------------------------------------------


def _nights(
    project: Project,
    query: QueryDict,
    view: MatrixPresentation,
    available: Available,
    branches: Sequence[Column],
) -> _Chosen:
    place, place_chips = place_form.read_place(query, branches, recent_use(project))
    at_place = [column for column in branches if Place.of(column) == place]
    of_releases = place._replace(branch="")
    releases = [column for column in available if Place.of(column) == of_releases]
    measured = contents_of(project, at_place)
    metric, metric_chip = place_form.read_metric(query, measured.metrics)
    shown, shown_chip = place_form.read_shown(query, what="nights", lines=False)
    held = place_form.branch_base(project, query, at_place[0], releases)
    is_held = view.relative_to == "base"
    source = of_branch(
        project,
        _reading(project, view, measured, metric),
        at_place[0],
        last=shown.last,
        base=held.base if is_held else None,
        until=view.until,
    )
    return _Chosen(
        source=dated(source),
        title=str(place),
        measured=measured,
        metric=metric,
        filters=[*place_chips, metric_chip, shown_chip, *([held.chip] if is_held else [])],
        baseline=Baselines(
            stream=short_id(at_place[0]),
            latest=next(iter(held.history), None),
            earlier=[(one, baseline_form.of_stored(one)) for one in held.history[1:]],
            stored=held.stored,
            is_missing=is_held and held.base is not None and source.base_group is not None,
            choices=_baseline_choices(source, releases),
        ),
        charts=lambda name: page_url(
            "history",
            project,
            product=place.product,
            branch=place.branch,
            hardware=place.hardware,
            configuration=place.configuration,
            workload=name,
            metric=metric,
        ),
    )


def _baseline_choices(source: MatrixSource, releases: Sequence[Column]) -> list[tuple[str, str]]:
    """The shown groups and then the releases, both the newest first."""
    groups = [*([source.base_group] if source.base_group else []), *source.groups]
    return [
        *((baseline_form.of_group(group), group_label(group)) for group in reversed(groups)),
        *((baseline_form.of_release(column), column.version.version) for column in reversed(releases)),
    ]
