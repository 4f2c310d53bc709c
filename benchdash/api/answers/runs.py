"""Runs, and series with their points."""

from collections.abc import Iterable
from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    DateTimeField,
    DictField,
    FloatField,
    IntegerField,
    ListField,
    Serializer,
    SerializerMethodField,
    URLField,
)

from benchdash.api.answers.fields import AsIs, CountField, address, is_member
from benchdash.regressions.models import ChangePoint
from benchdash.results.models import IntervalSamples, Run, Series


class UploadReferenceSerializer(Serializer[Any]):
    id = IntegerField()
    url = URLField()


class RunSerializer(Serializer[Any]):
    """``duration`` is in seconds; ``version_id`` is what a selector of a comparison takes."""

    id = IntegerField()
    url = SerializerMethodField()
    project = CharField(source="project.slug")
    product = CharField(source="version.product.name")
    version = CharField(source="version.version")
    version_id = IntegerField()
    build = CharField(source="version.build")
    commit = CharField(source="version.commit", allow_null=True)
    branch = CharField()
    hardware = CharField(source="hardware.name")
    configuration = CharField(source="configuration.name")
    counterpart = CharField()
    workload = CharField(source="workload.name")
    threads = CountField()
    repetition = IntegerField(allow_null=True)
    started_at = DateTimeField()
    started_at_assumed = BooleanField(source="started_at_is_assumed")
    duration = FloatField(source="duration_s", allow_null=True)
    upload = SerializerMethodField()
    tags = ListField(child=CharField())
    warnings = ListField(child=CharField())
    excluded = BooleanField(source="is_excluded")
    excluded_reason = SerializerMethodField()

    def get_url(self, run: Run) -> str:
        return address("api:run-detail", run.pk)

    @extend_schema_field(UploadReferenceSerializer)
    def get_upload(self, run: Run) -> dict[str, Any]:
        return {"id": run.upload_id, "url": address("ingest:upload-detail", run.upload_id)}

    def get_excluded_reason(self, run: Run) -> str | None:
        """For members; null for everyone else."""
        return run.excluded_reason if is_member(self, run.project_id) else None


class ReadingSerializer(Serializer[Any]):
    """``low`` and ``high`` are the interval that the tool itself printed; ``series`` is an id."""

    metric = CharField(source="series.metric")
    value = FloatField()
    unit = CharField(source="series.unit")
    direction = CharField(source="series.direction")
    low = FloatField(allow_null=True)
    high = FloatField(allow_null=True)
    series = IntegerField(source="series_id")


class ConfigurationContentSerializer(Serializer[Any]):
    id = IntegerField()
    text = CharField()
    settings = DictField()


class RunDetailSerializer(RunSerializer):
    readings = SerializerMethodField()
    options = DictField()
    notes = CharField()
    environment = DictField(source="environment.facts", allow_null=True)
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


class SeriesSerializer(Serializer[Any]):
    """``points`` is the number of groups; ``line`` the release line of released versions. What is derived was
    computed from other series.
    """

    id = IntegerField()
    project = CharField(source="project.slug")
    product = CharField(source="product.name")
    build = CharField()
    branch = CharField()
    line = CharField()
    hardware = CharField(source="hardware.name")
    configuration = CharField(source="configuration.name")
    counterpart = CharField()
    workload = CharField(source="workload.name")
    threads = CountField()
    metric = CharField()
    unit = CharField()
    direction = ChoiceField(choices=Series.Direction.choices)
    is_derived = BooleanField()
    points = IntegerField()


class PointsChangePointSerializer(Serializer[Any]):
    """``index`` is the row where the new level begins; ``change`` is relative: -0.084."""

    index = IntegerField()
    state = ChoiceField(choices=ChangePoint.State.choices)
    before = FloatField()
    after = FloatField()
    change = FloatField()
    confidence = FloatField()
    incident = IntegerField(source="incident_id", allow_null=True)


class PointsSerializer(Serializer[Any]):
    """A row is one group, in order: version, commit, time (epoch seconds), value, low, high, n, run."""

    series = SeriesSerializer()
    columns = ListField(child=CharField())
    rows = AsIs(ListField(child=ListField()))
    change_points = PointsChangePointSerializer(many=True)
