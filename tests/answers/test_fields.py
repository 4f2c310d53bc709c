"""Fields that several answers share."""

import math
from types import SimpleNamespace

from rest_framework.serializers import CharField, Serializer

from benchdash.answers.fields import BoundField, fields_of


class ThingSerializer(Serializer):
    name = CharField()
    owner = CharField(source="project.slug")


class FlatSerializer(Serializer):
    size = CharField()

    def get_fields(self):
        return {**fields_of(ThingSerializer, "thing"), **super().get_fields()}


def test_fields_of_another_serializer_stand_beside_those_of_one():
    thing = SimpleNamespace(name="a", project=SimpleNamespace(slug="p"))
    answer = FlatSerializer(SimpleNamespace(thing=thing, size="large")).data
    assert answer == {"name": "a", "owner": "p", "size": "large"}


def test_an_interval_without_a_limit_has_no_end():
    assert BoundField().to_representation(1.5) == 1.5
    assert BoundField().to_representation(math.inf) is None
