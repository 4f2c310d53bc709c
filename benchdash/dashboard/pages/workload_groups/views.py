"""The groups of workloads: which there are, what they hold, and the form that changes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path

from benchdash.accounts.models import Scope
from benchdash.dashboard.pages.workload_groups.forms import fields_of, groups_said
from benchdash.dashboard.shell.project_page import ProjectPage, project_form, sent_reason
from benchdash.results.models import Workload
from benchdash.results.workload_groups import (
    AUTOMATIC,
    Grouping,
    GroupingError,
    check_groups,
    grouping_of,
    set_groups,
)

# So many of the workloads of a group are named.
_NAMED: Final = 60


@dataclass(frozen=True)
class GroupRow:
    """``name`` is empty for the workloads of no group; ``more`` is how many are not named."""

    name: str
    patterns: str
    workloads: Sequence[str]
    more: int


@project_form
def workload_groups(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Shows what the groups would hold first; the same form, sent with another button, saves them."""
    current = grouping_of(page.project)
    shown, fields, error, status = current, fields_of(current.groups), "", 200
    if request.method == "POST":
        page.require(Scope.TRIAGE)
        groups, fields = groups_said(request.POST)
        wanted = [] if request.POST.get("do") == "automatic" else groups
        try:
            if request.POST.get("do") in {"save", "automatic"}:
                set_groups(page.project, wanted, by=page.viewer, reason=sent_reason(request))
                messages.success(request, "The groups are saved.")
                return redirect("dashboard:workload_groups", page.project.slug)
            check_groups(groups)
            shown = Grouping(tuple(groups)) if groups else AUTOMATIC
        except GroupingError as refusal:
            error, status = f"{str(refusal)[:1].upper()}{str(refusal)[1:]}.", 422
    context = {
        "rows": _rows(page, shown),
        "fields": fields,
        "error": error,
        "is_automatic": current.is_automatic,
        "is_preview": request.method == "POST" and not error,
        "may_change": page.may(Scope.TRIAGE),
        "reason": sent_reason(request),
    }
    return page.render(request, "dashboard/workload_groups.html", context, status=status)


def _rows(page: ProjectPage, grouping: Grouping) -> list[GroupRow]:
    held: dict[str | None, list[str]] = {name: [] for name in [*grouping.names, None]}
    for name in Workload.objects.filter(project=page.project).order_by("name").values_list("name", flat=True):
        held[grouping.of(name)].append(name)
    patterns = {group.name: ", ".join(group.patterns) for group in grouping.groups}
    return [
        GroupRow(name or "", patterns.get(name or "", ""), found[:_NAMED], max(0, len(found) - _NAMED))
        for name, found in held.items()
    ]


urlpatterns = [path("workloads/groups/", workload_groups, name="workload_groups")]
