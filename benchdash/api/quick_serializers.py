"""Serializers that put their fields together once in a process, and not anew for each answer."""

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

from django.db.models import Model
from rest_framework import serializers
from rest_framework.fields import SkipField, empty

_Row = TypeVar("_Row", bound=Model)
_Read = Callable[[Any, Any], Any]

# Of these, the value that a row has is the value in the answer.
_PLAIN = (
    serializers.BooleanField,
    serializers.CharField,
    serializers.ChoiceField,
    serializers.FloatField,
    serializers.IntegerField,
)


class QuickSerializer(serializers.ModelSerializer[_Row]):
    """For answers only. What a row of the model has needs no conversion, but that times and lists do."""

    def to_representation(self, instance: _Row) -> dict[str, Any]:
        answer = {}
        for name, read in _fields(type(self)):
            try:
                answer[name] = read(self, instance)
            except SkipField:
                continue
        return answer


@cache
def _fields(serializer: type[serializers.ModelSerializer[Any]]) -> list[tuple[str, _Read]]:
    """How each is read of a serializer and a row."""
    fields = serializer().fields.items()
    return [(name, _reader(field)) for name, field in fields if not field.write_only]


def _reader(field: serializers.Field[Any, Any, Any, Any]) -> _Read:
    if isinstance(field, serializers.SerializerMethodField):
        method = field.method_name
        return lambda serializer, row: getattr(serializer, method)(row)
    source = field.source or ""
    # Along a way on which there may be nothing, Django REST framework knows what to say.
    if type(field) in _PLAIN and field.default is empty and not (field.allow_null and "." in source):
        get = attrgetter(source)
        return lambda _, row: get(row)
    return lambda _, row: _represented(field, row)


def _represented(field: serializers.Field[Any, Any, Any, Any], row: Any) -> Any:
    value = field.get_attribute(row)
    return None if value is None else field.to_representation(value)
