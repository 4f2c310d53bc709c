"""The forms of subscriptions, tokens, members and settings."""

import dataclasses
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.utils import timezone

from benchdash.accounts.identities.services import Conditions
from benchdash.accounts.models import Project, Role, Scope, User
from benchdash.regressions.links import IN_BUG_TEMPLATE, IN_COMPARE_TEMPLATE, MAX_LENGTH, check_template
from benchdash.regressions.options import (
    BRANCH_ORIGINS,
    BUG_TEMPLATE,
    COMPARE_TEMPLATE,
    HISTORICAL_AFTER_DAYS,
    LINES_NOT_COMPARED,
    RELEASE_LINE_ORDER,
)
from benchdash.results.pull_requests import DEFAULT_DAYS, MAX_DAYS, PULL_REQUEST_DAYS
from benchdash.results.stability import STALL_BELOW, STALL_MIN_S, STALL_WARMUP_S, stall_rule

_LISTS: Final = (RELEASE_LINE_ORDER, LINES_NOT_COMPARED, BRANCH_ORIGINS)
_TEMPLATES: Final = (COMPARE_TEMPLATE, BUG_TEMPLATE)
_LIFETIMES: Final = (30, 90, 365)
CONDITIONS: Final = tuple(one.name for one in dataclasses.fields(Conditions))
_PROJECT_FIELDS: Final = ("name", "visibility", "notice", "raw_files_are_public", "is_relative_only")


class _RightsForm(forms.Form):
    """The rights of a token, and their end."""

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
    hardware = forms.CharField(
        required=False,
        max_length=100,
        help_text="If named, it sends only what this machine measured, and it may upload and read alone.",
        widget=forms.TextInput(attrs={"list": "known-hardware", "autocomplete": "off"}),
    )
    expires = forms.TypedChoiceField(
        coerce=int, empty_value=None, required=False, initial=_LIFETIMES[1], label="It expires"
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        today = timezone.now()
        self.fields["expires"].choices = [  # type: ignore[attr-defined] # it is a field of choices
            *((days, f"in {days} days, on {today + timedelta(days=days):%Y-%m-%d}") for days in _LIFETIMES),
            ("", "never"),
        ]

    def rights(self) -> dict[str, Any]:
        """Return the arguments of the services that make a token."""
        wanted = self.cleaned_data
        return {
            "name": wanted["name"],
            "scopes": wanted["scopes"],
            "hardware": wanted["hardware"],
            "expires_in_days": wanted["expires"],
        }


class TokenForm(_RightsForm):
    name = forms.CharField(
        max_length=100, help_text="Where it is used, such as the name of a machine or a job."
    )
    field_order = ("name",)


class TrustForm(_RightsForm):
    """A repository whose jobs need no secret."""

    issuer = forms.ChoiceField(label="Its jobs run on")
    repository = forms.CharField(
        max_length=300, help_text="org/name of GitHub, or the path of a project of GitLab; letter by letter."
    )
    repository_id = forms.CharField(
        required=False,
        max_length=30,
        label="Number of the repository",
        help_text="Its first job tells it if you do not. Who takes over the name of a repository that was"
        " renamed has another number, and does not get in.",
    )
    branch = forms.CharField(
        required=False, max_length=250, help_text="Jobs of pull requests are on no branch. Empty: all jobs."
    )
    environment = forms.CharField(required=False, max_length=250, help_text="Empty: all jobs.")
    workflow = forms.CharField(
        required=False,
        max_length=250,
        help_text="The path of its file, such as .github/workflows/bench.yml. Empty: all workflows.",
    )
    protected_only = forms.BooleanField(required=False, label="Only jobs of protected branches and tags")
    name = forms.CharField(
        required=False, max_length=100, label="Known as", help_text="Empty: by the name of the repository."
    )
    field_order = CONDITIONS

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, auto_id="trust_%s", **options)
        self.fields["issuer"].choices = [  # type: ignore[attr-defined] # it is a field of choices
            (one.url, f"{one.host_name}, {urlsplit(one.url).netloc}")
            for one in settings.OIDC_ISSUERS.values()
        ]

    def conditions(self) -> Conditions:
        return Conditions(**{name: self.cleaned_data[name] for name in CONDITIONS})


def _number(label: str, most: int) -> forms.FloatField:
    widget = forms.NumberInput(attrs={"step": "any"})
    return forms.FloatField(required=False, min_value=0, max_value=most, label=label, widget=widget)


class NamesField(forms.CharField):
    """Names, one a line."""

    widget = forms.Textarea(attrs={"rows": 3})

    def clean(self, value: Any) -> Any:
        return self.read([name for line in super().clean(value).splitlines() if (name := line.strip())])

    def read(self, lines: list[str]) -> Any:
        return lines

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(self.write, value)) if isinstance(value, list) else value

    def write(self, one: Any) -> str:
        return str(one)


