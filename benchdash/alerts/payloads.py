"""Messages of webhooks about an incident: JSON of our own, or a message for a chat."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils import timezone
from django.utils.html import escape

from benchdash.accounts.models import Project
from benchdash.addresses import absolute
from benchdash.alerts.incident_mails import confirmed_evidence, news_of, subject_of
from benchdash.alerts.models import Alert, Subscription
from benchdash.answers.incidents import ToldIncidentSerializer
from benchdash.regressions.headlines import change_words, figure, levels, series_words
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.results.wording import NO_BREAK

OPENED: Final = "opened"
TEST: Final = "test"
MAX_SERIES = 12
# In a chat a glance must be enough.
MAX_LINES = 3

_Payload = Subscription.Payload
EVENTS: Final = (OPENED, "confirmed", "spread", "withdrawn", "recovered", "returned", TEST)


@dataclass(frozen=True, slots=True)
class _Message:
    """A message of a chat, without its markup."""

    title: str
    lines: Sequence[str]
    url: str


def event_of(alert: Alert) -> str:
    """Name what an alert tells of: that an incident was opened, or what happened to it since."""
    return alert.event.what if alert.event else OPENED


def payload_of(alert: Alert, payload: str, *, delivery: str) -> dict[str, Any]:
    """Return what a webhook of this payload is sent about an alert; ``delivery`` names it."""
    incident = alert.incident
    changed = confirmed_evidence(incident)
    news = news_of(alert, changed)
    message = _Message(
        title=_title(incident, changed),
        lines=[*([news] if news else []), *(_line(one) for one in changed[:MAX_LINES])],
        url=absolute("dashboard:incident", incident.project.slug, incident.pk),
    )
    if payload in _CHATS:
        return _CHATS[payload](message)
    return {
        **_envelope(event_of(alert), incident.project, message, delivery=delivery),
        "news": news,
        "incident": _incident(incident, changed),
    }


def test_payload(project: Project, payload: str, *, delivery: str) -> dict[str, Any]:
    """Return what a webhook is sent to try it."""
    url = absolute("dashboard:overview", project.slug)
    message = _Message(f"A test of the webhook of {project.name}: incidents arrive here.", [], url)
    if payload in _CHATS:
        return _CHATS[payload](message)
    return {**_envelope(TEST, project, message, delivery=delivery), "news": "", "incident": None}


def _envelope(event: str, project: Project, message: _Message, *, delivery: str) -> dict[str, Any]:
    return {
        "event": event,
        "delivery": delivery,
        "sent_at": timezone.now().isoformat(),
        "text": message.title,
        "page": message.url,
        "project": {"slug": project.slug, "name": project.name},
    }


def _incident(incident: Incident, changed: Sequence[ChangePoint]) -> dict[str, Any]:
    """Return the incident in the words of the API."""
    told: Any = incident
    told.series_count, told.changed = len({one.series_id for one in changed}), changed[:MAX_SERIES]
    return ToldIncidentSerializer(told).data


def _title(incident: Incident, changed: Sequence[ChangePoint]) -> str:
    """Say the incident in one line; of one that was withdrawn no series is left to count."""
    if changed or incident.kind == Incident.Kind.SILENCE:
        return subject_of(incident, changed)
    return f"{incident.subject}: {figure(incident)}"


def _line(change_point: ChangePoint) -> str:
    series = change_point.series
    words = f"{series_words(series)} on {series.hardware.name}: {levels(change_point)}"
    return words if change_point.change is None else f"{words} ({change_words(change_point)})"


# --- chats ------------------------------------------------------------------------------------------------


def _slack(message: _Message) -> dict[str, Any]:
    def shown(text: str) -> str:
        # Slack asks for this. It also makes "<!channel>" in a name a word like others.
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    lines = [f"<{message.url}|{shown(message.title).replace('|', '/')}>", *map(shown, message.lines)]
    return {"text": "\n".join(lines), "unfurl_links": False}


def _mattermost(message: _Message) -> dict[str, Any]:
    lines = [f"[{_markdown(message.title)}]({message.url})", *map(_markdown, message.lines)]
    return {"text": "\n".join(lines)}


def _matrix(message: _Message) -> dict[str, Any]:
    """Write a message for the inbound webhooks of the Matrix bridge Hookshot."""
    link = f'<a href="{escape(message.url)}">{escape(message.title)}</a>'
    return {
        "text": "\n".join([message.title, *message.lines, message.url]),
        "html": "<br>".join([link, *(escape(line) for line in message.lines)]),
        "username": "benchdash",
    }


def _markdown(text: str) -> str:
    """Escape text, so that no name becomes markup, a link or a call to everybody in the channel."""
    escaped = "".join(f"\\{char}" if char in "\\`*_{}[]()<>#+-.!|~" else char for char in text)
    return escaped.replace("@", "@\N{ZERO WIDTH SPACE}").replace(NO_BREAK, " ")


_CHATS: Final[Mapping[str, Callable[[_Message], dict[str, Any]]]] = {
    _Payload.SLACK: _slack,
    _Payload.MATTERMOST: _mattermost,
    _Payload.MATRIX: _matrix,
}
