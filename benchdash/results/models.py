"""Facts: what was measured, on what, and the numbers."""

from collections.abc import Mapping
from datetime import UTC, date
from typing import Any, cast

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Left, Now
from django.utils import timezone

from benchdash.accounts.models import Project, User
from benchdash.results import readings
from benchdash.results.distributions import BUCKET_COLUMNS, VALUE_COLUMNS
from benchdash.results.readings import HIGHER, LOWER, UNKNOWN
from benchdash.results.used_units import UsedUnit, unit_printed
from benchdash.results.wording import counted

UNKNOWN_VERSION = "unknown"
DEFAULT_CONFIGURATION = "default"
# Commits that agree in so many digits may be one.
COMMIT_PREFIX = 7


class Product(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="products")
    name = models.CharField(max_length=100)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="product_is_unique")]

    def __str__(self) -> str:
        return self.name


class ServerVersion(models.Model):
    """One build of a product. ``sort_key`` is made by benchdash.results.versions and compares bytewise.

    ``order`` is a text that somebody gave it to be sorted by instead of its version, such as ``18.0``.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="versions")
    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="versions")
    version = models.CharField(max_length=100)
    sort_key = models.CharField(max_length=300, db_collation="C")
    build = models.CharField(max_length=100, blank=True)
    commit = models.CharField(max_length=40, null=True, blank=True)  # noqa: DJ001 - none is not the empty text
    committed_at = models.DateTimeField(null=True, blank=True)
    released_at = models.DateTimeField(null=True, blank=True)
    order = models.CharField(max_length=100, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "product", "version", "build", "commit"],
                name="server_version_is_unique",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=Q(commit=None) | Q(commit__regex=r"^[0-9a-f]{7,40}$"),
                name="commit_is_7_to_40_hex_digits",
            ),
        ]
        # An upload looks for the one commit that it may mean.
        indexes = [models.Index(Left("commit", COMMIT_PREFIX), "product", name="version_by_commit")]

    def __str__(self) -> str:
        return version_name(self.version, self.build, self.commit)

    @property
    def released_on(self) -> date | None:
        return self.released_at and self.released_at.astimezone(UTC).date()


def version_name(version: str, build: str, commit: str | None) -> str:
    return " ".join(filter(None, [version, build, (commit or "")[:10]]))


class Hardware(models.Model):
    """One named machine or instance type, with its facts (CPU model, cores, memory, storage, OS)."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="hardware")
    name = models.CharField(max_length=100)
    facts = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="hardware_is_unique")]
        verbose_name_plural = "hardware"

    def __str__(self) -> str:
        return self.name


class Environment(models.Model):
    """The facts of a machine as they were for some run, stored once per distinct content."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="environments")
    digest = models.CharField(max_length=64)
    facts = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "digest"], name="environment_is_unique")]

    def __str__(self) -> str:
        return self.digest[:10]


class Configuration(models.Model):
    """A named set of settings; what it held for one run is a ConfigurationContent."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="configurations")
    name = models.CharField(max_length=200)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="configuration_is_unique")]

    def __str__(self) -> str:
        return self.name


class ConfigurationContent(models.Model):
    """The settings of some run. ``digest`` is over ``settings``, which leave out ports, paths and ids."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="configuration_contents")
    digest = models.CharField(max_length=64)
    text = models.TextField()
    settings = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "digest"], name="configuration_content_is_unique")
        ]

    def __str__(self) -> str:
        return self.digest[:10]


class Workload(models.Model):
    """The options of the tool, except the thread count."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="workloads")
    name = models.CharField(max_length=300)
    # The options of its first run; later runs whose options differ get a warning.
    options = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="workload_is_unique")]

    def __str__(self) -> str:
        return self.name


