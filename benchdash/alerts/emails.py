"""A mail by name: ``templates/emails/<name>/`` holds subject.txt, body.txt and body.html."""

from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import make_msgid
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.urls import reverse

from benchdash.alerts.models import Alert
from benchdash.regressions.models import ChangePoint

_SHOWN = 12


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
    groups: str


def send_regression(alert: Alert) -> None:
    """Raises OSError or smtplib.SMTPException where the mail server does not take it."""
    incident = alert.incident
    changed = list(
        incident.change_points.filter(state=ChangePoint.State.CONFIRMED).select_related(
            "series__workload", "series__hardware", "series__product"
        )
    )
    changed.sort(key=lambda change_point: -abs(change_point.change))
    unsubscribe = _address("dashboard:unsubscribe", alert.subscription.key) if alert.subscription else ""
    context = {
        "incident": incident,
        "worst": _per_cent(incident.worst),
        "median": _per_cent(incident.median),
        "evidence": [_evidence(change_point) for change_point in changed[:_SHOWN]],
        "more": max(0, len(changed) - _SHOWN),
        "workloads": sorted({change_point.series.workload.name for change_point in changed}),
        "hardware": sorted({change_point.series.hardware.name for change_point in changed}),
        "url": _address("dashboard:incident", incident.project.slug, incident.pk),
        "history_url": _history_address(incident.project.slug, changed),
        "unsubscribe_url": unsubscribe,
    }
    _send("regression", to=alert.address, context=context, unsubscribe=unsubscribe)


def _send(name: str, *, to: str, context: Mapping[str, Any], unsubscribe: str) -> None:
    def part(file: str) -> str:
        return render_to_string(f"emails/{name}/{file}", dict(context))

    headers = {
        "Message-ID": make_msgid(domain=urlsplit(settings.SITE_URL).hostname),
        "Auto-Submitted": "auto-generated",
    }
    if unsubscribe:
        headers |= {
            "List-Unsubscribe": f"<{unsubscribe}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        }
    mail = EmailMultiAlternatives(
        subject=" ".join(part("subject.txt").split()), body=part("body.txt"), to=[to], headers=headers
    )
    mail.attach_alternative(part("body.html"), "text/html")
    mail.send()


def _evidence(change_point: ChangePoint) -> Evidence:
    series = change_point.series
    threads = "" if series.threads is None else f", {series.threads} threads"
    return Evidence(
        what=f"{series.workload.name}{threads}, {series.hardware.name}",
        metric=series.metric,
        before=f"{_significant(change_point.before)} {series.unit}",
        after=f"{_significant(change_point.after)} {series.unit}",
        change=_per_cent(change_point.change),
        confidence=f"{100 * change_point.confidence:.3g} %",
        noise="" if change_point.noise is None else f"{100 * change_point.noise:.2g} %",
        groups=f"{change_point.groups_before} before, {change_point.groups_after} after",
    )


def _significant(value: float) -> str:
    """Four significant digits, thousands separated: 15,344 and 1,052 and 6.67."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _per_cent(change: float) -> str:
    return f"{100 * change:+.1f} %".replace("-", "−")


def _history_address(slug: str, changed: list[ChangePoint]) -> str:
    if not changed:
        return ""
    query = "&".join(f"series={change_point.series_id}" for change_point in changed[:4])
    return f"{_address('dashboard:history', slug)}?{query}"


def _address(name: str, *args: object) -> str:
    return f"{settings.SITE_URL}{reverse(name, args=args)}"
