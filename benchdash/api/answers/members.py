"""Subscriptions and the audit log."""

from typing import Any

from rest_framework.serializers import (
    CharField,
    DateTimeField,
    EmailField,
    IntegerField,
    JSONField,
    Serializer,
    SerializerMethodField,
)

from benchdash.accounts.models import AuditEntry


class SubscriptionSerializer(Serializer[Any]):
    """Empty filters mean all. ``confirmed_at`` is null until the address has confirmed."""

    id = IntegerField()
    project = CharField(source="project.slug")
    address = EmailField()
    product = CharField(source="product.name", allow_null=True)
    branch = CharField()
    hardware = CharField(source="hardware.name", allow_null=True)
    created_at = DateTimeField()
    confirmed_at = DateTimeField(allow_null=True)


class AuditSerializer(Serializer[Any]):
    """``by`` is a person's name or a token's."""

    id = IntegerField()
    project = CharField(source="project.slug")
    at = DateTimeField()
    by = SerializerMethodField()
    action = CharField()
    subject = CharField()
    reason = CharField()
    detail = JSONField()

    def get_by(self, entry: AuditEntry) -> str | None:
        who = entry.user or entry.token
        return str(who) if who else None
