"""HTML written by hand: figures, and cells and choices, which a template writes twenty times slower."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, Final

import orjson
from django.core.serializers.json import DjangoJSONEncoder
from django.utils.safestring import SafeString, mark_safe

from benchdash.dashboard.shell.filters import FilterChoice
from benchdash.dashboard.shell.numbers import number

_as_django = DjangoJSONEncoder().default
_OPTIONS: Final = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_SERIALIZE_NUMPY
# Characters that end the script element or a line of it; JSON has them only within strings.
_ESCAPES: Final = tuple(
    (character.encode(), f"\\u{ord(character):04X}".encode()) for character in "<>&\u2028\u2029"
)


def figure_json(figure: Mapping[str, Any]) -> SafeString:
    """Return a figure for a script element; a value that is not a number becomes null, as browsers need."""
    written = orjson.dumps(figure, default=_as_django, option=_OPTIONS)
    for character, escaped in _ESCAPES:
        written = written.replace(character, escaped)
    return mark_safe(written.decode())  # noqa: S308 - nothing in it can end its element


@dataclass(frozen=True, slots=True)
class GridCell:
    """A number that leads somewhere; ``level`` is its look, ``sign`` its arrow, ``below`` stands under it.

    ``says`` is its title: what the number alone does not say.
    """

    text: str
    level: str
    says: str
    url: str
    below: str = ""
    sign: str = ""

    @property
    def is_changed(self) -> bool:
        return self.level.startswith(("better", "worse", "likely", "mixed"))


def grid_cells(cells: Iterable[GridCell | None]) -> SafeString:
    """Write the cells of a row."""
    return mark_safe("".join(map(_cell, cells)))  # noqa: S308 - every part is escaped


def number_cells(values: Iterable[float | None]) -> SafeString:
    """Write numbers as the cells of a row, each with its exact value."""
    exact = ((value, "" if value is None else f' data-value="{value}"') for value in values)
    cells = (f'<td class="number"{attribute}>{number(value)}</td>' for value, attribute in exact)
    return mark_safe("".join(cells))  # noqa: S308 - nothing in a number needs escaping


def choice_labels(name: str, choices: Iterable[FilterChoice], *, several: bool) -> SafeString:
    """Write a box with its label for each choice of a filter; ``several`` may be checked."""
    kind = "checkbox" if several else "radio"
    labels = []
    for choice in choices:
        value, checked = escape(choice.value), " checked" if choice.chosen else ""
        box = f'<input type="{kind}" name="{name}" id="filter-{name}-{value}" value="{value}"{checked}>'
        labels.append(f"<label>{box} {escape(choice.label)}</label>\n")
    return mark_safe("".join(labels))  # noqa: S308 - what was sent is escaped


def _sign(cell: GridCell) -> str:
    return f'<span class="sign" aria-hidden="true">{cell.sign}</span>' if cell.sign else ""


def _cell(cell: GridCell | None) -> str:
    if cell is None:
        return '<td class="number quiet">–</td>'
    below = f"<small>{escape(cell.below)}</small>" if cell.below else ""
    return (
        f'<td class="number level-{escape(cell.level)}">'
        f'<a href="{escape(cell.url)}" title="{escape(cell.says)}">'
        f"{_sign(cell)}{escape(cell.text)}{below}</a></td>"
    )
