"""What only members of a project may see: who is mailed about what, and who changed what."""

from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Q, QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.accounts.access import NotAllowed
from benchdash.accounts.models import AuditEntry, Project, Scope
from benchdash.alerts.models import Subscription
from benchdash.alerts.services import subscribe, unsubscribe
from benchdash.api import parameters
from benchdash.api.parameters import Filter, NamedFilter
from benchdash.api.serializers import AuditSerializer, SubscriptionRequest, SubscriptionSerializer
from benchdash.api.views.base import PROJECT, RowsView
from benchdash.results.models import Hardware, Product

_Named = TypeVar("_Named", Product, Hardware)


class MembersView(RowsView):
    """Rows of the projects of which the viewer is a member."""

    def get_queryset(self) -> QuerySet[Any]:
        return super().get_queryset().filter(project__in=self.member_projects)

    def list(self, request: Request) -> Response:
        self.require_somebody()
        if slug := parameters.text(request, "project"):
            self.require_member(self.viewer.project(slug))
        return super().list(request)

    def require_member(self, project: Project) -> None:
        """Raises NotAllowed."""
        if not self.viewer.is_member(project):
            raise NotAllowed(f"this is for members of the project '{project.slug}'")


@extend_schema_view(
    list=extend_schema(
        summary="Read the audit log", description="For members: who changed what and why, latest first."
    )
)
class AuditViews(MembersView):
    queryset = AuditEntry.objects.select_related("project", "user", "token")
    serializer_class = AuditSerializer
    order = ("-at", "-pk")
    filters = (Filter("action", "action", "what was done: `version renamed`, `run excluded`, ..."),)


@extend_schema_view(
    list=extend_schema(summary="List subscriptions", description="For members: who is mailed about what."),
    retrieve=extend_schema(summary="Read a subscription", description="For members."),
)
class SubscriptionViews(MembersView):
    queryset = Subscription.objects.select_related("project", "product", "hardware")
    serializer_class = SubscriptionSerializer
    filters = (
        Filter("address", "address__iexact", "an e-mail address"),
        NamedFilter("product", "product", "the name of a product, or an old one", model=Product),
        NamedFilter("hardware", "hardware", "the name of a machine, or an old one", model=Hardware),
        Filter("branch", "branch", "a branch; empty: subscriptions to all", empty_counts=True),
    )

    @extend_schema(
        summary="Subscribe an address",
        request=SubscriptionRequest,
        responses={
            201: SubscriptionSerializer,
            200: SubscriptionSerializer,
        },
    )
    def create(self, request: Request) -> Response:  # noqa: ARG002 - DRF calls it so
        """The same again is the same subscription, and 200. Readers may subscribe themselves."""
        self.require_somebody()
        sent = self.sent(SubscriptionRequest)
        project = self.project(sent.get("project", ""))
        self._require_to_subscribe(project, sent["address"])
        with transaction.atomic():
            subscription, is_new = subscribe(
                project,
                sent["address"],
                product=_named(Product, project, sent.get("product")),
                branch=sent["branch"],
                hardware=_named(Hardware, project, sent.get("hardware")),
                by=self.viewer,
            )
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(self.get_serializer(subscription).data, status=code)

    @extend_schema(summary="End a subscription")
    def destroy(self, request: Request, pk: int) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`, except for one's own."""
        self._end(self.get_object())
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="subscriptions_destroy_all",
        summary="End all subscriptions of an address",
        parameters=[PROJECT, OpenApiParameter("address", OpenApiTypes.EMAIL, required=True)],
    )
    def destroy_all(self, request: Request) -> Response:
        """Needs the scope `triage`, except for one's own."""
        self.require_somebody()
        address = parameters.required_text(request, "address")
        project = self.project()
        self._require_to_end(project, address)
        with transaction.atomic():
            for subscription in self.get_queryset().filter(project=project, address__iexact=address):
                self._end(subscription)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _end(self, subscription: Subscription) -> None:
        self._require_to_end(subscription.project, subscription.address)
        unsubscribe(subscription, by=self.viewer)

    def _require_to_subscribe(self, project: Project, address: str) -> None:
        # What uploads results may say who is to hear of them.
        if not self.viewer.may(Scope.UPLOAD, project):
            self._require_to_end(project, address)

    def _require_to_end(self, project: Project, address: str) -> None:
        self.require_member(project)
        if not self._is_own(address):
            self.viewer.require(Scope.TRIAGE, project)

    def _is_own(self, address: str) -> bool:
        return self.viewer.user is not None and self.viewer.user.email == address.strip().lower()


def _named(model: type[_Named], project: Project, name: str | None) -> _Named | None:
    """The thing with that name, or an old one; it may be subscribed to before its first result comes in."""
    if not name:
        return None
    known = model.objects.filter(Q(name=name) | Q(aliases__name=name), project=project).first()
    return known or model.objects.get_or_create(project=project, name=name)[0]
