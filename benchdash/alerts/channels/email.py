"""E-mail. A mail is a folder: ``templates/emails/<name>/`` holds subject.txt, body.txt and body.html."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import make_msgid
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.validators import validate_email
from django.template.loader import render_to_string
from django.urls import reverse

from benchdash.alerts.channels.errors import RefusedError, UnavailableError
from benchdash.alerts.mail_files import INCIDENT_HEADER
from benchdash.alerts.models import Alert, Confirmation
from benchdash.regressions.analysis.spans import last_good_at, span
from benchdash.regressions.headlines import (
    change_words,
    comparative,
    figure,
    largest_figure,
    levels,
    series_words,
    speed_words,
    what_happened,
)
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.queries import evidence, family_evidence, what_changed
from benchdash.results.wording import NO_BREAK, metric_name

MAX_SERIES = 12
MAX_DIFFERENCES = 12
# With more lines the chart of the history page could not be read.
MAX_LINES = 4


@dataclass(frozen=True, slots=True)
class ChangedSeries:
    """One changed series, as a line of the mail."""

    what: str
    metric: str
    before: str
    after: str
    change: str
    speed: str
    confidence: str
    noise: str
    expected: str
    groups: str


def handles(address: str) -> bool:
    """Tell whether the address looks like one of e-mail."""
    return "@" in address and "://" not in address


def check(address: str) -> str:
    """Return the address as it is stored. Raises Django's ValidationError for what is no e-mail address."""
    address = address.strip().lower()
    validate_email(address)
    return address


def server_of(address: str) -> str:  # noqa: ARG001 - one mail server delivers to all
    """Name the server that delivers to the address."""
    return "mail"


def send(alert: Alert) -> None:
    """Tell one address about a regression. Raises RefusedError or UnavailableError."""
    incident = alert.incident
    changed = [one for one in evidence(incident) if one.state == ChangePoint.State.CONFIRMED]
    differences = what_changed(changed)
    unsubscribe = _address("dashboard:unsubscribe", alert.subscription.key) if alert.subscription else ""
    context = {
        "incident": incident,
        "span": span(incident, last_good_at=last_good_at(incident, changed)),
        "comparative": comparative(incident),
        "what_happened": what_happened(incident),
        "figure": figure(incident),
        "metric": metric_name(incident.metric),
        "headline_series": sum(one.series.metric == incident.metric for one in changed),
        "largest": _largest(incident),
        "evidence": [_evidence(change_point) for change_point in changed[:MAX_SERIES]],
        "more": max(0, len(changed) - MAX_SERIES),
        "count": len(changed),
        "workloads": sorted({change_point.series.workload.name for change_point in changed}),
        "hardware": sorted({change_point.series.hardware.name for change_point in changed}),
        "family": family_evidence(changed),
        "differences": differences[:MAX_DIFFERENCES],
        "more_differences": max(0, len(differences) - MAX_DIFFERENCES),
        "url": _address("dashboard:incident", incident.project.slug, incident.pk),
        "history_url": _history_address(incident, changed),
        "statistics_url": _address("statistics"),
        "unsubscribe_url": unsubscribe,
    }
    headers = {INCIDENT_HEADER: str(incident.pk), **_unsubscribe_headers(unsubscribe)}
    _send("regression", to=alert.address, context=context, headers=headers)


def ask(confirmation: Confirmation) -> None:
    """Ask an address whether it wants its subscription. Raises RefusedError or UnavailableError."""
    subscription = confirmation.subscription
    url = _address("dashboard:confirm_subscription", subscription.key) if subscription else ""
    context = {"subscription": subscription, "url": url}
    _send("confirmation", to=confirmation.address, context=context, headers={})


def _unsubscribe_headers(url: str) -> dict[str, str]:
    """Return the headers that make a mail program show a button to unsubscribe."""
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
        body=part("body.txt").replace(NO_BREAK, " "),
        to=[to],
        headers={**own, **headers},
    )
    mail.attach_alternative(part("body.html"), "text/html")
    try:
        mail.send()
    except (SMTPRecipientsRefused, SMTPDataError) as error:
        raise RefusedError(str(error) or type(error).__name__) from error
    except (OSError, SMTPException) as error:
        raise UnavailableError(str(error) or type(error).__name__) from error


def _largest(incident: Incident) -> str:
    """Say what changed most, under its name."""
    if incident.largest is None:
        return ""
    words = f"{series_words(incident.largest.series)}, {largest_figure(incident)}"
    return words if incident.worst is None else f"{words} of speed ({levels(incident.largest)})"


def _evidence(change_point: ChangePoint) -> ChangedSeries:
    series = change_point.series
    threads = "" if series.threads is None else f", {series.threads} threads"
    return ChangedSeries(
        what=f"{series.workload.name}{threads}, {series.hardware.name}",
        metric=series.metric,
        before=_with_unit(change_point.before, series.unit),
        after=_with_unit(change_point.after, series.unit),
        change=change_words(change_point),
        # Of a throughput it is the same.
        speed="" if series.higher_is_better else speed_words(change_point),
        confidence=_confidence(change_point.confidence),
        noise="" if change_point.noise is None else f"{100 * change_point.noise:.2g} %",
        expected=_expected(change_point, series.unit),
        groups=f"{change_point.groups_before} before, {change_point.groups_after} after",
    )


def _expected(change_point: ChangePoint, unit: str) -> str:
    """Return the range that similar series predicted; empty where the series' own history was enough."""
    low, high = change_point.expected_low, change_point.expected_high
    if low is None or high is None:
        return ""
    return f"{_significant(low)} to {_with_unit(high, unit)}"


def _with_unit(value: float, unit: str) -> str:
    # The names of such metrics already say that they are per second.
    return _significant(value) if unit == "1/s" else f"{_significant(value)} {unit}"


def _significant(value: float) -> str:
    """Return four significant digits with thousands separated: 15,344, 1,052 or 6.67."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _confidence(confidence: float | None) -> str:
    if confidence is None:
        return "not known"
    return "> 99.9 %" if confidence > 0.999 else f"{100 * confidence:.3g} %"


def _history_address(incident: Incident, changed: Sequence[ChangePoint]) -> str:
    if not changed:
        return ""
    series = [("series", change_point.series_id) for change_point in changed[:MAX_LINES]]
    return f"{_address('dashboard:history', incident.project.slug)}?{urlencode(series)}"


def _address(name: str, *args: object) -> str:
    return f"{settings.SITE_URL}{reverse(name, args=args)}"
