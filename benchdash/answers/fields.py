"""Fields that several answers share."""

import math
from typing import Any

from rest_framework import serializers


def is_member(serializer: serializers.Field[Any, Any, Any, Any], project_id: int) -> bool:
    return project_id in serializer.context["view"].member_projects


def fields_of(
    serializer: type[serializers.Serializer[Any]], path: str
) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
    """Return the fields of a serializer for an answer that has them beside its own.

    ``path`` leads to the object that they are read from.
    """
    fields = serializer().get_fields()
    for name, field in fields.items():
        field.source = path if field.source == "*" else f"{path}.{field.source or name}"
    return fields


class AsIs(serializers.Field[Any, Any, Any, Any]):
    """A value that is JSON already. The schema describes it as the field ``shape``."""

    def __init__(self, shape: serializers.Field[Any, Any, Any, Any], **options: Any) -> None:
        super().__init__(read_only=True, **options)
        self.shape = shape

    def to_representation(self, value: Any) -> Any:
        return value


def printed_unit_fields(path: str) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
    """Return the fields that say in which unit people use figures, read from the UsedUnit at ``path``."""
    help_text = "the unit of the newest file, which pages show; figures times `printed_factor` are in it"
    return {
        "printed_unit": serializers.CharField(source=f"{path}.unit", help_text=help_text),
        "printed_factor": serializers.FloatField(source=f"{path}.factor"),
    }


class BoundField(serializers.FloatField):
    """The end of an interval; null where nothing limits it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_null=True, **options)

    def to_representation(self, value: float) -> float | None:  # type: ignore[override]
        return float(value) if math.isfinite(value) else None


class CountField(serializers.IntegerField):
    """A thread count; null where nobody said."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_null=True, **options)
