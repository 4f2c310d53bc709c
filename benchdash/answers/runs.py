"""Runs, and series with their points."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from benchdash.addresses import absolute
from benchdash.answers.fields import AsIs, CountField, is_member, printed_unit_fields
from benchdash.regressions.models import ChangePoint
from benchdash.regressions.queries import by_index, marks
from benchdash.results.controls import is_control
from benchdash.results.models import IntervalSamples, Run, Series
from benchdash.results.points import COLUMNS, Points
from benchdash.results.sessions import session_name
from benchdash.results.thinning import thinned


class UploadReferenceSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    url = serializers.URLField()


class RunSerializer(serializers.Serializer[Any]):
    """``duration`` is in seconds; ``version_id`` is what a selector of a comparison takes."""

    id = serializers.IntegerField()
    url = serializers.SerializerMethodField()
    project = serializers.CharField(source="project.slug")
    product = serializers.CharField(source="version.product.name")
    version = serializers.CharField(source="version.version")
    version_id = serializers.IntegerField()
    build = serializers.CharField(source="version.build")
    control = serializers.SerializerMethodField(help_text="whether it is a run of the control")
    commit = serializers.CharField(source="version.commit", allow_null=True)
    branch = serializers.CharField()
    hardware = serializers.CharField(source="hardware.name")
    configuration = serializers.CharField(source="configuration.name")
    counterpart = serializers.CharField()
    workload = serializers.CharField(source="workload.name")
    threads = CountField()
    repetition = serializers.IntegerField(allow_null=True)
    started_at = serializers.DateTimeField()
    started_at_assumed = serializers.BooleanField(source="started_at_is_assumed")
    duration = serializers.FloatField(source="duration_s", allow_null=True)
    upload = serializers.SerializerMethodField()
    session = serializers.SerializerMethodField(help_text="its name, where one was said")
    tags = serializers.ListField(child=serializers.CharField())
    warnings = serializers.ListField(child=serializers.CharField())
    excluded = serializers.BooleanField(source="is_excluded")
    excluded_reason = serializers.SerializerMethodField()

    def get_url(self, run: Run) -> str:
        return absolute("api:run-detail", run.pk)

    def get_control(self, run: Run) -> bool:
        return is_control(run.version.build)

    def get_session(self, run: Run) -> str | None:
        return session_name(run.tags)

    @extend_schema_field(UploadReferenceSerializer)
    def get_upload(self, run: Run) -> dict[str, Any]:
        return {"id": run.upload_id, "url": absolute("ingest:upload-detail", run.upload_id)}

    def get_excluded_reason(self, run: Run) -> str | None:
        """Return the reason for members; null for everyone else."""
        return run.excluded_reason if is_member(self, run.project_id) else None


class ReadingSerializer(serializers.Serializer[Any]):
    """``low`` and ``high`` are the interval that the tool itself printed; ``series`` is an id."""

    metric = serializers.CharField(source="series.metric")
    value = serializers.FloatField()
    unit = serializers.CharField(source="series.unit")
    direction = serializers.CharField(source="series.direction")
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    series = serializers.IntegerField(source="series_id")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {**super().get_fields(), **printed_unit_fields("series.used")}


class ConfigurationContentSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    text = serializers.CharField()
    settings = serializers.DictField()


class RunDetailSerializer(RunSerializer):
    readings = serializers.SerializerMethodField()
    options = serializers.DictField()
    notes = serializers.CharField()
    environment = serializers.DictField(source="environment.facts", allow_null=True)
    configuration_content = ConfigurationContentSerializer(source="content", allow_null=True)

    @extend_schema_field(ReadingSerializer(many=True))
    def get_readings(self, run: Run) -> Any:
        measured = run.measurements.filter(series__is_derived=False).select_related("series")
        return ReadingSerializer(measured.order_by("series__metric"), many=True).data


def samples_by_source(tables: Iterable[IntervalSamples]) -> dict[str, Any]:
    return {table.source: {"columns": table.columns, "rows": table.rows} for table in tables}


# Not a serializer: its keys are the names of sources.
SAMPLES_BY_SOURCE: Final = {
    "type": "object",
    "description": "by source",
    "additionalProperties": {
        "type": "object",
        "required": ["columns", "rows"],
        "properties": {
            "columns": {"type": "array", "items": {"type": "string"}},
            "rows": {"type": "array", "items": {"type": "array", "items": {"type": ["number", "null"]}}},
        },
        "additionalProperties": False,
    },
}


class SeriesSerializer(serializers.Serializer[Any]):
    """A series; ``points`` is the number of its groups.

    ``line`` is the release line of released versions. A derived series was computed from others.
    """

    id = serializers.IntegerField()
    project = serializers.CharField(source="project.slug")
    product = serializers.CharField(source="product.name")
    build = serializers.CharField()
    branch = serializers.CharField()
    line = serializers.CharField()
    hardware = serializers.CharField(source="hardware.name")
    configuration = serializers.CharField(source="configuration.name")
    counterpart = serializers.CharField()
    workload = serializers.CharField(source="workload.name")
    threads = CountField()
    metric = serializers.CharField()
    unit = serializers.CharField()
    direction = serializers.ChoiceField(choices=Series.Direction.choices)
    is_derived = serializers.BooleanField()
    points = serializers.IntegerField()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {**super().get_fields(), **printed_unit_fields("used")}


class PointsChangePointSerializer(serializers.Serializer[Any]):
    """``index`` is the row where the new level begins; ``change`` is relative: -0.084, null for counts."""

    index = serializers.IntegerField()
    state = serializers.ChoiceField(choices=ChangePoint.State.choices)
    before = serializers.FloatField()
    after = serializers.FloatField()
    change = serializers.FloatField(allow_null=True)
    confidence = serializers.FloatField(allow_null=True)
    incident = serializers.IntegerField(source="incident_id", allow_null=True)


class PointsDriftSerializer(serializers.Serializer[Any]):
    """The newest drift: between two rows the series lost ``change``, ``per_point`` from row to row."""

    from_index = serializers.IntegerField()
    to_index = serializers.IntegerField()
    before = serializers.FloatField()
    after = serializers.FloatField()
    change = serializers.FloatField()
    per_point = serializers.FloatField()
    incident = serializers.IntegerField(source="incident_id", allow_null=True)


class PointsSerializer(serializers.Serializer[Any]):
    """A row is one group, in order: version, commit, time (epoch seconds), value, low, high, n, run."""

    series = SeriesSerializer()
    columns = serializers.ListField(child=serializers.CharField())
    rows = AsIs(serializers.ListField(child=serializers.ListField()))
    change_points = PointsChangePointSerializer(many=True)
    drift = PointsDriftSerializer(allow_null=True)


def points_answer(
    series: Series,
    points: Points,
    *,
    columns: Sequence[str] = COLUMNS,
    since: float | None = None,
    most: int | None = None,
) -> dict[str, Any]:
    """Return the answer about the points of a series that began at ``since`` (epoch seconds) or later.

    At most ``most`` of them, with the extremes; the two sides of a change stay in any case.
    """
    series.points = len(points)  # type: ignore[attr-defined] # lists annotate it
    marked = marks(series.pk)
    begun = by_index((one for one in marked if one.per_point is None), points.index_of)
    drifts = by_index((one for one in marked if one.per_point is not None), points.index_of)
    shown = _shown(points, {*begun, *drifts}, since=since, most=most)
    place_of = {at: place for place, at in enumerate(shown)}
    rows = list(zip(*(points.column(name) for name in columns), strict=True))
    drift = None
    for at, one in drifts.items():
        if at in place_of:
            begin = place_of.get(points.index_of(one.last_good_id or 0) or 0, 0)
            drift = {"from_index": begin, "to_index": place_of[at], **one._asdict()}
    answer = {
        "series": series,
        "columns": columns,
        "rows": rows if len(shown) == len(rows) else [rows[at] for at in shown],
        "change_points": [
            {"index": place_of[at], **one._asdict()} for at, one in begun.items() if at in place_of
        ],
        "drift": drift,
    }
    return PointsSerializer(answer).data


def _shown(points: Points, begins: set[int], *, since: float | None, most: int | None) -> Sequence[int]:
    """Return the indexes of the points that are asked for; new levels begin at the indexes ``begins``."""
    shown: Sequence[int] = range(len(points))
    if since is not None:
        times = points.column("time")
        shown = [at for at in shown if times[at] >= since]
    if most is not None:
        places = {place for place, at in enumerate(shown) if at in begins}
        keep = places | {place - 1 for place in places if place}
        values = points.column("value")
        shown = [shown[place] for place in thinned([values[at] for at in shown], most, keep=keep)]
    return shown
