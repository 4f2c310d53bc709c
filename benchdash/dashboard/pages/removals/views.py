"""The projects that are being deleted: how far each is, and that it is gone."""

from typing import Final

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from benchdash.accounts.access import viewer_of
from ingest.removal import removals_for

_MAX_LISTED: Final = 20


@require_safe
@login_required
def removals(request: HttpRequest) -> HttpResponse:
    """List the newest deletions that the viewer asked for or whose projects they are a member of."""
    found = list(removals_for(viewer_of(request))[:_MAX_LISTED])
    context = {"removals": found, "waits": any(one.finished_at is None for one in found)}
    return render(request, "dashboard/removals.html", context)


urlpatterns = [path("deleted-projects/", removals, name="removals")]
