"""Links of a mail that acknowledge or snooze its incident without signing in.

Their page asks first: programs that look for bad links in mails follow them.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.core import signing
from django.db import transaction
from django.utils import timezone

from benchdash.accounts.access import NOBODY, Viewer
from benchdash.accounts.models import Scope
from benchdash.addresses import absolute
from benchdash.alerts.models import Alert
from benchdash.regressions.models import Incident, IncidentEvent
from benchdash.regressions.triage import Snooze, triage

ACKNOWLEDGE: Final = "acknowledge"
SNOOZE: Final = "snooze"
VALID_FOR: Final = timedelta(days=90)
SNOOZED_FOR: Final = timedelta(days=7)
_SALT: Final = "benchdash.alerts.one_click"
_OF_STATE: Final = (IncidentEvent.What.STATE, IncidentEvent.What.SNOOZED, IncidentEvent.What.WOKEN)


class LinkError(Exception):
    """Why a link does nothing, as a sentence for who followed it."""


@dataclass(frozen=True, slots=True)
class Click:
    """The act of a link on the incident of an alert, for the address that the alert went to."""

    alert: Alert
    action: str

    @property
    def incident(self) -> Incident:
        return self.alert.incident

    @property
    def is_of_use(self) -> bool:
        """Tell whether there is still something to acknowledge or snooze."""
        if self.action == ACKNOWLEDGE:
            return self.incident.state == Incident.State.NEW
        return self.incident.state in Incident.OPEN and not self.incident.is_snoozed

    @property
    def last_event(self) -> IncidentEvent | None:
        """The last event of the state of the incident or of its snooze."""
        return self.incident.events.filter(what__in=_OF_STATE).order_by("at", "pk").last()


def action_url(alert: Alert, action: str) -> str:
    """Return the address that acknowledges or snoozes; empty where who gets the mail may not do that."""
    if _viewer(alert) is None:
        return ""
    signed = signing.dumps([alert.pk, action], salt=_SALT)
    return absolute("dashboard:one_click", signed)


def read_link(signed: str) -> Click:
    """Return what the link does. Raises LinkError for one that does nothing, or nothing any more."""
    try:
        pk, action = signing.loads(signed, salt=_SALT, max_age=VALID_FOR)
    except signing.SignatureExpired:
        raise LinkError(f"The link is older than {VALID_FOR.days} days.") from None
    except signing.BadSignature:
        raise LinkError("The link is not complete. Copy all of it from the mail.") from None
    known = Alert.objects.select_related("subscription__user", "incident__project", "incident__product")
    alert = known.filter(pk=pk, incident__project__deleting_since=None).first()
    if alert is None or _viewer(alert) is None:
        raise LinkError("The subscription by which this mail was sent has ended, or allows this no more.")
    return Click(alert, action)


def carry_out(click: Click) -> None:
    """Do what the link says, in the name of the address. Repeatable."""
    alert = click.alert
    with transaction.atomic():
        # Two clicks at once are one.
        incident = Incident.objects.select_for_update(of=("self",)).get(pk=alert.incident_id)
        alert.incident = incident
        if not click.is_of_use:
            return
        by = _viewer(alert) or NOBODY
        if click.action == ACKNOWLEDGE:
            triage(incident, by=by, by_name=alert.address, state=Incident.State.ACKNOWLEDGED)
        else:
            until = timezone.now() + SNOOZED_FOR
            triage(incident, by=by, by_name=alert.address, snooze=Snooze(until=until))


def _viewer(alert: Alert) -> Viewer | None:
    """Return who acts by the mail: the account of its subscription, or nobody where it has none.

    None where the mail gives no right to act: its subscription has ended, its account may not triage, or it
    went to a webhook, whose readers are not known.
    """
    subscription = alert.subscription
    if subscription is None or "://" in alert.address:
        return None
    if subscription.user is None:
        return NOBODY
    viewer = Viewer(user=subscription.user)
    is_allowed = subscription.user.is_active and viewer.may(Scope.TRIAGE, alert.incident.project)
    return viewer if is_allowed else None
