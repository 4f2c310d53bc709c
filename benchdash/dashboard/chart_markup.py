"""A chart with its tools as HTML; see the tag ``chart``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from django.core.serializers.json import DjangoJSONEncoder
from django.utils.safestring import SafeString, mark_safe

from benchdash.dashboard.markup import EMPTY, html, joined

_as_django = DjangoJSONEncoder().default
_OPTIONS: Final = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_SERIALIZE_NUMPY
# What would end the element, or a line of a script. In JSON all of it stands within texts.
_ESCAPES: Final = tuple(
    (character.encode(), f"\\u{ord(character):04X}".encode()) for character in "<>&\u2028\u2029"
)

_PICTURES: Final = mark_safe(
    '<button class="plain" type="button" data-tool="png" title="Save the picture as PNG">PNG</button>\n'
    '<button class="plain" type="button" data-tool="svg" title="Save the picture as SVG">SVG</button>\n'
)
_SCALE: Final = mark_safe(
    '<button class="plain" type="button" data-tool="scale" aria-pressed="false" hidden>Log</button>\n'
)
_CSV: Final = '<a href="{}" title="Save the table as CSV">CSV</a>\n'
_CSV_OF_TABLE: Final = (
    '<button class="plain" type="button" data-csv-of="{}" title="Save the table as CSV">CSV</button>\n'
)
_TABLE: Final = (
    '<button class="plain" type="button" data-json-of="{0}" title="Save the table as JSON">JSON</button>\n'
    '<a href="#{0}" title="Go to the table (t)">Table</a>\n'
)
_LINK: Final = (
    '<button class="plain" type="button" data-copy-link="{}" '
    'title="Copy the address of this chart">Link</button>'
)
_CHART: Final = """
<figure class="chart{small}" id="{chart}" data-chart="{figure}" data-height="{height}"{table}{scale}>
<figcaption><span class="chart-title">{heading}</span>{tools}</figcaption>
<div class="chart-plot" style="height: {height}px" role="img" aria-label="{title}">\
<noscript>The chart needs JavaScript; the table says the same.</noscript></div>
{notice}<script id="{figure}" type="application/json">{json}</script>
</figure>
"""


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure of a page. ``at`` is what ids begin with, in an article."""

    figure: Mapping[str, Any]
    name: str
    title: str
    height: int
    table: str
    csv: str
    link: str
    scale: str
    small: bool
    notice: str
    at: str

    @property
    def table_id(self) -> str:
        return f"{self.at}{self.table}" if self.table else ""

    @property
    def id(self) -> str:
        return f"{self.at}chart-{self.name}"


def chart_markup(chart: Chart) -> SafeString:
    leads = chart.small and chart.link
    return html(
        _CHART,
        small=" chart-small" if chart.small else "",
        chart=chart.id,
        figure=f"{chart.at}figure-{chart.name}",
        height=chart.height,
        table=_where(chart.table_id, ' data-table="{}"'),
        scale=_where(chart.scale, ' data-scale="{}"'),
        title=chart.title,
        heading=html('<a href="{}">{}</a>', chart.link, chart.title) if leads else chart.title,
        tools=EMPTY if chart.small else html('<span class="chart-tools">{}</span>', _tools(chart)),
        notice=EMPTY if chart.small else _where(chart.notice, '<p class="chart-notice">{}</p>'),
        json=figure_json(chart.figure),
    )


def figure_json(figure: Mapping[str, Any]) -> SafeString:
    """For a script element. What is no number is null: a browser's JSON knows no other."""
    written = orjson.dumps(figure, default=_as_django, option=_OPTIONS)
    for character, escaped in _ESCAPES:
        written = written.replace(character, escaped)
    return mark_safe(written.decode())  # noqa: S308 - nothing in it can end its element


def _tools(chart: Chart) -> SafeString:
    return joined(
        [
            _SCALE if chart.scale else EMPTY,
            _PICTURES,
            _where(chart.csv, _CSV) or _where(chart.table_id, _CSV_OF_TABLE),
            _where(chart.table_id, _TABLE),
            _where(chart.link, '<a href="{}">Open</a>\n'),
            html(_LINK, chart.id),
        ]
    )


def _where(said: str, layout: str) -> SafeString:
    """The layout around what is said; nothing where that is empty."""
    return html(layout, said) if said else EMPTY
