"""Subscriptions, webhooks, and the message that a webhook is sent."""

from typing import Any

from rest_framework import serializers

from benchdash.alerts.models import Subscription
from benchdash.alerts.payloads import EVENTS
from benchdash.answers.incidents import ToldIncidentSerializer
from benchdash.regressions.models import Incident


class SubscriptionSerializer(serializers.Serializer[Any]):
    """Empty filters mean all. ``confirmed_at`` is null until the address has confirmed.

    ``refused_at`` is when the receiving side last refused a mail, in the words of ``refusal``.
    """

    id = serializers.IntegerField()
    project = serializers.CharField(source="project.slug")
    address = serializers.EmailField()
    product = serializers.CharField(source="product.name", allow_null=True)
    branch = serializers.CharField()
    hardware = serializers.CharField(source="hardware.name", allow_null=True)
    workload_group = serializers.CharField()
    metric = serializers.CharField()
    smallest_change = serializers.FloatField(allow_null=True)
    kinds = serializers.ListField(child=serializers.ChoiceField(choices=Incident.Kind.choices))
    rhythm = serializers.ChoiceField(choices=Subscription.Rhythm.choices)
    hour = serializers.IntegerField()
    weekday = serializers.IntegerField()
    time_zone = serializers.CharField()
    all_quiet = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    confirmed_at = serializers.DateTimeField(allow_null=True)
    refused_at = serializers.DateTimeField(allow_null=True)
    refusal = serializers.CharField()


class WebhookSerializer(serializers.Serializer[Any]):
    """Empty filters mean all. ``owed`` deliveries were not taken yet; ``error`` is why the newest was not."""

    id = serializers.IntegerField()
    project = serializers.CharField(source="project.slug")
    url = serializers.CharField(source="address")
    kinds = serializers.ListField(child=serializers.ChoiceField(choices=Incident.Kind.choices))
    payload = serializers.ChoiceField(choices=Subscription.Payload.choices)
    product = serializers.CharField(source="product.name", allow_null=True, default=None)
    branch = serializers.CharField()
    hardware = serializers.CharField(source="hardware.name", allow_null=True, default=None)
    created_at = serializers.DateTimeField()
    last_sent_at = serializers.DateTimeField(allow_null=True)
    owed = serializers.SerializerMethodField()
    error = serializers.SerializerMethodField()

    def get_owed(self, webhook: Any) -> int:
        return webhook.owed or 0

    def get_error(self, webhook: Any) -> str | None:
        error: str | None = webhook.secret_trouble or webhook.last_error
        return error


class NewWebhookSerializer(WebhookSerializer):
    """``secret`` is shown once; null where the webhook was there already."""

    secret = serializers.CharField(allow_null=True)


class TestDeliverySerializer(serializers.Serializer[Any]):
    """``answer`` is what came back: the status and the beginning of the body, or why nothing did."""

    delivered = serializers.BooleanField()
    answer = serializers.CharField()


class _ToldProjectSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    name = serializers.CharField()


class DeliverySerializer(serializers.Serializer[Any]):
    """The body that a webhook with the payload ``json`` is sent.

    ``delivery`` is the same when it is sent again. ``text`` is the subject of the mail, ``news`` what is new
    to who was told before. ``incident`` is null in a test.
    """

    event = serializers.ChoiceField(choices=EVENTS)
    delivery = serializers.CharField()
    sent_at = serializers.DateTimeField()
    text = serializers.CharField()
    news = serializers.CharField(allow_blank=True)
    page = serializers.CharField()
    project = _ToldProjectSerializer()
    incident = ToldIncidentSerializer(allow_null=True)
