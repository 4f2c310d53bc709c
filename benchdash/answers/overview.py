"""The morning of a project."""

from typing import Any

from rest_framework import serializers

from benchdash.answers.fields import CountField
from benchdash.answers.incidents import IncidentSerializer
from benchdash.regressions.morning.rows import Standing
from benchdash.regressions.morning.sentences import standing

VERDICTS = ("same", "likely_worse", "likely_better", "unknown")


class MissingSerializer(serializers.Serializer[Any]):
    """A machine (``product`` is empty), a job on it, or, with ``workloads``, some of a job, that is missing.

    ``incident`` is that of its silence; null where only the run of this night did not come.
    """

    hardware = serializers.CharField()
    product = serializers.CharField()
    branch = serializers.CharField(source="stream")
    workloads = serializers.ListField(child=serializers.CharField())
    last_at = serializers.DateTimeField()
    every_s = serializers.FloatField(source="interval_s")
    incident = serializers.IntegerField(source="incident.pk", allow_null=True, default=None)


class _PlaceField(serializers.Serializer[Any]):
    product = serializers.CharField(source="place.product")
    build = serializers.CharField(source="place.build")
    branch = serializers.CharField(source="place.branch")
    line = serializers.CharField(source="place.line")
    hardware = serializers.CharField(source="place.hardware")
    configuration = serializers.CharField(source="place.configuration")
    counterpart = serializers.CharField(source="place.counterpart")


class StandingSerializer(_PlaceField):
    """A workload at one thread count. ``of_level`` is its newest ``value`` as a share of its level.

    The level is the median of the groups before, since the last confirmed change, whose incident is
    ``incident``. ``usual`` is how far from 1 ``of_level`` falls in 99 of 100 nights without a change.
    ``verdict`` is ``same`` within that, and ``likely_worse`` or ``likely_better`` where the newest groups, as
    many as ``beyond`` says, lie outside; ``unknown`` where ``needed`` more groups would tell. ``standing``
    says it in words; where it says ``explained by its machine``, ``incident`` is that of the machine, or is
    folded into it.
    """

    workload = serializers.CharField()
    threads = CountField(source="first_threads")
    metric = serializers.CharField()
    unit = serializers.CharField()
    direction = serializers.CharField()
    series = serializers.IntegerField(source="series_id")
    value = serializers.FloatField()
    of_level = serializers.FloatField(allow_null=True)
    usual = serializers.FloatField(allow_null=True)
    standing = serializers.SerializerMethodField()
    verdict = serializers.ChoiceField(choices=VERDICTS)
    beyond = serializers.IntegerField()
    groups = serializers.IntegerField()
    needed = serializers.IntegerField()
    at = serializers.DateTimeField(source="measured_at")
    incident = serializers.IntegerField(source="incident.pk", allow_null=True, default=None)

    def get_standing(self, row: Standing) -> str:
        return standing(row)


class NightSerializer(serializers.Serializer[Any]):
    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # "from" cannot be the name of an attribute.
        ends = {
            "from": serializers.DateTimeField(source="since"),
            "to": serializers.DateTimeField(source="until"),
        }
        return {**super().get_fields(), **ends}


class OverviewSerializer(serializers.Serializer[Any]):
    """``sentence`` says the morning in words. ``expected`` workloads were due, and ``ran`` of them came.

    ``others`` ran beside them; a workload counts at each place. ``new`` incidents were detected or confirmed
    since the night began, improvements among them, and ``open`` ones are older; each list ends after the
    hundred latest. ``still_lost`` are neither, and the level of a row is still what they made it.
    ``recovered`` ones were ended in the night by a step back. So many series are ``waiting`` for analysis:
    what it will find in them is not told yet. ``headline`` says it by numbers alone.
    """

    headline = serializers.CharField()
    sentence = serializers.CharField()
    night = NightSerializer()
    ran = serializers.IntegerField()
    expected = serializers.IntegerField()
    others = serializers.IntegerField()
    machines = serializers.ListField(child=serializers.CharField())
    missing = MissingSerializer(many=True)
    new = IncidentSerializer(many=True)
    open = IncidentSerializer(many=True)
    still_lost = IncidentSerializer(many=True, source="lost")
    recovered = IncidentSerializer(many=True)
    rows = StandingSerializer(many=True)
    waiting = serializers.IntegerField()
