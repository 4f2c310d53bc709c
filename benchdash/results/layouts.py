"""Histories of all series of one place as arrays over common positions: what analysis reads.

A place may have millions of measurements; as points (see benchdash.results.queries) each would take a
kilobyte, here it takes some tens of bytes.
"""

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from benchdash.results.models import Series
from benchdash.results.queries import (
    commit_times,
    measured_versions,
    moment,
    order_of_group,
    placed_at,
    position_of,
)
from benchdash.results.sessions import session_of

Indexes = NDArray[np.int64]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Runs:
    """Those of all series of a place, in the order of their positions and starts; one element each.

    Times are epoch seconds; ids of content and environment are 0 where nothing is known. ``is_cut``: there
    are older ones that were not read.
    """

    ids: Indexes
    positions: Indexes
    started_at: Numbers
    recorded_at: Numbers
    content_ids: Indexes
    environment_ids: Indexes
    sessions: Sequence[str | None]
    is_cut: bool = False

    @cached_property
    def index_of(self) -> dict[int, int]:
        """By the id of a run."""
        return {pk: at for at, pk in enumerate(self.ids.tolist())}


@dataclass(frozen=True, slots=True)
class Measured:
    """What one series has: ``runs`` are indexes of Runs in ascending order, ``values`` belong to them."""

    runs: Indexes
    values: Numbers


@dataclass(frozen=True, slots=True)
class Layout:
    """``length`` is the number of positions; ``measured`` is by the id of a series."""

    runs: Runs
    length: int
    measured: dict[int, Measured]


def lay_out(series: Collection[Series], *, most_values: int) -> Layout:
    """The runs that count of series of one product and branch (or of releases), on common positions.

    Where the series of a branch have more than about ``most_values`` values together, only the newest
    positions are read that hold so many. Six statements at most.
    """
    since = _since(series, most_values)
    pairs = _values([one.pk for one in series], since)
    runs = _runs(series, pairs.values(), since)
    ascending = np.argsort(runs.ids)
    measured = {one.pk: Measured(np.empty(0, np.int64), np.empty(0)) for one in series}
    for pk, of_series in pairs.items():
        at = _indexes(runs.ids, ascending, of_series["run"])
        counts = np.flatnonzero(at >= 0)
        in_order = counts[np.argsort(at[counts])]
        measured[pk] = Measured(at[in_order], of_series["value"][in_order].astype(np.float64))
    length = int(runs.positions[-1]) + 1 if len(runs.positions) else 0
    return Layout(runs=runs, length=length, measured=measured)


def _indexes(ids: Indexes, ascending: Indexes, wanted: NDArray[Any]) -> Indexes:
    """Where these are among ``ids``, which ``ascending`` sorts; -1 for those that are not."""
    if not len(ids):
        return np.full(len(wanted), -1)
    places = np.minimum(np.searchsorted(ids, wanted, sorter=ascending), len(ids) - 1)
    at = ascending[places]
    return np.where(ids[at] == wanted, at, -1)


