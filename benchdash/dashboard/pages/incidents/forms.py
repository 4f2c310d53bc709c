"""The forms about incidents: one, several at once, and comments."""

from collections.abc import Iterable
from datetime import datetime, time
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone

from benchdash.accounts.models import User
from benchdash.dashboard.pages.incidents.tabs import NOBODY, members
from benchdash.regressions import links
from benchdash.regressions.models import Incident
from benchdash.regressions.triage import ACTIONS, Snooze

MAX_REASON: Final = 2000


def _day() -> forms.DateField:
    widget = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    return forms.DateField(required=False, label="Snooze until the day", widget=widget)


def _version() -> forms.CharField:
    return forms.CharField(max_length=100, required=False, label="or until the version")


def _reason() -> forms.CharField:
    widget = forms.TextInput(attrs={"placeholder": "Why?"})
    return forms.CharField(max_length=MAX_REASON, required=False, widget=widget)


def add_errors(form: forms.Form, error: ValidationError) -> None:
    """Show what cannot be at its field, or above the form where it has no such field."""
    for name, messages in error.message_dict.items():
        sentences = [f"{message[:1].upper()}{message[1:]}." for message in messages]
        form.add_error(name if name in form.fields else None, sentences)


class TriageForm(forms.Form):
    """A form of one incident. A field that is not sent stays; an empty assignee, bug or snooze goes."""

    state = forms.ChoiceField(choices=Incident.State, required=False)
    assignee = forms.ModelChoiceField(User.objects.none(), required=False, empty_label="nobody")
    bug = forms.CharField(
        max_length=links.MAX_LENGTH,
        required=False,
        widget=forms.TextInput(attrs={"placeholder": "Number or address"}),
    )
    snoozed_until = _day()
    snoozed_until_version = _version()
    reason = _reason()

    def __init__(self, incident: Incident, data: Any = None) -> None:
        until = incident.snoozed_until
        initial = {
            "assignee": incident.assignee_id,
            "bug": incident.bug,
            "snoozed_until": timezone.localtime(until).date() if until else None,
            "snoozed_until_version": incident.snoozed_until_version,
        }
        super().__init__(data, initial=initial)
        self.fields["assignee"].queryset = members(incident.project)  # type: ignore[attr-defined]
        self._until = until

    def wanted(self) -> dict[str, Any]:
        """Return the arguments of ``triage``."""
        said = self.cleaned_data
        changed = {name for name in self.changed_data if name in self.data}
        wanted: dict[str, Any] = {"state": said["state"] or None, "reason": said["reason"]}
        if "assignee" in changed:
            wanted |= {"assignee": said["assignee"], "unassign": said["assignee"] is None}
        if "bug" in changed:
            wanted["bug"] = said["bug"]
        if changed & {"snoozed_until", "snoozed_until_version"}:
            until = _beginning_of(said["snoozed_until"]) if "snoozed_until" in changed else self._until
            wanted["snooze"] = Snooze(until, said["snoozed_until_version"])
        return wanted


class TogetherForm(forms.Form):
    """A form of several incidents; an empty field stays as it is."""

    state = forms.ChoiceField(
        choices=[("", "leave as it is"), *((state, action.verb) for state, action in ACTIONS.items())],
        required=False,
    )
    assignee = forms.ChoiceField(required=False, label="Assign to")
    snoozed_until = _day()
    snoozed_until_version = _version()
    reason = _reason()

    def __init__(self, people: Iterable[User], data: Any = None) -> None:
        super().__init__(data)
        self._members = {str(user.pk): user for user in people}
        named = [(pk, str(user)) for pk, user in self._members.items()]
        choices = [("", "leave as it is"), (NOBODY, "nobody"), *named]
        self.fields["assignee"].choices = choices  # type: ignore[attr-defined]

    def wanted(self) -> dict[str, Any]:
        """Return the arguments of ``triage``; empty where nothing is to be done."""
        said = self.cleaned_data
        wanted: dict[str, Any] = {}
        if said["state"]:
            wanted["state"] = said["state"]
        if said["assignee"]:
            assignee = self._members.get(said["assignee"])
            wanted |= {"assignee": assignee, "unassign": assignee is None}
        if said["snoozed_until"] or said["snoozed_until_version"]:
            wanted["snooze"] = Snooze(_beginning_of(said["snoozed_until"]), said["snoozed_until_version"])
        if said["reason"]:
            wanted["reason"] = said["reason"]
        return wanted


class CommentForm(forms.Form):
    text = forms.CharField(
        max_length=10_000,
        label="Comment",
        help_text="Markdown: **bold**, `code`, lists, > quotes and [links](https://example.org).",
        widget=forms.Textarea(attrs={"rows": 3}),
    )


def _beginning_of(day: Any) -> datetime | None:
    return timezone.make_aware(datetime.combine(day, time.min)) if day else None
