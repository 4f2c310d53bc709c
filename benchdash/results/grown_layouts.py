"""A layout that was read before, with the runs that came in since: most looks add a night at the end."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from benchdash.results.arrays import Indexes, Numbers, seconds
from benchdash.results.layouts import (
    Layout,
    Measured,
    PlacedGroup,
    Runs,
    left_out,
    lengths_of_some,
    placed_group,
    read_runs,
    runs_of,
)
from benchdash.results.models import Series
from benchdash.results.queries import CommitKey, MeasuredVersion, commit_times, measured_versions

_NEW_VALUES = """
    SELECT coalesce(string_agg(int8send(series_id) || int8send(run_id) || float8send(value), ''::bytea), '')
    FROM results_measurement WHERE series_id = ANY(%(series)s::bigint[]) AND run_id >= %(least)s
"""
_VALUE = np.dtype([("series", ">i8"), ("run", ">i8"), ("value", ">f8")])
_DAY_S = 86_400
_Key = tuple[object, int]
"""What tells a group from others: its version, on a branch its commit or else its day; and its content."""


def grown(
    layout: Layout, series: Collection[Series], *, least_run_id: int, most_values: int
) -> Layout | None:
    """The layout of these series with all runs from this one on. Five statements at most, all of new rows.

    What was read of older runs must still be so, which the caller knows. None where the new runs do not all
    stand behind the others, or where a long branch is cut elsewhere now: then it is read anew.
    """
    values = _new_values(series, least_run_id)
    lengths = _lengths(layout, series, values, most_values)
    if left_out(len(series), most_values, lengths) != (layout.cut.left_out if layout.cut else 0):
        return None
    rows, of_runs = read_runs(np.unique(values["run"][layout.runs.indexes(values["run"]) < 0]).tolist())
    versions = _versions(layout, of_runs)
    times = commit_times(series, versions.values())
    if any(versions[pk] != one for pk, one in layout.versions.items()):
        return None
    if any(times.get(commit) != time for commit, time in layout.commit_times.items()):
        return None
    runs = layout.runs
    if len(rows):
        behind = _behind(layout.runs, next(iter(series)), rows, of_runs, versions, times)
        if behind is None:
            return None
        runs = behind
    measured = _measured(layout, series, values, runs)
    if measured is None:
        return None
    return Layout(runs, measured, versions, times, layout.cut, lengths)


def _new_values(series: Collection[Series], least_run_id: int) -> NDArray[np.void]:
    # As a text: the driver takes longer for a list.
    ids = f"{{{','.join(str(one.pk) for one in series)}}}"
    with connection.cursor() as cursor:
        cursor.execute(_NEW_VALUES, {"series": ids, "least": least_run_id})
        (packed,) = cursor.fetchone()
    return np.frombuffer(packed, dtype=_VALUE)


def _lengths(
    layout: Layout, series: Collection[Series], values: NDArray[np.void], most_values: int
) -> Mapping[int, int]:
    """Those of some series; too large ones where nothing has to be left out even so."""
    if not layout.lengths:
        return {}
    ids, numbers = np.unique(values["series"], return_counts=True)
    at_most = dict(layout.lengths)
    for pk, number in zip(ids.tolist(), numbers.tolist(), strict=True):
        at_most[pk] = at_most.get(pk, 0) + number
    if layout.cut is None and left_out(len(series), most_values, at_most) == 0:
        return at_most
    return lengths_of_some(series)


def _versions(layout: Layout, of_runs: Indexes) -> dict[int, MeasuredVersion]:
    """Those of the layout and of new runs; a commit may have got its time meanwhile."""
    without_time = {pk for pk, one in layout.versions.items() if one.commit and not one.committed_at}
    new = set(of_runs.tolist()).difference(layout.versions)
    return {**layout.versions, **measured_versions(without_time | new)}


def _behind(
    known: Runs,
    some: Series,
    rows: NDArray[np.void],
    of_runs: Indexes,
    versions: Mapping[int, MeasuredVersion],
    times: Mapping[CommitKey, datetime],
) -> Runs | None:
    """The known runs and these behind them; None where some of them belong between."""
    if not known.groups:
        return None
    starts = seconds(rows["started_at"])
    branch, contents = some.branch, rows["content"].tolist()
    of_group: dict[_Key, list[int]] = defaultdict(list)
    for at, (pk, start, content) in enumerate(zip(of_runs.tolist(), starts.tolist(), contents, strict=True)):
        of_group[_key(branch, pk, versions[pk].commit, start, content)].append(at)
    keys = [_key(branch, one.version_id, one.commit, one.started_at, one.order[-1]) for one in known.groups]
    last = of_group.pop(keys[-1], [])
    if not of_group.keys().isdisjoint(keys):
        return None
    if last and (starts[last[0]], rows["id"][last[0]]) < (known.started_at[-1], known.ids[-1]):
        return None

    def group(members: list[int], started_at: float) -> PlacedGroup:
        latest = members[-1]
        version = versions[int(of_runs[latest])]
        return placed_group(version, some.product_id, branch, started_at, contents[latest], times)

    tail = [group(last, known.groups[-1].started_at) if last else known.groups[-1]]
    new = sorted(
        ((group(members, float(starts[members[0]])), members) for members in of_group.values()),
        key=lambda one: one[0].order,
    )
    tail += [one for one, _ in new]
    orders = [one.order for one in (*known.groups[-2:-1], *tail)]
    if any(later <= earlier for earlier, later in pairwise(orders)):
        return None
    first = len(known.groups) - 1
    in_order = [*last, *(at for _, members in new for at in members)]
    positions = [first] * len(last)
    for position, (_, members) in enumerate(new, first + 1):
        positions += [position] * len(members)
    groups = [*known.groups[:-1], *tail]
    return _together(known, runs_of(rows[in_order], np.array(positions), groups, is_cut=known.is_cut))


def _key(branch: str, version_id: int, commit: str | None, started_at: float, content_id: int) -> _Key:
    return (commit or int(started_at // _DAY_S) if branch else version_id), content_id


def _together(known: Runs, new: Runs) -> Runs:
    """``new`` has the groups of both."""

    def both(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(known, name), getattr(new, name)])

    number = len(known.ids)
    return Runs(
        ids=both("ids"),
        positions=both("positions"),
        started_at=both("started_at"),
        recorded_at=both("recorded_at"),
        content_ids=both("content_ids"),
        environment_ids=both("environment_ids"),
        sessions={**known.sessions, **{number + at: name for at, name in new.sessions.items()}},
        groups=new.groups,
        is_cut=known.is_cut,
    )


def _measured(
    layout: Layout, series: Collection[Series], values: NDArray[np.void], runs: Runs
) -> dict[int, Measured] | None:
    """None where a run that was known has a value that was not."""
    at = runs.indexes(values["run"])
    counts = np.flatnonzero(at >= 0)
    counts = counts[np.lexsort((at[counts], values["series"][counts]))]
    ids, starts = np.unique(values["series"][counts], return_index=True)
    none = Measured(np.empty(0, np.int64), np.empty(0))
    measured = {one.pk: layout.measured.get(one.pk, none) for one in series}
    if not len(counts):
        return measured
    number = len(layout.runs.ids)
    for pk, of_series in zip(ids.tolist(), np.split(counts, starts[1:]), strict=True):
        known, places = measured[pk], at[of_series]
        numbers: Numbers = values["value"][of_series].astype(np.float64)
        is_new = places >= number
        if not _has(known, places[~is_new], numbers[~is_new]):
            return None
        measured[pk] = Measured(
            np.concatenate([known.runs, places[is_new]]), np.concatenate([known.values, numbers[is_new]])
        )
    return measured


def _has(known: Measured, runs: Indexes, values: Numbers) -> bool:
    at = np.searchsorted(known.runs, runs)
    return bool(
        (at < len(known.runs)).all()
        and (known.runs[at] == runs).all()
        and np.array_equal(known.values[at], values, equal_nan=True)
    )
