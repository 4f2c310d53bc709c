"""The form of a subscription: the address, what it is told of, and how often; the rest under "More"."""

from typing import Any, Final

from django import forms
from django.http import QueryDict

from benchdash.accounts.models import Scope
from benchdash.accounts.time_zones import time_zones
from benchdash.alerts.models import WEEKDAYS, Subscription
from benchdash.alerts.subscriptions import MAX_HOUR
from benchdash.dashboard.shell.numbers import short_metric_name
from benchdash.dashboard.shell.project_page import ProjectPage
from benchdash.regressions.models import Incident
from benchdash.regressions.watched_metrics import rules_of
from benchdash.results.metrics import in_order
from benchdash.results.models import Hardware, Product, Series
from benchdash.results.workload_groups import grouping_of

_KINDS: Final = {
    Incident.Kind.REGRESSION: "regressions: something became slower or worse",
    Incident.Kind.IMPROVEMENT: "improvements",
    Incident.Kind.ENVIRONMENT: "machines: most series of one changed together",
    Incident.Kind.SILENCE: "silence: a machine or job stopped to report",
    Incident.Kind.DRIFT: "drifts: something becomes slower little by little",
}
_RHYTHMS: Final = {
    Subscription.Rhythm.IMMEDIATELY: "at once: a mail for each incident",
    Subscription.Rhythm.DAILY: "once a day: a digest of what is new, open and missing",
    Subscription.Rhythm.WEEKLY: "once a week: the same digest over the week",
}


class SubscriptionForm(forms.Form):
    """Readers subscribe themselves; who triages may subscribe any address, which is asked by mail.

    Without ``address`` it changes a subscription.
    """

    address = forms.EmailField(max_length=254, label="Address")
    kinds = forms.MultipleChoiceField(
        choices=[*_KINDS.items()],
        initial=[Incident.Kind.REGRESSION, Incident.Kind.DRIFT, Incident.Kind.SILENCE],
        widget=forms.CheckboxSelectMultiple,
        label="Tell of",
    )
    rhythm = forms.ChoiceField(
        choices=[*_RHYTHMS.items()],
        initial=Subscription.Rhythm.IMMEDIATELY,
        widget=forms.RadioSelect,
        label="How often",
    )
    product = forms.ModelChoiceField(Product.objects.none(), required=False, empty_label="every product")
    branch = forms.CharField(max_length=200, required=False, help_text="No branch means all of them.")
    hardware = forms.ModelChoiceField(Hardware.objects.none(), required=False, empty_label="all hardware")
    workload_group = forms.ChoiceField(required=False, label="Group of workloads")
    metric = forms.ChoiceField(required=False)
    smallest_change = forms.FloatField(
        required=False,
        min_value=0.01,
        max_value=100,
        label="Smallest change, per cent",
        help_text="Of the headline figure. What is smaller is not told.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    hour = forms.TypedChoiceField(
        choices=[(hour, f"{hour:02d}:00") for hour in range(MAX_HOUR + 1)],
        coerce=int,
        required=False,
        initial=8,
        label="Digest at",
    )
    weekday = forms.TypedChoiceField(
        choices=[*enumerate(WEEKDAYS)],
        coerce=int,
        required=False,
        initial=0,
        label="Weekly digest on",
    )
    time_zone = forms.ChoiceField(
        required=False, label="Time zone", help_text="Empty: that of the account, else UTC."
    )
    all_quiet = forms.BooleanField(required=False, label="Send the digest when all is quiet too")

    first = ("address", "kinds", "rhythm")
    filters = ("product", "branch", "hardware", "workload_group", "metric", "smallest_change")
    times = ("hour", "weekday", "time_zone", "all_quiet")

    def __init__(
        self, page: ProjectPage, data: QueryDict | None = None, *, changes: Subscription | None = None
    ) -> None:
        super().__init__(data, initial=_said(changes) if changes else None)
        if changes:
            del self.fields["address"]
        else:
            self.fields["address"].initial = page.viewer.address
            self.fields["address"].disabled = not page.may(Scope.TRIAGE)
        for name, model in (("product", Product), ("hardware", Hardware)):
            known = model._default_manager.filter(project=page.project).order_by("name")
            self.fields[name].queryset = known  # type: ignore[attr-defined]
        series = Series.objects.filter(project=page.project)
        branches = series.exclude(branch="").order_by("branch").values_list("branch", flat=True)
        self.branches = list(branches.distinct())
        self.fields["branch"].widget.attrs["list"] = "known-branches"
        measured = set(series.values_list("metric", flat=True).distinct())
        rules = rules_of(page.project.pk)
        metrics = in_order([name for name in measured if rules.is_watched(name)])
        groups = grouping_of(page.project).names
        if changes:
            # A choice without results stays chosen.
            metrics += [changes.metric] if changes.metric not in ("", *metrics) else []
            groups += [changes.workload_group] if changes.workload_group not in ("", *groups) else []
        self._choose("metric", "every metric", [(name, short_metric_name(name)) for name in metrics])
        self._choose("workload_group", "all workloads", [(name, name) for name in groups])
        zones = [(name, name.replace("_", " ")) for name in time_zones()]
        self._choose("time_zone", "of the account", zones)

    def _choose(self, name: str, empty: str, known: list[tuple[str, str]]) -> None:
        self.fields[name].choices = [("", empty), *known]  # type: ignore[attr-defined]

    @property
    def first_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.first if name in self.fields]

    @property
    def filter_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.filters]

    @property
    def time_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.times]

    @property
    def says_more(self) -> bool:
        """Tell whether something under "More" is said, or wrong."""
        more = (*self.filters, *self.times)
        return any(name in self.errors or self[name].value() not in _USUAL for name in more)

    def wishes(self) -> dict[str, Any]:
        """Return what is wanted, as ``subscribe`` and ``change`` take it."""
        wanted = {name: value for name, value in self.cleaned_data.items() if name != "address"}
        for name in ("hour", "weekday"):
            if wanted[name] == "":
                del wanted[name]
        per_cent = wanted["smallest_change"]
        return {**wanted, "smallest_change": None if per_cent is None else round(per_cent / 100, 6)}


_USUAL: Final = (None, "", False, 8, "8", 0, "0")


def _said(subscription: Subscription) -> dict[str, Any]:
    fields = (*SubscriptionForm.first, *SubscriptionForm.filters, *SubscriptionForm.times)
    said = {name: getattr(subscription, name) for name in fields}
    smallest = subscription.smallest_change
    return {**said, "smallest_change": None if smallest is None else round(100 * smallest, 4)}