class PairsField(NamesField):
    """Pairs of names, ``10.6 -> 11.0``, one a line."""

    def read(self, lines: list[str]) -> Any:
        pairs = [[name.strip() for name in line.split(_ARROW)] for line in lines]
        for line, pair in zip(lines, pairs, strict=True):
            if len(pair) != 2 or not all(pair):
                raise forms.ValidationError(f"'{line}' is no pair such as '10.6 {_ARROW} 11.0'.")
        return pairs

    def write(self, one: Any) -> str:
        return f" {_ARROW} ".join(one)


class TemplateField(forms.CharField):
    """An address with places for values, such as ``{bug}``."""

    def __init__(self, placeholders: tuple[str, ...], **options: Any) -> None:
        super().__init__(max_length=MAX_LENGTH, required=False, **options)
        self._placeholders = placeholders

    def clean(self, value: Any) -> str:
        return check_template(super().clean(value), self._placeholders)


_ARROW: Final = "->"
_MAX_LIST: Final = 5000


class ProjectForm(forms.ModelForm):  # type: ignore[type-arg]
    """It changes its instance, so give it a copy: the service compares with what the project was."""

    historical_after_days = forms.IntegerField(
        required=False, min_value=0, max_value=MAX_DAYS, label="Days after which a change is old news"
    )
    pull_request_days = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_DAYS,
        label="Days for which results of pull requests are kept",
        help_text=f"After the last of a pull request came in; {DEFAULT_DAYS} unless said here, 0 for ever.",
    )
    release_line_order = NamesField(
        required=False,
        max_length=_MAX_LIST,
        label="Release lines in their order",
        help_text="One a line, the oldest first. Lines that are not named go by their version. The first"
        " release of a line is compared with the newest of the line before it.",
    )
    lines_not_compared = PairsField(
        required=False,
        max_length=_MAX_LIST,
        label="Release lines that are not compared",
        help_text="One pair a line, such as 10.6 -> 11.0.",
    )
    branch_origins = PairsField(
        required=False,
        max_length=_MAX_LIST,
        label="What branches started from",
        help_text="A pattern and a release line or release, such as 'main -> 11.8' or 'feature-* -> 10.11.8';"
        " 'main -> none' compares main with nothing. Other branches begin with the name of their line, or"
        " their versions do.",
    )
    compare_template = TemplateField(
        IN_COMPARE_TEMPLATE,
        label="Where two commits are compared",
        help_text="Of your code host, such as https://github.com/org/repo/compare/{from}...{to}. Incidents"
        " lead there with the commits that they lie between, or the versions where no commits are known.",
    )
    bug_template = TemplateField(
        IN_BUG_TEMPLATE,
        label="Where bugs are",
        help_text="Of your bug tracker, such as https://jira.example.org/browse/{bug}.",
    )
    stall_below = _number("Per cent of its median below which a run stalls", 100)
    stall_min_s = _number("Seconds that a stall lasts at least", 86400)
    stall_warmup_s = _number("Seconds of warm-up where nobody says", 86400)

    class Meta:
        model = Project
        fields = _PROJECT_FIELDS
        labels = {
            "raw_files_are_public": "Show raw files, refused uploads and their reasons to everybody",
            "is_relative_only": "Publish relative figures only",
        }
        help_texts = {
            "notice": "A sentence for every page and chart, such as how far to trust the machine.",
            "is_relative_only": "Others than members see matrix and curves, with ratios alone; all other"
            " pages, answers of the API and raw files are for members.",
        }
        widgets = {"visibility": forms.RadioSelect, "notice": forms.Textarea(attrs={"rows": 2})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in _LISTS:
            self.fields[name].initial = self.instance.options.get(name, [])
        for name in _TEMPLATES:
            self.fields[name].initial = self.instance.options.get(name, "")
        days = self.fields["historical_after_days"]
        days.initial = self.instance.options.get(HISTORICAL_AFTER_DAYS)
        days.help_text = (
            "What began longer before its file came in is listed and not mailed;"
            f" {settings.HISTORICAL_AFTER.days} unless said here."
        )
        self.fields[PULL_REQUEST_DAYS].initial = self.instance.options.get(PULL_REQUEST_DAYS)
        said, usual = stall_rule(self.instance), stall_rule(Project())
        for name, own, without in (
            (STALL_BELOW, _per_cent(said.below), _per_cent(usual.below)),
            (STALL_MIN_S, said.min_s, usual.min_s),
            (STALL_WARMUP_S, said.warmup_s, usual.warmup_s),
        ):
            text = f"{without:g} unless said here. It holds for files that are read from then on."
            self.fields[name].initial = own if name in self.instance.options else None
            self.fields[name].help_text = text

    def changes(self) -> dict[str, Any]:
        """Return the fields of the project as they are wanted."""
        own = (HISTORICAL_AFTER_DAYS, PULL_REQUEST_DAYS, STALL_BELOW, STALL_MIN_S, STALL_WARMUP_S)
        texts = (*_LISTS, *_TEMPLATES)
        options = {name: value for name, value in self.instance.options.items() if name not in (*own, *texts)}
        options |= {name: value for name in texts if (value := self.cleaned_data[name])}
        for name in own:
            if (number := self.cleaned_data[name]) is not None:
                options[name] = number / 100 if name == STALL_BELOW else number
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
