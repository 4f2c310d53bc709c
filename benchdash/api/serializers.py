"""The shapes of answers and of what may be sent. Their names are those of the contract."""

from functools import cache
from typing import Any, get_args

from django.conf import settings
from django.urls import get_script_prefix, reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from benchdash.accounts.models import AuditEntry, Project
from benchdash.alerts.models import Subscription
from benchdash.api.article_answers import answers, names_of
from benchdash.api.parameters import LARGEST_ID
from benchdash.api.quick_serializers import QuickSerializer
from benchdash.articles.addresses import LONGEST_QUERY, PAGES
from benchdash.articles.models import LONGEST_TITLE, Article, Block
from benchdash.articles.queries import runs_since
from benchdash.articles.services import LONGEST_PROSE, LONGEST_TEXT, MOST_BLOCKS
from benchdash.regressions.detection.scatter import Basis
from benchdash.regressions.models import ChangePoint, Comment, Incident
from benchdash.regressions.queries import evidence, what_changed
from benchdash.regressions.sweeps.conditions import Kind
from benchdash.results.models import Configuration, Hardware, Product, Run, Series, ServerVersion, Workload


def address(name: str, *args: object) -> str:
    """The absolute address of a named page or resource."""
    return f"{settings.SITE_URL}{reverse(name, args=args)}"


def numbered(name: str, pk: int) -> str:
    """The absolute address of the resource with this id."""
    before, after = _around_id(name, get_script_prefix())
    return f"{settings.SITE_URL}{before}{pk}{after}"


@cache
def _around_id(name: str, prefix: str) -> tuple[str, str]:  # noqa: ARG001 - it is part of what reverse gives
    """Django needs as long for an address as for all the rest of a row."""
    before, _, after = reverse(name, args=[LARGEST_ID]).partition(str(LARGEST_ID))
    return before, after


def _is_member(serializer: serializers.BaseSerializer[Any], project_id: int) -> bool:
    return project_id in serializer.context["view"].member_projects