class WorkloadGroup(models.Model):
    """A group of like workloads, by patterns of their names; of several that fit, the first by position.

    A project without any has the automatic ones of benchdash.results.workload_groups.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="workload_groups")
    name = models.CharField(max_length=100)
    position = models.PositiveIntegerField()
    patterns = ArrayField(models.CharField(max_length=300))

    class Meta:
        ordering = ["position", "pk"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="workload_group_is_unique")]

    def __str__(self) -> str:
        return self.name


def _alias_of(model: type[models.Model]) -> Any:
    return models.ForeignKey(model, on_delete=models.CASCADE, null=True, blank=True, related_name="aliases")


class Alias(models.Model):
    """An old name, by which uploads still find the renamed or merged thing. Exactly one target is set."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="aliases")
    name = models.CharField(max_length=300)
    product = _alias_of(Product)
    version = _alias_of(ServerVersion)
    hardware = _alias_of(Hardware)
    configuration = _alias_of(Configuration)
    workload = _alias_of(Workload)
    since = models.DateTimeField(default=timezone.now, null=True)  # of old ones it is not known

    class Meta:
        verbose_name_plural = "aliases"
        constraints = [
            models.CheckConstraint(
                name="alias_has_one_target",
                condition=(
                    Q(product__isnull=False, version=None, hardware=None, configuration=None, workload=None)
                    | Q(product=None, version__isnull=False, hardware=None, configuration=None, workload=None)
                    | Q(product=None, version=None, hardware__isnull=False, configuration=None, workload=None)
                    | Q(product=None, version=None, hardware=None, configuration__isnull=False, workload=None)
                    | Q(product=None, version=None, hardware=None, configuration=None, workload__isnull=False)
                ),
            ),
            *(
                models.UniqueConstraint(
                    fields=["project", "name"],
                    condition=Q(**{f"{kind}__isnull": False}),
                    name=f"alias_of_{kind}",
                )
                for kind in ("product", "hardware", "configuration", "workload")
            ),
            # Versions of two products may share a name, so theirs is unique with its target.
            models.UniqueConstraint(
                fields=["project", "name", "version"],
                condition=Q(version__isnull=False),
                name="alias_of_version",
            ),
        ]

    def __str__(self) -> str:
        return self.name


NAMED: Mapping[str, type[models.Model]] = {
    "product": Product,
    "hardware": Hardware,
    "configuration": Configuration,
    "workload": Workload,
}
KINDS: Mapping[str, type[models.Model]] = {"version": ServerVersion, **NAMED}
"""The things that are renamed and merged, as aliases and merges call them."""


def kind_of(thing: models.Model) -> str:
    """Return the name of the thing's kind in KINDS."""
    return next(kind for kind, model in KINDS.items() if type(thing) is model)


def _merged_into(model: type[models.Model]) -> Any:
    return models.ForeignKey(model, on_delete=models.CASCADE, null=True, related_name="merges")


class Merge(models.Model):
    """A thing that was merged into another one, as benchdash.results.merges makes it again.

    Exactly one target is set; where that is merged into another in turn, it is that one. ``source`` holds the
    fields of the thing that went. Versions that two merged products both had are ``parts`` of their merge.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="merges")
    parent = models.ForeignKey("self", on_delete=models.CASCADE, null=True, related_name="parts")
    name = models.CharField(max_length=300)
    source = models.JSONField()
    alias = models.OneToOneField(Alias, on_delete=models.SET_NULL, null=True, related_name="merge")
    product = _merged_into(Product)
    version = _merged_into(ServerVersion)
    hardware = _merged_into(Hardware)
    configuration = _merged_into(Configuration)
    workload = _merged_into(Workload)
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.kind} '{self.name}' → '{self.target}'"

    @property
    def kind(self) -> str:
        return next(kind for kind in KINDS if getattr(self, f"{kind}_id") is not None)

    @property
    def target(self) -> Any:
        return getattr(self, self.kind)


class MergedRun(models.Model):
    """A run that a merge moved, or that came in later under the old name. Runs that are gone stay noted."""

    pk = models.CompositePrimaryKey("merge_id", "run_id")
    merge = models.ForeignKey(Merge, on_delete=models.CASCADE, related_name="runs", db_index=False)
    run_id = models.BigIntegerField()
    came_later = models.BooleanField(default=False)

    def __str__(self) -> str:
        return str(self.run_id)


class MergedVersion(models.Model):
    """A version that changed its product in a merge."""

    pk = models.CompositePrimaryKey("merge_id", "version_id")
    merge = models.ForeignKey(Merge, on_delete=models.CASCADE, related_name="versions", db_index=False)
    version_id = models.BigIntegerField()

    def __str__(self) -> str:
        return str(self.version_id)


class Run(models.Model):
    """One execution of a workload, at a time. Identified by its upload and its key within the file.

    ``upload_id`` points up to ingest, which adds the foreign key: the history knows no files.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="runs")
    upload_id = models.BigIntegerField()
    key = models.CharField(max_length=500, blank=True)
    version = models.ForeignKey(ServerVersion, on_delete=models.PROTECT, related_name="runs")
    branch = models.CharField(max_length=200, blank=True)  # empty: a release
    hardware = models.ForeignKey(Hardware, on_delete=models.PROTECT, related_name="runs")
    environment = models.ForeignKey(
        Environment, on_delete=models.PROTECT, null=True, blank=True, related_name="runs"
    )
    configuration = models.ForeignKey(Configuration, on_delete=models.PROTECT, related_name="runs")
    content = models.ForeignKey(
        ConfigurationContent, on_delete=models.PROTECT, null=True, blank=True, related_name="runs"
    )
    counterpart = models.CharField(max_length=200, blank=True)
    # No index of its own: run_by_workload is led by it.
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="runs", db_index=False)
    threads = models.PositiveIntegerField(null=True, blank=True)
    repetition = models.PositiveIntegerField(null=True, blank=True)
    started_at = models.DateTimeField()
    started_at_is_assumed = models.BooleanField(default=False)
    duration_s = models.FloatField(null=True, blank=True)
    probe = models.FloatField(null=True, blank=True)  # see benchdash.results.probes
    options = models.JSONField(default=dict, blank=True)
    tags = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    notes = models.TextField(blank=True)
    warnings = ArrayField(models.TextField(), default=list, blank=True)
    recorded_at = models.DateTimeField(default=timezone.now)
    excluded_at = models.DateTimeField(null=True, blank=True)
    excluded_reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["upload_id", "key"], name="run_is_unique_in_its_upload")
        ]
        indexes = [
            models.Index(fields=["project", "-started_at"], name="run_by_time"),
            models.Index(fields=["workload", "-started_at", "-id"], name="run_by_workload"),
            models.Index(fields=["version", "workload", "threads"], name="run_by_version"),
            models.Index(fields=["version", "workload", "probe", "id"], name="run_by_probe"),
            models.Index(
                fields=["project", "version", "branch", "hardware", "configuration", "counterpart"],
                name="run_by_place",
                condition=Q(excluded_at=None),
            ),
        ]

    def __str__(self) -> str:
        threads = "" if self.threads is None else f", {counted(self.threads, 'thread')}"
        return f"{self.workload}{threads}, {self.version}"

    @property
    def is_excluded(self) -> bool:
        return self.excluded_at is not None


