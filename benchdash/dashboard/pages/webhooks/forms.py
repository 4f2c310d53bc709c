"""The form that adds a webhook."""

from typing import Any, Final

from django import forms

from benchdash.accounts.models import Project
from benchdash.alerts.models import Subscription
from benchdash.alerts.outgoing import MAX_URL
from benchdash.regressions.models import Incident
from benchdash.results.models import Hardware, Product

_PAYLOADS: Final = [
    (Subscription.Payload.JSON, "JSON, for a program"),
    (Subscription.Payload.SLACK, "a message for Slack"),
    (Subscription.Payload.MATTERMOST, "a message for Mattermost"),
    (Subscription.Payload.MATRIX, "a message for Matrix (Hookshot)"),
]


class WebhookForm(forms.Form):
    url = forms.CharField(
        max_length=MAX_URL,
        label="Address",
        widget=forms.TextInput(attrs={"type": "url", "placeholder": "https://"}),
    )
    payload = forms.ChoiceField(choices=_PAYLOADS, label="What it is sent")
    kinds = forms.MultipleChoiceField(
        choices=[
            (Incident.Kind.REGRESSION, "regressions"),
            (Incident.Kind.IMPROVEMENT, "improvements"),
            (Incident.Kind.ENVIRONMENT, "changes of a machine"),
            (Incident.Kind.SILENCE, "silences"),
            (Incident.Kind.DRIFT, "drifts"),
        ],
        initial=[Incident.Kind.REGRESSION],
        widget=forms.CheckboxSelectMultiple,
        label="Of which incidents",
    )
    product = forms.ModelChoiceField(Product.objects.none(), required=False, empty_label="every product")
    branch = forms.CharField(max_length=200, required=False, help_text="No branch means all of them.")
    hardware = forms.ModelChoiceField(Hardware.objects.none(), required=False, empty_label="all hardware")
    secret = forms.CharField(
        max_length=200, required=False, help_text="Signs what is sent; without one it is made."
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, model in (("product", Product), ("hardware", Hardware)):
            known = model._default_manager.filter(project=project).order_by("name")
            self.fields[name].queryset = known  # type: ignore[attr-defined]
