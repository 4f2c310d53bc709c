"""Cells of grids as HTML: a page has thousands of them, for which a template takes twenty times as long."""

from collections.abc import Iterable
from html import escape
from typing import Protocol

from django.utils.safestring import SafeString, mark_safe

from benchdash.dashboard.shell.numbers import number


class GridCell(Protocol):
    """A number that leads somewhere; ``level`` is its colour, ``says`` its title, ``below`` a small note."""

    @property
    def text(self) -> str: ...
    @property
    def level(self) -> str: ...
    @property
    def says(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def below(self) -> str: ...


def grid_cells(cells: Iterable[GridCell | None]) -> SafeString:
    """Write the cells of a row."""
    return mark_safe("".join(map(_cell, cells)))  # noqa: S308 - every part is escaped


def number_cells(values: Iterable[float | None]) -> SafeString:
    """Write numbers as the cells of a row, each with its exact value."""
    return mark_safe("".join(map(_number_cell, values)))  # noqa: S308 - nothing in a number needs escaping


def _number_cell(value: float | None) -> str:
    exact = "" if value is None else f' data-value="{value}"'
    return f'<td class="number"{exact}>{number(value)}</td>'


def _cell(cell: GridCell | None) -> str:
    if cell is None:
        return '<td class="number quiet">–</td>'
    below = f"<small>{escape(cell.below)}</small>" if cell.below else ""
    return (
        f'<td class="number level-{escape(cell.level)}">'
        f'<a href="{escape(cell.url)}" title="{escape(cell.says)}">{escape(cell.text)}{below}</a></td>'
    )
