"""The rows of a matrix as HTML."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from django.utils.safestring import SafeString, mark_safe

from benchdash.dashboard import numbers
from benchdash.dashboard.charts.matrix import Aggregates, Matrix, MatrixCell, MatrixRow, Section
from benchdash.dashboard.markup import EMPTY, html, joined

_NO_MEAN: Final = mark_safe("<td></td>")
_NO_BASE: Final = mark_safe('<td class="number matrix-base"></td>\n')
_NO_CELL: Final = mark_safe('<td class="number quiet">–</td>')
_MEAN: Final = '<td class="number level-{}" title="{}">{}</td>'
_CELL: Final = '<td class="number {}{}"><a href="{}" title="{}">{}{}</a></td>'
_TOTAL: Final = (
    '<tr class="matrix-total"><th scope="rowgroup">{}{}</th><td class="matrix-base"></td>{}</tr>\n'
)
_RANGE: Final = '<tr class="matrix-range"><th scope="row">{}</th><td class="matrix-base"></td>{}</tr>\n'
_LEADING: Final = '<a href="{0}" class="matrix-name" title="{1}">{1}{2}</a>'
_NAMED: Final = '<span class="matrix-name" title="{0}">{0}{1}</span>'
_OPEN: Final = """\
<a class="matrix-open" id="{at}open-{number}" href="{url}" title="{folds} thread counts" \
aria-label="{folds} thread counts of {workload}" aria-expanded="{expanded}"{swap}>{sign}</a>\
"""
# In an article the address of another page would be shown.
_SWAP: Final = (
    ' hx-get="{}" hx-target="#matrix" hx-select="#matrix" hx-swap="whole show:none" hx-replace-url="true"'
)


@dataclass(frozen=True, slots=True)
class _Written:
    """How the page wants its rows: see the tag ``matrix_rows``."""

    at: str
    columns: int
    opens: Mapping[str, str]
    charts: Mapping[str, str]
    ranges: bool
    hide_threads: bool

    def bodies(self, matrix: Matrix) -> Iterator[SafeString]:
        if matrix.total.mean:
            yield _summary(self.aggregates("Geometric mean", "", matrix.total))
        for number, section in enumerate(matrix.sections, 1):
            if section.name:
                yield _summary(self.section(section))
            rows = joined(self.row(row, f"{number}-{at}") for at, row in enumerate(section.rows, 1))
            yield html("<tbody>{}</tbody>\n", rows)

    def section(self, section: Section) -> SafeString:
        name, size = section.name[:1].upper() + section.name[1:], numbers.count(section.size)
        if section.aggregates.mean:
            return self.aggregates(name, size, section.aggregates)
        return html(_TOTAL, name, _noted(size), joined([_NO_MEAN] * self.columns))

    def aggregates(self, name: str, note: str, aggregates: Aggregates) -> SafeString:
        means = joined(
            html(_MEAN, cell.level, cell.says, cell.text) if cell else _NO_MEAN for cell in aggregates.mean
        )
        total = html(_TOTAL, name, _noted(note), means)
        if not self.ranges:
            return total
        ends = (("lowest", aggregates.lowest), ("highest", aggregates.highest))
        return joined([total, *(html(_RANGE, which, _numbers(texts)) for which, texts in ends)])

    def row(self, row: MatrixRow, number: str) -> SafeString:
        return html(
            '<tr{}><th scope="row">{}</th>{}{}</tr>\n',
            mark_safe(' class="matrix-part"') if row.is_part else EMPTY,
            _threads(row.threads) if row.is_part else self.head(row, number),
            _cell(row.base, "matrix-base", "") if row.base else _NO_BASE,
            joined(_cell(cell, "level-", cell.level) if cell else _NO_CELL for cell in row.cells),
        )

    def head(self, row: MatrixRow, number: str) -> SafeString:
        chart = self.charts.get(row.workload)
        with_threads = row.threads is not None and not self.hide_threads
        threads = _noted(_threads(row.threads)) if with_threads else EMPTY
        name = html(_LEADING, chart, row.workload, threads) if chart else html(_NAMED, row.workload, threads)
        return joined([self.opening(row, number), name])

    def opening(self, row: MatrixRow, number: str) -> SafeString:
        """What shows or hides the thread counts of a workload."""
        url = self.opens.get(row.workload)
        if row.folds < 2 or not url:
            return EMPTY
        return html(
            _OPEN,
            at=self.at,
            number=number,
            url=url,
            folds=row.folds,
            workload=row.workload,
            expanded="true" if row.is_open else "false",
            swap=EMPTY if self.at else html(_SWAP, url),
            sign="−" if row.is_open else "+",
        )


def matrix_rows(
    matrix: Matrix,
    *,
    at: str = "",
    columns: int,
    opens: Mapping[str, str] | Literal[""] = "",
    charts: Mapping[str, str] | Literal[""] = "",
    ranges: bool | Literal[""] = "",
    hide_threads: bool | Literal[""] = "",
) -> SafeString:
    """The bodies of its table, which has so many ``columns`` beside the base.

    ``opens``: addresses by workload that show or hide its thread counts; ``charts``: addresses by workload of
    its charts; ``ranges``: whether lowest and highest stand under the means; ``hide_threads``: whether the
    page says the one thread count. What a page does not say is empty.
    """
    written = _Written(at, columns, opens or {}, charts or {}, bool(ranges), bool(hide_threads))
    return joined(written.bodies(matrix))


def _summary(rows: SafeString) -> SafeString:
    return html('<tbody class="matrix-summary">{}</tbody>\n', rows)


def _cell(cell: MatrixCell, kind: str, level: str) -> SafeString:
    below = html("<small>{}</small>", cell.below) if cell.below else EMPTY
    return html(_CELL, kind, level, cell.url, cell.says, cell.text, below)


def _numbers(texts: Sequence[str]) -> SafeString:
    return joined(html('<td class="number">{}</td>', text) for text in texts)


def _noted(note: str) -> SafeString:
    return html(' <span class="quiet">{}</span>', note) if note else EMPTY


def _threads(threads: int | None) -> SafeString:
    return html("{} thread{}", numbers.count(threads), "" if threads == 1 else "s")
