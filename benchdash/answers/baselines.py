"""Baselines of branches."""

from typing import Any

from rest_framework import serializers

from benchdash.answers.fields import is_member
from benchdash.results.models import Baseline


class BaselineSerializer(serializers.Serializer[Any]):
    """``name`` says it in short. ``commit`` is set for a group of the branch, ``version`` for a release.

    ``day`` tells which group is meant where there is no commit. All three are null where a baseline was
    ended. ``in_force``: nothing newer was set for the same place. ``by`` and ``reason`` are for members,
    and null for others.
    """

    id = serializers.IntegerField()
    project = serializers.CharField(source="project.slug")
    product = serializers.CharField(source="product.name")
    build = serializers.CharField()
    branch = serializers.CharField()
    hardware = serializers.CharField(source="hardware.name")
    configuration = serializers.CharField(source="configuration.name")
    counterpart = serializers.CharField()
    name = serializers.CharField()
    version = serializers.SerializerMethodField()
    commit = serializers.SerializerMethodField()
    day = serializers.DateField(allow_null=True)
    reason = serializers.SerializerMethodField()
    by = serializers.SerializerMethodField()
    set_at = serializers.DateTimeField()
    in_force = serializers.BooleanField()

    def get_version(self, baseline: Baseline) -> str | None:
        is_release = baseline.version is not None and not baseline.branch_group
        return baseline.version.version if baseline.version and is_release else None

    def get_commit(self, baseline: Baseline) -> str | None:
        return baseline.version.commit if baseline.version and baseline.branch_group else None

    def get_reason(self, baseline: Baseline) -> str | None:
        return baseline.reason if is_member(self, baseline.project_id) else None

    def get_by(self, baseline: Baseline) -> str | None:
        is_told = baseline.set_by is not None and is_member(self, baseline.project_id)
        return str(baseline.set_by) if is_told else None
