"""A project's own metrics, as its files bring them: made once, each reading in their unit and direction.

What a file or its sender says of a metric fills in what the project does not know yet. Where it contradicts
the project, the project is right.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from operator import itemgetter
from statistics import fmean, median
from typing import Final, cast

from django.db import connection

from benchdash.accounts.models import Project
from benchdash.results.checks import RecordError
from benchdash.results.metrics import operations_per_s
from benchdash.results.models import ProjectMetric, Series
from benchdash.results.readings import UNKNOWN, Direction, Reading, known_metric
from benchdash.results.records import MetricWishes, RunRecord
from benchdash.results.units import conversion

_WORDS: Final[Mapping[str, str]] = {"higher": "higher is better", "lower": "lower is better"}
# Fields that a sender may set as long as nobody has.
_UNLESS_SAID: Final = ("watched", "smallest_change", "smallest_change_absolute")
# Fields that a sender may set for a new metric; later only people change them.
_OF_A_NEW_ONE: Final = ("aggregation", "kind")


@dataclass(frozen=True, slots=True)
class SettledRecords:
    """Records whose own metrics are those of the project.

    ``news`` and ``warnings`` are by the name of a metric: what is to be said once, and to every sender of it.
    ``changed`` are the ids of series whose unit or direction is known now.
    """

    records: Sequence[RunRecord]
    news: Mapping[str, str] = field(default_factory=dict)
    warnings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    changed: Collection[int] = ()


def settle_own_metrics(project: Project, records: Sequence[RunRecord]) -> SettledRecords:
    """Make the own metrics that the project lacks, and put their readings into its units and directions.

    No statement for records without any. Raises RecordError for a unit that cannot be turned into the
    project's.
    """
    said = _said_of(records)
    if not said:
        return SettledRecords(records)
    known = _known(project, said)
    is_new = [name for name in said if name not in known or _lacks(known[name], said[name])]
    # Two uploads that bring a metric at once make one row, and what one of them fills in holds for both.
    _hold_metrics(project, alone=bool(is_new))
    known = _known(project, said)
    new = [_new_metric(project, name, said[name]) for name in sorted(said.keys() - known.keys())]
    if new:
        _adopt_series(project, new)
        ProjectMetric.objects.bulk_create(new)
    filled = [one for name, one in known.items() if _fill(one, said[name])]
    if filled:
        ProjectMetric.objects.bulk_update(filled, ["unit", "direction", *_UNLESS_SAID])
    known |= {one.name: one for one in new}
    turned = [*filled, *turn_siblings(project, filled)]
    settled = [_settled(record, known) for record in records]
    siblings, made = _siblings(project, settled, known)
    return SettledRecords(
        records=[_with_siblings(record, known, siblings) for record in settled],
        news={
            **{one.name: _new_warning(one) for one in (*new, *made)},
            **{one.name: f"the metric '{one.name}' is known better now: {described(one)}" for one in filled},
        },
        warnings={name: _contradictions(known[name], said[name]) for name in said},
        changed=follow(project, turned) if turned else (),
    )


def described(metric: ProjectMetric) -> str:
    """``MB, lower is better``; of what nobody has said, ``its unit is not said``."""
    unit = metric.unit or "its unit is not said"
    return f"{unit}, {_WORDS.get(metric.direction, 'nobody has said which direction is better')}"


def follow(project: Project, metrics: Iterable[ProjectMetric]) -> set[int]:
    """Give the series of own metrics their unit and direction, and return the ids of those that changed.

    The caller is alone with them.
    """
    changed: set[int] = set()
    for metric in metrics:
        series = Series.objects.filter(project=project, metric=metric.name)
        other = series.exclude(unit=metric.unit, direction=metric.direction)
        ids = list(other.values_list("pk", flat=True))
        Series.objects.filter(pk__in=ids).update(unit=metric.unit, direction=metric.direction)
        changed.update(ids)
    return changed


@dataclass(slots=True)
class _Said:
    """The words of files and senders about one metric; the first who says it counts."""

    unit: str = ""
    direction: Direction = UNKNOWN
    directions: set[Direction] = field(default_factory=set)
    wishes: MetricWishes = field(default_factory=MetricWishes)


def _said_of(records: Iterable[RunRecord]) -> dict[str, _Said]:
    said: dict[str, _Said] = {}
    for record in records:
        for reading in record.readings:
            if not reading.is_own:
                continue
            one = said.setdefault(reading.metric, _Said())
            one.unit = one.unit or reading.unit
            if reading.direction != UNKNOWN:
                one.direction = reading.direction if one.direction == UNKNOWN else one.direction
                one.directions.add(reading.direction)
            one.wishes = record.metrics.get(reading.metric, one.wishes)
    return said


def _known(project: Project, names: Collection[str]) -> dict[str, ProjectMetric]:
    found = ProjectMetric.objects.filter(project=project, name__in=list(names))
    return {one.name: one for one in found}


def _lacks(metric: ProjectMetric, said: _Said) -> bool:
    """Tell whether something is said of a metric that the project does not know yet."""
    return (
        bool(said.unit and not metric.unit)
        or (said.direction != UNKNOWN == metric.direction)
        or any(getattr(metric, name) is None is not getattr(said.wishes, name) for name in _UNLESS_SAID)
    )


def _hold_metrics(project: Project, *, alone: bool) -> None:
    lock = "pg_advisory_xact_lock" if alone else "pg_advisory_xact_lock_shared"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {lock}(hashtextextended('metrics of project', %s))", [project.pk])


def _new_metric(project: Project, name: str, said: _Said) -> ProjectMetric:
    names = (*_UNLESS_SAID, *_OF_A_NEW_ONE)
    wishes = {each: value for each in names if (value := getattr(said.wishes, each)) is not None}
    wishes.setdefault("kind", kind_of(name, said.unit))
    return ProjectMetric(project=project, name=name, unit=said.unit, direction=said.direction, **wishes)


def kind_of(name: str, unit: str) -> str:
    """Return the kind that name or unit say: a rate per second, else a level."""
    is_rate = name.endswith(("_per_s", "/s")) or unit.endswith("/s")
    return ProjectMetric.Kind.RATE if is_rate else ProjectMetric.Kind.LEVEL


def _adopt_series(project: Project, new: Iterable[ProjectMetric]) -> None:
    """Take unit and direction from series of the same name, which a format brought that knows the metric."""
    by_name = {one.name: one for one in new}
    there = Series.objects.filter(project=project, metric__in=list(by_name)).exclude(direction=UNKNOWN)
    for name, unit, direction in there.order_by("pk").values_list("metric", "unit", "direction"):
        by_name[name].unit, by_name[name].direction = unit, direction


def _fill(metric: ProjectMetric, said: _Said) -> bool:
    """Fill in what the project does not know of a metric, and return whether that was anything."""
    if not _lacks(metric, said):
        return False
    metric.unit = metric.unit or said.unit
    if metric.direction == UNKNOWN:
        metric.direction = said.direction
    for name in _UNLESS_SAID:
        if getattr(metric, name) is None:
            setattr(metric, name, getattr(said.wishes, name))
    return True


def _new_warning(metric: ProjectMetric) -> str:
    missing = [
        what
        for what, is_missing in (
            ("its unit", not metric.unit),
            ("which direction is better", metric.direction == UNKNOWN),
        )
        if is_missing
    ]
    if not missing:
        return f"new metric '{metric.name}' ({described(metric)})"
    not_judged = "; until the direction is, the metric is drawn and compared, but neither judged nor watched"
    example = f"{metric.name} [{metric.unit or 'unit'}, lower]"
    return (
        f"new metric '{metric.name}'{f' ({metric.unit})' if metric.unit else ''}: "
        f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not said "
        f"(as '{example}' over its column, or on the page Metrics)"
        f"{not_judged if metric.direction == UNKNOWN else ''}"
    )


def _contradictions(metric: ProjectMetric, said: _Said) -> list[str]:
    """Return a warning for each thing that is said of a metric otherwise than the project says it."""
    directions = [
        f"for '{metric.name}' {direction} is better here, but in the project {_WORDS[metric.direction]}, "
        "and that counts"
        for direction in sorted(said.directions - {metric.direction})
    ]
    others = [
        f"'{name}' of the metric '{metric.name}' is {_written(wished)} here, but {_written(own)} in the "
        "project, and that counts"
        for name in (*_UNLESS_SAID, *_OF_A_NEW_ONE)
        if (wished := getattr(said.wishes, name)) not in (None, own := getattr(metric, name))
    ]
    return directions + others


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _settled(record: RunRecord, known: Mapping[str, ProjectMetric]) -> RunRecord:
    """Return a record with one reading of each own metric, in the unit and direction of the project."""
    if not any(reading.is_own for reading in record.readings):
        return record
    of_metric: dict[str, list[Reading]] = {}
    for one in record.readings:
        told = _told(one, known[one.metric]) if one.is_own else one
        of_metric.setdefault(one.metric, []).append(told)
    readings = [_one_of(several, known.get(metric)) for metric, several in of_metric.items()]
    return replace(record, readings=tuple(readings))


_AGGREGATIONS: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {
    "mean": fmean,
    "median": median,
    "max": max,
    "min": min,
    "last": itemgetter(-1),
    "sum": fsum,
}


def _one_of(several: Sequence[Reading], metric: ProjectMetric | None) -> Reading:
    """Make one reading of several of one run, as its metric is to be aggregated."""
    if len(several) == 1 or metric is None:
        return several[-1]
    values = [one.value for one in several]
    return several[-1]._replace(value=_AGGREGATIONS[metric.aggregation](values), low=None, high=None)


def _told(reading: Reading, metric: ProjectMetric) -> Reading:
    """Return a reading in the unit of its metric, the printed one kept. Raises RecordError."""
    factor = conversion(reading.unit, metric.unit) if reading.unit else 1.0
    if factor is None:
        raise RecordError(
            f"'{metric.name}' is in '{reading.unit}' here, but in '{metric.unit}' in the project; "
            "give it another name, or say the unit of the project"
        )
    bounds = [None if one is None else one * factor for one in (reading.low, reading.high)]
    return reading._replace(
        value=reading.value * factor,
        low=bounds[0],
        high=bounds[1],
        unit=metric.unit,
        printed_unit=reading.printed_unit or (reading.unit if reading.unit != metric.unit else ""),
        direction=cast(Direction, metric.direction),
    )


# --- per operation ------------------------------------------------------------------------------------------


def per_operation_name(metric: str) -> str:
    """Return ``smtx_per_op`` for ``smtx`` and for ``smtx_per_s``."""
    return f"{metric.removesuffix('_per_s')}_per_op"


def per_operation_unit(unit: str) -> str:
    """Return ``1/op`` for ``1/s`` or no unit, ``MB/op`` for ``MB/s`` or ``MB``."""
    return f"{unit.removesuffix('/s') or '1'}/op"


def _has_sibling(metric: ProjectMetric) -> bool:
    return metric.kind in (ProjectMetric.Kind.RATE, ProjectMetric.Kind.TOTAL)


def _sibling_of(reading: Reading, record: RunRecord, metric: ProjectMetric) -> Reading | None:
    """Return a reading per operation; None where that is not known, or the file says it itself."""
    values = {one.metric: one.value for one in record.readings}
    operations = operations_per_s(values)
    if metric.kind == ProjectMetric.Kind.TOTAL:
        operations *= record.duration_s or 0
    name = per_operation_name(reading.metric)
    if not _has_sibling(metric) or operations <= 0 or name in values or known_metric(name):
        return None
    value, unit = reading.value / operations, per_operation_unit(reading.unit)
    return Reading(name, value, unit, reading.direction, is_own=True)


def _siblings(
    project: Project, records: Sequence[RunRecord], known: Mapping[str, ProjectMetric]
) -> tuple[Mapping[str, ProjectMetric], Sequence[ProjectMetric]]:
    """Find or make the metrics per operation of these records; return them by name, and the new ones."""
    wanted = {
        one.metric: one
        for record in records
        for reading in record.readings
        if reading.is_own and (one := _sibling_of(reading, record, known[reading.metric]))
    }
    if not wanted:
        return {}, ()
    found = _known(project, wanted)
    missing = [wanted[name] for name in sorted(wanted.keys() - found.keys())]
    made = [
        ProjectMetric(project=project, name=one.metric, unit=one.unit, direction=one.direction)
        for one in missing
    ]
    if made:
        ProjectMetric.objects.bulk_create(made, ignore_conflicts=True)
        found = _known(project, wanted)
    return found, made


def _with_siblings(
    record: RunRecord, known: Mapping[str, ProjectMetric], siblings: Mapping[str, ProjectMetric]
) -> RunRecord:
    """Return a record with its own metrics per operation too."""
    if not siblings:
        return record
    found = [
        _told(one, siblings[one.metric])
        for reading in record.readings
        if reading.is_own and (one := _sibling_of(reading, record, known[reading.metric]))
    ]
    return replace(record, readings=(*record.readings, *found))


def turn_siblings(project: Project, metrics: Iterable[ProjectMetric]) -> list[ProjectMetric]:
    """Give metrics per operation whose direction nobody said that of what they are made of."""
    directions = {
        per_operation_name(one.name): one.direction
        for one in metrics
        if _has_sibling(one) and one.direction != UNKNOWN
    }
    if not directions:
        return []
    turned = list(
        ProjectMetric.objects.filter(project=project, name__in=directions, is_own=True, direction=UNKNOWN)
    )
    for one in turned:
        one.direction = directions[one.name]
    ProjectMetric.objects.bulk_update(turned, ["direction"])
    return turned
