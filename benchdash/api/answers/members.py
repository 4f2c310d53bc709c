"""Subscriptions and the audit log."""

from typing import Any

from rest_framework import serializers

from benchdash.accounts.models import AuditEntry
from benchdash.alerts.models import Subscription
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


class AuditSerializer(serializers.Serializer[Any]):
    """``by`` is a person's name or a token's."""

    id = serializers.IntegerField()
    project = serializers.CharField(source="project.slug")
    at = serializers.DateTimeField()
    by = serializers.SerializerMethodField()
    action = serializers.CharField()
    subject = serializers.CharField()
    reason = serializers.CharField()
    detail = serializers.JSONField()

    def get_by(self, entry: AuditEntry) -> str | None:
        who = entry.user or entry.token
        return str(who) if who else None
