"""Incidents with their change points and comments."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.utils.functional import cached_property
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from benchdash.addresses import absolute
from benchdash.answers.differences import DifferenceSerializer
from benchdash.answers.fields import CountField, is_member
from benchdash.regressions.counters import moved_counters
from benchdash.regressions.event_words import event_words
from benchdash.regressions.links import bug_url, compare_url
from benchdash.regressions.models import ChangePoint, Incident, IncidentEvent
from benchdash.regressions.queries import evidence, what_changed
from benchdash.regressions.ranges import range_of

AnyField = serializers.Field[Any, Any, Any, Any]


class VersionReferenceSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    version = serializers.CharField()
    build = serializers.CharField()
    commit = serializers.CharField(allow_null=True)


class SeriesReferenceSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    workload = serializers.CharField(source="workload.name")
    threads = CountField()
    metric = serializers.CharField()


class ChangePointSerializer(serializers.Serializer[Any]):
    """``before`` and ``after`` are levels in the unit of the series; ``change`` is after / before - 1.

    It is null for counts of events. ``confidence`` is null where one session on each side cannot tell it.

    ``run`` is the first run of the new level, where it is drawn. ``last_good`` is the last run certainly at
    the level before, and ``first_bad`` the first one certainly at the new one (98 %), null where only ``run``
    is known.
    """

    id = serializers.IntegerField()
    series = serializers.IntegerField(source="series_id")
    run = serializers.IntegerField(source="run_id")
    last_good = serializers.IntegerField(source="last_good_id", allow_null=True)
    first_bad = serializers.IntegerField(source="first_bad_id", allow_null=True)
    state = serializers.ChoiceField(choices=ChangePoint.State.choices)
    historical = serializers.BooleanField()
    before = serializers.FloatField()
    after = serializers.FloatField()
    change = serializers.FloatField(allow_null=True)
    confidence = serializers.FloatField(allow_null=True)
    noise = serializers.FloatField(allow_null=True)
    family_size = serializers.IntegerField(allow_null=True)
    expected_low = serializers.FloatField(allow_null=True)
    expected_high = serializers.FloatField(allow_null=True)
    groups_before = serializers.IntegerField()
    groups_after = serializers.IntegerField()
    workload = serializers.CharField(source="series.workload.name")
    threads = CountField(source="series.threads")
    metric = serializers.CharField(source="series.metric")
    unit = serializers.CharField(source="series.unit")
    direction = serializers.CharField(source="series.direction")
    hardware = serializers.CharField(source="series.hardware.name")
    configuration = serializers.CharField(source="series.configuration.name")


class IncidentReferenceSerializer(serializers.Serializer[Any]):
    """An incident of the same project; ``page`` is for people."""

    id = serializers.IntegerField()
    url = serializers.SerializerMethodField()
    page = serializers.SerializerMethodField()
    started_at = serializers.DateTimeField()

    def get_url(self, incident: Incident) -> str:
        return absolute("api:incident-detail", incident.pk)

    def get_page(self, incident: Incident) -> str:
        return absolute("dashboard:incident", incident.project.slug, incident.pk)


class SilenceSerializer(serializers.Serializer[Any]):
    """A machine, a job of it, or one workload of a job that stopped to report; the rest is null or empty.

    It used to report every ``cadence_s`` seconds. ``ended_at`` is when it reported again.
    """

    hardware = serializers.CharField(source="hardware.name")
    product = serializers.CharField(source="product.name", allow_null=True, default=None)
    build = serializers.CharField()
    branch = serializers.CharField()
    line = serializers.CharField()
    configuration = serializers.CharField(source="configuration.name", allow_null=True, default=None)
    counterpart = serializers.CharField()
    workload = serializers.CharField(source="workload.name", allow_null=True, default=None)
    last_run_at = serializers.DateTimeField()
    cadence_s = serializers.FloatField()
    ended_at = serializers.DateTimeField(allow_null=True)


class _EndField(serializers.CharField):
    """A server version as a commit on a branch, or else as its text."""

    def to_representation(self, version: Any) -> str:
        return str(version.commit or version.version)


class IncidentSerializer(serializers.Serializer[Any]):
    """``from`` is the last version of the old level and ``to`` the first of the new one: commits on a branch.

    Changes are of speed: -0.5 is half the throughput, or twice the response time. ``change`` is the headline,
    the median over the series of ``metric`` (``median`` is the same). ``worst`` is the largest, that of
    ``worst_of``. Both are null where only counts rose from zero. ``cause`` says what was switched where the
    level changed. ``origin`` is the release line or release that a line or branch goes on from, where it
    begins at another level. ``product`` is null where it is about a machine, ``hardware``, which is null
    elsewhere. ``series`` of the ``of`` that were looked at changed. ``page`` is for people.

    A ``drift`` came little by little. ``from`` and ``to`` are the first and last of ``points``, ``change``
    is the whole loss, and ``per_point`` that of one of them; it has no ``change_points``.

    ``state`` is what people say of it (``wontfix`` is declined); ``open`` whether somebody should look at it.
    ``bug_url`` and ``compare_url`` are addresses outside, made by the templates of the project, or null.
    ``recovered_by`` is the step back that ended it, ``remaining`` the change of speed that is left of it then
    (null where nothing certain is), and ``recovers`` are the losses that it ended. One that
    its machine explains is ``folded_into`` the incident of that.
    """

    id = serializers.IntegerField()
    url = serializers.SerializerMethodField()
    page = serializers.SerializerMethodField()
    project = serializers.CharField(source="project.slug")
    state = serializers.ChoiceField(choices=Incident.State.choices)
    kind = serializers.ChoiceField(choices=Incident.Kind.choices)
    status = serializers.ChoiceField(choices=Incident.Status.choices)
    historical = serializers.BooleanField()
    product = serializers.CharField(source="product.name", allow_null=True, default=None)
    hardware = serializers.CharField(source="hardware.name", allow_null=True, default=None)
    branch = serializers.CharField()
    line = serializers.CharField()
    from_version = VersionReferenceSerializer(source="since", allow_null=True)
    to_version = VersionReferenceSerializer(source="until", allow_null=True)
    change = serializers.FloatField(source="median", allow_null=True)
    median = serializers.FloatField(allow_null=True)
    metric = serializers.CharField()
    per_point = serializers.FloatField(allow_null=True)
    points = serializers.IntegerField(allow_null=True)
    worst = serializers.FloatField(allow_null=True)
    worst_of = SeriesReferenceSerializer(source="largest.series", allow_null=True, default=None)
    cause = serializers.SerializerMethodField()
    origin = serializers.CharField()
    series = serializers.IntegerField(source="series_count")
    of = serializers.IntegerField(source="looked_at")
    started_at = serializers.DateTimeField()
    detected_at = serializers.DateTimeField()
    confirmed_at = serializers.DateTimeField(allow_null=True)
    assignee = serializers.SerializerMethodField()
    reason = serializers.SerializerMethodField()
    bug = serializers.CharField()
    bug_url = serializers.SerializerMethodField()
    compare_url = serializers.SerializerMethodField()
    snoozed_until = serializers.DateTimeField(allow_null=True)
    snoozed_until_version = serializers.CharField()
    recovered_by = IncidentReferenceSerializer(allow_null=True)
    remaining = serializers.FloatField(allow_null=True)
    recovers = IncidentReferenceSerializer(many=True)
    folded_into = IncidentReferenceSerializer(allow_null=True)
    silence = SilenceSerializer(allow_null=True, default=None)
    change_points = ChangePointSerializer(many=True)

    def get_fields(self) -> dict[str, AnyField]:
        # "from" cannot be the name of an attribute.
        ends = {
            "from": _EndField(source="since", allow_null=True),
            "to": _EndField(source="until", allow_null=True),
        }
        return {**super().get_fields(), **ends}

    def get_url(self, incident: Incident) -> str:
        return absolute("api:incident-detail", incident.pk)

    def get_page(self, incident: Incident) -> str:
        return absolute("dashboard:incident", incident.project.slug, incident.pk)

    def get_cause(self, incident: Incident) -> str | None:
        return incident.cause or None

    def get_bug_url(self, incident: Incident) -> str | None:
        return bug_url(incident, incident.project) or None

    def get_compare_url(self, incident: Incident) -> str | None:
        return compare_url(incident, incident.project) or None

    def get_assignee(self, incident: Incident) -> str | None:
        """Return an e-mail address for members; null for everyone else."""
        assignee = incident.assignee
        return assignee.email if assignee and is_member(self, incident.project_id) else None

    def get_reason(self, incident: Incident) -> str | None:
        """Return the reason for members; null for everyone else."""
        return incident.reason if is_member(self, incident.project_id) else None


class CommentSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    author = serializers.CharField(source="author_name")
    text = serializers.CharField()
    at = serializers.DateTimeField()


class VersionRangeSerializer(serializers.Serializer[Any]):
    """``since`` is the last version of the old level, ``until`` the first of the new one.

    ``between`` are the known versions in between, in order; measuring ``next_to_measure`` halves the range.
    """

    since = VersionReferenceSerializer(allow_null=True)
    until = VersionReferenceSerializer(allow_null=True)
    between = VersionReferenceSerializer(many=True)
    next_to_measure = VersionReferenceSerializer(allow_null=True)


class MovedCounterSerializer(serializers.Serializer[Any]):
    """A cost of an operation that moved with the largest change; ``change`` is relative."""

    series = serializers.IntegerField(source="series.pk")
    metric = serializers.CharField()
    unit = serializers.CharField(source="series.unit")
    before = serializers.FloatField()
    after = serializers.FloatField()
    change = serializers.FloatField()


class EventSerializer(serializers.Serializer[Any]):
    """An event of an incident. ``by`` is empty where it was analysis; ``state`` is what it led to.

    Who did it and why is for members: ``by`` and ``reason`` are null for everyone else.
    """

    at = serializers.DateTimeField()
    what = serializers.ChoiceField(choices=IncidentEvent.What.choices)
    words = serializers.SerializerMethodField()
    state = serializers.CharField()
    by = serializers.SerializerMethodField()
    reason = serializers.SerializerMethodField()

    def get_words(self, event: IncidentEvent) -> str:
        return event_words(event)

    def get_by(self, event: IncidentEvent) -> str | None:
        return event.by_name if is_member(self, event.incident.project_id) else None

    def get_reason(self, event: IncidentEvent) -> str | None:
        return event.reason if is_member(self, event.incident.project_id) else None


class IncidentDetailSerializer(IncidentSerializer):
    what_changed = serializers.SerializerMethodField()
    counters = serializers.SerializerMethodField()
    range = serializers.SerializerMethodField()
    events = serializers.SerializerMethodField()
    comments = serializers.SerializerMethodField()

    @extend_schema_field(DifferenceSerializer(many=True))
    def get_what_changed(self, incident: Incident) -> Any:
        """Compare the last good run with the first of the new level."""
        return DifferenceSerializer(what_changed(self._evidence(incident)), many=True).data

    @extend_schema_field(MovedCounterSerializer(many=True))
    def get_counters(self, incident: Incident) -> Any:
        """Return the costs of an operation that moved with the largest change."""
        return MovedCounterSerializer(moved_counters(self._evidence(incident)), many=True).data

    @extend_schema_field(VersionRangeSerializer)
    def get_range(self, incident: Incident) -> Any:
        """Return the versions that the incident lies between, and which to measure next."""
        return VersionRangeSerializer(range_of(incident)).data

    @extend_schema_field(EventSerializer(many=True))
    def get_events(self, incident: Incident) -> Any:
        """Return what happened, the oldest first; whom it was assigned to is for members."""
        events = incident.events.all()
        if not is_member(self, incident.project_id):
            events = events.exclude(what=IncidentEvent.What.ASSIGNED)
        return EventSerializer(events, many=True, context=self.context).data

    @extend_schema_field(CommentSerializer(many=True))
    def get_comments(self, incident: Incident) -> Any:
        """Return the comments for members; none for everyone else."""
        comments = incident.comments.all() if is_member(self, incident.project_id) else []
        return CommentSerializer(comments, many=True).data

    def _evidence(self, incident: Incident) -> list[ChangePoint]:
        """Read it once for all that tells of it."""
        if incident.pk not in self._read:
            self._read[incident.pk] = evidence(incident)
        return self._read[incident.pk]

    @cached_property
    def _read(self) -> dict[int, list[ChangePoint]]:
        return {}


# --- what webhooks are sent -------------------------------------------------------------------------------

_TOLD: Final = (
    *("id", "url", "kind", "status", "state", "product", "branch", "line", "hardware", "from", "to"),
    *("change", "per_point", "worst", "remaining", "metric", "cause", "series", "of"),
    *("started_at", "confirmed_at", "changed"),
)
_CHANGED: Final = (
    *("series", "workload", "threads", "metric", "unit", "hardware"),
    *("before", "after", "change", "confidence"),
)


class _IsoField(serializers.DateTimeField):
    """A time as Python writes it: ``+00:00`` for UTC, where answers have ``Z``."""

    def to_representation(self, value: datetime | None) -> str | None:  # type: ignore[override]
        return value.isoformat() if value else None


def _sent(fields: Mapping[str, AnyField], names: Sequence[str]) -> dict[str, AnyField]:
    """Choose the fields of an answer that are sent, each of them always."""
    for name in names:
        fields[name].read_only, fields[name].required = False, True
    return {name: fields[name] for name in names}


class _ChangedSerializer(ChangePointSerializer):
    """``before`` and ``after`` are levels in the unit of the series; ``change`` is after / before - 1."""

    def get_fields(self) -> dict[str, AnyField]:
        return _sent(super().get_fields(), _CHANGED)


class ToldIncidentSerializer(IncidentSerializer):
    """The incident as ``/api/v1/incidents/`` has it; ``changed`` are the series that moved most."""

    started_at = _IsoField()
    confirmed_at = _IsoField(allow_null=True)
    changed = _ChangedSerializer(many=True)

    def get_fields(self) -> dict[str, AnyField]:
        return _sent(super().get_fields(), _TOLD)
