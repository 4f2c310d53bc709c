"""Incidents, their triage and comments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Prefetch, Q
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from benchdash.accounts.access import NotAllowed
from benchdash.accounts.models import Project, Scope, User
from benchdash.answers.incidents import (
    CommentSerializer,
    IncidentDetailSerializer,
    IncidentSerializer,
)
from benchdash.api.requests import CommentRequest, TriageRequest, TriageTogetherRequest
from benchdash.api.views.base import RowsView
from benchdash.regressions import triage
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.queries import LIVE, STEP, described, open_filter, seen_on
from benchdash.rest import parameters
from benchdash.rest.parameters import BooleanFilter, ChoiceFilter, Filter, NamedFilter
from benchdash.results.models import Hardware, Product
from benchdash.results.queries import ids_called

_CHANGE_POINTS = ChangePoint.objects.filter(LIVE, STEP).select_related(
    "series__workload", "series__hardware", "series__configuration"
)
_RECOVERS = Incident.objects.select_related("project").order_by("started_at", "pk")


class _OpenFilter(BooleanFilter):
    """A filter by what ``open_filter`` selects."""

    def fits(self, value: str) -> Q:
        return open_filter() if parameters.boolean(self.name, value) else ~open_filter()


@dataclass(frozen=True, slots=True, kw_only=True)
class _MachineFilter(NamedFilter):
    """A filter by a machine that an incident is about, or that measured its series."""

    def any_of(self, values: Sequence[str]) -> Q:
        return seen_on(ids_called(self.model, values))


_ASSIGNEE = Filter("assignee", "assignee__email", "the address of a member; empty: nobody", empty_counts=True)


@extend_schema_view(
    list=extend_schema(
        summary="List incidents", description="Incidents, the last detected first; withdrawn ones too."
    ),
    retrieve=extend_schema(
        summary="Read an incident", description="An incident, what else changed, and what members say of it."
    ),
)
class IncidentViews(RowsView):
    queryset = (
        described(Incident.objects.all())
        .select_related("project", "recovered_by__project", "folded_into__project")
        .prefetch_related(
            Prefetch("change_points", queryset=_CHANGE_POINTS.order_by("pk")),
            Prefetch("recovers", queryset=_RECOVERS),
        )
    )
    order = ("-detected_at", "-pk")
    filters = (
        _OpenFilter("open", "open", "whether somebody should look at it"),
        ChoiceFilter("state", "state", "what people say of it", choices=Incident.State.values),
        ChoiceFilter("status", "status", "what analysis says of it", choices=Incident.Status.values),
        ChoiceFilter("kind", "kind", "what kind it is of", choices=Incident.Kind.values),
        BooleanFilter("historical", "historical", "whether it began before anyone could care"),
        NamedFilter("product", "product", "the name of a product, or an old one", model=Product),
        Filter("branch", "branch", "a branch; empty: releases", empty_counts=True),
        _MachineFilter("hardware", "hardware", "the name of a machine, or an old one", model=Hardware),
        _ASSIGNEE,
    )

    def visible(self) -> Q:
        """Let only members ask who looks at an incident."""
        visible = super().visible()
        if parameters.texts(self.request, _ASSIGNEE.name):
            visible &= Q(project__in=self.member_projects)
        return visible

    def get_serializer_class(self) -> type[Serializer[Incident]]:
        return IncidentSerializer if self.action == "list" else IncidentDetailSerializer

    @extend_schema(summary="Triage an incident", request=TriageRequest, responses=IncidentDetailSerializer)
    def partial_update(self, request: Request, pk: int) -> Response:
        """Needs the scope `triage`."""
        incident = self._to_triage()
        self._triage([incident], self.sent(TriageRequest))
        return self.retrieve(request, pk=pk)

    @extend_schema(
        summary="Triage several incidents",
        request=TriageTogetherRequest,
        responses=IncidentSerializer(many=True),
        filters=False,
    )
    @action(detail=False, methods=["post"], url_path="triage", pagination_class=None)
    def together(self, request: Request) -> Response:  # noqa: ARG002 - DRF calls it so
        """Change all of them in the same way, or none. Needs the scope `triage`."""
        visible = self.get_queryset()
        if not self.viewer.may_somewhere(Scope.TRIAGE):
            raise NotAllowed("this needs the scope 'triage'")
        sent = self.sent(TriageTogetherRequest)
        ids = sorted(set(sent["ids"]))
        found = list(visible.filter(pk__in=ids).order_by("pk"))
        if missing := sorted(set(ids) - {incident.pk for incident in found}):
            raise parameters.refuse("ids", f"there is no incident {missing[0]}")
        for project in {incident.project for incident in found}:
            self.require(Scope.TRIAGE, project)
        self._triage(found, sent)
        changed = visible.filter(pk__in=ids).order_by("pk")
        return Response(IncidentSerializer(changed, many=True, context=self.get_serializer_context()).data)

    @extend_schema(
        summary="Comment on an incident", request=CommentRequest, responses={201: CommentSerializer}
    )
    @action(detail=True, methods=["post"])
    def comments(self, request: Request, pk: int) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`. The text is Markdown."""
        incident = self._to_triage()
        comment = triage.comment(incident, by=self.viewer, text=self.sent(CommentRequest)["text"])
        return Response(CommentSerializer(comment).data, status=status.HTTP_201_CREATED)

    def _to_triage(self) -> Incident:
        incident: Incident = self.get_object()
        self.require(Scope.TRIAGE, incident.project)
        return incident

    def _triage(self, incidents: Sequence[Incident], sent: Mapping[str, Any]) -> None:
        """Triage incidents as a body says. Raises rest_framework's ValidationError."""
        try:
            triage.triage_together(((one, _wanted(one, sent)) for one in incidents), by=self.viewer)
        except ValidationError as error:
            ((name, messages), *_) = error.message_dict.items()
            raise parameters.refuse(name, messages[0]) from None


def _wanted(incident: Incident, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``triage`` that a body stands for."""
    wanted = {name: sent[name] for name in ("state", "reason", "bug") if name in sent}
    if "assignee" in sent:
        assignee = _member(incident.project, sent["assignee"]) if sent["assignee"] else None
        wanted |= {"assignee": assignee, "unassign": assignee is None}
    if sent.keys() & {"snoozed_until", "snoozed_until_version"}:
        until = sent.get("snoozed_until", incident.snoozed_until)
        version = sent.get("snoozed_until_version", incident.snoozed_until_version)
        wanted["snooze"] = triage.Snooze(until, version or "")
    return wanted


def _member(project: Project, address: str) -> User:
    member = User.objects.filter(memberships__project=project, email=address.lower(), is_active=True).first()
    if member is None:
        raise parameters.refuse("assignee", f"no member of the project has the address {address}")
    return member
