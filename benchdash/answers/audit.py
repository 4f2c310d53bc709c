"""The audit log."""

from typing import Any

from rest_framework import serializers

from benchdash.accounts.models import AuditEntry


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
