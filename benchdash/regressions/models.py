"""Opinions about the history: where a level changed, and what changed together."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from benchdash.accounts.models import Project, User
from benchdash.results.models import Configuration, Hardware, Product, Run, Series, ServerVersion, Workload

# A response time that falls to nothing counts as a speed-up of 1000.
_MIN_REST = 0.001


class Incident(models.Model):
    """The change points that one cause made; what people triage.

    ``since`` and ``until`` bound the cause: the last version of the old level and the first of the new one.
    ``started_at`` is the time of the first group of the new level, as far as is known, and ``until_at`` that
    of the first one certainly at it, where a range is known.

    ``median`` is the headline: the change of speed (see ChangePoint.speed_change) in the median of the series
    of ``metric``, the most telling one that changed. ``worst`` is the change of speed of ``largest``, the
    change point that moved most. Both are null where only counts rose from zero, which has no per cent.
    ``cause`` says what was switched where the level changed; empty where nothing was, or nothing is known.
    ``origin`` is as of ChangePoint.

    An incident of a machine, of kind ``environment`` or ``silence``, has ``hardware``, and no ``product``
    where it concerns several. Incidents that it explains are ``folded_into`` it. ``recovered_by`` is the
    incident of the step back that ended this one; ``remaining`` is the change of speed that is left then, in
    the mean of the series of ``median``, and null where nothing certain is. A snoozed incident comes back at
    a time, or when that version, or a later one of the product, has been measured. One that the rule of the
    project leaves out is on charts alone. ``bug`` is a number or address in the bug tracker of the project.

    A drift is a loss that came little by little, in ``points`` that lost ``per_point`` each, from ``since``
    (at ``started_at``) to ``until`` (at ``last_at``).
    """

    class Kind(models.TextChoices):
        REGRESSION = "regression", "regression"
        IMPROVEMENT = "improvement", "improvement"
        ENVIRONMENT = "environment", "environment"
        SILENCE = "silence", "silence"
        DRIFT = "drift", "drift"

    class Status(models.TextChoices):
        SUSPECTED = "suspected", "suspected"
        CONFIRMED = "confirmed", "confirmed"
        WITHDRAWN = "withdrawn", "withdrawn"

    class State(models.TextChoices):
        NEW = "new", "new"
        ACKNOWLEDGED = "acknowledged", "acknowledged"
        INVESTIGATING = "investigating", "investigating"
        EXPECTED = "expected", "expected"
        WONTFIX = "wontfix", "declined"
        FIXED = "fixed", "fixed"
        INVALID = "invalid", "invalid"

    OPEN: ClassVar[frozenset[str]] = frozenset({State.NEW, State.ACKNOWLEDGED, State.INVESTIGATING})
    FOR_THE_WORSE: ClassVar[tuple[Kind, ...]] = (Kind.REGRESSION, Kind.ENVIRONMENT, Kind.SILENCE, Kind.DRIFT)
    OF_CHANGE_POINTS: ClassVar[tuple[Kind, ...]] = (
        *(Kind.REGRESSION, Kind.IMPROVEMENT),
        *(Kind.ENVIRONMENT, Kind.DRIFT),
    )

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="incidents")
    product = models.ForeignKey(Product, on_delete=models.CASCADE, null=True, related_name="incidents")
    branch = models.CharField(max_length=200, blank=True)
    line = models.CharField(max_length=50, blank=True)
    hardware = models.ForeignKey(Hardware, on_delete=models.CASCADE, null=True, related_name="+")
    kind = models.CharField(max_length=12, choices=Kind)
    status = models.CharField(max_length=10, choices=Status)
    state = models.CharField(max_length=15, choices=State, default=State.NEW)
    historical = models.BooleanField(default=False)
    quiet = models.BooleanField(default=False)  # listed, but mailed to nobody
    left_out = models.BooleanField(default=False)
    since = models.ForeignKey(ServerVersion, on_delete=models.SET_NULL, null=True, related_name="+")
    until = models.ForeignKey(ServerVersion, on_delete=models.SET_NULL, null=True, related_name="+")
    origin = models.CharField(max_length=100, blank=True)
    started_at = models.DateTimeField()
    until_at = models.DateTimeField(null=True, blank=True)
    worst = models.FloatField(null=True)  # the largest by size
    median = models.FloatField(null=True)
    metric = models.CharField(max_length=100, blank=True)
    largest = models.ForeignKey(
        "ChangePoint", on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    cause = models.TextField(blank=True)
    points = models.PositiveIntegerField(null=True)
    per_point = models.FloatField(null=True)
    last_at = models.DateTimeField(null=True)
    looked_at = models.PositiveIntegerField(default=0)  # series that are watched, or changed
    detected_at = models.DateTimeField(default=timezone.now)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    assignee = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    reason = models.TextField(blank=True)
    bug = models.CharField(max_length=500, blank=True)
    snoozed_until = models.DateTimeField(null=True, blank=True)
    snoozed_until_version = models.CharField(max_length=200, blank=True)
    folded_into = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="folded"
    )
    recovered_by = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="recovers"
    )
    remaining = models.FloatField(null=True)

    class Meta:
        ordering = ["-detected_at", "-id"]
        indexes = [models.Index(fields=["project", "-detected_at"], name="incident_by_time")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.subject}"

    @property
    def subject(self) -> str:
        """The subject: ``MariaDB main``, or the machine where it concerns no single product.

        Of a silence of one job, both: ``MariaDB main on bench-03``, with its workload if it is of one.
        So of a control, which tells of its machine.
        """
        if self.product is None:
            return str(self.hardware or "")
        of_product = f"{self.product} {self.branch or self.line}".strip()
        if self.hardware is None or self.kind not in {self.Kind.SILENCE, self.Kind.ENVIRONMENT}:
            return of_product
        job = f"{of_product} on {self.hardware}"
        if self.kind == self.Kind.ENVIRONMENT:
            return f"control of {job}"
        silence: Silence | None = getattr(self, "silence", None)
        return f"{silence.workload} of {job}" if silence and silence.workload else job

    @property
    def is_snoozed(self) -> bool:
        return self.snoozed_until is not None or bool(self.snoozed_until_version)


class IncidentEvent(models.Model):
    """Something that happened to an incident: found by analysis, or done by a person or a token.

    Written by ``benchdash.regressions.events``, and never changed. ``state`` is the state that the incident
    was given. Of ``quiet`` events nobody is told.
    """

    class What(models.TextChoices):
        DETECTED = "detected", "detected"
        CONFIRMED = "confirmed", "confirmed"
        SPREAD = "spread", "spread to more series"
        NARROWED = "narrowed", "range narrowed"
        SPLIT = "split", "split"
        MERGED = "merged", "merged"
        WITHDRAWN = "withdrawn", "withdrawn"
        RECOVERED = "recovered", "recovered"
        RETURNED = "returned", "returned"
        FOLDED = "folded", "explained by its machine"
        UNFOLDED = "unfolded", "no longer explained by its machine"
        STATE = "state", "state changed"
        ASSIGNED = "assigned", "assigned"
        SNOOZED = "snoozed", "snoozed"
        WOKEN = "woken", "no longer snoozed"
        LINKED = "linked", "linked to a bug"

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField(default=timezone.now)
    what = models.CharField(max_length=12, choices=What)
    by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    by_name = models.CharField(
        max_length=254, blank=True
    )  # of a person, a token or an address; else analysis
    state = models.CharField(max_length=15, choices=Incident.State, blank=True)
    reason = models.TextField(blank=True)
    detail = models.JSONField(default=dict, blank=True)
    quiet = models.BooleanField(default=False)

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.incident_id} {self.what}"


class Silence(models.Model):
    """The reporter that stopped, of an incident of kind ``silence``.

    A machine as a whole has ``hardware`` alone; a job has a place without a workload; a series of runs has
    both. It used to report every ``cadence_s`` seconds. ``ended_at`` is when it reported again.
    """

    incident = models.OneToOneField(Incident, on_delete=models.CASCADE, related_name="silence")
    hardware = models.ForeignKey(Hardware, on_delete=models.CASCADE, related_name="+")
    product = models.ForeignKey(Product, on_delete=models.CASCADE, null=True, related_name="+")
    build = models.CharField(max_length=100, blank=True)
    branch = models.CharField(max_length=200, blank=True)
    line = models.CharField(max_length=50, blank=True)
    configuration = models.ForeignKey(Configuration, on_delete=models.CASCADE, null=True, related_name="+")
    counterpart = models.CharField(max_length=200, blank=True)
    workload = models.ForeignKey(Workload, on_delete=models.CASCADE, null=True, related_name="+")
    last_run_at = models.DateTimeField()
    cadence_s = models.FloatField()
    ended_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.workload or self.product or self.hardware} since {self.last_run_at:%Y-%m-%d}"


class ChangePoint(models.Model):
    """A shift, stored.

    ``run`` is the earliest run of the first group of the new level and holds its place. It may have begun
    anywhere after ``last_good``, the latest run of the last group certainly at the old level, and up to
    ``first_bad``, the earliest run of the first group certainly at the new one (98 %). Where only ``run`` is
    known (few releases, counts), ``last_good`` is of the group before it, and ``first_bad`` None.

    ``before`` and ``after`` are levels in the series' unit; ``change`` is after / before - 1, and None for
    counts of events, which begin at 0. Where there are too few groups to know the noise of the series, it is
    that of its family, ``family_size`` series of its metric at its place, which let expect a new level from
    ``expected_low`` to ``expected_high``. Of one session on each side nobody knows that, nor ``confidence``.

    ``origin`` is set where a line or branch begins at another level than what it goes on from: the release
    line before it (``5.5``) or the release that it started from. ``last_good`` and ``before`` are of that.

    Of a drift ``per_point`` is the change of one of its ``groups_after`` groups, which lie between
    ``last_good`` and ``run``; no level begins there.
    """

    class State(models.TextChoices):
        SUSPECTED = "suspected", "suspected"
        CONFIRMED = "confirmed", "confirmed"
        WITHDRAWN = "withdrawn", "withdrawn"

    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="change_points")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="change_points")
    origin = models.CharField(max_length=100, blank=True)
    last_good = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="+")
    first_bad = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    incident = models.ForeignKey(
        Incident, on_delete=models.SET_NULL, null=True, blank=True, related_name="change_points"
    )
    state = models.CharField(max_length=10, choices=State)
    historical = models.BooleanField(default=False)
    quiet = models.BooleanField(default=False)
    before = models.FloatField()
    after = models.FloatField()
    change = models.FloatField(null=True)
    confidence = models.FloatField(null=True)
    per_point = models.FloatField(null=True)
    noise = models.FloatField(null=True)  # relative spread of the series within its levels
    family_size = models.PositiveIntegerField(null=True)
    expected_low = models.FloatField(null=True)
    expected_high = models.FloatField(null=True)
    groups_before = models.PositiveIntegerField()
    groups_after = models.PositiveIntegerField()
    detected_at = models.DateTimeField(default=timezone.now)
    confirmed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["series", "run", "origin"],
                condition=~Q(state="withdrawn") & Q(per_point=None),
                name="one_change_point_at_a_place",
            ),
        ]
        indexes = [models.Index(fields=["series"], name="change_point_by_series")]

    def __str__(self) -> str:
        return f"{self.before:g} to {self.after:g} {self.state}"

    @property
    def is_fall(self) -> bool:
        return self.after < self.before

    @property
    def is_drift(self) -> bool:
        return self.per_point is not None

    @property
    def is_regression(self) -> bool:
        """Tell whether it is for the worse; without a direction it is neither."""
        return self.series.has_direction and self.is_fall == self.series.higher_is_better

    @property
    def speed_change(self) -> float | None:
        """Return the change as one of throughput: a response time that doubles is -0.5; None of counts."""
        if self.change is None or self.series.higher_is_better:
            return self.change
        return 1 / max(1 + self.change, _MIN_REST) - 1

    @property
    def size(self) -> float:
        """Return the size of the change of speed, to sort by; a change of counts comes after all others."""
        speed = self.speed_change
        return -1.0 if speed is None else abs(speed)


_OF_A_PLACE = ["product", "branch", "line", "hardware", "configuration", "build", "counterpart", "project"]


class RowOfPlace(models.Model):
    """A row that belongs to a place; its columns are those of ``benchdash.results.place.Place``."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="+")
    build = models.CharField(max_length=100, blank=True)
    branch = models.CharField(max_length=200, blank=True)
    line = models.CharField(max_length=50, blank=True)
    hardware = models.ForeignKey(Hardware, on_delete=models.CASCADE, related_name="+")
    configuration = models.ForeignKey(Configuration, on_delete=models.CASCADE, related_name="+")
    counterpart = models.CharField(max_length=200, blank=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.product} {self.branch or self.line}"


class PlaceOrder(RowOfPlace):
    """The groups of a place in order, as the last look at it saw them; made anew by each look.

    They tell how far apart change points of several places begin. ``groups`` is a JSON array of
    ``PlacedGroup`` (benchdash.results.points); of groups that the last look did not read, because the place
    has too many, it holds what an earlier one saw.
    """

    groups = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=_OF_A_PLACE, name="one_order_of_a_place")]


class FailingPlace(RowOfPlace):
    """A place whose analysis raised. It is tried again at ``next_try_at``; the row goes when a try succeeds.

    One that was set aside is tried again when something of it was touched after ``seen_until``, the newest
    touch that the last try knew, or when an operator asks for it.
    """

    since = models.DateTimeField(default=timezone.now)
    tries = models.PositiveIntegerField(default=0)
    seen_until = models.DateTimeField()
    next_try_at = models.DateTimeField()
    set_aside_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=500)  # the line of the traceback that names it
    traceback = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=_OF_A_PLACE, name="one_failure_of_a_place")]
        ordering = ["-since", "-id"]


class Comment(models.Model):
    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="comments")
    author = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    author_name = models.CharField(max_length=200)  # of a token, or of a person who is gone
    text = models.TextField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return self.text[:50]
