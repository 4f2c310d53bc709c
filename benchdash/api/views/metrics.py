"""The metrics of a project: listed for those who read, and said by those who triage."""

from collections.abc import Mapping, Sequence
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from benchdash.accounts.models import Project, Scope
from benchdash.api import parameters
from benchdash.api.answers.metrics import MetricSerializer
from benchdash.api.pagination import Pages
from benchdash.api.requests import MetricChange, MetricRequest
from benchdash.api.views.base import PROJECT, View
from benchdash.regressions.project_metrics import ProjectMetric, metrics_of
from benchdash.regressions.services import say_of_metric
from benchdash.results.metric_corrections import WISHES, MetricError


class MetricViews(View, GenericViewSet[Any]):
    serializer_class = MetricSerializer
    pagination_class = Pages
    filter_backends: Sequence[Any] = []
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

    @extend_schema(summary="Read a metric", parameters=[PROJECT])
    def retrieve(self, request: Request, name: str) -> Response:  # noqa: ARG002 - DRF calls it so
        """Read a metric by its name."""
        return Response(MetricSerializer(self._metric(self.project(), name)).data)

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
        return Response(MetricSerializer(self._metric(project, sent["name"])).data, status=code)

    @extend_schema(
        operation_id="metrics_partial_update",
        summary="Change a metric",
        parameters=[PROJECT],
        request=MetricChange,
        responses=MetricSerializer,
    )
    def partial_update(self, request: Request, name: str) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`. What is not sent stays, and null is the default.

        The series of the metric are looked at again, and nobody is mailed what that finds. Of a metric that
        benchdash knows, `unit`, `direction`, `aggregation` and `kind` cannot be changed.
        """
        project = self.project_to_change(Scope.TRIAGE)
        self._metric(project, name)
        self._say(project, name, self.sent(MetricChange))
        return Response(MetricSerializer(self._metric(project, name)).data)

    @extend_schema(
        operation_id="metrics_partial_update_named",
        summary="Change a metric that the body names",
        parameters=[PROJECT],
        request=MetricRequest,
        responses=MetricSerializer,
    )
    def partial_update_named(self, request: Request) -> Response:
        """Do the same for names that no address can hold."""
        name = request.data.get("name") if isinstance(request.data, Mapping) else None
        if not isinstance(name, str) or not name:
            self.project_to_change(Scope.TRIAGE)
            raise parameters.refuse("name", "this is required")
        return self.partial_update(request, name)

    def _say(self, project: Project, name: str, sent: Mapping[str, Any]) -> bool:
        wishes = {wish: value for wish, value in sent.items() if wish in WISHES}
        try:
            _, is_new = say_of_metric(project, name, wishes, by=self.viewer, reason=sent["reason"])
        except MetricError as error:
            raise parameters.refuse(error.field, error.message) from None
        return is_new

    def _metric(self, project: Project, name: str) -> ProjectMetric:
        found = metrics_of(project, name.replace("\0", ""))
        if not found:
            raise NotFound
        return found[0]
