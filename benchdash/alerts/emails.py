"""A mail by name: ``templates/emails/<name>/`` holds subject.txt, body.txt and body.html."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import make_msgid
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.urls import reverse

from benchdash.alerts.mail_files import INCIDENT_HEADER
from benchdash.alerts.models import Alert, Confirmation
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.queries import evidence, family_evidence, what_changed
from benchdash.regressions.spans import last_good_at, span

_MOST_SERIES = 12
_MOST_DIFFERENCES = 12
# Beyond this the history page would be a tangle.
_MOST_LINES = 4


@dataclass(frozen=True, slots=True)
class Evidence:
    """One changed series, as a line of the mail."""

    what: str
    metric: str
    before: str
    after: str
    change: str
    confidence: str
    noise: str
    expected: str
    groups: str


def send_regression(alert: Alert) -> None:
    """Raises OSError or smtplib.SMTPException where the mail server does not take it."""
    incident = alert.incident
    changed = [one for one in evidence(incident) if one.state == ChangePoint.State.CONFIRMED]
    differences = what_changed(changed)
    unsubscribe = _address("dashboard:unsubscribe", alert.subscription.key) if alert.subscription else ""
    context = {
        "incident": incident,
        "span": span(incident, last_good_at=last_good_at(incident, changed)),
        "worst": _evidence(changed[0]) if changed else None,
        "median": _per_cent(incident.median),
        "evidence": [_evidence(change_point) for change_point in changed[:_MOST_SERIES]],
        "more": max(0, len(changed) - _MOST_SERIES),
        "count": len(changed),
        "workloads": sorted({change_point.series.workload.name for change_point in changed}),
        "hardware": sorted({change_point.series.hardware.name for change_point in changed}),
        "family": family_evidence(changed),
        "differences": differences[:_MOST_DIFFERENCES],
        "more_differences": max(0, len(differences) - _MOST_DIFFERENCES),
        "url": _address("dashboard:incident", incident.project.slug, incident.pk),
        "history_url": _history_address(incident, changed),
        "unsubscribe_url": unsubscribe,
    }
    headers = {INCIDENT_HEADER: str(incident.pk), **_unsubscribe_headers(unsubscribe)}
    _send("regression", to=alert.address, context=context, headers=headers)


def send_confirmation(confirmation: Confirmation) -> None:
    """Raises OSError or smtplib.SMTPException where the mail server does not take it."""
    subscription = confirmation.subscription
    url = _address("dashboard:confirm_subscription", subscription.key) if subscription else ""
    context = {"subscription": subscription, "url": url}
    _send("confirmation", to=confirmation.address, context=context, headers={})


def _unsubscribe_headers(url: str) -> dict[str, str]:
    """By which a mail program shows a button that ends the subscription."""
    if not url:
        return {}
    return {"List-Unsubscribe": f"<{url}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}


def _send(name: str, *, to: str, context: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    def part(file: str) -> str:
        return render_to_string(f"emails/{name}/{file}", dict(context))

    own = {
        "Message-ID": make_msgid(domain=urlsplit(settings.SITE_URL).hostname),
        "Auto-Submitted": "auto-generated",
    }
    mail = EmailMultiAlternatives(
        subject=" ".join(part("subject.txt").split()),
        body=part("body.txt"),
        to=[to],
        headers={**own, **headers},
    )
    mail.attach_alternative(part("body.html"), "text/html")
    mail.send()


def _evidence(change_point: ChangePoint) -> Evidence:
    series = change_point.series
    threads = "" if series.threads is None else f", {series.threads} threads"
    return Evidence(
        what=f"{series.workload.name}{threads}, {series.hardware.name}",
        metric=series.metric,
        before=_with_unit(change_point.before, series.unit),
        after=_with_unit(change_point.after, series.unit),
        change=_per_cent(change_point.change),
        confidence=_confidence(change_point.confidence),
        noise="" if change_point.noise is None else f"{100 * change_point.noise:.2g} %",
        expected=_expected(change_point, series.unit),
        groups=f"{change_point.groups_before} before, {change_point.groups_after} after",
    )


def _expected(change_point: ChangePoint, unit: str) -> str:
    """What the family of the series let expect; empty where the series' own history was enough."""
    low, high = change_point.expected_low, change_point.expected_high
    if low is None or high is None:
        return ""
    return f"{_significant(low)} to {_with_unit(high, unit)}"


def _with_unit(value: float, unit: str) -> str:
    # Metrics per second say so in their names.
    return _significant(value) if unit == "1/s" else f"{_significant(value)} {unit}"


def _significant(value: float) -> str:
    """Four significant digits, thousands separated: 15,344 and 1,052 and 6.67."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _per_cent(change: float) -> str:
    return f"{100 * change:+.1f} %".replace("-", "−")


def _confidence(confidence: float) -> str:
    return "> 99.9 %" if confidence > 0.999 else f"{100 * confidence:.3g} %"


def _history_address(incident: Incident, changed: Sequence[ChangePoint]) -> str:
    if not changed:
        return ""
    series = [("series", change_point.series_id) for change_point in changed[:_MOST_LINES]]
    return f"{_address('dashboard:history', incident.project.slug)}?{urlencode(series)}"


def _address(name: str, *args: object) -> str:
    return f"{settings.SITE_URL}{reverse(name, args=args)}"
