"""The pages that belong to no project: the list of projects, making one, signing in and out."""

from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.contrib import admin
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView, redirect_to_login
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods
from django.views.generic import RedirectView

from benchdash.accounts.access import NotAllowed, Viewer, viewer_of
from benchdash.accounts.access_log import log_failed_sign_in, log_sign_in, log_throttled_sign_in
from benchdash.accounts.following import followed_projects
from benchdash.accounts.models import Project, Scope
from benchdash.accounts.services import create_project
from benchdash.regressions.morning.briefs import mornings_of
from benchdash.regressions.morning.news import News
from benchdash.results.catalogue import Size, sizes_of
from benchdash.throttling import MinuteThrottle, place_of
from ingest.removal import removals_for

MAX_RUNS: Final = 10_000


MAX_LISTED: Final = 10
"""Incidents of each kind that a project lists."""


@dataclass(frozen=True)
class ProjectCard:
    """A project in the list of projects. More runs than ``MAX_RUNS`` are not counted.

    ``morning`` is None where the viewer may see relative figures only; only members see who has an incident.
    """

    project: Project
    size: Size
    morning: News | None
    is_member: bool = False

    @property
    def has_more_runs(self) -> bool:
        return self.size.runs > MAX_RUNS

    @property
    def counted_runs(self) -> int:
        return min(self.size.runs, MAX_RUNS)

    @property
    def needs_somebody(self) -> bool:
        return bool(self.morning and (self.morning.new or self.morning.missing or self.morning.open))

    @property
    def more(self) -> int:
        """How many incidents are not listed."""
        if self.morning is None:
            return 0
        return sum(max(0, len(kind) - MAX_LISTED) for kind in (self.morning.new, self.morning.open))


def project_cards(viewer: Viewer) -> tuple[list[ProjectCard], list[ProjectCard]]:
    """Return the followed projects that need somebody, the new ones first, and all others by name.

    Any number of projects takes the same statements.
    """
    projects = list(viewer.projects(relative=True))
    measured = sizes_of(projects, most=MAX_RUNS)
    followed = {project.pk for project in followed_projects(viewer)}
    members = viewer.project_ids(Scope.READ)
    mornings = mornings_of(
        [project for project in projects if viewer.may_see_absolute(project)], listed=MAX_LISTED
    )
    cards = [
        ProjectCard(
            project,
            measured.get(project.pk, Size()),
            mornings.get(project.pk),
            is_member=project.pk in members,
        )
        for project in projects
    ]
    first = [card for card in cards if card.project.pk in followed and card.needs_somebody]
    first.sort(key=lambda card: not (card.morning and card.morning.new))
    return first, [card for card in cards if card not in first]


class NewProjectForm(forms.Form):
    """Without a name in addresses, it is made of the name."""

    name = forms.CharField(
        max_length=100, help_text="As pages show it, such as “Nightly runs of the server team”."
    )
    slug = forms.SlugField(
        max_length=50,
        required=False,
        label="Name in addresses and commands",
        help_text="Letters, digits, - and _. Proposed from the name; it cannot be changed later.",
        error_messages={"invalid": "An address takes letters from a to z, digits, - and _ alone."},
        widget=forms.TextInput(attrs={"data-proposed-from": "id_name", "autocapitalize": "none"}),
    )
    visibility = forms.ChoiceField(
        choices=Project.Visibility,
        initial=Project.Visibility.PRIVATE,
        label="Who may read it",
        widget=forms.RadioSelect,
    )

    def clean(self) -> dict[str, Any]:
        said = super().clean() or {}
        slug = said.get("slug") or slugify(said.get("name", ""))[:50].strip("-")
        if "name" in said and not slug:
            self.add_error("slug", "The name has no letters that an address could have: choose one here.")
        elif Project.objects.filter(slug=slug).exists():
            self.add_error("slug", f"'{slug}' is taken by another project: choose another name here.")
        return {**said, "slug": slug}

    def make(self, *, by: Viewer) -> Project | None:
        """Make the project; None where it cannot be made, which the form then says."""
        said = self.cleaned_data
        is_public = said["visibility"] == Project.Visibility.PUBLIC
        try:
            return create_project(said["slug"], name=said["name"], public=is_public, by=by)
        except ValidationError as error:
            self.add_error(None, error)
            return None


@require_http_methods(["GET", "HEAD", "POST"])
def home(request: HttpRequest) -> HttpResponse:
    """List the projects, first those that need the person who follows them; a form makes one more."""
    viewer = viewer_of(request)
    form = NewProjectForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        if viewer.is_anonymous:
            return redirect_to_login(reverse("dashboard:home"))
        try:
            viewer.require_may_make_projects()
        except NotAllowed as error:
            raise PermissionDenied(str(error)) from None
        project = form.make(by=viewer) if form.is_valid() else None
        if project:
            return redirect("dashboard:overview", project.slug)
    first, others = project_cards(viewer)
    context = {
        "first": first,
        "max_listed": f":{MAX_LISTED}",
        "cards": others,
        "being_deleted": removals_for(viewer).filter(finished_at=None),
        "form": form if viewer.may_make_projects else None,
    }
    return render(request, "dashboard/home.html", context, status=422 if form.is_bound else 200)


class SignInForm(AuthenticationForm):
    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": "No account has this e-mail address and password.",
    }

    def clean_username(self) -> str:
        return str(self.cleaned_data["username"]).lower()


class TriesFromPlace(MinuteThrottle):
    """Tries to sign in from one place."""

    scope = "sign_in_of_place"


class TriesOfAccountFromPlace(MinuteThrottle):
    """Tries to sign in with one e-mail address from one place."""

    scope = "sign_in"


class TriesOfAccount(MinuteThrottle):
    """Tries to sign in with one e-mail address, from all places together."""

    scope = "sign_in_of_account"


class SignIn(LoginView):
    """A try over a limit is refused before the password is looked at."""

    authentication_form = SignInForm

    template_name = "dashboard/sign_in.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        account, place = request.POST.get("username", "").strip().lower(), place_of(request)
        # A try that one limit refuses does not count for the next: one place never uses up an account's.
        if (
            TriesFromPlace().allows(place)
            and TriesOfAccountFromPlace().allows(f"{account} {place}")
            and TriesOfAccount().allows(account)
        ):
            return super().post(request, *args, **kwargs)
        log_throttled_sign_in(request, account)
        # A bound form would try the password while it is drawn.
        context = self.get_context_data(form=SignInForm(request), too_many=True)
        return self.render_to_response(context, status=429, headers={"Retry-After": "60"})

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        log_sign_in(self.request, form.get_user())
        return super().form_valid(form)

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        log_failed_sign_in(self.request, self.request.POST.get("username", ""))
        return super().form_invalid(form)


def sign_in_for_admin(request: HttpRequest) -> HttpResponse:
    """Lead from the admin's sign-in page to ours, which limits tries."""
    wanted = request.GET.get(REDIRECT_FIELD_NAME) or reverse("admin:index")
    if request.user.is_authenticated and not admin.site.has_permission(request):
        # The sign-in page would lead straight back.
        raise PermissionDenied("the admin pages are for staff")
    return redirect_to_login(wanted)


urlpatterns = [
    path("", home, name="home"),
    # It was a page of its own.
    path(
        "my-morning/",
        RedirectView.as_view(pattern_name="dashboard:home", permanent=True),
        name="my_morning",
    ),
    path("sign-in/", SignIn.as_view(), name="sign_in"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
]
