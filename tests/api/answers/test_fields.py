"""Fields that several answers share."""

import math
from types import SimpleNamespace

from django.conf import settings
from django.urls import reverse
from rest_framework.serializers import CharField, Serializer

from benchdash.api.answers.fields import BoundField, address_of_row, fields_of


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


def test_the_address_of_a_row_is_the_reversed_one():
    expected = f"{settings.SITE_URL}{reverse('api:run-detail', args=[7])}"
    assert address_of_row("api:run-detail", 7) == expected
