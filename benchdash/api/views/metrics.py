"""The metrics of a project: listed for those who read, and said by those who triage."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.accounts.models import Project, Scope
from benchdash.answers.metrics import MetricSerializer
from benchdash.api.requests import MetricChange, MetricRequest
from benchdash.api.views.base import PROJECT, RowsView
from benchdash.regressions.project_metrics import metrics_of
from benchdash.regressions.services import say_of_metric
from benchdash.rest import parameters
from benchdash.rest.pagination import Pages
from benchdash.results.metric_corrections import WISHES, MetricError
from benchdash.results.models import ProjectMetric


class MetricViews(RowsView):
    queryset = ProjectMetric.objects.select_related("project")
    serializer_class = MetricSerializer
    order = ("name",)

    @extend_schema(
        summary="List metrics",
        description="The metrics of a project by name: its own ones, and the known ones that it measured.",
        parameters=[PROJECT],
    )
    def list(self, request: Request) -> Response:
        pages = Pages()
        rows = pages.page_of(metrics_of(self.project()), request, self)
        return pages.get_paginated_response(MetricSerializer(rows, many=True).data)

    @extend_schema(summary="Read a metric")
    def retrieve(self, request: Request, pk: int) -> Response:  # noqa: ARG002 - DRF calls it so
        """Read a metric of which somebody said something, by its id."""
        row = self._row()
        return self._answer(row.project, row.name)

    @extend_schema(
        summary="Say what a metric is",
        parameters=[PROJECT],
        request=MetricRequest,
        responses={201: MetricSerializer, 200: MetricSerializer},
    )
    def create(self, request: Request) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`. One that is there already is changed, and answered with 200."""
        project = self.project_to_change(Scope.TRIAGE)
        sent = self.sent(MetricRequest)
        is_new = self._say(project, sent["name"], sent)
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return self._answer(project, sent["name"], code)

    @extend_schema(
        operation_id="metrics_partial_update_by_name",
        summary="Change a metric by its name",
        parameters=[PROJECT],
        request=MetricRequest,
        responses=MetricSerializer,
    )
    def partial_update_by_name(self, request: Request) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`. What is not sent stays, and null is the default.

        The series of the metric are looked at again, and nobody is mailed what that finds. Of a metric that
        benchdash knows, `unit`, `direction`, `aggregation` and `kind` cannot be changed.
        """
        project = self.project_to_change(Scope.TRIAGE)
        sent = self.sent(MetricRequest)
        if not metrics_of(project, sent["name"]):
            raise parameters.refuse("name", f"the project has no metric '{sent['name']}'")
        self._say(project, sent["name"], sent)
        return self._answer(project, sent["name"])

    @extend_schema(summary="Change a metric", request=MetricChange, responses=MetricSerializer)
    def partial_update(self, request: Request, pk: int) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`. The same by the id of a metric of which somebody said something."""
        row = self._row()
        self.require(Scope.TRIAGE, row.project)
        self._say(row.project, row.name, self.sent(MetricChange))
        return self._answer(row.project, row.name)

    def _row(self) -> ProjectMetric:
        found: ProjectMetric = self.get_object()
        return found

    def _say(self, project: Project, name: str, sent: Mapping[str, Any]) -> bool:
        wishes = {wish: value for wish, value in sent.items() if wish in WISHES}
        try:
            _, is_new = say_of_metric(project, name, wishes, by=self.viewer, reason=sent["reason"])
        except MetricError as error:
            raise parameters.refuse(error.field, error.message) from None
        return is_new

    def _answer(self, project: Project, name: str, code: int = status.HTTP_200_OK) -> Response:
        [metric] = metrics_of(project, name)
        return Response(MetricSerializer(metric).data, status=code)
