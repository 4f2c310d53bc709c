"""Tables of comparisons: those of versions, of nights, and of the gate."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from benchdash.answers.fields import AsIs, CountField, fields_of, printed_unit_fields
from benchdash.regressions.comparison.branch_table import BranchTable
from benchdash.regressions.comparison.cells import Cell
from benchdash.regressions.comparison.columns import Column
from benchdash.regressions.comparison.gate import Gate
from benchdash.regressions.comparison.gate_words import reasons, summary
from benchdash.regressions.comparison.rows import Row
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.regressions.comparison.verdict_words import session_count
from benchdash.regressions.detection.compare import Comparison
from benchdash.regressions.detection.scatter import Basis
from benchdash.results.models import Series

VERDICTS: Final = ["better", "worse", "likely_better", "likely_worse", "same", "unknown"]
_NOTHING_TO_COMPARE_WITH: Final = Comparison(ratio=None)


class ColumnSerializer(serializers.Serializer[Any]):
    """A version at a place; ``id`` is that of the version."""

    id = serializers.IntegerField(source="version.pk")
    product = serializers.CharField(source="version.product.name")
    version = serializers.CharField(source="version.version")
    build = serializers.CharField(source="version.build")
    commit = serializers.CharField(source="version.commit", allow_null=True)
    branch = serializers.CharField()
    hardware = serializers.CharField()
    configuration = serializers.CharField()
    counterpart = serializers.CharField()


class BaseCellSerializer(serializers.Serializer[Any]):
    """``n`` runs in so many ``sessions``; ``low`` and ``high`` are the 95 % interval of the value."""

    value = serializers.FloatField()
    n = serializers.IntegerField()
    sessions = serializers.SerializerMethodField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)

    def get_sessions(self, cell: Cell) -> int:
        return session_count(cell)


class CellSerializer(serializers.Serializer[Any]):
    """``ratio`` is value / base, ``low`` and ``high`` its 95 % interval; ``p`` is adjusted for the table.

    ``basis`` is what the noise was judged by. ``likely_*`` rests on one session, where nothing tells how much
    sessions scatter. ``more_runs`` of each side would settle an unknown or a likely verdict (single runs or
    forks where the basis is these, else sessions); null where that cannot be said.
    """

    value = serializers.FloatField()
    n = serializers.IntegerField()
    sessions = serializers.IntegerField()
    ratio = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    p = serializers.FloatField(allow_null=True)
    verdict = serializers.ChoiceField(choices=VERDICTS)
    more_runs = serializers.IntegerField(allow_null=True)
    basis = serializers.ChoiceField(choices=get_args(Basis))


PLACE: Final = tuple(ColumnSerializer().fields)[1:]
_CELL: Final = tuple(CellSerializer().fields)


class CellsField(AsIs):
    """The cells of a row with their comparisons.

    A serializer takes seven times as long for a cell, and tables have thousands.
    """

    def __init__(self, shape: type[serializers.Serializer[Any]] = CellSerializer) -> None:
        super().__init__(serializers.ListField(child=shape(allow_null=True)), source="*")

    def to_representation(self, row: Row) -> list[dict[str, Any] | None]:
        cells = zip(row.cells, row.comparisons, strict=True)
        return [
            cell
            and dict(
                zip(
                    _CELL,
                    (cell.value, cell.n, session_count(cell), *(comparison or _NOTHING_TO_COMPARE_WITH)),
                    strict=True,
                )
            )
            for cell, comparison in cells
        ]


class ComparisonRowSerializer(serializers.Serializer[Any]):
    """Rows of one metric may differ in unit and direction: a JMH score is a time or a throughput."""

    workload = serializers.CharField()
    threads = CountField()
    group = serializers.CharField(allow_null=True)
    unit = serializers.CharField()
    direction = serializers.ChoiceField(choices=Series.Direction.choices)
    base = BaseCellSerializer(allow_null=True)
    cells = CellsField()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {**super().get_fields(), **printed_unit_fields("used")}


class GroupSummarySerializer(serializers.Serializer[Any]):
    """The ratios of a group of workloads in the order of ``columns``; null is the group of all others."""

    group = serializers.CharField(source="name", allow_null=True)
    rows = serializers.IntegerField()
    geomean = serializers.ListField(child=serializers.FloatField(allow_null=True))
    geomean_rows = serializers.ListField(child=serializers.IntegerField(), source="compared")
    lowest = serializers.ListField(child=serializers.FloatField(allow_null=True))
    highest = serializers.ListField(child=serializers.FloatField(allow_null=True))


class ComparisonSerializer(serializers.Serializer[Any]):
    """``cells`` and ``geomean`` are in the order of ``columns``; ``unit`` is that of the first row.

    A mean is over as many rows as ``geomean_rows`` says: those that its column and the base both have.
    ``margin`` is the relative difference that does not matter: within it, versions are the same.
    """

    metric = serializers.CharField()
    unit = serializers.CharField()
    direction = serializers.ChoiceField(choices=Series.Direction.choices)
    base = ColumnSerializer()
    columns = ColumnSerializer(many=True)
    rows = ComparisonRowSerializer(many=True)
    geomean = serializers.ListField(child=serializers.FloatField(allow_null=True))
    geomean_rows = serializers.ListField(child=serializers.IntegerField(), source="mean.compared")
    margin = serializers.FloatField()
    groups = GroupSummarySerializer(many=True)


class MatrixSerializer(ComparisonSerializer):
    """A comparison; ``url`` is a page that shows the same."""

    url = serializers.SerializerMethodField()

    @extend_schema_field(serializers.URLField())
    def get_url(self, _: ComparisonTable[Column]) -> str:
        return str(self.context["url"])


def cells_of(table: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Yield row, column and cell of each cell of a table, those of the base first."""
    columns = [table["base"], *table["columns"]]
    for row in table["rows"]:
        for column, cell in zip(columns, [row["base"], *row["cells"]], strict=True):
            if cell:
                yield row, column, cell


