"""The form that connects a project with the code host of its pull requests."""

import re
from typing import Any, Final

from django import forms

from benchdash.alerts.code_hosts import code_host
from benchdash.alerts.models import CodeHost
from benchdash.alerts.outgoing import MAX_URL

_REPOSITORY: Final = re.compile(r"[\w.-]+(/[\w.-]+)+|\d+")


class CodeHostForm(forms.Form):
    kind = forms.ChoiceField(choices=CodeHost.Kind, label="Kind")
    repository = forms.CharField(
        max_length=300,
        widget=forms.TextInput(attrs={"placeholder": "organisation/name"}),
        help_text="The repository that is merged into, as its address names it.",
    )
    secret = forms.CharField(
        max_length=500,
        label="Token",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=(
            "Of GitHub: a fine-grained token of this repository that may write commit statuses and pull"
            " requests. Of GitLab: a project access token with the scope api. It is kept, and never shown."
        ),
    )
    api_url = forms.CharField(
        max_length=MAX_URL,
        required=False,
        label="Address of the API",
        widget=forms.TextInput(attrs={"type": "url", "placeholder": "https://"}),
        help_text="Only for a server of your own; empty for github.com and gitlab.com.",
    )

    def clean_repository(self) -> str:
        repository: str = self.cleaned_data["repository"].strip().strip("/")
        if not _REPOSITORY.fullmatch(repository) or ".." in repository.split("/"):
            raise forms.ValidationError("This is no repository; one is called organisation/name.")
        return repository

    def clean(self) -> dict[str, Any]:
        sent = super().clean() or self.cleaned_data
        if "kind" in sent and not sent.get("api_url"):
            sent["api_url"] = code_host(sent["kind"]).API_URL
        return sent
