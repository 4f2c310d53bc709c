"""The columns of a matrix: chosen versions, or the newest nights of a branch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import time

from benchdash.accounts.models import Project
from benchdash.addresses import HistoryQuery, MatrixQuery, moment, place_fields
from benchdash.dashboard.charts.matrix import Head
from benchdash.dashboard.compare import matrix_selection as place_form
from benchdash.dashboard.compare.controls import reference_filter
from benchdash.dashboard.compare.matrix_sources import (
    MatrixReading,
    MatrixSource,
    dated,
    group_label,
    of_branch,
    of_versions,
)
from benchdash.dashboard.compare.selection import (
    Available,
    ChosenColumns,
    place_checks,
    read_columns,
)
from benchdash.dashboard.compare.version_picker import VersionPicker, version_picker
from benchdash.dashboard.pages.matrix import baseline as baseline_form
from benchdash.dashboard.pages.matrix.selection import with_ids
from benchdash.dashboard.shell.filters import FilterChip
from benchdash.regressions.comparison.branch_table import Rows
from benchdash.regressions.comparison.columns import (
    Column,
    ColumnContents,
    contents_of,
    names,
    short_id,
)
from benchdash.regressions.comparison.comparability import Doubt, doubts
from benchdash.regressions.comparison.default_columns import MATRIX_COLUMNS, PlaceNames, recent_use
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.results.models import Baseline
from benchdash.results.workload_groups import Grouping, grouping_of


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
    """The columns of a matrix, and what they offer to choose from.

    ``filters`` are the most useful chips, ``more_filters`` those that stand behind the chip of the workloads.
    ``read`` gives the same columns in another metric of some workloads; ``history`` is the address of that of
    a workload.
    """

    source: MatrixSource
    title: str
    measured: ColumnContents
    metric: str
    filters: Sequence[FilterChip]
    more_filters: Sequence[FilterChip]
    read: Callable[[str, Sequence[str]], ComparisonTable[Column] | None]
    history: Callable[[str], str]
    picker: VersionPicker | None = None
    columns: ChosenColumns | None = None
    doubts: Sequence[Doubt] = ()
    baseline: Baselines | None = None

    def fixed(self, query: MatrixQuery) -> MatrixQuery:
        """Return the query that names the versions which are shown; that of nights stays as it is."""
        columns = self.columns
        if columns is None or columns.base is None:
            return query
        ids = tuple(map(short_id, columns.chosen))
        return replace(query, versions=ids, base=short_id(columns.base), over="versions")

    @property
    def place(self) -> str:
        """The end of the titles of charts."""
        return self.columns.machine if self.columns else self.title


def _reading(
    query: MatrixQuery, measured: ColumnContents, metric: str, grouping: Grouping | None
) -> MatrixReading:
    asked = with_ids(query, measured).workloads
    workloads = [name for pk, name in measured.workloads.items() if str(pk) in asked]
    rows = Rows(workloads=workloads, threads=query.thread_counts)
    return MatrixReading(metric, rows, query.relative_to, grouping)


def versions(
    project: Project,
    query: MatrixQuery,
    available: Available,
    *,
    relative: bool,
    grouped: bool,
) -> ChosenMatrix:
    columns = read_columns(query, available, project, at_first=MATRIX_COLUMNS)
    picker = version_picker(
        available,
        columns.chosen,
        find=query.find,
        address=lambda picked: query.url(project, versions=tuple(map(short_id, picked)), base=""),
    )
    measured = contents_of(project, columns.chosen or available)
    metric, metric_chip = place_form.read_metric(query, measured.metrics)
    base = columns.chosen[0] if columns.chosen and query.relative_to == "previous" else columns.base
    ids = {name: str(pk) for pk, name in measured.workloads.items()}
    if base is None:
        empty = MatrixSource(Head(""), [], None, lambda *_: "")
        return ChosenMatrix(
            source=empty,
            title="",
            measured=measured,
            metric=metric,
            filters=[metric_chip],
            more_filters=[],
            read=lambda *_: None,
            history=lambda _: "",
            picker=picker,
            columns=columns,
        )
    columns = replace(columns, base=base)
    grouping = grouping_of(project) if grouped else None
    reading = _reading(query, measured, metric, grouping)

    def read(reading: MatrixReading) -> MatrixSource:
        return of_versions(project, reading, base, columns.others, ids, relative=relative)

    source = read(reading)
    called = names(columns.chosen)
    base_chip = reference_filter(columns, called)
    places = {PlaceNames.of(column) for column in columns.chosen}
    named = list(zip(columns.chosen, called, strict=True))
    return ChosenMatrix(
        source=source,
        title=str(next(iter(places))) if len(places) == 1 else "Chosen versions",
        measured=measured,
        metric=metric,
        filters=[metric_chip],
        more_filters=[
            *([base_chip] if query.relative_to == "base" else []),
            *place_checks(query, available),
        ],
        read=lambda metric, workloads: read(reading.of(metric, workloads)).table,
        history=lambda name: HistoryQuery(workloads=(name,), metrics=(metric,)).url(project),
        picker=picker,
        columns=columns,
        doubts=doubts([source.table], named, base, for_others=relative) if source.table else [],
    )


def nights(
    project: Project,
    query: MatrixQuery,
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
    parts = place_fields(place._asdict())
    held = place_form.branch_base(query, at_place[0], releases)
    is_held = query.relative_to == "base"
    reading = _reading(query, measured, metric, grouping_of(project))
    until = moment(query.until, of_day=time.max)

    def read(reading: MatrixReading) -> MatrixSource:
        base = held.base if is_held else None
        return of_branch(project, reading, at_place[0], last=shown.last, base=base, until=until)

    source = read(reading)
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
        read=lambda metric, workloads: read(reading.of(metric, workloads)).table,
        history=lambda name: HistoryQuery(**parts, workloads=(name,), metrics=(metric,)).url(project),
    )
