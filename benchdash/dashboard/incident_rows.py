"""The rows of the list of incidents: what stands in them, as HTML; their heads are in the template."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.safestring import SafeString, mark_safe

from benchdash.dashboard import cells, numbers
from benchdash.dashboard.markup import EMPTY, html, joined
from benchdash.dashboard.navigation import page_urls
from benchdash.dashboard.shell import ProjectPage
from benchdash.regressions.models import Incident
from benchdash.regressions.spans import Span

_FADED: Final = mark_safe(' class="is-faded"')
_WORKLOADS: Final = 2
_ROW: Final = """<tr{}>
<th scope="row"><a href="{}">{} {}</a> <span class="badges">{} {} {}</span></th>
<td class="number">{}</td>
<td class="number">{}</td>
<td class="between">{}</td>
<td class="number">{} of {}</td>
<td class="workloads" title="{}">{} {}</td>
<td class="when">{}</td>
<td>{} {}</td>
</tr>
"""


@dataclass(frozen=True)
class Listed:
    """An incident as a row of the list."""

    incident: Incident
    span: Span
    workloads: Sequence[str]
    series: int


def table_rows(page: ProjectPage, rows: Iterable[Listed]) -> SafeString:
    url = page_urls("incident", page.project)
    return joined(_row(row, url, names_assignee=page.is_member) for row in rows)


def _row(row: Listed, url: Callable[[int], str], *, names_assignee: bool) -> SafeString:
    incident, more = row.incident, len(row.workloads) - _WORKLOADS
    is_faded = incident.historical or incident.status == Incident.Status.WITHDRAWN
    return html(
        _ROW,
        _FADED if is_faded else EMPTY,
        url(incident.pk),
        incident.product,
        incident.branch or incident.line,
        cells.badge(incident.kind),
        cells.badge(incident.status),
        cells.badge("historical") if incident.historical else EMPTY,
        cells.change_figure(incident.worst, "higher"),
        cells.change_figure(incident.median, "higher"),
        between(row.span),
        numbers.count(row.series),
        numbers.count(incident.looked_at),
        ", ".join(row.workloads),
        ", ".join(row.workloads[:_WORKLOADS]),
        html('<span class="quiet">and {} more</span>', more) if more > 0 else EMPTY,
        cells.ago(incident.detected_at),
        cells.badge(incident.state, incident.get_state_display()),
        html('<br><span class="quiet">{}</span>', incident.assignee)
        if names_assignee and incident.assignee
        else EMPTY,
    )


def between(span: Span) -> SafeString:
    """Between which two groups an incident began."""
    if span.build:
        groups = '<span class="mono">{}</span>, <span class="whole">{}</span> → <span class="whole">{}</span>'
        return html(groups, span.build, span.good, span.changed)
    groups = '<span class="mono whole">{}</span> → <span class="mono whole">{}</span>'
    return html(groups, span.good, span.changed)
