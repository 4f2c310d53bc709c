"""My morning: the nights of all projects that a person follows, on one page."""

from dataclasses import dataclass
from typing import Final

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from benchdash.accounts.access import viewer_of
from benchdash.accounts.following import followed_projects
from benchdash.accounts.models import Scope
from benchdash.regressions.morning.briefs import Brief, mornings_of

MAX_LISTED: Final = 10
"""Incidents of each kind that a project lists."""


@dataclass(frozen=True)
class FollowedProject:
    """A project that a person follows; only members see who has an incident."""

    morning: Brief
    is_member: bool

    @property
    def more(self) -> int:
        """How many incidents are not listed."""
        shown = len(self.morning.new) + len(self.morning.open)
        return self.morning.new_count + self.morning.open_count - shown


@require_safe
def my_morning(request: HttpRequest) -> HttpResponse:
    """Show the projects that need somebody first."""
    viewer = viewer_of(request)
    if viewer.user is None:
        return redirect_to_login(request.get_full_path())
    projects = list(followed_projects(viewer))
    mornings = mornings_of(projects, listed=MAX_LISTED)
    members = viewer.project_ids(Scope.READ)
    followed = [FollowedProject(mornings[one.pk], is_member=one.pk in members) for one in projects]
    followed.sort(key=lambda one: (not one.morning.new, not one.morning.missing, not one.morning.open))
    return render(request, "dashboard/my_morning.html", {"followed": followed})


urlpatterns = [path("my-morning/", my_morning, name="my_morning")]
