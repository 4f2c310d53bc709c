"""The newest groups of a branch, such as its nights, against a baseline."""

from datetime import time
from typing import Final, get_args

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.accounts.models import Project
from benchdash.answers.comparison import NightsSerializer, csv_columns, csv_rows
from benchdash.api.views.base import FORMAT, PROJECT, View, csv_answer
from benchdash.api.views.comparison import (
    SELECTOR,
    THREADS,
    asked_relation,
    asked_selector,
    asked_threads,
    query_parameter,
)
from benchdash.regressions.comparison.branch_table import (
    Base,
    BranchTable,
    Rows,
    branch_table,
    default_base,
    find_branch,
)
from benchdash.regressions.comparison.columns import Column, SelectorError, find_column
from benchdash.regressions.comparison.rows import RelativeTo
from benchdash.rest import parameters
from benchdash.results.workload_groups import grouping_of

DEFAULT_LAST: Final = 20
MAX_LAST: Final = 100
_OLDEST: Final = "oldest"
_PLACE: Final = ("product", "build", "hardware", "configuration", "counterpart")


class NightsView(View):
    @extend_schema(
        summary="Hold the nights of a branch against its baseline",
        parameters=[
            PROJECT,
            OpenApiParameter("metric", OpenApiTypes.STR, required=True),
            OpenApiParameter("branch", OpenApiTypes.STR, required=True),
            *(query_parameter(name, "where the branch was measured in several places") for name in _PLACE),
            OpenApiParameter(
                "base",
                OpenApiTypes.STR,
                description=f"{SELECTOR}, of a release or a commit; `oldest`: the oldest of the answer; by"
                " default the baseline of the branch, else its newest release, else the oldest",
            ),
            OpenApiParameter(
                "last",
                {**parameters.whole_number(least=1, most=MAX_LAST), "default": DEFAULT_LAST},
                description="so many commits or nights",
            ),
            OpenApiParameter(
                "until",
                parameters.MOMENT_TEXT,
                description="a time, or a day to its end: only commits and nights that are not later",
            ),
            OpenApiParameter("relative_to", enum=get_args(RelativeTo), default="base"),
            query_parameter("workload", "only rows of these workloads", many=True),
            THREADS,
            FORMAT,
        ],
        responses={(200, "application/json"): NightsSerializer, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponse:
        """Compare groups: a group is a commit or, where nobody named one, a day.

        Where several places fit, the error lists the `candidates`.
        """
        as_csv = parameters.wants_csv(request)
        answer = NightsSerializer(_asked(self.project(), request)).data
        if not as_csv:
            return Response(answer)
        columns = zip(
            (answer["base"], *answer["columns"]), (answer["base_time"], *answer["times"]), strict=True
        )
        base, *others = ({**column, "time": time} for column, time in columns)
        table = {**answer, "base": base, "columns": others}
        return csv_answer("nights", csv_columns("time"), csv_rows(table, "time"))


def _asked(project: Project, request: Request) -> BranchTable:
    """Read the table that a query asks for. Raises SelectorError or ValidationError."""
    metric = parameters.required_text(request, "metric")
    relative_to = asked_relation(request)
    said = {name: parameters.text(request, name) for name in _PLACE}
    branch = find_branch(
        project,
        parameters.required_text(request, "branch"),
        {name: text for name, text in said.items() if text is not None},
    )
    last, until = parameters.text(request, "last"), parameters.text(request, "until")
    found = branch_table(
        project,
        branch,
        metric=metric,
        last=parameters.integer("last", last, least=1, most=MAX_LAST) if last else DEFAULT_LAST,
        base=_base(project, request, branch) if relative_to == "base" else None,
        until=parameters.moment("until", until, of_day=time.max) if until else None,
        rows=Rows(
            workloads=[text for text in parameters.texts(request, "workload") if text],
            threads=asked_threads(request),
        ),
        relative_to=relative_to,
        grouping=grouping_of(project),
    )
    if found is None:
        raise SelectorError(f"no commit or night like that has the metric {metric!r}", field="metric")
    return found


def _base(project: Project, request: Request, branch: Column) -> Base | None:
    asked = parameters.text(request, "base") or ""
    if asked == _OLDEST:
        return None
    if not asked:
        return default_base(project, branch)
    place = {
        "product": branch.version.product.name,
        "hardware": branch.hardware,
        "configuration": branch.configuration,
        "counterpart": branch.counterpart,
    }
    column = find_column(project, asked_selector("base", asked).completed_by(place), field="base")
    if column.branch and not column.version.commit:
        raise parameters.refuse("base", f"a night without a commit can only be the base as `{_OLDEST}`")
    return Base(column)