class IdField(serializers.IntegerField):
    """The id of a row. No row has one out of these bounds, so a larger one is malformed, not unknown."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=1, max_value=LARGEST_ID, **options)


class CommitField(serializers.RegexField):
    """A commit, or the beginning of one, in lower case."""

    def __init__(self, **options: Any) -> None:
        super().__init__(r"^[0-9a-fA-F]{7,40}$", **options)

    def to_internal_value(self, data: Any) -> str:
        return super().to_internal_value(data).lower()


# --- projects and what is named in them -------------------------------------------------------------------


class ProjectSerializer(QuickSerializer[Project]):
    class Meta:
        model = Project
        fields = ("id", "slug", "name", "visibility", "notice", "is_sample", "created_at")


class _NamedSerializer(QuickSerializer[Any]):
    """``aliases`` are old names, by which uploads still find the thing."""

    project = serializers.CharField(source="project.slug", read_only=True)
    aliases: Any = serializers.ListField(source="old_names", child=serializers.CharField(), read_only=True)


class ProductSerializer(_NamedSerializer):
    class Meta:
        model = Product
        fields = ("id", "project", "name", "aliases")


class HardwareSerializer(_NamedSerializer):
    facts = serializers.DictField()

    class Meta:
        model = Hardware
        fields = ("id", "project", "name", "facts", "aliases")


class ConfigurationSerializer(_NamedSerializer):
    class Meta:
        model = Configuration
        fields = ("id", "project", "name", "aliases")


class WorkloadSerializer(_NamedSerializer):
    options = serializers.DictField()

    class Meta:
        model = Workload
        fields = ("id", "project", "name", "options", "aliases")


class VersionSerializer(_NamedSerializer):
    product = serializers.CharField(source="product.name")

    class Meta:
        model = ServerVersion
        fields = (
            "id",
            "project",
            "product",
            "version",
            "build",
            "commit",
            "committed_at",
            "released_on",
            "aliases",
        )


# --- corrections ------------------------------------------------------------------------------------------


class CorrectionRequest(serializers.Serializer[Any]):
    """With ``preview`` nothing is changed, and the answer says what would be."""

    reason = serializers.CharField(max_length=1000, allow_blank=True, default="")
    preview = serializers.BooleanField(default=False)


class RenameRequest(CorrectionRequest):
    name = serializers.CharField(max_length=300)


class VersionRequest(CorrectionRequest):
    """``version`` renames; the others correct what is known of the build. Null forgets."""

    version = serializers.CharField(max_length=100, required=False)
    commit = CommitField(required=False, allow_null=True)
    committed_at = serializers.DateTimeField(required=False, allow_null=True)
    released_on = serializers.DateField(required=False, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.keys() <= CorrectionRequest().fields.keys():
            raise serializers.ValidationError({"version": ["give a version or a fact to correct"]})
        return attrs


class MergeRequest(CorrectionRequest):
    into = IdField()


class ExclusionRequest(CorrectionRequest):
    """An exclusion needs a ``reason``."""

    excluded = serializers.BooleanField()


class EffectSerializer(serializers.Serializer[Any]):
    """How many runs change, the uploads that brought them, and series; ``merged`` of these join others."""

    runs = serializers.IntegerField()
    uploads = serializers.IntegerField()
    series = serializers.IntegerField()
    merged = serializers.IntegerField()


def corrected(serializer: type[serializers.ModelSerializer[Any]]) -> type[serializers.ModelSerializer[Any]]:
    """The shape of the answer to a correction: the thing, whether it was a preview, and the effect."""
    meta = serializer.Meta
    fields = (*meta.fields, "preview", "changes")
    members = {
        "Meta": type("Meta", (meta,), {"fields": fields}),
        "preview": serializers.BooleanField(),
        "changes": EffectSerializer(),
    }
    return type(f"Corrected{serializer.__name__}", (serializer,), members)


# --- runs -------------------------------------------------------------------------------------------------


class UploadReferenceSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    url = serializers.URLField()


class RunSerializer(QuickSerializer[Run]):
    """``duration`` is in seconds; ``version_id`` is what a selector of a comparison takes."""

    url = serializers.SerializerMethodField()
    project = serializers.CharField(source="project.slug")
    product = serializers.CharField(source="version.product.name")
    version = serializers.CharField(source="version.version")
    version_id = serializers.IntegerField()
    build = serializers.CharField(source="version.build")
    commit = serializers.CharField(source="version.commit", allow_null=True)
    hardware = serializers.CharField(source="hardware.name")
    configuration = serializers.CharField(source="configuration.name")
    workload = serializers.CharField(source="workload.name")
    started_at_assumed = serializers.BooleanField(source="started_at_is_assumed")
    duration = serializers.FloatField(source="duration_s", allow_null=True)
    upload = serializers.SerializerMethodField()
    excluded = serializers.BooleanField(source="is_excluded")
    excluded_reason = serializers.SerializerMethodField()

    class Meta:
        model = Run
        fields: tuple[str, ...] = (
            "id",
            "url",
            "project",
            "product",
            "version",
            "version_id",
            "build",
            "commit",
            "branch",
            "hardware",
            "configuration",
            "counterpart",
            "workload",
            "threads",
            "repetition",
            "started_at",
            "started_at_assumed",
            "duration",
            "upload",
            "tags",
            "warnings",
            "excluded",
            "excluded_reason",
        )

    def get_url(self, run: Run) -> str:
        return numbered("api:run-detail", run.pk)

    @extend_schema_field(UploadReferenceSerializer)
    def get_upload(self, run: Run) -> dict[str, Any]:
        return {"id": run.upload_id, "url": numbered("ingest:upload-detail", run.upload_id)}

    def get_excluded_reason(self, run: Run) -> str | None:
        """For members; null for everyone else."""
        return run.excluded_reason if _is_member(self, run.project_id) else None


class ReadingSerializer(serializers.Serializer[Any]):
    """``low`` and ``high`` are the interval that the tool itself printed; ``series`` is an id."""

    metric = serializers.CharField(source="series.metric")
    value = serializers.FloatField()
    unit = serializers.CharField(source="series.unit")
    direction = serializers.CharField(source="series.direction")
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    series = serializers.IntegerField(source="series_id")


class ConfigurationContentSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    text = serializers.CharField()
    settings = serializers.DictField()


class RunDetailSerializer(RunSerializer):
    readings = serializers.SerializerMethodField()
    options = serializers.DictField()
    environment = serializers.DictField(source="environment.facts", allow_null=True, default=None)
    configuration_content = ConfigurationContentSerializer(source="content", allow_null=True)

    class Meta(RunSerializer.Meta):
        fields = (
            *RunSerializer.Meta.fields,
            "readings",
            "options",
            "notes",
            "environment",
            "configuration_content",
        )

    @extend_schema_field(ReadingSerializer(many=True))
    def get_readings(self, run: Run) -> Any:
        measured = run.measurements.filter(series__is_derived=False).select_related("series")
        return ReadingSerializer(measured.order_by("series__metric"), many=True).data


# --- series -----------------------------------------------------------------------------------------------


class SeriesSerializer(QuickSerializer[Series]):
    """``points`` is the number of groups; ``line`` the release line of released versions. What is derived was
    computed from other series.
    """

    project = serializers.CharField(source="project.slug")
    product = serializers.CharField(source="product.name")
    hardware = serializers.CharField(source="hardware.name")
    configuration = serializers.CharField(source="configuration.name")
    workload = serializers.CharField(source="workload.name")
    points = serializers.IntegerField()

    class Meta:
        model = Series
        fields = (
            "id",
            "project",
            "product",
            "build",
            "branch",
            "line",
            "hardware",
            "configuration",
            "counterpart",
            "workload",
            "threads",
            "metric",
            "unit",
            "direction",
            "is_derived",
            "points",
        )


class PointsChangePointSerializer(serializers.Serializer[Any]):
    """``index`` is the row where the new level begins; ``change`` is relative: -0.084."""

    index = serializers.IntegerField()
    state = serializers.ChoiceField(choices=ChangePoint.State.choices)
    before = serializers.FloatField()
    after = serializers.FloatField()
    change = serializers.FloatField()
    confidence = serializers.FloatField()
    incident = serializers.IntegerField(allow_null=True)


class PointsSerializer(serializers.Serializer[Any]):
    """A row is one group, in order: version, commit, time (epoch seconds), value, low, high, n, run."""

    series = SeriesSerializer()
    columns = serializers.ListField(child=serializers.CharField())
    rows = serializers.ListField(child=serializers.ListField())
    change_points = PointsChangePointSerializer(many=True)


# --- comparisons ------------------------------------------------------------------------------------------


class SelectorSerializer(serializers.Serializer[Any]):
    """Any of these; the rest is taken from the parameters of the same names. Null says nothing."""

    id = IdField(required=False, allow_null=True)
    product = serializers.CharField(required=False, allow_null=True)
    version = serializers.CharField(required=False, allow_null=True)
    build = serializers.CharField(required=False, allow_null=True, allow_blank=True)
    commit = CommitField(required=False, allow_null=True)
    branch = serializers.CharField(required=False, allow_null=True, allow_blank=True)
    hardware = serializers.CharField(required=False, allow_null=True)
    configuration = serializers.CharField(required=False, allow_null=True)
    counterpart = serializers.CharField(required=False, allow_null=True, allow_blank=True)


class ColumnSerializer(serializers.Serializer[Any]):
    """A version at a place; ``id`` is that of the version."""

    id = serializers.IntegerField()
    product = serializers.CharField()
    version = serializers.CharField()
    build = serializers.CharField()
    commit = serializers.CharField(allow_null=True)
    branch = serializers.CharField()
    hardware = serializers.CharField()
    configuration = serializers.CharField()
    counterpart = serializers.CharField()


class BaseCellSerializer(serializers.Serializer[Any]):
    """``low`` and ``high`` are the 95 % interval of the value."""

    value = serializers.FloatField()
    n = serializers.IntegerField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class CellSerializer(serializers.Serializer[Any]):
    """``ratio`` is value / base, ``low`` and ``high`` its 95 % interval; ``p`` is adjusted for the table.

    ``basis`` is what the noise was judged by. ``more_runs`` of each side would settle an unknown verdict
    (sessions or forks where the basis is these); null where that cannot be said.
    """

    value = serializers.FloatField()
    n = serializers.IntegerField()
    ratio = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    p = serializers.FloatField(allow_null=True)
    verdict = serializers.ChoiceField(choices=["better", "worse", "same", "unknown"])
    more_runs = serializers.IntegerField(allow_null=True)
    basis = serializers.ChoiceField(choices=get_args(Basis))


class ComparisonRowSerializer(serializers.Serializer[Any]):
    """Rows of one metric may differ in unit and direction: a JMH score is a time or a throughput."""

    workload = serializers.CharField()
    threads = serializers.IntegerField(allow_null=True)
    group = serializers.CharField(allow_null=True)
    unit = serializers.CharField()
    direction = serializers.ChoiceField(choices=Series.Direction.choices)
    base = BaseCellSerializer(allow_null=True)
    cells = serializers.ListField(child=CellSerializer(allow_null=True))


class GroupSummarySerializer(serializers.Serializer[Any]):
    """The ratios of a group of workloads in the order of ``columns``; null is the group of all others."""

    group = serializers.CharField(allow_null=True)
    rows = serializers.IntegerField()
    geomean = serializers.ListField(child=serializers.FloatField(allow_null=True))
    lowest = serializers.ListField(child=serializers.FloatField(allow_null=True))
    highest = serializers.ListField(child=serializers.FloatField(allow_null=True))


class ComparisonSerializer(serializers.Serializer[Any]):
    """``cells`` and ``geomean`` are in the order of ``columns``; ``unit`` is that of the first row.

    ``margin`` is the relative difference that does not matter: within it, versions are the same.
    """

    metric = serializers.CharField()
    unit = serializers.CharField()
    direction = serializers.ChoiceField(choices=Series.Direction.choices)
    base = ColumnSerializer()
    columns = ColumnSerializer(many=True)
    rows = ComparisonRowSerializer(many=True)
    geomean = serializers.ListField(child=serializers.FloatField(allow_null=True))
    margin = serializers.FloatField()
    groups = GroupSummarySerializer(many=True)


class NightsSerializer(ComparisonSerializer):
    """``times`` are when the groups of ``columns`` were first measured; ``base_time`` is null for a release.

    ``earlier`` and ``later`` are the ``until`` of the groups before and after; null where there are none.
    """

    times = serializers.ListField(child=serializers.DateTimeField())
    base_time = serializers.DateTimeField(allow_null=True)
    earlier = serializers.DateTimeField(allow_null=True)
    later = serializers.DateTimeField(allow_null=True)


class EstimateSerializer(serializers.Serializer[Any]):
    """``low`` and ``high`` are the 95 % interval; ``high`` is null where nothing limits it."""

    value = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField(allow_null=True)


class ScalabilitySerializer(serializers.Serializer[Any]):
    """The Universal Scalability Law. ``peak`` (threads) is null where no fall was seen within twice the most
    threads, and where the law does not fit.
    """

    rate = EstimateSerializer()
    contention = EstimateSerializer()
    coherency = EstimateSerializer()
    peak = EstimateSerializer(allow_null=True)
    r_squared = serializers.FloatField()
    residual_sd = serializers.FloatField()
    does_not_fit = serializers.BooleanField()


class CurvePointSerializer(BaseCellSerializer):
    threads = serializers.IntegerField()


class PeakSerializer(serializers.Serializer[Any]):
    """``among`` are the thread counts that may be the true peak; empty where no repeats tell."""

    value = serializers.FloatField()
    threads = serializers.IntegerField()
    among = serializers.ListField(child=serializers.IntegerField())


class ScaleUpSerializer(serializers.Serializer[Any]):
    """From ``before`` to ``after`` threads."""

    before = serializers.IntegerField()
    after = serializers.IntegerField()
    factor = serializers.FloatField()
    efficiency = serializers.FloatField()


class CurveSerializer(serializers.Serializer[Any]):
    """One version at one place. ``peak``, ``knee`` (threads) and ``tail_off`` (relative to the peak) are null
    for fewer than four thread counts, ``scalability`` for fewer than five.
    """

    workload = serializers.CharField()
    column = ColumnSerializer()
    unit = serializers.CharField()
    points = CurvePointSerializer(many=True)
    peak = PeakSerializer(allow_null=True)
    knee = serializers.IntegerField(allow_null=True)
    tail_off = serializers.FloatField(allow_null=True)
    scale_up = ScaleUpSerializer(allow_null=True)
    scalability = ScalabilitySerializer(allow_null=True)


class CurvesSerializer(serializers.Serializer[Any]):
    metric = serializers.CharField()
    curves = CurveSerializer(many=True)


# --- latency ----------------------------------------------------------------------------------------------


class PercentileSerializer(serializers.Serializer[Any]):
    """It lies from ``low`` to ``high`` ms, the ends of its bucket; ``high`` is null for one without an end.

    Both are null where the operations are too few to tell it. ``ratio`` is that to the base, with a 95 %
    interval by a bootstrap over the runs; ``p`` is adjusted for the table, and null where either side was run
    once.
    """

    percentile = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    ratio = serializers.FloatField(allow_null=True)
    ratio_low = serializers.FloatField(allow_null=True)
    ratio_high = serializers.FloatField(allow_null=True)
    p = serializers.FloatField(allow_null=True)
    verdict = serializers.ChoiceField(choices=["better", "worse", "same", "unknown"])


class BucketsSerializer(serializers.Serializer[Any]):
    """At most 1,000, with wider ones in place of more. ``to_ms`` is null for one without an end."""

    columns = serializers.ListField(child=serializers.CharField())
    rows = serializers.ListField(child=serializers.ListField(child=serializers.FloatField(allow_null=True)))


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
    run = serializers.IntegerField()
    percentiles = PercentileSerializer(many=True)
    buckets = BucketsSerializer()


class LatencyRowSerializer(serializers.Serializer[Any]):
    """``operation`` is empty where a histogram holds the response times of all operations."""

    workload = serializers.CharField()
    threads = serializers.IntegerField(allow_null=True)
    operation = serializers.CharField()
    unit = serializers.CharField()
    base = LatencyCellSerializer(allow_null=True)
    cells = serializers.ListField(child=LatencyCellSerializer(allow_null=True))


class LatencySerializer(serializers.Serializer[Any]):
    """``cells`` are in the order of ``columns``; ``warnings`` are why these may not be alike.

    ``margin`` is the relative difference that does not matter.
    """

    base = ColumnSerializer()
    columns = ColumnSerializer(many=True)
    margin = serializers.FloatField()
    warnings = DoubtSerializer(many=True)
    rows = LatencyRowSerializer(many=True)


# --- one setting varied -----------------------------------------------------------------------------------


class SubjectSerializer(serializers.Serializer[Any]):
    """A version on a branch (empty: a release) beside a counterpart."""

    id = serializers.CharField()
    version_id = serializers.IntegerField()
    product = serializers.CharField()
    version = serializers.CharField()
    build = serializers.CharField()
    commit = serializers.CharField(allow_null=True)
    branch = serializers.CharField()
    counterpart = serializers.CharField()


class SweepChoiceSerializer(serializers.Serializer[Any]):
    """Something that varies. ``alike`` is how many of its ``values`` at most were measured with nothing else
    different; null among them is a setting that was not set.
    """

    key = serializers.CharField()
    kind = serializers.ChoiceField(choices=get_args(Kind))
    name = serializers.CharField()
    values = serializers.ListField(child=serializers.CharField(allow_null=True))
    alike = serializers.IntegerField()


class SweepDifferenceSerializer(serializers.Serializer[Any]):
    """What else differs; null: not set."""

    name = serializers.CharField()
    base = serializers.CharField(allow_null=True)
    value = serializers.CharField(allow_null=True)


class SweepValueSerializer(serializers.Serializer[Any]):
    """``left_out`` more runs have the value, under conditions that differ in ``left_out_for``."""

    value = serializers.CharField(allow_null=True)
    runs = serializers.IntegerField()
    seconds = serializers.FloatField(allow_null=True)
    differences = SweepDifferenceSerializer(many=True)
    left_out = serializers.IntegerField()
    left_out_for = serializers.ListField(child=serializers.CharField())


class _SweepBaseCellSerializer(BaseCellSerializer):
    value = serializers.FloatField(allow_null=True)


class _SweepCellSerializer(CellSerializer):
    value = serializers.FloatField(allow_null=True)


class SweepRowSerializer(ComparisonRowSerializer):
    base = _SweepBaseCellSerializer(allow_null=True)
    cells = serializers.ListField(child=_SweepCellSerializer(allow_null=True))


class SweepSerializer(serializers.Serializer[Any]):
    """``cells`` and ``geomean`` are in the order of ``columns``, the values beside the base."""

    subject = SubjectSerializer()
    setting = SweepChoiceSerializer()
    choices = SweepChoiceSerializer(many=True)
    metric = serializers.CharField()
    unit = serializers.CharField()
    direction = serializers.ChoiceField(choices=Series.Direction.choices)
    base = SweepValueSerializer()
    columns = SweepValueSerializer(many=True)
    rows = SweepRowSerializer(many=True)
    geomean = serializers.ListField(child=serializers.FloatField(allow_null=True))


# --- two sides by all their metrics -----------------------------------------------------------------------


class DifferenceSerializer(serializers.Serializer[Any]):
    """A setting or a fact of the machine; null where a side does not have it."""

    name = serializers.CharField()
    before = serializers.CharField(allow_null=True)
    after = serializers.CharField(allow_null=True)


class ToldRowSerializer(serializers.Serializer[Any]):
    workload = serializers.CharField()
    threads = serializers.IntegerField(allow_null=True)


class ToldDifferenceSerializer(DifferenceSerializer):
    """An option or an argument of the command, with the rows in which it differs."""

    rows = ToldRowSerializer(many=True)


class DifferencesSerializer(serializers.Serializer[Any]):
    """By the latest runs of both sides; null where nobody sent it with one of them."""

    settings = DifferenceSerializer(many=True, allow_null=True)
    environment = DifferenceSerializer(many=True, allow_null=True)
    hardware = DifferenceSerializer(many=True, allow_null=True)
    options = ToldDifferenceSerializer(many=True)


class SideSerializer(ColumnSerializer):
    """``runs`` says how many count; ``run`` is the id of the single run that was asked for."""

    name = serializers.CharField()
    runs = serializers.IntegerField()
    run = serializers.IntegerField(allow_null=True)


class MetricDifferenceSerializer(serializers.Serializer[Any]):
    """A comparison of one metric whose only column is the other side; ``geomean`` is of the ratios."""

    metric = serializers.CharField()
    unit = serializers.CharField()
    direction = serializers.ChoiceField(choices=Series.Direction.choices)
    geomean = serializers.FloatField(allow_null=True)
    rows = ComparisonRowSerializer(many=True)


class PairSerializer(serializers.Serializer[Any]):
    """``summary`` says only what the verdicts bear out; ``warnings`` are why the sides may not be alike."""

    summary = serializers.CharField()
    base = SideSerializer()
    against = SideSerializer()
    warnings = DoubtSerializer(many=True)
    metrics = MetricDifferenceSerializer(many=True)
    differences = DifferencesSerializer()
    page = serializers.CharField()


# --- incidents --------------------------------------------------------------------------------------------


class VersionReferenceSerializer(QuickSerializer[ServerVersion]):
    class Meta:
        model = ServerVersion
        fields = ("id", "version", "build", "commit")


class ChangePointSerializer(QuickSerializer[ChangePoint]):
    """``before`` and ``after`` are levels in the unit of the series; ``change`` is after / before - 1.

    ``run`` is the first run of the new level, ``last_good`` the last one before it.
    """

    series = serializers.IntegerField(source="series_id")
    run = serializers.IntegerField(source="run_id")
    last_good = serializers.IntegerField(source="last_good_id", allow_null=True)
    workload = serializers.CharField(source="series.workload.name")
    threads = serializers.IntegerField(source="series.threads", allow_null=True)
    metric = serializers.CharField(source="series.metric")
    unit = serializers.CharField(source="series.unit")
    direction = serializers.CharField(source="series.direction")
    hardware = serializers.CharField(source="series.hardware.name")
    configuration = serializers.CharField(source="series.configuration.name")

    class Meta:
        model = ChangePoint
        fields = (
            "id",
            "series",
            "run",
            "last_good",
            "state",
            "historical",
            "before",
            "after",
            "change",
            "confidence",
            "noise",
            "family_size",
            "expected_low",
            "expected_high",
            "groups_before",
            "groups_after",
            "workload",
            "threads",
            "metric",
            "unit",
            "direction",
            "hardware",
            "configuration",
        )


class IncidentSerializer(QuickSerializer[Incident]):
    """``from`` is the last version of the old level and ``to`` the first of the new one: commits on a branch.

    ``worst`` and ``median`` are changes of speed: -0.5 is half the throughput, or twice the response time.
    ``series`` of the ``of`` that were looked at changed. ``page`` is for people.
    """

    url = serializers.SerializerMethodField()
    page = serializers.SerializerMethodField()
    project = serializers.CharField(source="project.slug")
    product = serializers.CharField(source="product.name")
    from_version = VersionReferenceSerializer(source="since", allow_null=True)
    to_version = VersionReferenceSerializer(source="until", allow_null=True)
    series = serializers.SerializerMethodField()
    of = serializers.IntegerField(source="looked_at")
    assignee = serializers.SerializerMethodField()
    reason = serializers.SerializerMethodField()
    change_points = ChangePointSerializer(many=True)

    class Meta:
        model = Incident
        fields: tuple[str, ...] = (
            "id",
            "url",
            "page",
            "project",
            "state",
            "kind",
            "status",
            "historical",
            "product",
            "branch",
            "line",
            "from_version",
            "to_version",
            "worst",
            "median",
            "series",
            "of",
            "started_at",
            "detected_at",
            "confirmed_at",
            "assignee",
            "reason",
            "change_points",
        )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # "from" cannot be the name of an attribute.
        ends = {"from": _IncidentEnd(source="since"), "to": _IncidentEnd(source="until")}
        return {**super().get_fields(), **ends}

    def get_url(self, incident: Incident) -> str:
        return numbered("api:incident-detail", incident.pk)

    def get_page(self, incident: Incident) -> str:
        return address("dashboard:incident", incident.project.slug, incident.pk)

    def get_series(self, incident: Incident) -> int:
        return len({one.series_id for one in incident.change_points.all()})

    def get_assignee(self, incident: Incident) -> str | None:
        """An e-mail address, for members; null for everyone else."""
        return (
            incident.assignee.email if incident.assignee and _is_member(self, incident.project_id) else None
        )

    def get_reason(self, incident: Incident) -> str | None:
        """For members; null for everyone else."""
        return incident.reason if _is_member(self, incident.project_id) else None


class _IncidentEnd(serializers.CharField):
    """A server version as a commit on a branch, or else as its text."""

    def __init__(self, *, source: str) -> None:
        super().__init__(source=source, read_only=True, allow_null=True)

    def to_representation(self, version: Any) -> str:
        return str(version.commit or version.version)


class CommentSerializer(QuickSerializer[Comment]):
    author = serializers.CharField(source="author_name")

    class Meta:
        model = Comment
        fields = ("id", "author", "text", "at")


class IncidentDetailSerializer(IncidentSerializer):
    what_changed = serializers.SerializerMethodField()
    comments = serializers.SerializerMethodField()

    class Meta(IncidentSerializer.Meta):
        fields = (*IncidentSerializer.Meta.fields, "what_changed", "comments")

    @extend_schema_field(DifferenceSerializer(many=True))
    def get_what_changed(self, incident: Incident) -> Any:
        """Between the last good run and the first of the new level."""
        return DifferenceSerializer(what_changed(evidence(incident)), many=True).data

    @extend_schema_field(CommentSerializer(many=True))
    def get_comments(self, incident: Incident) -> Any:
        """For members; empty for everyone else."""
        return CommentSerializer(
            incident.comments.all() if _is_member(self, incident.project_id) else [], many=True
        ).data


class TriageRequest(serializers.Serializer[Any]):
    """At least one of these. ``assignee`` is the e-mail address of a member; null: nobody."""

    state = serializers.ChoiceField(choices=Incident.State.choices, required=False)
    assignee = serializers.EmailField(required=False, allow_null=True)
    reason = serializers.CharField(max_length=5000, required=False, allow_blank=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise serializers.ValidationError({"state": ["give a state, an assignee or a reason"]})
        return attrs


class CommentRequest(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=20_000)


# --- articles ---------------------------------------------------------------------------------------------


class ArticleSerializer(QuickSerializer[Article]):
    """``size`` is the number of its views, ``url`` the page for people."""

    project = serializers.CharField(source="project.slug")
    size = serializers.IntegerField()
    url = serializers.SerializerMethodField()

    class Meta:
        model = Article
        fields = ("id", "project", "slug", "title", "prose", "url", "created_at", "changed_at", "size")

    def get_url(self, article: Article) -> str:
        return address("dashboard:article", article.project.slug, article.slug)


class BlockSerializer(QuickSerializer[Block]):
    """``url`` is the page of the view, ``answers`` the addresses of its numbers.

    ``runs_since`` is how many runs of what it shows were recorded after ``saved_at``.
    """

    url = serializers.SerializerMethodField()
    answers = serializers.SerializerMethodField()
    runs_since = serializers.SerializerMethodField()

    class Meta:
        model = Block
        fields = ("id", "heading", "text", "page", "query", "url", "answers", "saved_at", "runs_since")

    def get_url(self, block: Block) -> str:
        project: Project = self.context["project"]
        return f"{address(f'dashboard:{block.page}', project.slug)}?{block.query}"

    def get_answers(self, block: Block) -> list[str]:
        return answers(self.context["project"], block, self.context["names"])

    def get_runs_since(self, block: Block) -> int:
        return runs_since(self.context["project"], block)


class ArticleDetailSerializer(ArticleSerializer):
    size = serializers.SerializerMethodField()  # type: ignore[assignment]
    blocks = serializers.SerializerMethodField()

    class Meta(ArticleSerializer.Meta):
        fields = (*ArticleSerializer.Meta.fields, "blocks")  # type: ignore[assignment]

    def get_size(self, article: Article) -> int:
        return len(article.live_blocks)  # type: ignore[attr-defined]

    @extend_schema_field(BlockSerializer(many=True))
    def get_blocks(self, article: Article) -> Any:
        blocks: list[Block] = article.live_blocks  # type: ignore[attr-defined]
        names = names_of(article.project) if blocks else None
        context = {**self.context, "project": article.project, "names": names}
        return BlockSerializer(blocks, many=True, context=context).data


class BlockRequest(serializers.Serializer[Any]):
    """``query`` is what stands behind the question mark of the page's address."""

    page = serializers.ChoiceField(choices=list(PAGES))
    query = serializers.CharField(max_length=LONGEST_QUERY)
    heading = serializers.CharField(max_length=LONGEST_TITLE, default="", allow_blank=True)
    text = serializers.CharField(max_length=LONGEST_TEXT, default="", allow_blank=True)