def csv_columns(*more: str) -> tuple[str, ...]:
    """Return the columns of a comparison as CSV; ``more`` is said of each of its columns."""
    return ("workload", "threads", "group", *more, *PLACE, "metric", "unit", *_CELL)


def csv_rows(table: Mapping[str, Any], *more: str) -> Iterator[tuple[Any, ...]]:
    """Yield a line a cell; the base's has its own interval and no ratio."""
    for row, column, cell in cells_of(table):
        place = (row["workload"], row["threads"], row["group"], *map(column.get, (*more, *PLACE)))
        yield (*place, table["metric"], row["unit"], *map(cell.get, _CELL))


class NightsSerializer(serializers.Serializer[Any]):
    """A comparison of the groups of a branch.

    ``times`` are when the groups of ``columns`` were first measured; ``base_time`` is null for a release.
    ``earlier`` and ``later`` are the ``until`` of the groups before and after; null where there are none.
    """

    times = serializers.SerializerMethodField()
    base_time = serializers.SerializerMethodField()
    earlier = AsIs(serializers.DateTimeField(allow_null=True), source="around.earlier")
    later = AsIs(serializers.DateTimeField(allow_null=True), source="around.later")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {**fields_of(ComparisonSerializer, "table"), **super().get_fields()}

    @extend_schema_field(serializers.ListField(child=serializers.DateTimeField()))
    def get_times(self, found: BranchTable) -> list[str]:
        return [group.time.isoformat() for group in found.groups]

    @extend_schema_field(serializers.DateTimeField(allow_null=True))
    def get_base_time(self, found: BranchTable) -> str | None:
        return found.base_group.time.isoformat() if found.base_group else None


class GateRowSerializer(serializers.Serializer[Any]):
    """A row of a comparison, with the fields that tell rows of several metrics and places apart."""

    series = serializers.IntegerField(source="series.pk")
    metric = serializers.CharField(source="series.metric")
    build = serializers.CharField(source="series.build")
    hardware = serializers.CharField(source="series.hardware.name")
    configuration = serializers.CharField(source="series.configuration.name")
    counterpart = serializers.CharField(source="series.counterpart")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {**fields_of(ComparisonRowSerializer, "row"), **super().get_fields()}


class NotMeasuredSerializer(serializers.Serializer[Any]):
    """A series that the base has and the other side lacks."""

    series = serializers.IntegerField(source="pk")
    workload = serializers.CharField(source="workload.name")
    threads = CountField()
    metric = serializers.CharField()
    build = serializers.CharField()
    hardware = serializers.CharField(source="hardware.name")
    configuration = serializers.CharField(source="configuration.name")
    counterpart = serializers.CharField()


class GateSideSerializer(serializers.Serializer[Any]):
    """``commit`` and ``version`` are empty where they were not asked for; a release is on no branch."""

    product = serializers.SerializerMethodField()
    branch = serializers.CharField(source="sides.subject.branch")
    commit = serializers.CharField(source="sides.subject.commit")
    version = serializers.CharField(source="sides.subject.version")

    def get_product(self, gate: Gate) -> str:
        return gate.sides.product.name if gate.sides.product else ""


class OfRowAndMeanSerializer(serializers.Serializer[Any]):
    """Relative changes of speed of any row, and of the mean of all; null where nothing tells."""

    row = serializers.FloatField(allow_null=True)
    mean = serializers.FloatField(allow_null=True)


@extend_schema_serializer(deprecate_fields=["more_runs"])
class GateSerializer(serializers.Serializer[Any]):
    """``fail``: something is certainly worse; ``pass``: ``bounds`` exclude the ``margins``; else ``unknown``.

    A greater loss than ``bounds`` is excluded with 95 %; of ``margins``, 0.1 is 10 %.
    What is only likely is unknown, and so is a side that lacks what the base has: ``missing``. ``summary``
    and ``reasons`` say it in sentences. ``of`` is what was asked about, ``bases`` name what it was held
    against. ``more_sessions`` of either side would settle an unknown verdict, each of one run or more; null
    where that cannot be said, or would be more than ten. ``more_runs`` is the same number. While ``analysis``
    is pending, there are results that nobody has looked at. ``url`` is a page that shows the same.
    """

    verdict = serializers.ChoiceField(choices=["pass", "fail", "unknown"])
    analysis = serializers.SerializerMethodField()
    rows = GateRowSerializer(many=True)
    more_runs = serializers.IntegerField(source="more_sessions", allow_null=True)
    more_sessions = serializers.IntegerField(allow_null=True)
    bounds = OfRowAndMeanSerializer()
    margins = OfRowAndMeanSerializer()
    summary = serializers.SerializerMethodField()
    reasons = serializers.SerializerMethodField()
    of = GateSideSerializer(source="*")
    bases = serializers.ListField(child=serializers.CharField())
    missing = NotMeasuredSerializer(many=True)
    url = serializers.SerializerMethodField()

    @extend_schema_field(serializers.ChoiceField(choices=["done", "pending"]))
    def get_analysis(self, gate: Gate) -> str:
        return "done" if gate.is_analysed else "pending"

    def get_summary(self, gate: Gate) -> str:
        return summary(gate)

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_reasons(self, gate: Gate) -> list[str]:
        return reasons(gate)

    @extend_schema_field(serializers.URLField())
    def get_url(self, _: Gate) -> str:
        return str(self.context["url"])
