"""Acts of people on incidents: state, assignee, reason, snooze, bug, comments."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project, User
from benchdash.accounts.services import audit
from benchdash.regressions.events import note
from benchdash.regressions.links import check_bug
from benchdash.regressions.models import Comment, Incident, IncidentEvent

_What = IncidentEvent.What
_State = Incident.State

MAX_TOGETHER: Final = 100
"""Maximum number of incidents that are triaged at once."""


@dataclass(frozen=True, slots=True)
class Action:
    """An act of a person on incidents; it has the same name on buttons, in histories and in the API.

    ``request`` has a place for its object; ``done`` follows what it was done to.
    """

    request: str
    done: str

    @property
    def verb(self) -> str:
        """``Accept as expected``."""
        return self.request.replace("{} ", "").replace(" {}", "")

    def of(self, what: str) -> str:
        """``Accept 14 incidents as expected``."""
        return self.request.format(what)


ACTIONS: Final[Mapping[str, Action]] = {
    _State.NEW: Action("Reopen {}", "reopened"),
    _State.ACKNOWLEDGED: Action("Acknowledge {}", "acknowledged"),
    _State.INVESTIGATING: Action("Investigate {}", "put under investigation"),
    _State.EXPECTED: Action("Accept {} as expected", "accepted as expected"),
    _State.WONTFIX: Action("Decline {}", "declined"),
    _State.FIXED: Action("Mark {} as fixed", "marked as fixed"),
    _State.INVALID: Action("Mark {} as invalid", "marked as invalid"),
}
"""The action that leads to each state."""


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

    Raises django.core.exceptions.ValidationError for an unknown state, one that needs a reason, an assignee
    who is no member, a bug that cannot be linked, and a snooze that would not begin.
    """
    wanted: dict[str, Any] = {}
    if state is not None and state != incident.state:
        if state not in _State.values:
            raise ValidationError({"state": f"there is no state {state!r}"})
        if state == _State.EXPECTED and not reason:
            raise ValidationError({"reason": "say why this was to be expected"})
        wanted["state"] = state
    if assignee is not None or unassign:
        if assignee and not Viewer(user=assignee).is_member(incident.project):
            raise ValidationError({"assignee": f"{assignee} is not a member of the project"})
        wanted["assignee"] = assignee
    if bug is not None:
        wanted["bug"] = check_bug(bug)
    if snooze is not None:
        _check_snooze(incident, snooze)
        wanted |= {"snoozed_until": snooze.until, "snoozed_until_version": snooze.until_version}
    if reason:
        wanted["reason"] = reason
    _decide(incident, wanted, by=by, by_name=by_name, reason=reason)


@transaction.atomic
def triage_together(wanted: Iterable[tuple[Incident, Mapping[str, Any]]], *, by: Viewer) -> None:
    """Triage several incidents, all of them or none; with each come the arguments of ``triage``."""
    for incident, arguments in wanted:
        triage(incident, by=by, **arguments)


def comment(incident: Incident, *, by: Viewer, text: str) -> Comment:
    name = str(by.user or by.token or "")
    return Comment.objects.create(incident=incident, author=by.user, author_name=name, text=text)


# --- undoing ----------------------------------------------------------------------------------------------

Decided = dict[str, Any]
"""The decisions about an incident at some time, as JSON: its id, and the fields that ``triage`` sets."""


def decided(incident: Incident) -> Decided:
    until = incident.snoozed_until
    return {
        "id": incident.pk,
        "state": incident.state,
        "assignee": incident.assignee_id,
        "reason": incident.reason,
        "bug": incident.bug,
        "snoozed_until": until.isoformat() if until else None,
        "snoozed_until_version": incident.snoozed_until_version,
    }


@transaction.atomic
def restore(project: Project, formerly: Sequence[Decided], *, by: Viewer) -> int:
    """Decide again what was decided formerly, and return of how many incidents. It is an event as others."""
    incidents = Incident.objects.filter(project=project).select_related("project", "product", "assignee")
    found = incidents.in_bulk([one["id"] for one in formerly])
    users = User.objects.in_bulk([one["assignee"] for one in formerly if one["assignee"]])
    for one in formerly:
        if incident := found.get(one["id"]):
            until = one["snoozed_until"]
            wanted = {name: one[name] for name in ("state", "reason", "bug", "snoozed_until_version")}
            wanted["assignee"] = users.get(one["assignee"])
            wanted["snoozed_until"] = datetime.fromisoformat(until) if until else None
            _decide(incident, wanted, by=by, reason="undone")
    return len(found)


# --- writing ----------------------------------------------------------------------------------------------


def _check_snooze(incident: Incident, snooze: Snooze) -> None:
    if snooze.until and snooze.until <= timezone.now():
        raise ValidationError({"snoozed_until": "the time to snooze until has passed"})
    if snooze.until_version and incident.product is None:
        raise ValidationError(
            {"snoozed_until_version": "it is about a machine, which has no versions: give a time"}
        )


def _decide(
    incident: Incident, wanted: Mapping[str, Any], *, by: Viewer, by_name: str = "", reason: str = ""
) -> None:
    """Set the fields that differ, and note what happened."""
    before = {name: getattr(incident, name) for name, value in wanted.items()}
    changed = {name: value for name, value in wanted.items() if value != before[name]}
    if not changed:
        return
    happened: list[tuple[_What, Mapping[str, Any]]] = []
    # A reason alone belongs to the state that the incident has.
    if "state" in changed or changed.keys() == {"reason"}:
        detail = {"before": incident.state}
        happened.append((_What.STATE, {"state": changed.get("state", incident.state), "detail": detail}))
    if "assignee" in changed:
        happened.append((_What.ASSIGNED, {"detail": {"assignee": str(changed["assignee"] or "")}}))
    if "bug" in changed:
        happened.append((_What.LINKED, {"detail": {"bug": changed["bug"]}}))
    for name, value in changed.items():
        setattr(incident, name, value)
    if changed.keys() & {"snoozed_until", "snoozed_until_version"}:
        until = incident.snoozed_until
        detail = {"until": until.isoformat() if until else "", "version": incident.snoozed_until_version}
        happened.append((_What.SNOOZED if incident.is_snoozed else _What.WOKEN, {"detail": detail}))
    written = {
        name: f"{before[name]} → {value}" if name == "state" else str(value or "none")
        for name, value in changed.items()
        if name != "reason"
    }
    subject = f"incident {incident.pk}: {incident}"
    with transaction.atomic():
        incident.save(update_fields=list(changed))
        audit(incident.project, by, "incident triaged", subject, reason=reason, detail=written)
        for what, said in happened:
            note(incident, what, by=by, by_name=by_name, reason=reason, **said)
