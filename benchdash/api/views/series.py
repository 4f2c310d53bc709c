"""Series and their points."""

from datetime import UTC
from typing import Any, Final

from django.db.models import Case, CharField, Count, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Cast, Coalesce, Concat, TruncDate
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.answers.runs import PointsSerializer, SeriesSerializer, points_answer
from benchdash.api.views.base import FORMAT, RowsView, csv_answer
from benchdash.rest import parameters
from benchdash.rest.parameters import Filter, NamedFilter, ThreadsFilter
from benchdash.results.models import Configuration, Hardware, Measurement, Product, Series, Workload
from benchdash.results.points import COLUMNS, read_points
from benchdash.results.pull_requests import of_pull_requests

MIN_POINTS: Final = 2


@extend_schema_view(
    list=extend_schema(
        summary="List series",
        description="Series, each a line on a chart. Those of pull requests are listed by their `branch`.",
    ),
    retrieve=extend_schema(summary="Read a series", description="A series without its points."),
)
class SeriesViews(RowsView):
    queryset = Series.objects.select_related("project", "product", "hardware", "configuration", "workload")
    serializer_class = SeriesSerializer
    left_out = of_pull_requests()
    unless_asked_by = ("branch",)
    filters = (
        NamedFilter("product", "product", "the name of a product, or an old one", model=Product),
        Filter("build", "build", "a build; empty: series without one", empty_counts=True),
        Filter("branch", "branch", "a branch; empty: releases", empty_counts=True),
        Filter("line", "line", "a release line; empty: series without one", empty_counts=True),
        NamedFilter("hardware", "hardware", "the name of a machine, or an old one", model=Hardware),
        NamedFilter("configuration", "configuration", "the name of a configuration", model=Configuration),
        Filter("counterpart", "counterpart", "the other side of a run; empty: none", empty_counts=True),
        NamedFilter("workload", "workload", "the name of a workload, or an old one", model=Workload),
        ThreadsFilter("threads", "threads", "a thread count, or `null`: nobody said"),
        Filter("metric", "metric", "the name of a metric"),
    )

    def get_queryset(self) -> QuerySet[Any]:
        series = super().get_queryset()
        # Reading the points counts them.
        return series if self.action == "points" else _with_points(series)

    @extend_schema(
        summary="Read the points of a series",
        parameters=[
            OpenApiParameter(
                "since", parameters.MOMENT_TEXT, description="ISO 8601: points that began then or later"
            ),
            OpenApiParameter(
                "max_points",
                parameters.whole_number(least=MIN_POINTS),
                description="thin out to so many, keeping extremes and the two sides of change points",
            ),
            OpenApiParameter(
                "columns",
                OpenApiTypes.STR,
                description="only these of the columns, with commas: `time,value` is a quarter of the bytes",
            ),
            FORMAT,
        ],
        responses={(200, "application/json"): PointsSerializer, (200, "text/csv"): OpenApiTypes.STR},
        filters=False,
    )
    @action(detail=True)
    def points(self, request: Request, pk: int) -> HttpResponse:
        """Return one row a point, in order."""
        series = self.get_object()
        columns = _columns(request)
        since = parameters.text(request, "since")
        most = parameters.text(request, "max_points")
        answer = points_answer(
            series,
            read_points({series.pk: series}),
            columns=columns,
            since=parameters.moment("since", since).timestamp() if since else None,
            most=parameters.integer("max_points", most, least=MIN_POINTS) if most else None,
        )
        if parameters.wants_csv(request):
            return csv_answer(f"series-{pk}", columns, answer["rows"])
        return Response(answer)


def _columns(request: Request) -> tuple[str, ...]:
    """Return the columns asked for, in their fixed order."""
    if not (asked := parameters.text(request, "columns")):
        return COLUMNS
    names = asked.split(",")
    for name in names:
        parameters.choice("columns", name, COLUMNS)
    return tuple(name for name in COLUMNS if name in names)


def _with_points(series: QuerySet[Series]) -> QuerySet[Any]:
    """Annotate ``points``: the number of groups that benchdash.results.points.history would return."""
    day = Cast(TruncDate("run__started_at", tzinfo=UTC), CharField())
    place = Case(
        When(series__branch="", then=Cast("run__version", CharField())),
        default=Coalesce("run__version__commit", day),
    )
    content = Coalesce(Cast("run__content", CharField()), Value(""))
    counted = (
        Measurement.objects.filter(series=OuterRef("pk"), run__excluded_at=None)
        .order_by()
        .values("series")
        .annotate(number=Count(Concat(place, Value(" "), content), distinct=True))
    )
    return series.annotate(points=Coalesce(Subquery(counted.values("number")), 0))
