"""Distributions of response times, version by version."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.answers.latency import CSV_COLUMNS, LatencySerializer, csv_rows
from benchdash.api.views.base import FORMAT, PROJECT, View, csv_answer
from benchdash.api.views.comparison import SELECTORS, THREADS, asked_columns
from benchdash.regressions.comparison.latency import compare_latencies
from benchdash.rest import parameters


class LatencyView(View):
    @extend_schema(
        summary="Compare distributions of response times",
        parameters=[
            PROJECT,
            OpenApiParameter("workload", OpenApiTypes.STR, required=True),
            *SELECTORS,
            THREADS,
            FORMAT,
        ],
        responses={(200, "application/json"): LatencySerializer, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponse:
        """Return the histograms of the runs of each version, merged, with the percentiles that follow.

        Selectors are those of a comparison, among the versions that have a histogram.
        """
        as_csv = parameters.wants_csv(request)
        table = compare_latencies(
            self.project(),
            workloads=[parameters.required_text(request, "workload")],
            **asked_columns(request),
        )
        answer = LatencySerializer(table).data
        return csv_answer("latency", CSV_COLUMNS, csv_rows(answer)) if as_csv else Response(answer)
