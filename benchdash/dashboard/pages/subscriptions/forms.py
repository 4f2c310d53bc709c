"""The form of a subscription."""

from typing import Any

from django import forms

from benchdash.accounts.models import Scope
from benchdash.dashboard.shell.project_page import ProjectPage
from benchdash.results.models import Hardware, Product, Series


class SubscriptionForm(forms.Form):
    """Readers subscribe themselves; who triages may subscribe any address, which is asked by mail."""

    address = forms.EmailField(max_length=254, label="Address")
    product = forms.ModelChoiceField(Product.objects.none(), required=False, empty_label="every product")
    branch = forms.CharField(max_length=200, required=False, help_text="No branch means all of them.")
    hardware = forms.ModelChoiceField(Hardware.objects.none(), required=False, empty_label="all hardware")

    def __init__(self, page: ProjectPage, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["address"].initial = page.viewer.address
        if not page.may(Scope.TRIAGE):
            self.fields["address"].disabled = True
        for name, model in (("product", Product), ("hardware", Hardware)):
            known = model._default_manager.filter(project=page.project).order_by("name")
            self.fields[name].queryset = known  # type: ignore[attr-defined]
        branches = Series.objects.filter(project=page.project).exclude(branch="").order_by("branch")
        self.branches = list(branches.values_list("branch", flat=True).distinct())
        self.fields["branch"].widget.attrs["list"] = "known-branches"
