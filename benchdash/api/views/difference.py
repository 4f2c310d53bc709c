"""Two versions, or two runs, against each other: all metrics, and all that differs."""

from typing import Final

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.accounts.models import Project
from benchdash.addresses import PairQuery
from benchdash.answers.differences import CSV_COLUMNS, PairSerializer, csv_rows, pair_answer
from benchdash.api.views.base import PROJECT, View, csv_answer
from benchdash.api.views.comparison import (
    PLACE,
    SELECTOR,
    SELECTOR_SCHEMA,
    THREADS,
    asked_columns,
    query_parameter,
)
from benchdash.regressions.comparison.columns import find_column, short_id
from benchdash.regressions.comparison.pair_words import markdown
from benchdash.regressions.comparison.pairs import Pair, find_runs, pair_of_columns, pair_of_runs
from benchdash.rest import parameters

_FORMATS: Final = ("csv", "md")


class DifferenceView(View):
    @extend_schema(
        summary="Lay two versions or two runs side by side",
        parameters=[
            PROJECT,
            OpenApiParameter("base", SELECTOR_SCHEMA, description=SELECTOR),
            OpenApiParameter("against", SELECTOR_SCHEMA, description=SELECTOR),
            *PLACE,
            OpenApiParameter(
                "run",
                {"type": "array", "items": parameters.whole_number(most=parameters.MAX_ID), "maxItems": 2},
                description="two ids of runs, instead of base and against",
            ),
            query_parameter("workload", "only rows of these workloads", many=True),
            THREADS,
            OpenApiParameter("format", OpenApiTypes.STR, enum=["json", *_FORMATS], default="json"),
        ],
        responses={
            (200, "application/json"): PairSerializer,
            (200, "text/csv"): OpenApiTypes.STR,
            (200, "text/markdown"): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request) -> HttpResponse:
        """Return every metric with its verdicts, and what differs in settings, machine, commands and options.

        What a selector does not say is taken from the parameters of the same names, as in a comparison.
        """
        answer, project = parameters.answer_format(request, *_FORMATS), self.project()
        pair = self._of_runs(project) or self._of_columns(project)
        page = _page(project, pair)
        if answer == "md":
            return HttpResponse(markdown(pair, url=page), content_type="text/markdown; charset=utf-8")
        shown = pair_answer(pair, page)
        return csv_answer("difference", CSV_COLUMNS, csv_rows(shown)) if answer == "csv" else Response(shown)

    def _of_runs(self, project: Project) -> Pair | None:
        """Compare two runs; None where none were asked for."""
        texts = [text for text in parameters.texts(self.request, "run") if text]
        if not texts:
            return None
        ids = [parameters.integer("run", text, most=parameters.MAX_ID) for text in texts]
        if len(ids) != 2 or ids[0] == ids[1]:
            raise parameters.refuse("run", "two different runs are wanted")
        runs = find_runs(project, ids)
        for pk in ids:
            if pk not in runs:
                raise parameters.refuse("run", f"there is no run {pk} in this project")
        return pair_of_runs(runs[ids[0]], runs[ids[1]])

    def _of_columns(self, project: Project) -> Pair:
        asked = asked_columns(self.request)
        if len(asked["against"]) != 1:
            raise parameters.refuse("against", "one version is wanted")
        sides = ((asked["base"], "base"), (asked["against"][0], "against"))
        base, against = (
            find_column(project, selector.completed_by(asked["filters"]), field=side)
            for selector, side in sides
        )
        return pair_of_columns(
            project,
            base,
            against,
            workloads=[text for text in parameters.texts(self.request, "workload") if text],
            threads=asked["threads"],
        )


def _page(project: Project, pair: Pair) -> str:
    """Return the address of the page that shows the same."""
    if pair.base.run and pair.other.run:
        query = PairQuery(runs=(str(pair.base.run.pk), str(pair.other.run.pk)))
    else:
        query = PairQuery(base=short_id(pair.base.column), against=short_id(pair.other.column))
    return query.absolute(project.slug)
