"""The matrix page: all workloads against chosen versions, or against the newest nights of a branch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict

from benchdash.accounts.models import Project
from benchdash.dashboard.charts.matrix import Head, Matrix, MatrixLook, is_tested, matrix
from benchdash.dashboard.compare import matrix_selection as place_form
from benchdash.dashboard.compare.controls import (
    meanings,
    reference_filter,
    threads_filter,
    workloads_filter,
)
from benchdash.dashboard.compare.matrix_sources import (
    MatrixReading,
    MatrixSource,
    dated,
    group_label,
    of_branch,
    of_versions,
)
from benchdash.dashboard.compare.selection import (
    ChosenColumns,
    place_checks,
    read_choice,
    read_columns,
    workload_ids,
)
from benchdash.dashboard.compare.version_picker import VersionPicker, version_picker
from benchdash.dashboard.compare.versions import Available
from benchdash.dashboard.pages.matrix import baseline as baseline_form
from benchdash.dashboard.pages.matrix import selection as form
from benchdash.dashboard.pages.matrix.selection import MatrixPresentation
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.filters import FilterChip
from benchdash.dashboard.shell.navigation import Link, address_with, page_url
from benchdash.dashboard.shell.switches import Switch, checks
from benchdash.regressions.comparison import verdict_words
from benchdash.regressions.comparison.branch_table import Rows
from benchdash.regressions.comparison.columns import Column, ColumnContents, contents_of, names, short_id
from benchdash.regressions.comparison.comparability import Doubt, doubts
from benchdash.regressions.comparison.default_columns import MATRIX_COLUMNS, PlaceNames, recent_use
from benchdash.regressions.comparison.pair_words import column_summary
from benchdash.regressions.comparison.relative import table_for_others
from benchdash.regressions.comparison.rows import RelativeTo
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
class ChosenMatrix:
    """The columns of a matrix, and what they offer to choose from; ``charts`` gives those of a workload.

    ``filters`` are the most useful chips, ``more_filters`` those that stand behind the chip of the workloads.
    """

    source: MatrixSource
    title: str
    measured: ColumnContents
    metric: str
    filters: Sequence[FilterChip]
    more_filters: Sequence[FilterChip]
    charts: Callable[[str], str]
    picker: VersionPicker | None = None
    columns: ChosenColumns | None = None
    doubts: Sequence[Doubt] = ()
    baseline: Baselines | None = None


@dataclass(frozen=True)
class WholeMatrix:
    """A matrix with its controls; ``matrix`` is None where nothing of the chosen has the metric.

    ``summary`` says how the last version does against the one that it is held against; empty for nights, and
    for who sees ratios alone.
    ``headline`` says where nothing in it can be judged, ``note`` where its noise is known from.
    ``opens`` and ``charts`` are addresses by workload: with or without its thread counts, and of its charts.
    """

    view: MatrixPresentation
    look: MatrixLook
    chosen: ChosenMatrix
    filters: Sequence[FilterChip]
    switches: Sequence[Switch]
    matrix: Matrix | None
    is_tested: bool
    summary: str
    headline: str
    note: str
    meanings: Sequence[tuple[str, Sequence[Link]]]
    opens: Mapping[str, str]
    charts: Mapping[str, str]
    pages: Sequence[Link]

    @property
    def kept(self) -> list[tuple[str, str]]:
        """The query parameters that no filter sends."""
        said = [(one.name, one.value) for one in self.switches if one.is_set]
        said += [("until", self.view.until.isoformat())] if self.view.until else []
        return [*said, *(("open", pk) for pk in self.view.opened)]


def whole_matrix(
    project: Project, query: QueryDict, path: str, available: Available, *, relative: bool = False
) -> WholeMatrix:
    """Read the matrix of an address, in a constant number of statements. ``available`` is not empty.

    ``relative``: without any figure that is no ratio.
    """
    branches = [column for column in available if column.branch]
    releases = len(branches) < len(available)
    view = form.read_view(query, branches=bool(branches), releases=releases)
    if view.nights:
        chosen = _nights(project, query, view, available, branches)
    else:
        chosen = _versions(project, query, path, view, available, relative=relative)
    view = _with_ids(view, chosen.measured)
    if relative and chosen.source.table:
        found = table_for_others(chosen.source.table, view.relative_to)
        source = replace(chosen.source, table=found if found.rows else None)
        chosen = replace(chosen, source=source)
    source, table = chosen.source, chosen.source.table
    ids = {name: str(pk) for pk, name in chosen.measured.workloads.items()}
    look = view.look(opened={name for name, pk in ids.items() if pk in view.opened})

    switches = form.switches(query, path, view, look, both=releases and bool(branches))
    rows = [
        workloads_filter(chosen.measured, view.workloads),
        threads_filter(chosen.measured.threads, view.threads),
    ]

    def write(ratio: float) -> str:
        return numbers.change(ratio - 1, table.unit if table else "") if view.nights else numbers.ratio(ratio)

    return WholeMatrix(
        view=view,
        look=look,
        chosen=chosen,
        filters=[*chosen.filters, *rows, *chosen.more_filters, *checks(switches)],
        switches=switches,
        matrix=matrix(table, write=write, link=source.link, look=look) if table else None,
        is_tested=table is not None and is_tested(table),
        summary="" if view.nights or relative else _summary(source, view.relative_to),
        headline=source.headline,
        note=_note(table) if table else "",
        meanings=meanings(path, read_choice(query, chosen.columns)) if chosen.columns else [],
        opens={name: place_form.toggled(query, path, pk) for name, pk in ids.items()},
        charts={name: chosen.charts(name) for name in ids},
        pages=form.pages(query, path, source.around) if source.around else [],
    )


def _summary(source: MatrixSource, relative_to: RelativeTo) -> str:
    if not (source.table and source.heads):
        return ""
    *before, last = [source.base, *source.heads]
    base = before[-1] if relative_to == "previous" else source.base
    return column_summary(source.table, -1, base.name, last.name)


def _note(table: ComparisonTable) -> str:
    compared = (one for row in table.rows for one in row.comparisons if one)
    return verdict_words.note(compared, margin=table.margin)


def _with_ids(view: MatrixPresentation, measured: ColumnContents) -> MatrixPresentation:
    return replace(view, workloads=workload_ids(view.workloads, measured.workloads))


def _reading(
    project: Project, view: MatrixPresentation, measured: ColumnContents, metric: str
) -> MatrixReading:
    asked = _with_ids(view, measured).workloads
    workloads = [name for pk, name in measured.workloads.items() if str(pk) in asked]
    rows = Rows(workloads=workloads, threads=view.threads)
    return MatrixReading(metric, rows, view.relative_to, grouping_of(project))


def _versions(
    project: Project,
    query: QueryDict,
    path: str,
    view: MatrixPresentation,
    available: Available,
    *,
    relative: bool,
) -> ChosenMatrix:
    columns = read_columns(query, available, project, at_first=MATRIX_COLUMNS)
    picker = version_picker(
        available,
        columns.chosen,
        find=query.get("find", ""),
        address=lambda picked: address_with(path, query, v=list(map(short_id, picked)), base=""),
    )
    measured = contents_of(project, columns.chosen or available)
    metric, metric_chip = place_form.read_metric(query, measured.metrics)
    base = columns.chosen[0] if columns.chosen and view.relative_to == "previous" else columns.base
    ids = {name: str(pk) for pk, name in measured.workloads.items()}
    if base is None:
        empty = MatrixSource(Head(""), [], None, lambda *_: "")
        return ChosenMatrix(empty, "", measured, metric, [metric_chip], [], lambda _: "", picker, columns)
    others = [column for column in columns.chosen if column != base]
    source = of_versions(project, _reading(project, view, measured, metric), base, others, ids)
    called = names(columns.chosen)
    base_chip = reference_filter(replace(columns, base=base), called)
    chosen = "&".join(f"v={short_id(column)}" for column in columns.chosen)
    charts = f"{page_url('compare', project)}?{chosen}&base={short_id(base)}&metric={metric}&workload="
    places = {PlaceNames.of(column) for column in columns.chosen}
    named = list(zip(columns.chosen, called, strict=True))
    return ChosenMatrix(
        source=source,
        title=str(next(iter(places))) if len(places) == 1 else "Chosen versions",
        measured=measured,
        metric=metric,
        filters=[metric_chip],
        more_filters=[
            *([base_chip] if view.relative_to == "base" else []),
            *place_checks(query, available),
        ],
        charts=lambda name: charts + ids[name],
        picker=picker,
        columns=columns,
        doubts=doubts([source.table], named, base, for_others=relative) if source.table else [],
    )


def _nights(
    project: Project,
    query: QueryDict,
    view: MatrixPresentation,
    available: Available,
    branches: Sequence[Column],
) -> ChosenMatrix:
    place, place_chips = place_form.read_place(query, branches, recent_use(project))
    at_place = [column for column in branches if PlaceNames.of(column) == place]
    of_releases = place._replace(branch="")
    releases = [column for column in available if PlaceNames.of(column) == of_releases]
    measured = contents_of(project, at_place)
    metric, metric_chip = place_form.read_metric(query, measured.metrics)
    shown, shown_chip = place_form.read_shown(query, what="nights", lines=False)
    history = {name: getattr(place, name) for name in ("product", "branch", "hardware", "configuration")}
    held = place_form.branch_base(query, at_place[0], releases)
    is_held = view.relative_to == "base"
    source = of_branch(
        project,
        _reading(project, view, measured, metric),
        at_place[0],
        last=shown.last,
        base=held.base if is_held else None,
        until=view.until,
    )
    return ChosenMatrix(
        source=dated(source),
        title=str(place),
        measured=measured,
        metric=metric,
        filters=[*(chip for chip in place_chips if chip.name == "branch"), metric_chip],
        more_filters=[
            *(chip for chip in place_chips if chip.name != "branch"),
            shown_chip,
            *([held.chip] if is_held else []),
        ],
        baseline=Baselines(
            stream=short_id(at_place[0]),
            latest=next(iter(held.history), None),
            earlier=[(one, baseline_form.of_stored(one)) for one in held.history[1:]],
            stored=held.stored,
            is_missing=is_held and held.base is not None and source.base_group is not None,
            # Both with the newest first.
            choices=[
                *(
                    (baseline_form.of_group(group), group_label(group))
                    for group in reversed(source.all_groups)
                ),
                *((baseline_form.of_release(one), one.version.version) for one in reversed(releases)),
            ],
        ),
        charts=lambda name: page_url("history", project, **history, workload=name, metric=metric),
    )