class ArticleChange(serializers.Serializer[Any]):
    """At least one of these."""

    title = serializers.CharField(max_length=LONGEST_TITLE, required=False)
    prose = serializers.CharField(max_length=LONGEST_PROSE, required=False, allow_blank=True)
    blocks = serializers.ListField(child=BlockRequest(), required=False, max_length=MOST_BLOCKS)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise serializers.ValidationError({"title": ["give a title, prose or blocks"]})
        return attrs


class ArticleRequest(serializers.Serializer[Any]):
    project = serializers.CharField(required=False)
    title = serializers.CharField(max_length=LONGEST_TITLE)
    prose = serializers.CharField(max_length=LONGEST_PROSE, default="", allow_blank=True)
    blocks = serializers.ListField(child=BlockRequest(), default=list, max_length=MOST_BLOCKS)


# --- subscriptions and the audit log ----------------------------------------------------------------------


class SubscriptionSerializer(QuickSerializer[Subscription]):
    """Empty filters mean all. ``confirmed_at`` is null until the address has confirmed."""

    project = serializers.CharField(source="project.slug")
    product = serializers.CharField(source="product.name", allow_null=True, default=None)
    hardware = serializers.CharField(source="hardware.name", allow_null=True, default=None)

    class Meta:
        model = Subscription
        fields = ("id", "project", "address", "product", "branch", "hardware", "created_at", "confirmed_at")


