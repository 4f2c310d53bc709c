"""One setting varied."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rest_framework import serializers

from benchdash.answers.comparison import (
    BaseCellSerializer,
    CellSerializer,
    CellsField,
    ComparisonRowSerializer,
    cells_of,
)
from benchdash.regressions.sweeps.conditions import KINDS, written
from benchdash.results.models import Series


class SubjectSerializer(serializers.Serializer[Any]):
    """A version on a branch (empty: a release) beside a counterpart."""

    id = serializers.CharField()
    version_id = serializers.IntegerField(source="version.pk")
    product = serializers.CharField(source="version.product.name")
    version = serializers.CharField(source="version.version")
    build = serializers.CharField(source="version.build")
    commit = serializers.CharField(source="version.commit", allow_null=True)
    branch = serializers.CharField()
    counterpart = serializers.CharField()


class SweepChoiceSerializer(serializers.Serializer[Any]):
    """A setting or fact that varies.

    ``alike`` is how many of its ``values`` at most were measured with nothing else different; null among them
    is a setting that was not set.
    """

    key = serializers.CharField(source="factor.key")
    kind = serializers.ChoiceField(source="factor.kind", choices=KINDS)
    name = serializers.CharField(source="factor.name")
    values = serializers.ListField(child=serializers.CharField(allow_null=True))
    alike = serializers.IntegerField()


class SweepDifferenceSerializer(serializers.Serializer[Any]):
    """Another setting that differs; null: not set."""

    name = serializers.CharField()
    base = serializers.CharField(source="before", allow_null=True)
    value = serializers.CharField(source="after", allow_null=True)


class SweepValueSerializer(serializers.Serializer[Any]):
    """``left_out`` more runs have the value, under conditions that differ in ``left_out_for``."""

    value = serializers.CharField(allow_null=True)
    runs = serializers.IntegerField()
    seconds = serializers.FloatField(allow_null=True)
    differences = SweepDifferenceSerializer(many=True)
    left_out = serializers.IntegerField()
    left_out_for = serializers.ListField(child=serializers.CharField())


class SweepBaseCellSerializer(BaseCellSerializer):
    """Without a value and its interval where absolute values are hidden."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        fields = super().get_fields()
        fields["value"].allow_null = True
        return fields


class SweepCellSerializer(CellSerializer):
    value = serializers.FloatField(allow_null=True)


class SweepRowSerializer(ComparisonRowSerializer):
    base = SweepBaseCellSerializer(allow_null=True)
    cells = CellsField(SweepCellSerializer)


class SweepSerializer(serializers.Serializer[Any]):
    """``cells`` and ``geomean`` are in the order of ``columns``, the values beside the base."""

    subject = SubjectSerializer()
    setting = SweepChoiceSerializer()
    choices = SweepChoiceSerializer(many=True)
    metric = serializers.CharField(source="table.metric")
    unit = serializers.CharField(source="table.unit")
    direction = serializers.ChoiceField(source="table.direction", choices=Series.Direction.choices)
    base = SweepValueSerializer()
    columns = SweepValueSerializer(many=True)
    rows = SweepRowSerializer(many=True)
    geomean = serializers.ListField(child=serializers.FloatField(allow_null=True))
    geomean_rows = serializers.ListField(child=serializers.IntegerField())


def hide_absolute_values(answer: Mapping[str, Any]) -> None:
    """Leave the ratios of a sweep and their intervals alone."""
    for row in answer["rows"]:
        if base := row["base"]:
            base.update(value=None, low=None, high=None)
        for cell in filter(None, row["cells"]):
            cell["value"] = None


def hide_durations(answer: Mapping[str, Any]) -> None:
    """Leave out how long runs took, which of a fixed number of events tells how fast they were."""
    for column in (answer["base"], *answer["columns"]):
        column["seconds"] = None


_CELL: Final = tuple(CellSerializer().fields)
CSV_COLUMNS: Final = (
    *("setting", "setting_value", "workload", "threads", "metric", "unit", *_CELL, "also_differs"),
)


def csv_rows(answer: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield a line a cell, the base's first with its own interval and no ratio."""
    for row, column, cell in cells_of(answer):
        place = (answer["setting"]["name"], written(column["value"]), row["workload"], row["threads"])
        differs = "; ".join(one["name"] for one in column["differences"])
        yield (*place, answer["metric"], row["unit"], *map(cell.get, _CELL), differs)
