"""The matrix page: all workloads against chosen versions, or against the newest nights of a branch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict

from benchdash.accounts.models import Project
from benchdash.dashboard.charts.matrix import Matrix, MatrixLook, is_tested, matrix
from benchdash.dashboard.compare import matrix_selection as place_form
from benchdash.dashboard.compare.controls import (
    meanings,
    threads_filter,
    workloads_filter,
)
from benchdash.dashboard.compare.matrix_sources import MatrixSource
from benchdash.dashboard.compare.versions import Available
from benchdash.dashboard.pages.matrix import selection as form
from benchdash.dashboard.pages.matrix.chosen import ChosenMatrix, nights, versions, with_ids
from benchdash.dashboard.pages.matrix.opened import Opened, opened_rows
from benchdash.dashboard.pages.matrix.selection import MatrixPresentation
from benchdash.dashboard.shell import numbers
from benchdash.dashboard.shell.filters import FilterChip
from benchdash.dashboard.shell.navigation import Link
from benchdash.dashboard.shell.switches import Switch, checks
from benchdash.regressions.comparison import verdict_words
from benchdash.regressions.comparison.columns import Column, short_id
from benchdash.regressions.comparison.pair_words import column_summary
from benchdash.regressions.comparison.relative import table_for_others
from benchdash.regressions.comparison.rows import RelativeTo
from benchdash.regressions.comparison.table import ComparisonTable


@dataclass(frozen=True)
class WholeMatrix:
    """A matrix with its controls; ``matrix`` is None where nothing of the chosen has the metric.

    ``summary`` says how the last version does against the one that it is held against; empty for nights, and
    for who sees ratios alone.
    ``headline`` says where nothing in it can be judged, ``note`` where its noise is known from.
    ``opens`` are addresses by workload that open or close it; ``opened`` are those that are open.
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
    pages: Sequence[Link]
    opened: Opened

    @property
    def kept(self) -> list[tuple[str, str]]:
        """The query parameters that no filter sends."""
        said = [(one.name, one.value) for one in self.switches if one.is_set]
        said += [("until", self.view.until.isoformat())] if self.view.until else []
        said += [("operation", self.view.operation)] if self.view.operation else []
        return [*said, *(("open", pk) for pk in self.view.opened)]

    @property
    def fixed(self) -> dict[str, str | list[str]]:
        """Parameters that the address leaves to the page; none for nights, which move on."""
        columns = self.chosen.columns
        if self.matrix is None or columns is None or columns.base is None:
            return {}
        return {
            "v": list(map(short_id, columns.chosen)),
            "base": short_id(columns.base),
            "metric": list(self.opened.metrics) or self.chosen.metric,
            "over": "versions",
        }


def whole_matrix(
    project: Project,
    query: QueryDict,
    path: str,
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
    view = form.read_view(query, branches=bool(branches), releases=releases)
    if view.nights:
        chosen = nights(project, query, view, available, branches)
    else:
        chosen = versions(project, query, path, view, available, relative=relative, grouped=adds)
    view = with_ids(view, chosen.measured)
    if relative:
        chosen = _for_others(chosen, view)
    source, table = chosen.source, chosen.source.table
    ids = {name: str(pk) for pk, name in chosen.measured.workloads.items()}
    look = view.look(opened={name for name, pk in ids.items() if view.opens(pk)})

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
        meanings=meanings(path, query, chosen.columns) if chosen.columns else [],
        opens={name: place_form.toggled(query, path, pk, view.opened_rows) for name, pk in ids.items()},
        pages=form.pages(query, path, source.around) if source.around else [],
        opened=opened_rows(project, query, path, view, chosen, ids, relative=relative, adds=adds),
    )


def _for_others(chosen: ChosenMatrix, view: MatrixPresentation) -> ChosenMatrix:
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
