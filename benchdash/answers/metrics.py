"""The metrics of a project."""

from typing import Any

from rest_framework import serializers

from benchdash.results.models import ProjectMetric, Series


class MetricSerializer(serializers.Serializer[Any]):
    """``smallest_change`` is a share, ``smallest_change_absolute`` in ``unit``; null: as the project's rule.

    ``watched`` says whether changes are looked for; ``series`` is how many measured it. ``is_own``: benchdash
    does not know it, and the project says its unit and direction.
    """

    id = serializers.IntegerField(allow_null=True, help_text="null of one that nobody has said anything of")
    name = serializers.CharField()
    unit = serializers.CharField()
    direction = serializers.ChoiceField(choices=Series.Direction.choices)
    watched = serializers.BooleanField()
    smallest_change = serializers.FloatField(allow_null=True)
    smallest_change_absolute = serializers.FloatField(allow_null=True)
    aggregation = serializers.ChoiceField(choices=ProjectMetric.Aggregation.choices)
    kind = serializers.ChoiceField(choices=ProjectMetric.Kind.choices)
    is_own = serializers.BooleanField()
    series = serializers.IntegerField()
