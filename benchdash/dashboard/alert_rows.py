"""The rows of the list of alerts: what stands in them, as HTML; their heads are in the template."""

from collections.abc import Callable, Iterable
from typing import Final

from django.utils.safestring import SafeString, mark_safe

from benchdash.accounts.models import Project
from benchdash.alerts.models import Alert
from benchdash.alerts.services import is_old_news
from benchdash.dashboard import cells, numbers
from benchdash.dashboard.markup import html, joined
from benchdash.dashboard.navigation import page_url, page_urls
from benchdash.regressions.models import Incident

_NOTHING: Final = mark_safe("")
_ROW: Final = """<tr>
<th scope="row"><a href="{}">{} {}</a></th>
<td>{}</td>
<td>{}</td>
<td>{}</td>
<td>{}</td>
<td class="number">{}</td>
<td class="trouble">{}{}</td>
{}</tr>
"""
_NEXT_TRY: Final = ' <span class="quiet">next try {}</span>'
_TRY_NOW: Final = """<form method="post" action="{}">
<input type="hidden" name="csrfmiddlewaretoken" value="{}">
<button class="button small" type="submit">Try now</button>
</form>"""


def table_rows(project: Project, alerts: Iterable[Alert], retry_token: str | None) -> SafeString:
    """With a token against forged requests those that failed may be tried again, in a last column."""
    url = page_urls("incident", project)
    return joined(_row(project, alert, url, retry_token) for alert in alerts)


def _row(project: Project, alert: Alert, url: Callable[[int], str], retry_token: str | None) -> SafeString:
    incident = alert.incident
    return html(
        _ROW,
        url(incident.pk),
        incident.product,
        incident.branch or incident.line,
        alert.address,
        _state(alert),
        cells.ago(alert.owed_at),
        cells.ago(alert.sent_at),
        numbers.count(alert.attempts),
        alert.error,
        html(_NEXT_TRY, cells.ago(alert.retry_at)) if alert.error and alert.retry_at else _NOTHING,
        _retry(project, alert, retry_token) if retry_token else _NOTHING,
    )


def _state(alert: Alert) -> SafeString:
    if alert.sent_at:
        return cells.badge("imported", "sent")
    if alert.incident.status != Incident.Status.CONFIRMED:
        return cells.badge("withdrawn")
    if is_old_news(alert):
        return cells.badge("historical", "too old to mail")
    return cells.badge("refused", "failing") if alert.error else cells.badge("queued", "owed")


def _retry(project: Project, alert: Alert, token: str) -> SafeString:
    may_be_tried = not alert.sent_at and alert.retry_at and not is_old_news(alert)
    form = html(_TRY_NOW, page_url("alert_retry", project, alert.pk), token) if may_be_tried else _NOTHING
    return html('<td class="row-action">{}</td>\n', form)
