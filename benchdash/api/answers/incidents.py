"""Incidents with their change points and comments."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    DateTimeField,
    Field,
    FloatField,
    IntegerField,
    Serializer,
    SerializerMethodField,
)

from benchdash.api.answers.differences import DifferenceSerializer
from benchdash.api.answers.fields import CountField, address, is_member
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.queries import evidence, what_changed


class VersionReferenceSerializer(Serializer[Any]):
    id = IntegerField()
    version = CharField()
    build = CharField()
    commit = CharField(allow_null=True)


class ChangePointSerializer(Serializer[Any]):
    """``before`` and ``after`` are levels in the unit of the series; ``change`` is after / before - 1.

    ``run`` is the first run of the new level, ``last_good`` the last one before it.
    """

    id = IntegerField()
    series = IntegerField(source="series_id")
    run = IntegerField(source="run_id")
    last_good = IntegerField(source="last_good_id", allow_null=True)
    state = ChoiceField(choices=ChangePoint.State.choices)
    historical = BooleanField()
    before = FloatField()
    after = FloatField()
    change = FloatField()
    confidence = FloatField()
    noise = FloatField(allow_null=True)
    family_size = IntegerField(allow_null=True)
    expected_low = FloatField(allow_null=True)
    expected_high = FloatField(allow_null=True)
    groups_before = IntegerField()
    groups_after = IntegerField()
    workload = CharField(source="series.workload.name")
    threads = CountField(source="series.threads")
    metric = CharField(source="series.metric")
    unit = CharField(source="series.unit")
    direction = CharField(source="series.direction")
    hardware = CharField(source="series.hardware.name")
    configuration = CharField(source="series.configuration.name")


class _EndField(CharField):
    """A server version as a commit on a branch, or else as its text."""

    def to_representation(self, version: Any) -> str:
        return str(version.commit or version.version)


class IncidentSerializer(Serializer[Any]):
    """``from`` is the last version of the old level and ``to`` the first of the new one: commits on a branch.

    ``worst`` and ``median`` are changes of speed: -0.5 is half the throughput, or twice the response time.
    ``series`` of the ``of`` that were looked at changed. ``page`` is for people.
    """

    id = IntegerField()
    url = SerializerMethodField()
    page = SerializerMethodField()
    project = CharField(source="project.slug")
    state = ChoiceField(choices=Incident.State.choices)
    kind = ChoiceField(choices=Incident.Kind.choices)
    status = ChoiceField(choices=Incident.Status.choices)
    historical = BooleanField()
    product = CharField(source="product.name")
    branch = CharField()
    line = CharField()
    from_version = VersionReferenceSerializer(source="since", allow_null=True)
    to_version = VersionReferenceSerializer(source="until", allow_null=True)
    worst = FloatField()
    median = FloatField()
    series = SerializerMethodField()
    of = IntegerField(source="looked_at")
    started_at = DateTimeField()
    detected_at = DateTimeField()
    confirmed_at = DateTimeField(allow_null=True)
    assignee = SerializerMethodField()
    reason = SerializerMethodField()
    change_points = ChangePointSerializer(many=True)

    def get_fields(self) -> dict[str, Field[Any, Any, Any, Any]]:
        # "from" cannot be the name of an attribute.
        ends = {
            "from": _EndField(source="since", allow_null=True),
            "to": _EndField(source="until", allow_null=True),
        }
        return {**super().get_fields(), **ends}

    def get_url(self, incident: Incident) -> str:
        return address("api:incident-detail", incident.pk)

    def get_page(self, incident: Incident) -> str:
        return address("dashboard:incident", incident.project.slug, incident.pk)

    def get_series(self, incident: Incident) -> int:
        return len({one.series_id for one in incident.change_points.all()})

    def get_assignee(self, incident: Incident) -> str | None:
        """An e-mail address, for members; null for everyone else."""
        assignee = incident.assignee
        return assignee.email if assignee and is_member(self, incident.project_id) else None

    def get_reason(self, incident: Incident) -> str | None:
        """For members; null for everyone else."""
        return incident.reason if is_member(self, incident.project_id) else None


class CommentSerializer(Serializer[Any]):
    id = IntegerField()
    author = CharField(source="author_name")
    text = CharField()
    at = DateTimeField()


class IncidentDetailSerializer(IncidentSerializer):
    what_changed = SerializerMethodField()
    comments = SerializerMethodField()

    @extend_schema_field(DifferenceSerializer(many=True))
    def get_what_changed(self, incident: Incident) -> Any:
        """Between the last good run and the first of the new level."""
        return DifferenceSerializer(what_changed(evidence(incident)), many=True).data

    @extend_schema_field(CommentSerializer(many=True))
    def get_comments(self, incident: Incident) -> Any:
        """For members; empty for everyone else."""
        comments = incident.comments.all() if is_member(self, incident.project_id) else []
        return CommentSerializer(comments, many=True).data
