"""Projects, and what is named in them."""

from typing import Any

from rest_framework import serializers

from benchdash.accounts.models import Project
from benchdash.results.models import ServerVersion
from benchdash.results.versions import order_kind


def _aliases() -> serializers.ListField:
    help_text = "old names, by which uploads still find it"
    return serializers.ListField(source="old_names", child=serializers.CharField(), help_text=help_text)


class ProjectSerializer(serializers.Serializer[Any]):
    """Days and margins are null where those of the installation hold."""

    id = serializers.IntegerField()
    slug = serializers.CharField()
    name = serializers.CharField()
    visibility = serializers.ChoiceField(choices=Project.Visibility.choices)
    notice = serializers.CharField()
    is_sample = serializers.BooleanField()
    raw_files_are_public = serializers.BooleanField()
    is_relative_only = serializers.BooleanField()
    pull_request_days = serializers.IntegerField(source="options.pull_request_days", allow_null=True)
    historical_after_days = serializers.IntegerField(source="options.historical_after_days", allow_null=True)
    gate_row_margin = serializers.FloatField(source="options.gate_row_margin", allow_null=True)
    gate_mean_margin = serializers.FloatField(source="options.gate_mean_margin", allow_null=True)
    created_at = serializers.DateTimeField()


class ProductSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    project = serializers.CharField(source="project.slug")
    name = serializers.CharField()
    aliases = _aliases()


class ConfigurationSerializer(ProductSerializer):
    pass


class HardwareSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    project = serializers.CharField(source="project.slug")
    name = serializers.CharField()
    facts = serializers.DictField()
    aliases = _aliases()


class WorkloadSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    project = serializers.CharField(source="project.slug")
    name = serializers.CharField()
    options = serializers.DictField()
    aliases = _aliases()


class VersionSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    project = serializers.CharField(source="project.slug")
    product = serializers.CharField(source="product.name")
    version = serializers.CharField()
    build = serializers.CharField()
    commit = serializers.CharField(allow_null=True)
    committed_at = serializers.DateTimeField(allow_null=True)
    released_at = serializers.DateTimeField(allow_null=True)
    released_on = serializers.DateField(allow_null=True)
    order = serializers.CharField(help_text="What it is sorted as, where somebody said it.")
    has_order = serializers.SerializerMethodField(
        help_text="Whether it is known where it stands among the releases; else it comes by time."
    )
    aliases = _aliases()

    def get_has_order(self, version: ServerVersion) -> bool:
        return bool(order_kind(version.sort_key))


class EffectSerializer(serializers.Serializer[Any]):
    """How many runs change, the uploads that brought them, and series; ``merged`` of these join others."""

    runs = serializers.IntegerField()
    uploads = serializers.IntegerField()
    series = serializers.IntegerField()
    merged = serializers.IntegerField()


def corrected(serializer: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    """Return the shape of the answer to a correction: the thing, whether it is a preview, and the effect."""
    fields = {"preview": serializers.BooleanField(), "changes": EffectSerializer()}
    return type(f"Corrected{serializer.__name__}", (serializer,), fields)
