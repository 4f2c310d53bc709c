"""Distributions of response times."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from benchdash.answers.comparison import PLACE, VERDICTS, ColumnSerializer, cells_of
from benchdash.answers.fields import AsIs, BoundField, CountField
from benchdash.regressions.comparison.latency import LatencyCell, LatencyTable, Percentile, latency_doubts
from benchdash.results.distributions import BUCKET_COLUMNS, coarsened

MAX_BUCKETS: Final = 1000


class PercentileSerializer(serializers.Serializer[Any]):
    """It lies from ``low`` to ``high`` ms, the ends of its bucket; ``high`` is null for one without an end.

    Both are null where the operations are too few to tell it. ``ratio`` is that to the base, with a 95 %
    interval by the scatter of the runs; ``p`` is adjusted for the table, and null where either side was run
    once.
    """

    percentile = serializers.SerializerMethodField()
    low = serializers.FloatField(source="bounds.low", allow_null=True)
    high = BoundField(source="bounds.high")
    ratio = serializers.FloatField(source="comparison.ratio", allow_null=True)
    ratio_low = serializers.FloatField(source="comparison.low", allow_null=True)
    ratio_high = serializers.FloatField(source="comparison.high", allow_null=True)
    p = serializers.FloatField(source="comparison.p", allow_null=True)
    verdict = serializers.ChoiceField(
        source="comparison.verdict", choices=VERDICTS, read_only=True, default="unknown"
    )

    def get_percentile(self, one: Percentile) -> float:
        return round(100 * one.share, 6)


class BucketsSerializer(serializers.Serializer[Any]):
    """At most 1,000, with wider ones in place of more. ``to_ms`` is null for one without an end."""

    columns = serializers.ListField(child=serializers.CharField())
    rows = AsIs(
        serializers.ListField(child=serializers.ListField(child=serializers.FloatField(allow_null=True)))
    )


class DoubtSerializer(serializers.Serializer[Any]):
    text = serializers.CharField()
    details = serializers.ListField(child=serializers.CharField())


class LatencyCellSerializer(serializers.Serializer[Any]):
    """The operations of ``runs`` of the ``measured`` runs, merged by summing their buckets.

    ``run`` is the latest; the last of ``percentiles`` is the largest response time, 100. ``sessions`` are as
    many as the runs shared, null where none names one.
    """

    operations = serializers.IntegerField()
    runs = serializers.IntegerField()
    measured = serializers.IntegerField()
    sessions = serializers.IntegerField(allow_null=True)
    run = serializers.IntegerField(source="run_id")
    percentiles = serializers.SerializerMethodField()
    buckets = serializers.SerializerMethodField()

    @extend_schema_field(PercentileSerializer(many=True))
    def get_percentiles(self, cell: LatencyCell) -> Any:
        shown = [*cell.percentiles, Percentile(1.0, cell.distribution.largest)]
        return PercentileSerializer(shown, many=True).data

    @extend_schema_field(BucketsSerializer)
    def get_buckets(self, cell: LatencyCell) -> Any:
        shown = coarsened(cell.distribution, MAX_BUCKETS)
        rows = np.column_stack((shown.lows, shown.highs, shown.counts)).tolist()
        return {"columns": list(BUCKET_COLUMNS), "rows": rows}


class LatencyRowSerializer(serializers.Serializer[Any]):
    """``operation`` is empty where a histogram holds the response times of all operations."""

    workload = serializers.CharField(source="key.workload")
    threads = CountField(source="key.threads")
    operation = serializers.CharField(source="key.operation")
    unit = serializers.CharField(read_only=True, default="ms")
    base = LatencyCellSerializer(allow_null=True)
    cells = serializers.ListField(child=LatencyCellSerializer(allow_null=True))


class LatencySerializer(serializers.Serializer[Any]):
    """``cells`` are in the order of ``columns``; ``warnings`` are why these may not be alike.

    ``margin`` is the relative difference that does not matter.
    """

    base = ColumnSerializer()
    columns = ColumnSerializer(many=True)
    margin = serializers.FloatField()
    warnings = serializers.SerializerMethodField()
    rows = LatencyRowSerializer(many=True)

    @extend_schema_field(DoubtSerializer(many=True))
    def get_warnings(self, table: LatencyTable) -> Any:
        return DoubtSerializer(latency_doubts(table), many=True).data


_PERCENTILE: Final = tuple(PercentileSerializer().fields)
_CELL: Final = ("runs", "measured", "sessions", "operations")
CSV_COLUMNS: Final = ("workload", "threads", "operation", *PLACE, *_CELL, "unit", *_PERCENTILE)


def csv_rows(table: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield a line a percentile, those of the base first."""
    for row, column, cell in cells_of(table):
        place = row["workload"], row["threads"], row["operation"], *map(column.get, PLACE)
        for one in cell["percentiles"]:
            yield (*place, *map(cell.get, _CELL), row["unit"], *map(one.get, _PERCENTILE))