class SubscriptionRequest(serializers.Serializer[Any]):
    """A ``product`` or ``hardware`` may be named before its first result comes in."""

    project = serializers.CharField(required=False)
    address = serializers.EmailField(max_length=254)
    product = serializers.CharField(max_length=100, required=False, allow_null=True, allow_blank=True)
    branch = serializers.CharField(max_length=200, default="", allow_blank=True)
    hardware = serializers.CharField(max_length=100, required=False, allow_null=True, allow_blank=True)


class AuditSerializer(QuickSerializer[AuditEntry]):
    """``by`` is a person's name or a token's."""

    project = serializers.CharField(source="project.slug")
    by = serializers.SerializerMethodField()

    class Meta:
        model = AuditEntry
        fields = ("id", "project", "at", "by", "action", "subject", "reason", "detail")

    def get_by(self, entry: AuditEntry) -> str | None:
        who = entry.user or entry.token
        return str(who) if who else None


# --- the gate ---------------------------------------------------------------------------------------------


class GateRowSerializer(ComparisonRowSerializer):
    """As in a comparison, with what tells rows of several metrics and places apart."""

    series = serializers.IntegerField()
    metric = serializers.CharField()
    build = serializers.CharField()
    hardware = serializers.CharField()
    configuration = serializers.CharField()
    counterpart = serializers.CharField()


class GateSerializer(serializers.Serializer[Any]):
    """``fail``: something is worse; ``pass``: all is the same or better; else ``unknown``.

    ``more_runs`` of either side would settle an unknown verdict; null where that cannot be said.
    While ``analysis`` is pending, there are results that nobody has looked at.
    """

    verdict = serializers.ChoiceField(choices=["pass", "fail", "unknown"])
    analysis = serializers.ChoiceField(choices=["done", "pending"])
    rows = GateRowSerializer(many=True)
    more_runs = serializers.IntegerField(allow_null=True)
