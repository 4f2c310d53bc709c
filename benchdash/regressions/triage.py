"""What people do about incidents: state, assignee, reason, snooze, bug, comments."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import User
from benchdash.accounts.services import audit
from benchdash.regressions.events import note
from benchdash.regressions.models import Comment, Incident, IncidentEvent

_What = IncidentEvent.What


@dataclass(frozen=True, slots=True)
class Snooze:
    """Until when an incident is not shown as open: a time, a version of its product, or neither (wake it)."""

    until: datetime | None = None
    until_version: str = ""


def triage(
    incident: Incident,
    *,
    by: Viewer,
    by_name: str = "",
    state: str | None = None,
    assignee: User | None = None,
    unassign: bool = False,
    reason: str = "",
    bug: str | None = None,
    snooze: Snooze | None = None,
) -> None:
    """Set what people think of an incident; what is None stays as it is. Each change is kept as an event.

    ``by_name`` names who acts without an account, such as the address that a mail went to.

    Raises django.core.exceptions.ValidationError for an unknown state, for an assignee who is no member, and
    for a time to snooze until that has passed.
    """
    changes: dict[str, str] = {}
    fields: list[str] = []
    happened: list[tuple[_What, Mapping[str, Any]]] = []
    if state is not None and state != incident.state:
        if state not in Incident.State.values:
            raise ValidationError({"state": f"there is no state {state!r}"})
        changes["state"] = f"{incident.state} → {state}"
        happened.append((_What.STATE, {"state": state, "detail": {"before": incident.state}}))
        incident.state = state
        fields.append("state")
    if (assignee is not None or unassign) and incident.assignee != assignee:
        if assignee and not Viewer(user=assignee).is_member(incident.project):
            raise ValidationError({"assignee": f"{assignee} is not a member of the project"})
        changes["assignee"] = str(assignee or "nobody")
        happened.append((_What.ASSIGNED, {"detail": {"assignee": str(assignee or "")}}))
        incident.assignee = assignee
        fields.append("assignee")
    if bug is not None and bug != incident.bug:
        changes["bug"] = bug or "none"
        happened.append((_What.LINKED, {"detail": {"bug": bug}}))
        incident.bug = bug
        fields.append("bug")
    if snooze is not None and snooze != Snooze(incident.snoozed_until, incident.snoozed_until_version):
        if snooze.until and snooze.until <= timezone.now():
            raise ValidationError({"snoozed_until": "the time to snooze until has passed"})
        incident.snoozed_until, incident.snoozed_until_version = snooze.until, snooze.until_version
        fields += ["snoozed_until", "snoozed_until_version"]
        detail = {"until": snooze.until.isoformat() if snooze.until else "", "version": snooze.until_version}
        changes["snoozed until"] = detail["version"] or detail["until"] or "not any more"
        what = _What.SNOOZED if incident.is_snoozed else _What.WOKEN
        happened.append((what, {"detail": detail}))
    if reason and reason != incident.reason:
        incident.reason = reason
        fields.append("reason")
    if not fields:
        return
    subject = f"incident {incident.pk}: {incident}"
    with transaction.atomic():
        incident.save(update_fields=fields)
        audit(incident.project, by, "incident triaged", subject, reason=reason, detail=changes)
        for what, said in happened:
            note(incident, what, by=by, by_name=by_name, reason=reason, **said)


def comment(incident: Incident, *, by: Viewer, text: str) -> Comment:
    name = str(by.user or by.token or "")
    return Comment.objects.create(incident=incident, author=by.user, author_name=name, text=text)
