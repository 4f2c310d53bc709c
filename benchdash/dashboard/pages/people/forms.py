"""The forms of subscriptions, tokens, members and settings."""

from typing import Any, Final

from django import forms
from django.conf import settings

from benchdash.accounts.models import Project, Role, Scope, User
from benchdash.dashboard.shell.project_page import ProjectPage
from benchdash.regressions.options import EQUIVALENCE_MARGIN, HISTORICAL_AFTER_DAYS
from benchdash.results.models import Hardware, Product, Series
from benchdash.results.stall_rule import STALL_BELOW, STALL_MIN_S, STALL_WARMUP_S, stall_rule

_PROJECT_FIELDS: Final = ("name", "visibility", "notice", "raw_files_are_public")


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
        self.fields["product"].queryset = Product.objects.filter(project=page.project).order_by("name")  # type: ignore[attr-defined]
        self.fields["hardware"].queryset = Hardware.objects.filter(project=page.project).order_by("name")  # type: ignore[attr-defined]
        branches = Series.objects.filter(project=page.project).exclude(branch="").order_by("branch")
        self.branches = list(branches.values_list("branch", flat=True).distinct())
        self.fields["branch"].widget.attrs["list"] = "known-branches"


class TokenForm(forms.Form):
    name = forms.CharField(
        max_length=100, help_text="Where it is used, such as the name of a machine or a job."
    )
    scopes = forms.MultipleChoiceField(
        choices=[
            (
                Scope.UPLOAD,
                "upload: send results, and see what it sent, their runs and the gate of their commits",
            ),
            (
                Scope.READ,
                "read: see everything else of a private project, but not who did what and who is mailed",
            ),
            (Scope.TRIAGE, "triage: judge, correct, subscribe, and see who did what; it reads as well"),
            (Scope.ADMIN, "admin: administer the project; it reads and triages as well"),
        ],
        initial=[Scope.UPLOAD],
        widget=forms.CheckboxSelectMultiple,
        label="It may",
    )


class ProjectForm(forms.ModelForm):  # type: ignore[type-arg]
    """It changes its instance, so give it a copy: the service compares with what the project was."""

    historical_after_days = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=36500,
        label="Days after which a change is old news",
    )
    equivalence_margin = forms.FloatField(
        required=False,
        min_value=0,
        max_value=50,
        label="Per cent that do not matter",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    stall_below = forms.FloatField(
        required=False,
        min_value=0,
        max_value=100,
        label="Per cent of its median below which a run stalls",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    stall_min_s = forms.FloatField(
        required=False,
        min_value=0,
        max_value=86400,
        label="Seconds that a stall lasts at least",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    stall_warmup_s = forms.FloatField(
        required=False,
        min_value=0,
        max_value=86400,
        label="Seconds of warm-up where nobody says",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )

    class Meta:
        model = Project
        fields = _PROJECT_FIELDS
        labels = {"raw_files_are_public": "Show raw files, refused uploads and their reasons to everybody"}
        help_texts = {
            "notice": "A sentence for every page and chart, such as how far to trust the machine.",
        }
        widgets = {"visibility": forms.RadioSelect, "notice": forms.Textarea(attrs={"rows": 2})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        days = self.fields["historical_after_days"]
        days.initial = self.instance.options.get(HISTORICAL_AFTER_DAYS)
        days.help_text = (
            "What began longer before its file came in is listed and not mailed;"
            f" {settings.HISTORICAL_AFTER.days} unless said here."
        )
        margin = self.fields["equivalence_margin"]
        own = self.instance.options.get(EQUIVALENCE_MARGIN)
        margin.initial = None if own is None else _per_cent(own)
        margin.help_text = (
            "Versions that certainly differ by less are the same in comparisons and at the gate;"
            f" {_per_cent(settings.EQUIVALENCE_MARGIN):g} unless said here."
        )

        self._begin_with_stalls()

    def _begin_with_stalls(self) -> None:
        said = stall_rule(self.instance)
        usual = stall_rule(Project())
        for name, own, without in (
            (STALL_BELOW, _per_cent(said.below), _per_cent(usual.below)),
            (STALL_MIN_S, said.min_s, usual.min_s),
            (STALL_WARMUP_S, said.warmup_s, usual.warmup_s),
        ):
            self.fields[name].initial = own if name in self.instance.options else None
            self.fields[
                name
            ].help_text = f"{without:g} unless said here. It holds for files that are read from then on."

    def changes(self) -> dict[str, Any]:
        """Return the fields of the project as they are wanted."""
        own = (HISTORICAL_AFTER_DAYS, EQUIVALENCE_MARGIN, STALL_BELOW, STALL_MIN_S, STALL_WARMUP_S)
        options = {name: value for name, value in self.instance.options.items() if name not in own}
        if (days := self.cleaned_data["historical_after_days"]) is not None:
            options[HISTORICAL_AFTER_DAYS] = days
        if (per_cent := self.cleaned_data["equivalence_margin"]) is not None:
            options[EQUIVALENCE_MARGIN] = per_cent / 100
        if (per_cent := self.cleaned_data[STALL_BELOW]) is not None:
            options[STALL_BELOW] = per_cent / 100
        for name in (STALL_MIN_S, STALL_WARMUP_S):
            if (seconds := self.cleaned_data[name]) is not None:
                options[name] = seconds
        return {**{name: self.cleaned_data[name] for name in _PROJECT_FIELDS}, "options": options}


def _per_cent(share: float) -> float:
    """Without what binary fractions add: 0.07 is 7."""
    return round(share * 100, 6)


class MemberForm(forms.Form):
    address = forms.EmailField(max_length=254, label="Address of an account")
    role = forms.ChoiceField(choices=Role, initial=Role.MEMBER)

    def clean_address(self) -> User:
        """Return the account with that address."""
        address = self.cleaned_data["address"].lower()
        user = User.objects.filter(email=address, is_active=True).first()
        if user is None:
            raise forms.ValidationError(
                f"No account has the address {address}. Whoever runs this installation can make one."
            )
        return user


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=[(role, role) for role in Role.values])


class DeleteProjectForm(forms.Form):
    slug = forms.CharField(label="Type the name of the project as it stands in its address")

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._project = project

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"].strip()
        if slug != self._project.slug:
            raise forms.ValidationError(f"That is not {self._project.slug}; nothing was deleted.")
        return slug
