"""The forms for triage and comments."""

from typing import Any

from django import forms

from benchdash.accounts.models import Project, User
from benchdash.regressions.models import Incident


class TriageForm(forms.Form):
    """No state leaves it as it is; no assignee means nobody."""

    state = forms.ChoiceField(choices=Incident.State, required=False)
    assignee = forms.ModelChoiceField(User.objects.none(), required=False, empty_label="nobody")
    reason = forms.CharField(
        max_length=2000, required=False, widget=forms.TextInput(attrs={"placeholder": "Why?"})
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        members = User.objects.filter(memberships__project=project, is_active=True).order_by("name", "email")
        self.fields["assignee"].queryset = members  # type: ignore[attr-defined]


class CommentForm(forms.Form):
    text = forms.CharField(max_length=10_000, label="Comment", widget=forms.Textarea(attrs={"rows": 3}))
