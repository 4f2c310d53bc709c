"""Incidents, their triage and comments."""

from django.db.models import Prefetch
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from benchdash.accounts.models import Project, Scope, User
from benchdash.api import parameters
from benchdash.api.answers.incidents import (
    CommentSerializer,
    IncidentDetailSerializer,
    IncidentSerializer,
)
from benchdash.api.parameters import BooleanFilter, ChoiceFilter, Filter, NamedFilter
from benchdash.api.requests import CommentRequest, TriageRequest
from benchdash.api.views.base import RowsView
from benchdash.regressions import triage
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.queries import LIVE
from benchdash.results.models import Product

CHANGE_POINTS = ChangePoint.objects.filter(LIVE).select_related(
    "series__workload", "series__hardware", "series__configuration"
)


@extend_schema_view(
    list=extend_schema(
        summary="List incidents", description="Incidents, the last detected first; withdrawn ones too."
    ),
    retrieve=extend_schema(
        summary="Read an incident", description="An incident, what else changed, and what members say of it."
    ),
)
class IncidentViews(RowsView):
    queryset = Incident.objects.select_related(
        "project", "product", "hardware", "since", "until", "assignee", "largest__series__workload"
    ).prefetch_related(Prefetch("change_points", queryset=CHANGE_POINTS.order_by("pk")))
    order = ("-detected_at", "-pk")
    filters = (
        ChoiceFilter("state", "state", "what people say of it", choices=Incident.State.values),
        ChoiceFilter("status", "status", "what analysis says of it", choices=Incident.Status.values),
        ChoiceFilter("kind", "kind", "what kind it is of", choices=Incident.Kind.values),
        BooleanFilter("historical", "historical", "whether it began before anyone could care"),
        NamedFilter("product", "product", "the name of a product, or an old one", model=Product),
        Filter("branch", "branch", "a branch; empty: releases", empty_counts=True),
    )

    def get_serializer_class(self) -> type[Serializer[Incident]]:
        return IncidentSerializer if self.action == "list" else IncidentDetailSerializer

    @extend_schema(summary="Triage an incident", request=TriageRequest, responses=IncidentDetailSerializer)
    def partial_update(self, request: Request, pk: int) -> Response:
        """Needs the scope `triage`."""
        incident = self._to_triage()
        sent = self.sent(TriageRequest)
        assignee = _member(incident.project, sent["assignee"]) if sent.get("assignee") else None
        triage.triage(
            incident,
            by=self.viewer,
            state=sent.get("state"),
            assignee=assignee,
            unassign="assignee" in sent and assignee is None,
            reason=sent.get("reason", ""),
        )
        return self.retrieve(request, pk=pk)

    @extend_schema(
        summary="Comment on an incident", request=CommentRequest, responses={201: CommentSerializer}
    )
    @action(detail=True, methods=["post"])
    def comments(self, request: Request, pk: int) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`."""
        incident = self._to_triage()
        comment = triage.comment(incident, by=self.viewer, text=self.sent(CommentRequest)["text"])
        return Response(CommentSerializer(comment).data, status=status.HTTP_201_CREATED)

    def _to_triage(self) -> Incident:
        incident: Incident = self.get_object()
        self.require(Scope.TRIAGE, incident.project)
        return incident


def _member(project: Project, address: str) -> User:
    member = User.objects.filter(memberships__project=project, email=address.lower(), is_active=True).first()
    if member is None:
        raise parameters.refuse("assignee", f"no member of the project has the address {address}")
    return member