class VersionPlace(models.Model):
    """A place where a version was measured, by included or excluded runs.

    Kept by ``benchdash.results.summaries``, so that the newest versions of a place are found without reading
    runs. It repeats the columns of the version by which versions are sorted.
    """

    pk = models.CompositePrimaryKey("version_id", "branch", "hardware_id", "configuration_id", "counterpart")
    # The primary key is led by it.
    version = models.ForeignKey(
        ServerVersion, on_delete=models.CASCADE, related_name="places", db_index=False
    )
    branch = models.CharField(max_length=200, blank=True)
    hardware = models.ForeignKey(Hardware, on_delete=models.CASCADE, related_name="+")
    configuration = models.ForeignKey(Configuration, on_delete=models.CASCADE, related_name="+")
    counterpart = models.CharField(max_length=200, blank=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="+")
    build = models.CharField(max_length=100, blank=True)
    sort_key = models.CharField(max_length=300, db_collation="C")
    committed_at = models.DateTimeField()  # 1970 where it is not known
    commit = models.CharField(max_length=40, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=[
                    *("project", "product", "build", "branch", "hardware", "configuration", "counterpart"),
                    *("sort_key", "committed_at", "commit", "version"),
                ],
                name="version_place_in_order",
            )
        ]

    def __str__(self) -> str:
        return f"{self.version} on {self.hardware}"


def _counted(model: type[models.Model], *, null: bool = False, db_index: bool = False) -> Any:
    """Return a foreign key by which runs are counted; it is the runs' own one that is checked."""
    return models.ForeignKey(
        model, on_delete=models.CASCADE, related_name="+", db_constraint=False, db_index=db_index, null=null
    )


class _RunCount(models.Model):
    """The number of runs of one kind, and when the first and the last of them started.

    Kept by ``benchdash.results.summaries``: a kind may have several rows, and its count is their sum.
    """

    project = _counted(Project, db_index=True)
    runs = models.BigIntegerField()
    first_run_at = models.DateTimeField()
    last_run_at = models.DateTimeField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return counted(self.runs, "run")


class SurroundingsCount(_RunCount):
    """Runs, excluded ones too, by product, branch, machine, configuration and their contents."""

    product = _counted(Product)
    branch = models.CharField(max_length=200, blank=True)
    hardware = _counted(Hardware)
    environment = _counted(Environment, null=True)
    configuration = _counted(Configuration)
    content = _counted(ConfigurationContent, null=True)


class WorkloadCount(_RunCount):
    """Runs, excluded ones too, by workload and threads."""

    workload = _counted(Workload)
    threads = models.PositiveIntegerField(null=True)


