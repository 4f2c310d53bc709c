"""Everything about one run, as its page shows it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from benchdash.accounts.models import AuditEntry, Project
from benchdash.dashboard.shell.project_page import found_or_hidden
from benchdash.regressions.queries import Difference, differences
from benchdash.results.metrics import in_order, main_metric
from benchdash.results.models import IntervalSamples, Measurement, Run, Series
from benchdash.results.points import Point, history
from benchdash.results.readings import is_of_stability
from ingest.models import Upload

# How corrections.exclude_run and restore_run call what they did in the audit log.
_AUDITED: Final = ("run excluded", "run restored")
_MAX_ID: Final = 2**63 - 1


@dataclass(frozen=True)
class ReadingRow:
    """A measurement with the median of the group before its own, in the ``unit`` that people use."""

    series: Series
    value: float
    low: float | None
    high: float | None
    before: float | None
    unit: str

    @property
    def is_of_stability(self) -> bool:
        return is_of_stability(self.series.metric)

    @property
    def change(self) -> float | None:
        return self.value / self.before - 1 if self.before else None


@dataclass(frozen=True)
class RunDetails:
    """A run with its readings; ``before`` is the latest run of the group before, if there is one.

    ``other_forms`` are uploads that tell of the same run and are not counted.
    ``differences`` are what changed in settings and environment since then.
    """

    run: Run
    upload: Upload
    other_forms: Sequence[Upload]
    readings: Sequence[ReadingRow]
    before: Run | None
    differences: Sequence[Difference]
    samples: Mapping[str, IntervalSamples]
    audited: Sequence[AuditEntry]

    @property
    def has_intervals(self) -> bool:
        return any(reading.low is not None or reading.high is not None for reading in self.readings)

    @property
    def main_reading(self) -> ReadingRow | None:
        return self.readings[0] if self.readings else None


def find_run(project: Project, pk: int) -> Run:
    """Return a run. Raise NotVisible where the project has no such run."""
    runs = Run.objects.filter(project=project).select_related(
        "version__product", "hardware", "environment", "configuration", "content", "workload"
    )
    return found_or_hidden(runs.filter(pk=min(pk, _MAX_ID)), f"no run has the number {pk}")


def run_details(run: Run) -> RunDetails:
    """Read all that the page of a run shows, in a constant number of statements."""
    measured = list(Measurement.objects.filter(run=run, series__is_derived=False).select_related("series"))
    group = _group_before(run, [measurement.series for measurement in measured])
    before = None
    if group:
        before = Run.objects.select_related("version", "environment", "content").get(pk=group.run_id)
    audited = AuditEntry.objects.filter(project=run.project_id, action__in=_AUDITED, detail__id=run.pk)
    return RunDetails(
        run=run,
        upload=Upload.objects.select_related("project").get(pk=run.upload_id),
        other_forms=list(Upload.objects.filter(copies__run=run).order_by("pk")),
        readings=_readings(measured, group),
        before=before,
        differences=differences(before, run) if before else [],
        samples={one.source: one for one in IntervalSamples.objects.filter(run=run)},
        audited=list(audited.select_related("user", "token")),
    )


def _group_before(run: Run, series: Sequence[Series]) -> Point | None:
    """Return the group before that of the run, in the order of its main series."""
    if not series:
        return None
    by_metric = {one.metric: one for one in series}
    points = history(by_metric[main_metric(dict.fromkeys(by_metric, 1))])
    own = next((index for index, point in enumerate(points) if run.pk in point.run_ids), 0)
    return points[own - 1] if own else None


def _readings(measured: Sequence[Measurement], group: Point | None) -> list[ReadingRow]:
    values: dict[int, list[float]] = defaultdict(list)
    if group:
        series_ids = [one.series_id for one in measured]
        before = Measurement.objects.filter(series__in=series_ids, run__in=group.run_ids)
        for series, value in before.values_list("series_id", "value"):
            values[series].append(value)
    medians = {series: median(found) for series, found in values.items()}
    by_metric = {one.series.metric: _reading(one, medians.get(one.series_id)) for one in measured}
    return [by_metric[metric] for metric in in_order(by_metric)]


def _reading(measured: Measurement, before: float | None) -> ReadingRow:
    used = measured.series.used
    return ReadingRow(
        series=measured.series,
        value=used.of(measured.value),
        low=used.maybe(measured.low),
        high=used.maybe(measured.high),
        before=used.maybe(before),
        unit=used.unit,
    )
