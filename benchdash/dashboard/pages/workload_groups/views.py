"""The groups of workloads: which there are, what they hold, and the form that changes them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import path

from benchdash.accounts.models import Scope
from benchdash.dashboard.shell.project_page import ProjectPage, project_form, sent_reason
from benchdash.results import workload_groups as grouping
from benchdash.results.models import Workload
from benchdash.results.workload_groups import MAX_GROUPS, Grouping, GroupingError, PatternGroup

_EMPTY: Final = 2
_MAX_ORDER_LENGTH: Final = 9
_MAX_TEXT_LENGTH: Final = 40_000


@dataclass(frozen=True)
class Field:
    """One group as its fields say it; ``patterns`` has one a line."""

    order: str = ""
    name: str = ""
    patterns: str = ""


def fields_of(groups: Iterable[PatternGroup]) -> list[Field]:
    """Return the fields of these groups, and empty ones for more."""
    return _with_empty(
        [Field(str(number), group.name, "\n".join(group.patterns)) for number, group in enumerate(groups, 1)]
    )


def groups_said(data: QueryDict) -> tuple[list[PatternGroup], list[Field]]:
    """Return the groups that a form says, in the order of its numbers, and its fields again.

    A group without a name and patterns is none.
    """
    said = zip(data.getlist("order"), data.getlist("name"), data.getlist("patterns"), strict=False)
    fields = [
        Field(_text(order)[:_MAX_ORDER_LENGTH], _text(name), _text(patterns))
        for order, name, patterns in said
    ]
    fields = sorted((one for one in fields if one.name or one.patterns), key=_order)[: MAX_GROUPS + _EMPTY]
    groups = [
        PatternGroup(one.name, tuple(filter(None, map(str.strip, one.patterns.splitlines()))))
        for one in fields
    ]
    return groups, _with_empty(fields)


def _with_empty(fields: Sequence[Field]) -> list[Field]:
    return [*fields, *(Field(str(len(fields) + number)) for number in range(1, _EMPTY + 1))]


def _order(field: Field) -> float:
    """Return the number of a group; without one it comes last."""
    return int(field.order) if field.order.isascii() and field.order.isdigit() else inf


def _text(text: str) -> str:
    return text.replace("\0", "").strip()[:_MAX_TEXT_LENGTH]


# Maximum number of named workloads of a group.
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
    """Show first what the groups would hold; the same form, sent with another button, saves them."""
    current = grouping.grouping_of(page.project)
    shown, fields, error, status = current, fields_of(current.groups), "", 200
    if request.method == "POST":
        page.require(Scope.TRIAGE)
        groups, fields = groups_said(request.POST)
        wanted = [] if request.POST.get("do") == "automatic" else groups
        try:
            if request.POST.get("do") in {"save", "automatic"}:
                grouping.set_groups(page.project, wanted, by=page.viewer, reason=sent_reason(request))
                return page.done(request, "The groups are saved.", "workload_groups")
            grouping.check_groups(groups)
            shown = Grouping(tuple(groups)) if groups else grouping.AUTOMATIC
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
