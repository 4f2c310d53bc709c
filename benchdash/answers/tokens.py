"""The rights of a token, for the script that uses it."""

from typing import Any

from rest_framework import serializers

from benchdash.accounts.models import Scope


class TokenSerializer(serializers.Serializer[Any]):
    """``expires_at`` is null for a token that never does, ``hardware`` for one that may send runs of any.

    ``identity`` is the job that acts as the token where its CI vouches for it, else null.
    """

    project = serializers.CharField(source="project.slug")
    name = serializers.CharField()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices))
    hardware = serializers.SerializerMethodField()
    identity = serializers.SerializerMethodField()
    expires_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True)

    def get_hardware(self, token: Any) -> str | None:
        return token.hardware or None

    def get_identity(self, token: Any) -> str | None:
        return token.acting_as or None