class _SubjectCount(_RunCount):
    """Included runs of one version, branch and counterpart."""

    project = _counted(Project)
    version = _counted(ServerVersion)
    branch = models.CharField(max_length=200, blank=True)
    counterpart = models.CharField(max_length=200, blank=True)

    class Meta:
        abstract = True
        indexes = [models.Index(fields=["project", "version"], name="%(class)s_by_version")]


class SubjectCount(_SubjectCount):
    """Included runs by machine, configuration and their contents: what varies for one version."""

    hardware = _counted(Hardware)
    environment = _counted(Environment, null=True)
    configuration = _counted(Configuration)
    content = _counted(ConfigurationContent, null=True)


class ParameterCount(_SubjectCount):
    """Included runs of workloads with parameters in their names, such as ``protocol=text``."""

    workload = _counted(Workload)


class Series(models.Model):
    """One line on a chart: the measurements of one metric at one place.

    ``line`` is the release line of released versions (``10.6``); on a branch it is empty. A derived series
    holds what analysis computed of the others; no tool printed it.
    """

    class Direction(models.TextChoices):
        HIGHER = HIGHER, "higher is better"
        LOWER = LOWER, "lower is better"
        UNKNOWN = UNKNOWN, "nobody has said which is better"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="series")
    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="series")
    build = models.CharField(max_length=100, blank=True)
    branch = models.CharField(max_length=200, blank=True)
    line = models.CharField(max_length=50, blank=True)
    hardware = models.ForeignKey(Hardware, on_delete=models.CASCADE, related_name="series")
    configuration = models.ForeignKey(Configuration, on_delete=models.CASCADE, related_name="series")
    counterpart = models.CharField(max_length=200, blank=True)
    workload = models.ForeignKey(Workload, on_delete=models.CASCADE, related_name="series")
    threads = models.PositiveIntegerField(null=True, blank=True)
    metric = models.CharField(max_length=100)
    unit = models.CharField(max_length=50)
    printed_unit = models.CharField(max_length=50, blank=True)
    direction = models.CharField(max_length=7, choices=Direction)
    is_derived = models.BooleanField(default=False, db_default=False)

    IDENTITY = (
        *("project", "product", "build", "branch", "line", "hardware", "configuration", "counterpart"),
        *("workload", "threads", "metric"),
    )

    class Meta:
        verbose_name_plural = "series"
        constraints = [
            models.UniqueConstraint(
                fields=[
                    *("project", "workload", "metric", "product", "hardware", "threads", "configuration"),
                    *("branch", "line", "build", "counterpart"),
                ],
                name="series_is_unique",
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        threads = "" if self.threads is None else f", {counted(self.threads, 'thread')}"
        return f"{self.product} {self.branch or self.line} {self.workload}{threads}, {self.metric}"

    @property
    def used(self) -> UsedUnit:
        """The unit that people use, which pages and mails show figures in."""
        return unit_printed(self.unit, self.printed_unit)

    @property
    def higher_is_better(self) -> bool:
        return self.direction == HIGHER

    @property
    def better(self) -> readings.Direction:
        """Which direction is better: ``higher``, ``lower``, or ``unknown``."""
        return cast(readings.Direction, self.direction)

    @property
    def has_direction(self) -> bool:
        """Tell whether the better direction is known; else it is drawn and compared, and never judged."""
        return self.direction != UNKNOWN


class ProjectMetric(models.Model):
    """The words of a project about a metric: all of one of its own, and its wishes for one that is known.

    ``is_own``: benchdash does not know it, so ``unit`` and ``direction`` are what the project says; of a
    known metric they are empty and unknown here. ``watched`` is None for the default, ``smallest_change``
    (relative) and ``smallest_change_absolute`` (in ``unit``) are None where the rules of the project hold.
    ``aggregation`` makes one value of several of one run; ``kind`` says how it becomes one per operation.
    """

    class Aggregation(models.TextChoices):
        MEAN = "mean", "the mean"
        MEDIAN = "median", "the median"
        MAX = "max", "the largest"
        MIN = "min", "the smallest"
        LAST = "last", "the last"
        SUM = "sum", "the sum"

    class Kind(models.TextChoices):
        LEVEL = "level", "a level"
        RATE = "rate", "a rate per second"
        TOTAL = "total", "a total of the run"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="metrics")
    name = models.CharField(max_length=100)
    unit = models.CharField(max_length=50, blank=True)
    direction = models.CharField(max_length=7, choices=Series.Direction, default=UNKNOWN)
    watched = models.BooleanField(null=True, blank=True)
    smallest_change = models.FloatField(null=True, blank=True)
    smallest_change_absolute = models.FloatField(null=True, blank=True)
    aggregation = models.CharField(max_length=6, choices=Aggregation, default=Aggregation.MEAN)
    kind = models.CharField(max_length=5, choices=Kind, default=Kind.LEVEL)
    is_own = models.BooleanField(default=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="metric_is_unique"),
        ]

    def __str__(self) -> str:
        return self.name


