"""Annotations of charts, and runs that were excluded or restored together."""

from typing import Any

from rest_framework import serializers


class AnnotationSerializer(serializers.Serializer[Any]):
    """Without ``hardware`` and ``product`` it is on every chart of the project."""

    id = serializers.IntegerField()
    project = serializers.CharField(source="project.slug")
    at = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True)
    text = serializers.CharField()
    hardware = serializers.CharField(source="hardware.name", allow_null=True, default=None)
    product = serializers.CharField(source="product.name", allow_null=True, default=None)
    created_at = serializers.DateTimeField()


class ExclusionsSerializer(serializers.Serializer[Any]):
    """The change that was made, or in a preview would be."""

    preview = serializers.BooleanField()
    runs = serializers.IntegerField()
    uploads = serializers.IntegerField()
    series = serializers.IntegerField()
