"""Derived series: analysis computes them from others, and no tool printed them."""

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from benchdash.results.models import Measurement, Series
from benchdash.results.place import Place
from benchdash.results.series import delete_measurements

_Key = tuple[int, str]


@dataclass(frozen=True, slots=True)
class DerivedSeries:
    """A series to derive; ``source`` is one of those it was computed from, ``values`` are by id of a run.

    Values of runs that are not among ``computed`` (None: all are) stay as they are stored.
    """

    source: Series
    metric: str
    unit: str
    values: Mapping[int, float]
    computed: Container[int] | None = None

    @property
    def key(self) -> _Key:
        return self.source.workload_id, self.metric

    def row(self) -> Series:
        """Return the row to store: place and workload of the source, at no thread count. More is better."""
        return Series(
            **Place.of(self.source)._asdict(),
            workload_id=self.source.workload_id,
            threads=None,
            metric=self.metric,
            unit=self.unit,
            direction=Series.Direction.HIGHER,
            is_derived=True,
        )


@transaction.atomic
def store_derived(
    stored: Collection[Series], wanted: Sequence[DerivedSeries]
) -> dict[Series, Mapping[int, float]]:
    """Make the ``stored`` derived series of one place those that are wanted, and return their values.

    Series and measurements that are not wanted any more are deleted. A constant number of statements. The
    caller holds the place alone, and the results, so that no run goes away meanwhile.
    """
    by_key = {(one.workload_id, one.metric): one for one in stored}
    by_wanted_key = {one.key: one for one in wanted}
    gone = [one.pk for key, one in by_key.items() if key not in by_wanted_key]
    new = [one.row() for key, one in by_wanted_key.items() if key not in by_key]
    by_key |= {(one.workload_id, one.metric): one for one in Series.objects.bulk_create(new)}
    _adopt_units(by_key, by_wanted_key)
    values = {
        (by_key[key].pk, run_id): value
        for key, one in by_wanted_key.items()
        for run_id, value in one.values.items()
    }
    measured = Measurement.objects.filter(series__in=[by_key[key].pk for key in by_wanted_key])
    known = {(row[0], row[1]): row[2] for row in measured.values_list("series_id", "run_id", "value")}
    computed = {by_key[key].pk: one.computed for key, one in by_wanted_key.items()}
    stale = {
        (series_id, run_id)
        for series_id, run_id in known.keys() - values.keys()
        if (among := computed[series_id]) is None or run_id in among
    }
    fresh = {key: value for key, value in values.items() if known.get(key) != value}
    delete_measurements(stale)
    if fresh:
        Measurement.objects.bulk_create(
            [Measurement(series_id=key[0], run_id=key[1], value=value) for key, value in fresh.items()],
            update_conflicts=True,
            unique_fields=["series", "run"],
            update_fields=["value"],
        )
    if gone:
        Series.objects.filter(pk__in=gone).delete()
    return {by_key[key]: one.values for key, one in by_wanted_key.items()}


def _adopt_units(stored: Mapping[_Key, Series], wanted: Mapping[_Key, DerivedSeries]) -> None:
    """Give series their wanted units: a curve of another throughput than before has another one."""
    changed = []
    for key, one in wanted.items():
        if stored[key].unit != one.unit:
            stored[key].unit = one.unit
            changed.append(stored[key])
    Series.objects.bulk_update(changed, ["unit"], batch_size=100)
