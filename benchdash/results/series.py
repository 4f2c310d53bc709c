"""Which series a reading belongs to."""

from collections.abc import Iterable, Sequence
from typing import Any

from benchdash.accounts.models import Project
from benchdash.results.checks import RecordError
from benchdash.results.models import Measurement, Run, Series, run_identity
from benchdash.results.readings import Reading
from benchdash.results.versions import release_line

_Key = tuple[Any, ...]

_KEY = (
    "project_id",
    "workload_id",
    "metric",
    "product_id",
    "hardware_id",
    "threads",
    "configuration_id",
    "branch",
    "line",
    "build",
    "counterpart",
)


def series_for(project: Project, pairs: Sequence[tuple[Run, Reading]]) -> list[Series]:
    """The series of each reading of a run, in their order; those that do not exist are made.

    At most three statements. New series are made in the order of their keys, so that two uploads that bring
    the same ones wait for each other and never deadlock.
    """
    identities = {run.pk: _identity(run) for run, _ in pairs}
    wanted: dict[_Key, Series] = {}
    keys = []
    for run, reading in pairs:
        identity = {**identities[run.pk], "metric": reading.metric}
        key = tuple(identity[name] for name in _KEY)
        keys.append(key)
        if key not in wanted:
            wanted[key] = Series(
                **identity,
                unit=reading.unit,
                printed_unit=reading.printed_unit,
                direction=reading.direction,
            )
    found = _find(project, wanted.values())
    missing = sorted(wanted.keys() - found.keys(), key=_sortable)
    if missing:
        Series.objects.bulk_create([wanted[key] for key in missing], ignore_conflicts=True)
        found = _find(project, wanted.values())
    return [found[key] for key in keys]


def _identity(run: Run) -> dict[str, Any]:
    line = "" if run.branch else release_line(run.version.product.name, run.version.version)
    return {**run_identity(run), "line": line}


def _find(project: Project, wanted: Iterable[Series]) -> dict[_Key, Series]:
    """The series that are wanted, and a few beside them: the filter is by the head of the unique index."""
    rows = Series.objects.filter(
        project=project,
        workload__in={series.workload_id for series in wanted},
        metric__in={series.metric for series in wanted},
        product__in={series.product_id for series in wanted},
        hardware__in={series.hardware_id for series in wanted},
    )
    return {tuple(getattr(series, name) for name in _KEY): series for series in rows}


def _sortable(key: _Key) -> _Key:
    return tuple((value is not None, value) for value in key)


def adopt_or_refuse_units(measured: Sequence[tuple[Series, Run, Reading]]) -> None:
    """A series that these runs have to themselves takes the unit and direction of its reading.

    Raises RecordError where other runs measured in another unit, or where these runs disagree.
    """
    conflicts = {series.pk: (series, reading) for series, _, reading in measured if _differ(series, reading)}
    if not conflicts:
        return
    others = Measurement.objects.exclude(run__in={run.pk for _, run, _ in measured})
    shared = set(others.filter(series__in=conflicts).values_list("series_id", flat=True).distinct())
    alone = [pair for pk, pair in conflicts.items() if pk not in shared]
    for series, reading in alone:
        series.unit, series.direction = reading.unit, reading.direction
        series.printed_unit = reading.printed_unit
    Series.objects.bulk_update([series for series, _ in alone], fields=["unit", "direction", "printed_unit"])
    for series, _, reading in measured:
        if _differ(series, reading):
            raise RecordError(_conflict(series, reading))


def _differ(series: Series, reading: Reading) -> bool:
    return (series.unit, series.direction) != (reading.unit, reading.direction)


def _conflict(series: Series, reading: Reading) -> str:
    known = "in the series where it belongs"
    if series.unit != reading.unit:
        return f"'{reading.metric}' is in '{reading.unit}' here, but in '{series.unit}' {known}"
    return f"for '{reading.metric}' {reading.direction} is better here, but {series.direction} {known}"
