"""Subscriptions and the audit log."""

from typing import Any

from rest_framework import serializers

from benchdash.accounts.models import AuditEntry


class SubscriptionSerializer(serializers.Serializer[Any]):
    """Empty filters mean all. ``confirmed_at`` is null until the address has confirmed."""

    id = serializers.IntegerField()
    project = serializers.CharField(source="project.slug")
    address = serializers.EmailField()
    product = serializers.CharField(source="product.name", allow_null=True)
    branch = serializers.CharField()
    hardware = serializers.CharField(source="hardware.name", allow_null=True)
    created_at = serializers.DateTimeField()
    confirmed_at = serializers.DateTimeField(allow_null=True)


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
