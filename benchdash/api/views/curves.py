"""Scaling curves in figures."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.answers.curves import CSV_COLUMNS, CurvesSerializer, csv_rows
from benchdash.api.views.base import FORMAT, View, csv_answer
from benchdash.api.views.comparison import COMPARISON, asked_table
from benchdash.regressions.comparison.curves import curves_of
from benchdash.rest import parameters


class CurvesView(View):
    @extend_schema(
        summary="Scaling curves in figures",
        parameters=[
            *COMPARISON,
            OpenApiParameter(
                "from", parameters.whole_number(least=1), description="threads; else the fewest of each curve"
            ),
            OpenApiParameter(
                "to", parameters.whole_number(least=1), description="threads; else the most of each curve"
            ),
            FORMAT,
        ],
        responses={(200, "application/json"): CurvesSerializer, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponse:
        """Return a curve for each version and each workload that was measured at several thread counts."""
        as_csv = parameters.wants_csv(request)
        before, after = _count(request, "from"), _count(request, "to")
        table = asked_table(self.project(), request)
        found = {"metric": table.metric, "curves": curves_of(table)}
        answer = CurvesSerializer(found, context={"from": before, "to": after}).data
        return csv_answer("curves", CSV_COLUMNS, csv_rows(answer)) if as_csv else Response(answer)


def _count(request: Request, name: str) -> int | None:
    said = parameters.text(request, name)
    return parameters.integer(name, said, least=1) if said else None
