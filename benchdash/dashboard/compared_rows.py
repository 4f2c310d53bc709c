"""Tables of versions, or of the values of a setting, against each other, as HTML."""

from typing import Final

from django.utils.safestring import SafeString, mark_safe

from benchdash.dashboard import numbers
from benchdash.dashboard.cells import change_figure
from benchdash.dashboard.charts.compare import Line, Value
from benchdash.dashboard.markup import EMPTY, html, joined
from benchdash.dashboard.panels import Panel, TableRow

_UNMEASURED: Final = mark_safe('<td class="number"><span class="quiet">–</span></td>\n')
_OF_BASE: Final = (
    mark_safe('<span class="quiet">100 %</span>'),
    mark_safe('<span class="quiet">reference</span>'),
)
_LINE: Final = '<span class="swatch{}" style="--swatch: {}"></span> <span class="line-name">{}</span>'
_TABLE: Final = (
    '<table class="data dense compared{}" id="{}"><caption class="visually-hidden">{}</caption>\n{}</table>'
)
_CURVE: Final = """\
<thead><tr><th scope="col" class="number">threads</th>{}</tr></thead>
<tbody>{}</tbody>
<tfoot><tr>\
<th scope="row" class="number" title="geometric mean of the ratios over the thread counts">mean</th>{}\
</tr></tfoot>
"""
_BARS: Final = """\
<thead><tr>\
<th scope="col">version</th><th scope="col" class="number">{}{}</th><th scope="col">±</th>\
<th scope="col" class="number">n</th><th scope="col" class="number">change</th>\
<th scope="col">verdict</th><th scope="col">noise</th>\
</tr></thead>
<tbody>{}</tbody>
"""
_BAR: Final = """\
<tr><th scope="row">{}</th><td class="number">{}</td><td>{}</td><td class="number">{}</td>\
<td class="number">{}</td><td>{}</td><td>{}</td></tr>
"""
_MEASURED: Final = """\
<td class="number">{} <small>{}</small><br><small>{}{}</small></td>
"""
_COMPARED: Final = """\
<td class="number level-{}">{} <small>{}</small><br>{} <small{}>{}{}</small></td>
"""


def table_markup(panel: Panel, table_id: str) -> SafeString:
    """That of a curve has a row for each thread count, that of bars one for each version."""
    kind, parts = (" is-curve", _curve(panel)) if panel.is_curve else ("", _bars(panel))
    return html(_TABLE, kind, table_id, panel.title, parts)


def value_markup(value: Value, direction: str, *, says_n: bool) -> SafeString:
    """A cell with a value and its error, and below its change and verdict."""
    comparison, cell = value.comparison, value.cell
    if cell is None:
        return _UNMEASURED
    runs = f", n {cell.n}" if says_n else ""
    if comparison is None:
        below = "100 %" if value.line.is_base else "not comparable"
        return html(_MEASURED, _measured(value), _error(value), below, runs)
    return html(
        _COMPARED,
        numbers.level(value.change, direction, comparison.verdict),
        _measured(value),
        _error(value),
        numbers.change(value.change),
        html(' title="{}"', settling) if (settling := value.settling) else EMPTY,
        value.verdict,
        runs,
    )


def _curve(panel: Panel) -> SafeString:
    changes = ("" if mean is None else numbers.change(mean) for mean in panel.means)
    return html(
        _CURVE,
        joined(html('<th scope="col" class="number">{}</th>\n', _named(line)) for line in panel.lines),
        joined(_curve_row(row, panel) for row in panel.rows),
        joined(html('<td class="number">{}</td>', change) for change in changes),
    )


def _curve_row(row: TableRow, panel: Panel) -> SafeString:
    return html(
        '<tr><th scope="row" class="number">{}</th>{}</tr>\n',
        numbers.count(row.threads),
        joined(value_markup(value, panel.direction, says_n=panel.says_n) for value in row.values),
    )


def _bars(panel: Panel) -> SafeString:
    words = numbers.unit_words(panel.metric, panel.unit)
    return html(
        _BARS,
        numbers.short_metric_name(panel.metric),
        html(' <span class="unit">{}</span>', words) if words else EMPTY,
        joined(_bar(value, panel.direction) for row in panel.rows for value in row.values),
    )


def _bar(value: Value, direction: str) -> SafeString:
    """Nothing for a version that was not measured."""
    cell, comparison = value.cell, value.comparison
    if cell is None:
        return EMPTY
    change, verdict = _OF_BASE if value.line.is_base else (EMPTY, EMPTY)
    if comparison:
        change = change_figure(value.change, direction, comparison.verdict)
        settling = html(" <small>{}</small>", said) if (said := value.settling) else EMPTY
        verdict = html("{}{}", comparison.verdict, settling)
    return html(
        _BAR,
        _named(value.line),
        _measured(value),
        _error(value),
        numbers.count(cell.n),
        change,
        verdict,
        value.noise,
    )


def _named(line: Line) -> SafeString:
    return html(_LINE, " is-base" if line.is_base else "", line.colour, line.name)


def _measured(value: Value) -> str:
    """The number, with its unit where that is not the row's."""
    if value.cell is None:
        return ""
    number = numbers.number(value.cell.value)
    return f"{number} {value.cell.unit}" if value.is_foreign else number


def _error(value: Value) -> str:
    return numbers.plus_minus(value.cell.value, *value.interval) if value.cell else ""
