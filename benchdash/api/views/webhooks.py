"""Webhooks: for those who triage."""

from django.db import transaction
from django.db.models import Q
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiParameter,
    OpenApiResponse,
    OpenApiWebhook,
    extend_schema,
    extend_schema_view,
)
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.accounts.models import Scope
from benchdash.alerts import webhooks
from benchdash.alerts.channels.webhook import DELIVERY_HEADER, EVENT_HEADER, SIGNATURE_HEADER
from benchdash.alerts.models import Subscription
from benchdash.api.requests import WebhookRequest
from benchdash.api.subscriptions import (
    DeliverySerializer,
    NewWebhookSerializer,
    TestDeliverySerializer,
    WebhookSerializer,
)
from benchdash.api.views.base import PROJECT, RowsView
from benchdash.api.views.members import named
from benchdash.rest import parameters
from benchdash.results.models import Hardware, Product


def _header(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(
        name, OpenApiTypes.STR, OpenApiParameter.HEADER, required=True, description=description
    )


delivery = OpenApiWebhook(
    "incident",
    extend_schema(
        summary="What a webhook is sent",
        description=(
            "A POST about an incident, to each webhook with the payload `json`. An answer of 2xx takes it;"
            " what is refused or not answered is sent again."
        ),
        parameters=[
            _header(SIGNATURE_HEADER, "`sha256=` and the HMAC of the body under the secret, in hex"),
            _header(DELIVERY_HEADER, "names the delivery; the same when it is sent again"),
            _header(EVENT_HEADER, "the `event` of the body"),
        ],
        request=DeliverySerializer,
        responses={"2XX": OpenApiResponse(description="taken")},
        tags=["webhooks"],
    ),
)


@extend_schema_view(
    list=extend_schema(summary="List webhooks", description="Needs the scope `triage`."),
    retrieve=extend_schema(summary="Read a webhook", description="Needs the scope `triage`."),
)
class WebhookViews(RowsView):
    for_known_only = True
    queryset = webhooks.webhooks().select_related("project", "product", "hardware")
    serializer_class = WebhookSerializer

    def visible(self) -> Q:
        return super().visible() & Q(project__in=self.viewer.project_ids(Scope.TRIAGE))

    def list(self, request: Request) -> Response:
        if parameters.text(request, "project"):
            self.viewer.require(Scope.TRIAGE, self.project())
        return super().list(request)

    @extend_schema(
        summary="Add a webhook",
        request=WebhookRequest,
        responses={201: NewWebhookSerializer, 200: NewWebhookSerializer},
    )
    def create(self, request: Request) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`. The same again is the same webhook, and 200.

        Without a `secret` one is made. It is in this answer and nowhere else.
        """
        project = self.project_to_change(Scope.TRIAGE)
        sent = self.sent(WebhookRequest)
        with transaction.atomic():
            found, is_new = webhooks.add_webhook(
                project,
                sent["url"],
                kinds=sent["kinds"],
                payload=sent["payload"],
                secret=sent["secret"],
                product=named(Product, project, sent.get("product")),
                branch=sent["branch"],
                hardware=named(Hardware, project, sent.get("hardware")),
                by=self.viewer,
            )
        row = self.get_serializer(self.get_queryset().get(pk=found.pk)).data
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response({**row, "secret": found.secret if is_new else None}, status=code)

    @extend_schema(summary="Remove a webhook")
    def destroy(self, request: Request, pk: int) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`. What it is still owed is dropped."""
        webhooks.remove_webhook(self._to_change(), by=self.viewer)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="webhooks_destroy_all",
        summary="Remove all webhooks of an address",
        parameters=[PROJECT, OpenApiParameter("url", OpenApiTypes.STR, required=True)],
    )
    def destroy_all(self, request: Request) -> Response:
        """Needs the scope `triage`."""
        url = parameters.required_text(request, "url")
        project = self.project()
        self.viewer.require(Scope.TRIAGE, project)
        with transaction.atomic():
            for found in self.get_queryset().filter(project=project, address=url):
                webhooks.remove_webhook(found, by=self.viewer)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(summary="Send a test to a webhook", request=None, responses=TestDeliverySerializer)
    def test(self, request: Request, pk: int) -> Response:  # noqa: ARG002 - DRF calls it so
        """Needs the scope `triage`. The answer says what came back within ten seconds."""
        delivered, answer = webhooks.try_webhook(self._to_change())
        return Response(TestDeliverySerializer({"delivered": delivered, "answer": answer}).data)

    def _to_change(self) -> Subscription:
        found: Subscription = self.get_object()
        self.require(Scope.TRIAGE, found.project)
        return found
