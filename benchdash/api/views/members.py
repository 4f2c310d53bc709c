"""Subscriptions and the audit log: for those who triage; everybody sees their own subscriptions."""

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.accounts.access import NotAllowed
from benchdash.accounts.models import AuditEntry, Project, Scope
from benchdash.alerts.channels import email
from benchdash.alerts.models import Subscription
from benchdash.alerts.subscriptions import OF_MAIL, SubscriptionWishes, change, subscribe, unsubscribe
from benchdash.answers.audit import AuditSerializer
from benchdash.api.requests import SubscriptionChange, SubscriptionRequest
from benchdash.api.subscriptions import SubscriptionSerializer
from benchdash.api.views.base import PROJECT, RowsView
from benchdash.rest import parameters
from benchdash.rest.parameters import Filter, NamedFilter
from benchdash.results.models import Hardware, Product

_Named = TypeVar("_Named", Product, Hardware)


@extend_schema_view(
    list=extend_schema(
        summary="Read the audit log",
        description="Who changed what and why, latest first. Needs the scope `triage`.",
    )
)
class AuditViews(RowsView):
    for_known_only = True
    queryset = AuditEntry.objects.select_related("project", "user", "token")
    serializer_class = AuditSerializer
    order = ("-at", "-pk")
    filters = (Filter("action", "action", "what was done: `version renamed`, `run excluded`, ..."),)

    def visible(self) -> Q:
        return super().visible() & Q(project__in=self.viewer.project_ids(Scope.TRIAGE))

    def list(self, request: Request) -> Response:
        if slug := parameters.text(request, "project"):
            self.viewer.require(Scope.TRIAGE, self.viewer.project(slug))
        return super().list(request)


@extend_schema_view(
    list=extend_schema(
        summary="List subscriptions",
        description="Who is mailed about what. Needs the scope `triage`, except for one's own.",
    ),
    retrieve=extend_schema(
        summary="Read a subscription", description="Needs the scope `triage`, except for one's own."
    ),
)
class SubscriptionViews(RowsView):
    for_known_only = True
    queryset = Subscription.objects.filter(OF_MAIL).select_related("project", "product", "hardware")
    serializer_class = SubscriptionSerializer
    filters = (
        Filter("address", "address__iexact", "an e-mail address"),
        NamedFilter("product", "product", "the name of a product, or an old one", model=Product),
        NamedFilter("hardware", "hardware", "the name of a machine, or an old one", model=Hardware),
        Filter("branch", "branch", "a branch; empty: subscriptions to all", empty_counts=True),
    )

    def visible(self) -> Q:
        own = Q(project__in=self.member_projects, address=self.viewer.address)
        return super().visible() & (own | Q(project__in=self.viewer.project_ids(Scope.TRIAGE)))

    def list(self, request: Request) -> Response:
        if slug := parameters.text(request, "project"):
            self._require_member(self.viewer.project(slug))
        return super().list(request)

    @extend_schema(
        summary="Subscribe an address",
        request=SubscriptionRequest,
        responses={
            201: SubscriptionSerializer,
            200: SubscriptionSerializer,
        },
    )
    def create(self, request: Request) -> Response:  # noqa: ARG002 - DRF calls it so
        """Subscribe. The same again is the same subscription, and 200.

        Needs the scope `triage`, except for one's own address. Any other address is sent a link, by which it
        confirms before its first alert; `confirmed_at` is null until then.
        """
        project = self.named_project()
        sent = self.sent(SubscriptionRequest)
        self._require_to_change(project, sent["address"])
        with transaction.atomic():
            subscription, is_new = subscribe(
                project, sent["address"], by=self.viewer, **_wishes(project, sent)
            )
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(self.get_serializer(subscription).data, status=code)

    @extend_schema(
        summary="Change a subscription", request=SubscriptionChange, responses=SubscriptionSerializer
    )
    def partial_update(self, request: Request, pk: int) -> Response:  # noqa: ARG002 - DRF calls it so
        """Leave what is not said as it is. Needs the scope `triage`, except for one's own."""
        found = self.get_object()
        self._require_to_change(found.project, found.address)
        with transaction.atomic():
            change(found, by=self.viewer, **_wishes(found.project, self.sent(SubscriptionChange)))
        return Response(self.get_serializer(found).data)

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
        address = parameters.required_text(request, "address")
        try:
            address = email.check(address)
        except ValidationError:
            raise parameters.refuse("address", f"{address[:50]!r} is no e-mail address") from None
        project = self.project()
        self._require_to_change(project, address)
        with transaction.atomic():
            for subscription in self.get_queryset().filter(project=project, address__iexact=address):
                self._end(subscription)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _end(self, subscription: Subscription) -> None:
        self._require_to_change(subscription.project, subscription.address)
        unsubscribe(subscription, by=self.viewer)

    def _require_to_change(self, project: Project, address: str) -> None:
        self._require_member(project)
        if address.strip().lower() != self.viewer.address:
            self.viewer.require(Scope.TRIAGE, project)

    def _require_member(self, project: Project) -> None:
        """Raise NotAllowed for others. Members who only read may have subscriptions of their own."""
        if self.viewer.token:
            self.viewer.require(Scope.TRIAGE, project)
        elif not self.viewer.is_member(project):
            raise NotAllowed(f"this is for members of the project '{project.slug}'")


def _wishes(project: Project, sent: Mapping[str, Any]) -> SubscriptionWishes:
    """Return what is sent as wishes; products and machines by their names."""
    wishes = {name: value for name, value in sent.items() if name in SubscriptionWishes.__annotations__}
    for name, model in (("product", Product), ("hardware", Hardware)):
        if name in wishes:
            wishes[name] = named(model, project, wishes[name])
    return cast(SubscriptionWishes, wishes)


def named(model: type[_Named], project: Project, name: str | None) -> _Named | None:
    """Find or make the thing of this name: it may be subscribed to before its first result comes in."""
    if not name:
        return None
    known = model.objects.filter(Q(name=name) | Q(aliases__name=name), project=project).first()
    return known or model.objects.get_or_create(project=project, name=name)[0]
