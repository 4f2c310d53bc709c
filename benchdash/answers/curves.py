"""Scaling curves in figures."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from benchdash.answers.comparison import PLACE, ColumnSerializer
from benchdash.regressions.comparison.curves import ColumnCurve
from benchdash.regressions.detection.curves import scale_up


class CurvePointSerializer(serializers.Serializer[Any]):
    """``low`` and ``high`` are the 95 % interval of the value."""

    threads = serializers.IntegerField()
    value = serializers.FloatField()
    n = serializers.IntegerField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class PeakSerializer(serializers.Serializer[Any]):
    """``among`` are the thread counts that may be the true peak; empty where no repeats tell."""

    threads = serializers.IntegerField()
    value = serializers.FloatField()
    among = serializers.ListField(child=serializers.IntegerField())


class ScaleUpSerializer(serializers.Serializer[Any]):
    """From ``before`` to ``after`` threads."""

    before = serializers.IntegerField()
    after = serializers.IntegerField()
    factor = serializers.FloatField()
    efficiency = serializers.FloatField()


class CurveSerializer(serializers.Serializer[Any]):
    """One version at one place.

    ``peak``, ``knee`` (threads) and ``tail_off`` (relative to the peak) are null for fewer than four thread
    counts.
    """

    workload = serializers.CharField()
    column = ColumnSerializer()
    unit = serializers.CharField(source="curve.unit")
    points = serializers.SerializerMethodField()
    peak = PeakSerializer(source="curve.shape.peak", allow_null=True)
    knee = serializers.IntegerField(source="curve.shape.knee", allow_null=True)
    tail_off = serializers.FloatField(source="curve.shape.tail_off", allow_null=True)
    scale_up = serializers.SerializerMethodField()

    @extend_schema_field(CurvePointSerializer(many=True))
    def get_points(self, one: ColumnCurve) -> Any:
        cells = [{"threads": threads, **cell._asdict()} for threads, cell in sorted(one.cells.items())]
        return CurvePointSerializer(cells, many=True).data

    @extend_schema_field(ScaleUpSerializer(allow_null=True))
    def get_scale_up(self, one: ColumnCurve) -> Any:
        """Compare the thread counts of the context, else the fewest and the most."""
        points = one.curve.points
        before, after = self.context["from"], self.context["to"]
        up = scale_up(points, before or points[0].threads, after or points[-1].threads)
        return ScaleUpSerializer(up).data if up else None


class CurvesSerializer(serializers.Serializer[Any]):
    metric = serializers.CharField()
    curves = CurveSerializer(many=True)


CSV_COLUMNS: Final = (
    *("workload", *PLACE, "metric", "unit"),
    *("peak", "peak_threads", "peak_from", "peak_to", "knee", "tail_off"),
    *("from", "to", "scale_up", "efficiency"),
)


def csv_rows(answer: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield a line a curve."""
    for curve in answer["curves"]:
        peak, up = curve["peak"] or {}, curve["scale_up"] or {}
        among = peak.get("among") or [None]
        yield (
            *(curve["workload"], *map(curve["column"].get, PLACE), answer["metric"], curve["unit"]),
            *(*map(peak.get, ("value", "threads")), among[0], among[-1], curve["knee"], curve["tail_off"]),
            *map(up.get, ("before", "after", "factor", "efficiency")),
        )
