"""The least that any answer of this stack costs: a DRF view that knows nothing, and a read of one series."""

import json

from django.db import connection
from django.http import HttpRequest, HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView


class BareView(APIView):
    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:  # noqa: ARG002 - DRF's signature
        return Response({"answer": 42})


def bare_points(request: HttpRequest, series: int) -> HttpResponse:  # noqa: ARG001 - Django's signature
    """The measurements of a series with the times of their runs, as the database gives them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM run.started_at)::float8, value, low, high"
            " FROM results_measurement measured JOIN results_run run ON run.id = measured.run_id"
            " WHERE series_id = %s ORDER BY run.started_at",
            [series],
        )
        rows = cursor.fetchall()
    return HttpResponse(json.dumps({"rows": rows}), content_type="application/json")
