"""The matrix page: all workloads against chosen versions, or against the newest nights of a branch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC

from benchdash.accounts.models import Project
from benchdash.addresses import MatrixQuery
from benchdash.dashboard.charts.matrix import Matrix, MatrixLook, is_tested, matrix
from benchdash.dashboard.compare import matrix_selection as place_form
from benchdash.dashboard.compare.controls import (
    meanings,
    threads_filter,
    workloads_filter,
)
from benchdash.dashboard.compare.matrix_sources import MatrixSource
from benchdash.dashboard.compare.selection import Available
from benchdash.dashboard.pages.matrix.chosen import ChosenMatrix, nights, versions
from benchdash.dashboard.pages.matrix.opened import Opened, opened_charts
from benchdash.dashboard.pages.matrix.selection import look_of, opened_rows, opens, switches, with_ids
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.filters import FilterChip
from benchdash.dashboard.shell.navigation import Link
from benchdash.dashboard.shell.switches import Switch, checks
from benchdash.regressions.comparison import verdict_words
from benchdash.regressions.comparison.branch_table import Around
from benchdash.regressions.comparison.columns import Column
from benchdash.regressions.comparison.pair_words import column_summary
from benchdash.regressions.comparison.relative import table_for_others
from benchdash.regressions.comparison.rows import RelativeTo
from benchdash.regressions.comparison.table import ComparisonTable


@dataclass(frozen=True)
class WholeMatrix:
    """A matrix with its controls; ``matrix`` is None where nothing of the chosen has the metric.

    ``query`` is that of its address, ``view`` the same with ids in place of names.

    ``summary`` says how the last version does against the one that it is held against; empty for nights, and
    for who sees ratios alone.
    ``headline`` says where nothing in it can be judged, ``note`` where its noise is known from.
    ``opens`` are addresses by workload that open or close it; ``opened`` are those that are open.
    """

    query: MatrixQuery
    view: MatrixQuery
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
    pages: Sequence[Link]
    opened: Opened

    @property
    def kept(self) -> list[tuple[str, str]]:
        """The query parameters that no filter sends."""
        return replace(self.view, find="").kept(chip.name for chip in self.filters if chip.is_shown)

    @property
    def fixed(self) -> MatrixQuery | None:
        """The query with all that it leaves to the page; None for nights, which move on."""
        if self.matrix is None or self.chosen.columns is None:
            return None
        metrics = tuple(self.opened.metrics) or (self.chosen.metric,)
        return replace(self.chosen.fixed(self.query), metrics=metrics)


def whole_matrix(
    project: Project,
    query: MatrixQuery,
    available: Available,
    *,
    relative: bool = False,
    adds: bool = True,
) -> WholeMatrix:
    """Read the matrix of an address, in a constant number of statements. ``available`` is not empty.

    ``relative``: without any figure that is no ratio. ``adds``: opened rows show response times beside a
    metric of throughput, and throughput beside others; without it they stand alone, in no groups.
    """
    branches = [column for column in available if column.branch]
    releases = len(branches) < len(available)
    is_of_nights = bool(branches) and (query.over == "nights" or not (releases or query.versions))
    if is_of_nights:
        chosen = nights(project, query, available, branches)
    else:
        chosen = versions(project, query, available, relative=relative, grouped=adds)
    view = with_ids(query, chosen.measured)
    if relative:
        chosen = _for_others(chosen, view)
    source, table = chosen.source, chosen.source.table
    ids = {name: str(pk) for pk, name in chosen.measured.workloads.items()}
    look = look_of(query, opened={name for name, pk in ids.items() if opens(view, pk)})

    made = switches(project, query, nights=is_of_nights, both=releases and bool(branches))
    rows = [
        workloads_filter(chosen.measured, view.workloads),
        threads_filter(chosen.measured.threads, query.threads),
    ]

    def write(ratio: float) -> str:
        return (
            numbers.change(ratio - 1, table.unit if table else "") if is_of_nights else numbers.ratio(ratio)
        )

    return WholeMatrix(
        query=query,
        view=view,
        look=look,
        chosen=chosen,
        filters=[*chosen.filters, *rows, *chosen.more_filters, *checks(made)],
        switches=made,
        matrix=matrix(table, write=write, link=source.link, look=look) if table else None,
        is_tested=table is not None and is_tested(table),
        summary="" if is_of_nights or relative else _summary(source, view.relative_to),
        headline=source.headline,
        note=_note(table) if table else "",
        meanings=meanings(project, query, chosen.columns) if chosen.columns else [],
        opens={
            name: query.url(project, open=place_form.toggled(opened_rows(view), pk))
            for name, pk in ids.items()
        },
        pages=_pages(project, query, source.around) if source.around else [],
        opened=opened_charts(project, query, view, chosen, ids, relative=relative, adds=adds),
    )


def _pages(project: Project, query: MatrixQuery, around: Around) -> list[Link]:
    """Return links to the nights before and after; the newest are shown without saying until when."""
    ends = [("Earlier", around.earlier), ("Later", around.later)]
    texts = [(name, end.astimezone(UTC).isoformat().replace("+00:00", "Z")) for name, end in ends if end]
    return [
        Link(name, query.url(project, until="" if name == "Later" and around.is_last else text))
        for name, text in texts
    ]


def _for_others(chosen: ChosenMatrix, view: MatrixQuery) -> ChosenMatrix:
    """Leave ratios alone."""

    def ratios(table: ComparisonTable[Column] | None) -> ComparisonTable[Column] | None:
        found = table and table_for_others(table, view.relative_to)
        return found if found and found.rows else None

    source = replace(chosen.source, table=ratios(chosen.source.table))
    return replace(
        chosen, source=source, read=lambda metric, workloads: ratios(chosen.read(metric, workloads))
    )


def _summary(source: MatrixSource, relative_to: RelativeTo) -> str:
    if not (source.table and source.heads):
        return ""
    *before, last = [source.base, *source.heads]
    base = before[-1] if relative_to == "previous" else source.base
    return column_summary(source.table, -1, base.name, last.name)


def _note(table: ComparisonTable[Column]) -> str:
    compared = (one for row in table.rows for one in row.comparisons if one)
    return verdict_words.note(compared, margin=table.margin)
