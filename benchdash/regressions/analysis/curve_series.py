"""Scaling curves as units of history: peak, knee and scale-up of each group are series of their own.

A curve is one workload at one place, of the first throughput that was measured at four thread counts or more.
A group gets its figures once it has every thread count that at least half of the groups have: a night that
is still coming in, or that broke off, would show a peak elsewhere.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

import numpy as np

from benchdash.regressions.analysis.places import History
from benchdash.regressions.detection.curves import MIN_THREAD_COUNTS, CurvePoint, scale_up, shape_of
from benchdash.results.derived import DerivedSeries, store_derived
from benchdash.results.models import Series
from benchdash.results.readings import DERIVED, HIGHER

# The most telling first.
_THROUGHPUT = ("tps", "qps", "events_per_s", "ops_per_s", "nopm", "tpm", "transferred_mib_per_s")

_Curve = Mapping[int, History]


def may_have_curves(series: Iterable[Series]) -> bool:
    """Tell whether there is something to compute of these series."""
    counts = {one.threads for one in series if one.threads and one.metric in _THROUGHPUT}
    return len(counts) >= MIN_THREAD_COUNTS


def update_curve_series(
    histories: Mapping[int, History], stored: Collection[Series]
) -> dict[Series, Mapping[int, float]]:
    """Make the ``stored`` derived series of a place agree with its histories. Repeatable.

    Return the series that there are then, with their values by the ids of runs.
    """
    wanted = [one for curve in _curves(histories.values()) for one in _derived(curve)]
    return store_derived(stored, wanted)


def _curves(histories: Iterable[History]) -> Iterator[_Curve]:
    """Find the scaling curve of each workload: histories by thread count."""
    by_workload: dict[int, dict[str, dict[int, History]]] = defaultdict(lambda: defaultdict(dict))
    for history in histories:
        series = history.series
        if not series.is_derived and series.threads and series.direction == HIGHER:
            by_workload[series.workload_id][series.metric][series.threads] = history
    for by_metric in by_workload.values():
        known = (by_metric[metric] for metric in _THROUGHPUT if metric in by_metric)
        curve = next((one for one in known if len(one) >= MIN_THREAD_COUNTS), None)
        if curve:
            yield curve


def _derived(curve: _Curve) -> list[DerivedSeries]:
    values: dict[str, dict[int, float]] = defaultdict(dict)
    usual = {threads: curve[threads] for threads in _usual_counts(curve)}
    some = next(iter(curve.values()))
    for at in range(some.length):
        for metric, run_id, value in _figures(usual, at):
            values[metric][run_id] = value
    known_runs = some.runs.index_of if some.runs.is_cut else None
    return [
        DerivedSeries(some.series, metric, DERIVED[metric] or some.series.unit, of_metric, known_runs)
        for metric, of_metric in values.items()
    ]


def _usual_counts(curve: _Curve) -> list[int]:
    """Return the thread counts of at least half of the groups that have enough; empty: too few."""
    there = np.array([np.isfinite(history.values) for history in curve.values()])
    groups = [[threads for threads, has in zip(curve, column, strict=True) if has] for column in there.T]
    whole = [counts for counts in groups if len(counts) >= MIN_THREAD_COUNTS]
    had = Counter(threads for counts in whole for threads in counts)
    usual = sorted(threads for threads, times in had.items() if 2 * times >= len(whole))
    return usual if len(usual) >= MIN_THREAD_COUNTS else []


def _figures(curve: _Curve, at: int) -> Iterator[tuple[str, int, float]]:
    """Yield metric, run and value of a group, on its latest run at the peak; nothing if not whole."""
    points = [
        CurvePoint(threads, float(history.values[at]), tuple(history.values_at(at)))
        for threads, history in curve.items()
        if np.isfinite(history.values[at])
    ]
    shape = shape_of(points) if len(points) == len(curve) else None
    if shape is None:
        return
    run_id = curve[shape.peak.threads].at(at).run_id
    yield "curve_peak", run_id, shape.peak.value
    yield "curve_peak_threads", run_id, float(shape.peak.threads)
    yield "curve_knee_threads", run_id, float(shape.knee)
    if ends := scale_up(points, min(curve), max(curve)):
        yield "curve_scale_up", run_id, ends.factor