def medians(positions: Indexes, values: Numbers, length: int) -> Numbers:
    """The median of the values of each position, which ascend; NaN where there is none."""
    found = np.full(length, np.nan)
    if not len(values):
        return found
    starts = np.flatnonzero(np.concatenate(([True], positions[1:] != positions[:-1])))
    n = np.diff(np.append(starts, len(values)))
    if len(starts) < len(values):
        values = values[np.lexsort((values, positions))]
    found[positions[starts]] = (values[starts + (n - 1) // 2] + values[starts + n // 2]) / 2
    return found


# --- reading ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Since:
    """Where a long branch is cut: runs that started earlier are not read, nor older commits run later."""

    started_at: float
    placed_at: datetime
    least_run_id: int


# Series of one place are about as long as each other: some of them tell.
_SAMPLED = 20
_LONGEST = """
    SELECT series_id, count(*) FROM results_measurement WHERE series_id = ANY(%(series)s)
    GROUP BY series_id ORDER BY 2 DESC LIMIT 1
"""
_NTH_NEWEST = """
    SELECT run.started_at, extract(epoch FROM coalesce(version.committed_at, run.started_at))::float8
    FROM results_measurement measured
    JOIN results_run run ON run.id = measured.run_id
    JOIN results_serverversion version ON version.id = run.version_id
    WHERE measured.series_id = %(series)s ORDER BY run.started_at DESC OFFSET %(newest)s LIMIT 1
"""
_LEAST_ID = """
    SELECT min(id) FROM results_run
    WHERE project_id = %(project)s AND branch = %(branch)s AND started_at >= %(started_at)s
"""


def _since(series: Collection[Series], most_values: int) -> _Since | None:
    """None where everything can be read."""
    some = next(iter(series), None)
    if some is None or not some.branch:
        return None
    newest = max(1, most_values // len(series))
    with connection.cursor() as cursor:
        cursor.execute(_LONGEST, {"series": [one.pk for one in series][:_SAMPLED]})
        longest, length = cursor.fetchone() or (0, 0)
        if length <= newest:
            return None
        cursor.execute(_NTH_NEWEST, {"series": longest, "newest": newest - 1})
        started_at, committed_at = cursor.fetchone()
        cursor.execute(
            _LEAST_ID, {"project": some.project_id, "branch": some.branch, "started_at": started_at}
        )
        (least_run_id,) = cursor.fetchone()
    return _Since(started_at.timestamp(), moment(committed_at), least_run_id)


# One text of bytes a series: as rows, a million values would take the driver a second, as arrays longer.
_VALUES = """
    SELECT series_id, string_agg(int8send(run_id) || float8send(value), ''::bytea) FROM results_measurement
    WHERE series_id = ANY(%(series)s) AND run_id >= %(least)s GROUP BY series_id
"""
_PAIR = np.dtype([("run", ">i8"), ("value", ">f8")])


def _values(series_ids: Sequence[int], since: _Since | None) -> dict[int, NDArray[np.void]]:
    """By the id of a series: the ids of runs and their values, as pairs."""
    wanted: dict[str, Any] = {"series": list(series_ids), "least": since.least_run_id if since else 0}
    with connection.cursor() as cursor:
        cursor.execute(_VALUES, wanted)
        return {series: np.frombuffer(packed, dtype=_PAIR) for series, packed in cursor.fetchall()}


_RUNS = """
    SELECT id, extract(epoch FROM started_at)::float8, extract(epoch FROM recorded_at)::float8, version_id,
        coalesce(content_id, 0), coalesce(environment_id, 0), CASE WHEN tags <> '{}' THEN tags END
    FROM results_run WHERE id = ANY(%(runs)s) AND excluded_at IS NULL
    ORDER BY started_at, id
"""


class _Run(NamedTuple):
    id: int
    started_at: float
    recorded_at: float
    version_id: int
    content_id: int
    environment_id: int
    tags: Sequence[str] | None


def _runs(series: Collection[Series], pairs: Iterable[NDArray[np.void]], since: _Since | None) -> Runs:
    earliest = since.started_at if since else -np.inf
    # Most series of a place have the same runs as another one.
    ids: set[int] = set()
    for distinct in {of_series["run"].tobytes() for of_series in pairs}:
        ids.update(np.frombuffer(distinct, dtype=">i8").tolist())
    with connection.cursor() as cursor:
        cursor.execute(_RUNS, {"runs": sorted(ids)})
        rows = [run for row in cursor.fetchall() if (run := _Run._make(row)).started_at >= earliest]
    rows, positions = _placed(series, rows, since)
    order = np.argsort(positions, kind="stable")
    in_order = [rows[at] for at in order.tolist()]
    return Runs(
        ids=np.array([run.id for run in in_order], dtype=np.int64),
        positions=positions[order],
        started_at=np.array([run.started_at for run in in_order]),
        recorded_at=np.array([run.recorded_at for run in in_order]),
        content_ids=np.array([run.content_id for run in in_order], dtype=np.int64),
        environment_ids=np.array([run.environment_id for run in in_order], dtype=np.int64),
        sessions=[session_of(run.tags) if run.tags else None for run in in_order],
        is_cut=since is not None,
    )


def _placed(
    series: Collection[Series], rows: Sequence[_Run], since: _Since | None
) -> tuple[list[_Run], Indexes]:
    """The runs with where each stands; ``rows`` are in the order of their starts."""
    versions = measured_versions({run.version_id for run in rows})
    times = commit_times(series, versions.values())
    branch = next((one.branch for one in series), "")
    product = next((one.product_id for one in series), 0)
    groups = [
        position_of(
            branch,
            version_id=run.version_id,
            commit=versions[run.version_id].commit,
            started_at=run.started_at,
            content_id=run.content_id,
        )
        for run in rows
    ]
    last = dict(zip(groups, rows, strict=True))
    first = dict(zip(reversed(groups), reversed(rows), strict=True))

    def order(group: Hashable) -> tuple[Any, ...]:
        version, time = versions[last[group].version_id], moment(first[group].started_at)
        at = placed_at(version, product, branch, time, times)
        return order_of_group(version, branch, at, time, last[group].content_id)

    orders = {group: order(group) for group in first}
    if since:
        # Groups of a branch are sorted by when their commits were made.
        orders = {group: order for group, order in orders.items() if order[0] >= since.placed_at}
    place = {group: at for at, group in enumerate(sorted(orders, key=lambda group: orders[group]))}
    placed = [(run, place[group]) for run, group in zip(rows, groups, strict=True) if group in place]
    return [run for run, _ in placed], np.array([at for _, at in placed], dtype=np.int64)
