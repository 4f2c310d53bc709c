"""The forms of the page: an address of mail, a webhook, and the code host of pull requests."""

import re
from typing import Any, ClassVar, Final

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from benchdash.accounts.models import Scope
from benchdash.accounts.time_zones import time_zones
from benchdash.alerts import pull_requests, subscriptions
from benchdash.alerts.code_hosts import code_host
from benchdash.alerts.models import WEEKDAYS, CodeHost, Subscription
from benchdash.alerts.outgoing import MAX_URL
from benchdash.alerts.webhooks import add_webhook
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
_PAYLOADS: Final = {
    Subscription.Payload.JSON: "JSON, for a program",
    Subscription.Payload.SLACK: "a message for Slack",
    Subscription.Payload.MATTERMOST: "a message for Mattermost",
    Subscription.Payload.MATRIX: "a message for Matrix (Hookshot)",
}
_REPOSITORY: Final = re.compile(r"[\w.-]+(/[\w.-]+)+|\d+")


class NotificationForm(forms.Form):
    """A form that adds something to be told. It stands on a page with others, so its ids bear ``name``.

    ``first`` are the fields that most want to fill in; the others are folded.
    """

    name: ClassVar[str]
    scope: ClassVar[str]
    first: ClassVar[tuple[str, ...]] = ()
    usual: ClassVar[tuple[object, ...]] = (None, "", False)
    """Values that say nothing where they stand in a folded field."""

    def __init__(self, page: ProjectPage, data: QueryDict | None = None, **options: Any) -> None:
        super().__init__(data, auto_id=f"{self.name}_%s", **options)
        self.page = page
        for name, model in (("product", Product), ("hardware", Hardware)):
            if name in self.fields:
                known = model._default_manager.filter(project=page.project).order_by("name")
                self.fields[name].queryset = known  # type: ignore[attr-defined]

    def add(self) -> tuple[str, str]:
        """Add it, and return what to say, and a secret to show once. Raises ValidationError."""
        raise NotImplementedError

    def refuse(self, error: ValidationError) -> None:
        """Say what is wrong at its field, where the form has it."""
        if hasattr(error, "error_dict") and set(error.error_dict) <= set(self.fields):
            self.add_error(None, error)
        else:
            self.add_error(None, error.messages)

    @property
    def first_fields(self) -> list[forms.BoundField]:
        return [field for field in self if field.name in self.first]

    @property
    def other_fields(self) -> list[forms.BoundField]:
        return [field for field in self if field.name not in self.first]

    @property
    def says_more(self) -> bool:
        """Tell whether a folded field says something, or something wrong."""
        return any(field.errors or field.value() not in self.usual for field in self.other_fields)


class _IncidentsForm(NotificationForm):
    """Chooses the incidents that are told."""

    kinds = forms.MultipleChoiceField(
        choices=[*_KINDS.items()],
        initial=[Incident.Kind.REGRESSION, Incident.Kind.DRIFT, Incident.Kind.SILENCE],
        widget=forms.CheckboxSelectMultiple,
        label="Tell of",
    )
    product = forms.ModelChoiceField(Product.objects.none(), required=False, empty_label="every product")
    branch = forms.CharField(max_length=200, required=False, help_text="No branch means all of them.")
    hardware = forms.ModelChoiceField(Hardware.objects.none(), required=False, empty_label="all hardware")

    @property
    def branches(self) -> list[str]:
        series = Series.objects.filter(project=self.page.project).exclude(branch="")
        return list(series.order_by("branch").values_list("branch", flat=True).distinct())


class SubscriptionForm(_IncidentsForm):
    """Readers subscribe themselves; who triages may subscribe any address, which is asked by mail.

    Without ``address`` it changes a subscription.
    """

    name = "subscription"
    scope = Scope.READ
    first = ("address", "kinds", "rhythm")
    usual = (*NotificationForm.usual, 8, "8", 0, "0")

    address = forms.EmailField(max_length=254, label="Address")
    rhythm = forms.ChoiceField(
        choices=[*_RHYTHMS.items()],
        initial=Subscription.Rhythm.IMMEDIATELY,
        widget=forms.RadioSelect,
        label="How often",
    )
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
        choices=[(hour, f"{hour:02d}:00") for hour in range(subscriptions.MAX_HOUR + 1)],
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
    field_order = ("address", "kinds", "rhythm", "product", "branch", "hardware")

    def __init__(
        self, page: ProjectPage, data: QueryDict | None = None, *, changes: Subscription | None = None
    ) -> None:
        super().__init__(page, data, initial=self._values(changes) if changes else None)
        if changes:
            del self.fields["address"]
        else:
            self.fields["address"].initial = page.viewer.address
            self.fields["address"].disabled = not page.may(Scope.TRIAGE)
        self.fields["branch"].widget.attrs["list"] = "known-branches"
        measured = set(
            Series.objects.filter(project=page.project).values_list("metric", flat=True).distinct()
        )
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

    @classmethod
    def _values(cls, subscription: Subscription) -> dict[str, Any]:
        values = {name: getattr(subscription, name) for name in cls.base_fields}
        smallest = subscription.smallest_change
        return {**values, "smallest_change": None if smallest is None else round(100 * smallest, 4)}

    def wishes(self) -> dict[str, Any]:
        """Return what is wanted, as ``subscribe`` and ``change`` take it."""
        wanted = {name: value for name, value in self.cleaned_data.items() if name != "address"}
        for name in ("hour", "weekday"):
            if wanted[name] == "":
                del wanted[name]
        per_cent = wanted["smallest_change"]
        return {**wanted, "smallest_change": None if per_cent is None else round(per_cent / 100, 6)}

    def add(self) -> tuple[str, str]:
        address = self.cleaned_data["address"]
        made, is_new = subscriptions.subscribe(
            self.page.project, address, by=self.page.viewer, **self.wishes()
        )
        if not is_new:
            return f"{made.address} was subscribed to this already.", ""
        if made.confirmed_at:
            return f"{made.address} is subscribed.", ""
        return f"{made.address} gets a mail with a link. It is told nothing before it has confirmed.", ""


class WebhookForm(_IncidentsForm):
    name = "webhook"
    scope = Scope.TRIAGE
    first = ("url", "payload", "kinds")

    url = forms.CharField(
        max_length=MAX_URL,
        label="Address",
        widget=forms.TextInput(attrs={"type": "url", "placeholder": "https://"}),
    )
    payload = forms.ChoiceField(choices=[*_PAYLOADS.items()], label="What it is sent")
    secret = forms.CharField(
        max_length=200, required=False, help_text="Signs what is sent; without one it is made."
    )
    field_order = ("url", "payload", "kinds")

    def add(self) -> tuple[str, str]:
        made, is_new = add_webhook(self.page.project, **self.cleaned_data, by=self.page.viewer)
        return ("The webhook is added.", made.secret) if is_new else ("This webhook was there already.", "")


class CodeHostForm(NotificationForm):
    name = "code-host"
    scope = Scope.ADMIN
    first = ("kind", "repository", "secret")

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

    def add(self) -> tuple[str, str]:
        made = pull_requests.connect(self.page.project, **self.cleaned_data, by=self.page.viewer)
        return f"Pull requests of {made} are answered from now on.", ""
