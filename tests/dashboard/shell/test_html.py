"""Cells of grids, which are written without a template."""

from django.template import engines

from benchdash.dashboard.shell.html import GridCell, grid_cells

HOSTILE = "<b>\"&'{0}"
PLAIN = """
{% for cell in cells %}\
{% if cell %}<td class="number level-{{ cell.level }}"><a href="{{ cell.url }}" title="{{ cell.says }}">\
{% if cell.sign %}<span class="sign" aria-hidden="true">{{ cell.sign }}</span>{% endif %}\
{{ cell.text }}{% if cell.below %}<small>{{ cell.below }}</small>{% endif %}</a></td>\
{% else %}<td class="number quiet">–</td>{% endif %}\
{% endfor %}
"""


def test_cells_are_written_as_a_template_writes_them():
    cells = [
        GridCell("0.98", "worse-1", "12,345 tps, 3 runs", "/p/bench/history/?series=1", sign="▼"),
        None,
        GridCell("1.02", "same", "", "/", below="1,001 n = 3"),
        GridCell(HOSTILE, HOSTILE, HOSTILE, HOSTILE, below=HOSTILE),
    ]
    plain = engines["django"].from_string(PLAIN).render({"cells": cells})
    assert grid_cells(cells) == plain.strip()


def test_what_a_cell_says_is_only_text():
    written = grid_cells([GridCell(HOSTILE, "same", HOSTILE, HOSTILE, below=HOSTILE)])
    assert "<b>" not in written
    assert engines["django"].from_string("{{ cells }}").render({"cells": written}) == written
