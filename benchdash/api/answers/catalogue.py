"""Projects, and what is named in them."""

from typing import Any

from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    DateField,
    DateTimeField,
    DictField,
    IntegerField,
    ListField,
    Serializer,
)

from benchdash.accounts.models import Project


class ProjectSerializer(Serializer[Any]):
    id = IntegerField()
    slug = CharField()
    name = CharField()
    visibility = ChoiceField(choices=Project.Visibility.choices)
    notice = CharField()
    is_sample = BooleanField()
    created_at = DateTimeField()


class ProductSerializer(Serializer[Any]):
    """``aliases`` are old names, by which uploads still find the thing."""

    id = IntegerField()
    project = CharField(source="project.slug")
    name = CharField()
    aliases = ListField(source="old_names", child=CharField())


class ConfigurationSerializer(ProductSerializer):
    pass


class HardwareSerializer(Serializer[Any]):
    id = IntegerField()
    project = CharField(source="project.slug")
    name = CharField()
    facts = DictField()
    aliases = ListField(source="old_names", child=CharField())


class WorkloadSerializer(Serializer[Any]):
    id = IntegerField()
    project = CharField(source="project.slug")
    name = CharField()
    options = DictField()
    aliases = ListField(source="old_names", child=CharField())


class VersionSerializer(Serializer[Any]):
    id = IntegerField()
    project = CharField(source="project.slug")
    product = CharField(source="product.name")
    version = CharField()
    build = CharField()
    commit = CharField(allow_null=True)
    committed_at = DateTimeField(allow_null=True)
    released_on = DateField(allow_null=True)
    aliases = ListField(source="old_names", child=CharField())


class EffectSerializer(Serializer[Any]):
    """How many runs change, the uploads that brought them, and series; ``merged`` of these join others."""

    runs = IntegerField()
    uploads = IntegerField()
    series = IntegerField()
    merged = IntegerField()


def corrected(serializer: type[Serializer[Any]]) -> type[Serializer[Any]]:
    """Return the shape of the answer to a correction: the thing, whether it is a preview, and the effect."""
    fields = {"preview": BooleanField(), "changes": EffectSerializer()}
    return type(f"Corrected{serializer.__name__}", (serializer,), fields)
