"""The morning of a project: the overview for programs."""

from dataclasses import replace
from typing import Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.answers.overview import OverviewSerializer
from benchdash.api.views.base import PROJECT, View
from benchdash.api.views.incidents import IncidentViews
from benchdash.regressions.morning.mornings import morning_of
from benchdash.rest import parameters

MAX_LISTED: Final = 100


class OverviewView(View):
    @extend_schema(
        summary="Read the morning of a project",
        parameters=[
            PROJECT,
            OpenApiParameter(
                "since",
                parameters.MOMENT_TEXT,
                description="ISO 8601: all since then, in place of the last night",
            ),
        ],
        responses=OverviewSerializer,
    )
    def get(self, request: Request) -> Response:
        """Say what ran last night, what is new, still open and missing, and how each workload stands."""
        project = self.project()
        since = parameters.text(request, "since")
        found = morning_of(project, since=parameters.moment("since", since) if since else None)
        lists = [some[:MAX_LISTED] for some in (found.new, found.open, found.lost, found.recovered)]
        # With all that an incident of the API has.
        known = IncidentViews.queryset.in_bulk([incident.pk for some in lists for incident in some])
        new, still_open, lost, recovered = ([known[incident.pk] for incident in some] for some in lists)
        shown = replace(
            found,
            new=new,
            open=still_open,
            lost=lost,
            recovered=recovered,
            rows=[each for row in found.rows for each in row.each_threads],
        )
        return Response(OverviewSerializer(shown, context={"view": self}).data)