class Baseline(models.Model):
    """The baseline of a branch at one place, until the next row of that place.

    ``version`` is a release, or with ``branch_group`` that group of the branch itself: its commit, or where
    it has none, ``day``. Without a version none is chosen any more. Rows are never changed.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="baselines")
    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="+")
    build = models.CharField(max_length=100, blank=True)
    branch = models.CharField(max_length=200)
    hardware = models.ForeignKey(Hardware, on_delete=models.CASCADE, related_name="+")
    configuration = models.ForeignKey(Configuration, on_delete=models.CASCADE, related_name="+")
    counterpart = models.CharField(max_length=200, blank=True)
    version = models.ForeignKey(
        ServerVersion, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    branch_group = models.BooleanField(default=False)
    day = models.DateField(null=True, blank=True)
    reason = models.TextField()
    set_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    set_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["project", "branch"], name="baseline_by_branch")]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """``10.6.23``, ``1 Mar 2026``, ``1 Mar 2026, commit 3f9a2c1a``, or ``none``."""
        if self.version is None:
            return "none"
        if not self.branch_group:
            return self.version.version
        day = f"{self.day.day} {self.day:%b %Y}" if self.day else ""
        commit = f"commit {self.version.commit[:8]}" if self.version.commit else ""
        return ", ".join(filter(None, [day, commit]))


class PullRequest(models.Model):
    """The branch into which a pull request is to be merged, as the sender of its last results said.

    Its runs are on a branch of their own (``benchdash.results.pull_requests``).
    """

    product = models.ForeignKey(
        Product, on_delete=models.CASCADE, related_name="pull_requests", db_index=False
    )
    number = models.BigIntegerField()
    base_branch = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["product", "number"], name="pull_request_is_unique"),
        ]

    def __str__(self) -> str:
        return f"pull request {self.number}"


class Measurement(models.Model):
    """A run's value in a series, with the interval that the tool printed. The table that grows."""

    pk = models.CompositePrimaryKey("series_id", "run_id")
    # No index of its own: the primary key is led by it.
    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="measurements", db_index=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="measurements")
    value = models.FloatField()
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)

    def __str__(self) -> str:
        return str(self.value)


class IntervalSamples(models.Model):
    """The samples that a tool printed during a run, or its distribution: a packed table per run and source.

    ``rows`` holds len(rows) x len(columns) numbers; a missing cell is null.
    """

    pk = models.CompositePrimaryKey("run_id", "source")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="interval_samples", db_index=False)
    source = models.CharField(max_length=50)
    columns = ArrayField(models.CharField(max_length=100))
    rows = ArrayField(ArrayField(models.FloatField(null=True)))

    class Meta:
        verbose_name_plural = "interval samples"
        indexes = [
            # Few runs have a histogram of latencies.
            models.Index(
                fields=["run", "source"],
                name="histogram_of_run",
                condition=Q(columns__in=[list(VALUE_COLUMNS), list(BUCKET_COLUMNS)]),
            )
        ]

    def __str__(self) -> str:
        return self.source


class TouchedSeries(models.Model):
    """A series whose facts changed since analysis last looked: it is due.

    ``quiet``: nobody is to be mailed for what is found (a reimport, a correction, sample data).
    ``due_since`` is when the first of the touches began: what was recorded from then on is new to analysis.
    """

    series = models.OneToOneField(Series, on_delete=models.CASCADE, primary_key=True, related_name="touched")
    touched_at = models.DateTimeField(default=timezone.now)
    due_since = models.DateTimeField(db_default=Now())
    quiet = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "touched series"

    def __str__(self) -> str:
        return str(self.series_id)


def run_identity(run: Run) -> dict[str, Any]:
    """Return the values of a run that its series share: all of Series.IDENTITY but line and metric."""
    return {
        "project_id": run.project_id,
        "product_id": run.version.product_id,
        "build": run.version.build,
        "branch": run.branch,
        "hardware_id": run.hardware_id,
        "configuration_id": run.configuration_id,
        "counterpart": run.counterpart,
        "workload_id": run.workload_id,
        "threads": run.threads,
    }


class Annotation(models.Model):
    """A note of people on a moment or a span of time: a new kernel, a new disk.

    Without ``hardware`` and ``product`` it stands on every chart of the project.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="annotations")
    at = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)
    hardware = models.ForeignKey(Hardware, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    product = models.ForeignKey(Product, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    text = models.CharField(max_length=500)
    by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return self.text[:50]
