"""Versions against each other."""

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, get_args

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.accounts.models import Project
from benchdash.addresses import ColumnId
from benchdash.answers.comparison import ComparisonSerializer, csv_columns, csv_rows
from benchdash.api.requests import SelectorSerializer
from benchdash.api.views.base import FORMAT, PROJECT, View, csv_answer
from benchdash.regressions.comparison.columns import Column, Selector
from benchdash.regressions.comparison.relative import table_for_others
from benchdash.regressions.comparison.rows import RelativeTo
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.regressions.comparison.version_table import compare
from benchdash.rest import parameters

# The parts of a selector; a parameter of the same name completes one that lacks it.
_PLACE = tuple(field.name for field in fields(Selector) if not field.name.endswith("id"))
MAY_BE_EMPTY = ("build", "branch", "counterpart")
SELECTOR = (
    "the id of a version, or of a version at a place as addresses of pages have it (`12.3.1~branch`),"
    " or a JSON object with any of " + ", ".join(("id", *_PLACE))
)


# An empty one is none.
SELECTOR_SCHEMA = {
    "type": "string",
    "pattern": r"^([1-9][0-9]{0,17}(\.[0-9]{1,18}\.[0-9]{1,18})?(~.*)?|\{.*\})?$",
}


def query_parameter(name: str, about: str = "", *, many: bool = False) -> OpenApiParameter:
    return OpenApiParameter(name, OpenApiTypes.STR, description=about, many=many)


PLACE = tuple(
    OpenApiParameter(
        name,
        parameters.COMMIT_TEXT if name == "commit" else {"type": "string"},
        description="taken where a selector does not say it",
    )
    for name in _PLACE
)
SELECTORS = (
    OpenApiParameter("base", SELECTOR_SCHEMA, required=True, description=SELECTOR),
    OpenApiParameter(
        "against",
        {"type": "array", "items": SELECTOR_SCHEMA},
        description=f"{SELECTOR}; by default all versions of the base's product",
    ),
    *PLACE,
)
THREADS = OpenApiParameter(
    "threads",
    {"type": "array", "items": parameters.THREADS_TEXT},
    description="only rows of these thread counts; `null`: nobody said",
)
COMPARISON = (
    PROJECT,
    OpenApiParameter("metric", OpenApiTypes.STR, required=True),
    *SELECTORS,
    query_parameter("workload", "only rows of these workloads", many=True),
    THREADS,
)
"""The parameters that choose a comparison."""


class CompareView(View):
    is_relative = True

    @extend_schema(
        summary="Compare versions",
        parameters=[
            *COMPARISON,
            OpenApiParameter(
                "margin",
                {"type": "number", "minimum": 0, "maximum": 1},
                description="the relative difference that does not matter, such as 0.02; else the project's",
            ),
            OpenApiParameter(
                "relative_to",
                enum=get_args(RelativeTo),
                default="base",
                description="`previous`: each column against the one before it, the first against the base",
            ),
            FORMAT,
        ],
        responses={(200, "application/json"): ComparisonSerializer, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponse:
        """Compare. A selector that fits several columns is an error that lists them as `candidates`.

        Where absolute figures are for members only, others get ratios: the value of the base is 1, and the
        unit is `ratio`. `margin` is for members there.
        """
        as_csv = parameters.wants_csv(request)
        project = self.project()
        is_relative = not self.viewer.may_see_absolute(project)
        if is_relative and parameters.text(request, "margin"):
            # The margins at which a verdict turns are the ends of an interval.
            raise parameters.refuse(
                "margin", "this project publishes relative figures only, with its own margin"
            )
        table = asked_table(project, request)
        if is_relative:
            table = table_for_others(table, asked_relation(request))
        answer = ComparisonSerializer(table).data
        return csv_answer("comparison", csv_columns(), csv_rows(answer)) if as_csv else Response(answer)


def asked_table(project: Project, request: Request) -> ComparisonTable[Column]:
    """Make the comparison that a query asks for. Raises SelectorError or ValidationError."""
    return compare(
        project,
        metric=parameters.required_text(request, "metric"),
        workloads=[text for text in parameters.texts(request, "workload") if text],
        margin=_margin(request),
        relative_to=asked_relation(request),
        **asked_columns(request),
    )


def asked_columns(request: Request) -> dict[str, Any]:
    """Read the columns and thread counts of a query, as arguments of the functions that compare."""
    return {
        "base": asked_selector("base", parameters.required_text(request, "base")),
        "against": [asked_selector("against", text) for text in parameters.texts(request, "against") if text],
        "filters": asked_place(request),
        "threads": asked_threads(request),
    }


def asked_threads(request: Request) -> list[int | None]:
    return [parameters.threads(text) for text in parameters.texts(request, "threads") if text]


def _margin(request: Request) -> float | None:
    said = parameters.text(request, "margin")
    return parameters.share("margin", said) if said else None


def asked_relation(request: Request) -> RelativeTo:
    asked = parameters.text(request, "relative_to") or "base"
    known: tuple[RelativeTo, ...] = get_args(RelativeTo)
    parameters.choice("relative_to", asked, known)
    return next(one for one in known if one == asked)


def asked_selector(field: str, text: str) -> Selector:
    if column := ColumnId.of(text):
        return Selector.of_id(column)
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise parameters.refuse(field, f"{text[:50]!r} is neither the id of a version nor a JSON object")
    if unknown := said.keys() - SelectorSerializer().fields.keys():
        raise parameters.refuse(field, f"a selector has no {', '.join(map(repr, sorted(unknown)))}")
    selector = SelectorSerializer(data=said)
    if not selector.is_valid():
        name, [message, *_] = next(iter(selector.errors.items()))
        raise parameters.refuse(field, f"{name}: {message}")
    return Selector(**selector.validated_data)


def asked_place(request: Request, names: Iterable[str] = _PLACE) -> dict[str, str]:
    """Read the parts of a place; an empty one of those that may be empty is said, too."""
    said = {name: parameters.text(request, name) for name in names}
    given = {name: text for name, text in said.items() if text or (text == "" and name in MAY_BE_EMPTY)}
    if commit := given.get("commit"):
        given["commit"] = parameters.commit("commit", commit)
    return given
