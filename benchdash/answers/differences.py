"""Two sides by all their metrics, and what differs between them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from benchdash.answers.comparison import ColumnSerializer, ComparisonRowSerializer
from benchdash.answers.fields import CountField, fields_of
from benchdash.answers.latency import DoubtSerializer
from benchdash.regressions.comparison.columns import Column
from benchdash.regressions.comparison.pair_words import summary_of
from benchdash.regressions.comparison.pairs import Known, Pair, Told, side_names
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.results.models import Series


class DifferenceSerializer(serializers.Serializer[Any]):
    """A setting or a fact of the machine; null where a side does not have it."""

    name = serializers.CharField()
    before = serializers.CharField(allow_null=True)
    after = serializers.CharField(allow_null=True)


class ToldRowSerializer(serializers.Serializer[Any]):
    workload = serializers.CharField()
    threads = CountField()


class ToldDifferenceSerializer(serializers.Serializer[Any]):
    """An option or an argument of the command, with the rows in which it differs."""

    rows = serializers.SerializerMethodField()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {**fields_of(DifferenceSerializer, "difference"), **super().get_fields()}

    @extend_schema_field(ToldRowSerializer(many=True))
    def get_rows(self, told: Told) -> Any:
        return [dict(zip(("workload", "threads"), row, strict=True)) for row in told.rows]


class DifferencesSerializer(serializers.Serializer[Any]):
    """By the latest runs of both sides; null where nobody sent it with one of them."""

    settings = DifferenceSerializer(many=True, allow_null=True)
    environment = DifferenceSerializer(many=True, allow_null=True)
    hardware = DifferenceSerializer(many=True, allow_null=True)
    options = ToldDifferenceSerializer(many=True)


class SideSerializer(serializers.Serializer[Any]):
    """``runs`` says how many count; ``run`` is the id of the single run that was asked for."""

    name = serializers.CharField()
    runs = serializers.IntegerField(source="side.runs")
    sessions = serializers.IntegerField(source="side.sessions")
    run = serializers.IntegerField(source="side.run.pk", allow_null=True)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {**fields_of(ColumnSerializer, "side.column"), **super().get_fields()}


class MetricDifferenceSerializer(serializers.Serializer[Any]):
    """A comparison of one metric whose only column is the other side.

    ``geomean`` is of the ratios of ``geomean_rows`` rows, which both sides have.
    """

    metric = serializers.CharField()
    unit = serializers.CharField()
    direction = serializers.ChoiceField(choices=Series.Direction.choices)
    geomean = serializers.SerializerMethodField()
    geomean_rows = serializers.SerializerMethodField()
    rows = ComparisonRowSerializer(many=True)

    def get_geomean(self, table: ComparisonTable[Column]) -> float | None:
        return table.geomean[0]

    def get_geomean_rows(self, table: ComparisonTable[Column]) -> int:
        return table.mean.compared[0]


class PairSerializer(serializers.Serializer[Any]):
    """``summary`` says only what the verdicts bear out; ``warnings`` are why the sides may not be alike."""

    summary = serializers.CharField()
    base = SideSerializer()
    against = SideSerializer()
    warnings = DoubtSerializer(many=True)
    metrics = MetricDifferenceSerializer(many=True)
    differences = DifferencesSerializer()
    page = serializers.CharField()


def pair_answer(pair: Pair, page: str) -> dict[str, Any]:
    """Return the answer about two sides; ``page`` is the address for people."""
    base, other = side_names(pair)
    shown = {
        "summary": summary_of(pair),
        "base": {"side": pair.base, "name": base},
        "against": {"side": pair.other, "name": other},
        "warnings": pair.doubts,
        "metrics": pair.tables,
        "differences": {
            "settings": _known(pair.settings),
            "environment": _known(pair.environment),
            "hardware": _known(pair.hardware),
            "options": pair.told,
        },
        "page": page,
    }
    return PairSerializer(shown).data


def _known(known: Known) -> Any:
    return known.differences if known.is_known else None


_SIDE: Final = ("value", "n", "sessions", "low", "high")
_COMPARED: Final = ("ratio", "low", "high", "p", "verdict", "basis", "more_runs")
CSV_COLUMNS: Final = (
    *("metric", "unit", "direction", "workload", "threads"),
    *("base_value", "base_n", "base_sessions", "base_low", "base_high", "value", "n", "sessions"),
    *("ratio", "ratio_low", "ratio_high", "p", "verdict", "basis", "more_runs"),
)


def csv_rows(answer: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield a line a row of a metric."""
    for table in answer["metrics"]:
        for row in table["rows"]:
            base, cell = row["base"] or {}, row["cells"][0] or {}
            what = (table["metric"], row["unit"], row["direction"], row["workload"], row["threads"])
            yield (*what, *map(base.get, _SIDE), *map(cell.get, (*_SIDE[:3], *_COMPARED)))
