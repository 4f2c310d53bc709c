"""Histories of all series of one place as arrays over common positions: what analysis reads.

A place may have millions of measurements; as points (see benchdash.results.queries) each would take a
kilobyte, here it takes some tens of bytes.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from benchdash.results.arrays import Indexes, Numbers, days, seconds
from benchdash.results.models import Run, Series
from benchdash.results.queries import (
    CommitKey,
    MeasuredVersion,
    commit_times,
    measured_versions,
    moment,
    order_of_group,
    placed_at,
)
from benchdash.results.sessions import session_of


class PlacedGroup(NamedTuple):
    """One position: what groups of its stream are sorted by, plain enough for JSON, and what tells it from
    others. ``version_id`` and ``commit`` are those of the latest run, ``started_at`` (epoch seconds) is of
    the first.
    """

    order: list[Any]
    version_id: int
    commit: str | None
    started_at: float


@dataclass(frozen=True)
class Runs:
    """Those of all series of a place, in the order of their positions and starts; one element each.

    Times are epoch seconds; ids of content and environment are 0 where nothing is known. ``sessions`` are by
    the index of a run, where any was named. ``groups`` are the positions in order. ``is_cut``: there are
    older ones that were not read.
    """

    ids: Indexes
    positions: Indexes
    started_at: Numbers
    recorded_at: Numbers
    content_ids: Indexes
    environment_ids: Indexes
    sessions: Mapping[int, str]
    groups: Sequence[PlacedGroup]
    is_cut: bool = False

    @cached_property
    def index_of(self) -> dict[int, int]:
        """By the id of a run."""
        return {pk: at for at, pk in enumerate(self.ids.tolist())}

    def index(self, run_id: int) -> int | None:
        """Of a few runs; ``index_of`` is for many."""
        at = int(self.indexes(np.array([run_id]))[0])
        return at if at >= 0 else None

    def indexes(self, run_ids: NDArray[Any]) -> Indexes:
        """-1 for those that are not here."""
        return _indexes(self.ids, self._ascending, run_ids)

    @cached_property
    def _ascending(self) -> Indexes:
        return np.argsort(self.ids, kind="stable")


@dataclass(frozen=True, slots=True)
class Measured:
    """What one series has: ``runs`` are indexes of Runs in ascending order, ``values`` belong to them."""

    runs: Indexes
    values: Numbers


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a long branch is cut: runs that started earlier are not read, nor older commits run later.

    ``left_out`` is how many values of the longest series are not read.
    """

    started_at: float
    placed_at: float
    least_run_id: int
    left_out: int


@dataclass(frozen=True)
class Layout:
    """``measured`` is by the id of a series. ``versions`` are those of the runs, by id; ``commit_times`` are
    of commits without a time of their own. ``lengths`` are how many values some of the series have in all.
    """

    runs: Runs
    measured: dict[int, Measured]
    versions: Mapping[int, MeasuredVersion]
    commit_times: Mapping[CommitKey, datetime]
    cut: Cut | None = None
    lengths: Mapping[int, int] = field(default_factory=dict)

    @cached_property
    def levels(self) -> dict[int, Numbers]:
        """The median of each position, by the id of a series; see ``medians``."""
        length, number = len(self.runs.groups), len(self.measured)
        rows = np.repeat(np.arange(number), [len(one.runs) for one in self.measured.values()])
        none = np.empty(0, np.int64)
        positions = self.runs.positions[np.concatenate([none, *(one.runs for one in self.measured.values())])]
        values = np.concatenate([np.empty(0), *(one.values for one in self.measured.values())])
        levels = medians(rows * length + positions, values, number * length).reshape(number, length)
        return dict(zip(self.measured, levels, strict=True))


def lay_out(series: Collection[Series], *, most_values: int) -> Layout:
    """The runs that count of series of one product and branch (or of releases), on common positions.

    Where the series of a branch have more than about ``most_values`` values together, only the newest
    positions are read that hold so many. Six statements at most.
    """
    lengths = lengths_of_some(series)
    cut = _cut(series, most_values, lengths)
    ids = [one.pk for one in series]
    pairs = _values(ids, least_run_id=cut.least_run_id if cut else 0)
    runs, versions, times = _runs(series, pairs.values(), cut)
    return Layout(runs, _measured(runs, ids, pairs), versions, times, cut, lengths)


def measured_on(runs: Runs, series_ids: Collection[int]) -> dict[int, Measured]:
    """What series have on runs that were read before. One statement."""
    least = int(runs.ids.min()) if len(runs.ids) else 0
    return _measured(runs, series_ids, _values(series_ids, least_run_id=least))


def _measured(
    runs: Runs, series_ids: Collection[int], pairs: Mapping[int, NDArray[np.void]]
) -> dict[int, Measured]:
    # Most series of a place have the same runs as another one.
    @cache
    def places(run_ids: bytes) -> tuple[Indexes, Indexes]:
        """Which of these count, in the order of the runs, and where those stand among the runs."""
        at = runs.indexes(np.frombuffer(run_ids, ">i8"))
        counts = np.flatnonzero(at >= 0)
        counts = counts[np.argsort(at[counts])]
        return counts, at[counts]

    measured = {pk: Measured(np.empty(0, np.int64), np.empty(0)) for pk in series_ids}
    for pk, of_series in pairs.items():
        counts, at = places(of_series["run"].tobytes())
        measured[pk] = Measured(at, of_series["value"][counts].astype(np.float64))
    return measured


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


# Series of one place are about as long as each other: some of them tell.
_SAMPLED = 20
_LENGTHS = """
    SELECT series_id, count(*) FROM results_measurement WHERE series_id = ANY(%(series)s) GROUP BY series_id
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


# The cut goes on by such a part of what is read, so that most looks begin where the one before began.
_CUT_AGAIN_AFTER = 4


def lengths_of_some(series: Collection[Series]) -> dict[int, int]:
    """How many values some series of a branch have, by id; nothing for releases, which are never cut."""
    some = sorted(one.pk for one in series if one.branch)[:_SAMPLED]
    if not some:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_LENGTHS, {"series": some})
        return dict(cursor.fetchall())


def left_out(number: int, most_values: int, lengths: Mapping[int, int]) -> int:
    """How many of the oldest values of the longest series are not read, where there are so many series."""
    newest = max(1, most_values // max(1, number))
    over = max(0, max(lengths.values(), default=0) - newest)
    return over - over % max(1, newest // _CUT_AGAIN_AFTER)


def _cut(series: Collection[Series], most_values: int, lengths: Mapping[int, int]) -> Cut | None:
    """None where everything can be read."""
    skipped = left_out(len(series), most_values, lengths)
    if not skipped:
        return None
    some = next(iter(series))
    longest = max(sorted(lengths), key=lambda pk: lengths[pk])
    with connection.cursor() as cursor:
        newest = lengths[longest] - skipped
        cursor.execute(_NTH_NEWEST, {"series": longest, "newest": newest - 1})
        started_at, committed_at = cursor.fetchone()
        cursor.execute(
            _LEAST_ID, {"project": some.project_id, "branch": some.branch, "started_at": started_at}
        )
        (least_run_id,) = cursor.fetchone()
    return Cut(started_at.timestamp(), committed_at, least_run_id, skipped)


# One text of bytes a series: as rows, a million values would take the driver a second, as arrays longer.
_VALUES = """
    SELECT series_id, string_agg(int8send(run_id) || float8send(value), ''::bytea) FROM results_measurement
    WHERE series_id = ANY(%(series)s) AND run_id >= %(least)s GROUP BY series_id
"""
_PAIR = np.dtype([("run", ">i8"), ("value", ">f8")])


def _values(series_ids: Collection[int], *, least_run_id: int) -> dict[int, NDArray[np.void]]:
    """By the id of a series: the ids of runs and their values, as pairs."""
    with connection.cursor() as cursor:
        cursor.execute(_VALUES, {"series": list(series_ids), "least": least_run_id})
        return {series: np.frombuffer(packed, dtype=_PAIR) for series, packed in cursor.fetchall()}


# One text of bytes a version, for the same reason. Times are microseconds since 2000.
_RUNS = """
    SELECT version_id, string_agg(
        int8send(id) || timestamptz_send(started_at) || timestamptz_send(recorded_at)
        || int8send(coalesce(content_id, 0)) || int8send(coalesce(environment_id, 0))
        || int4send((tags <> '{}')::int), ''::bytea
    )
    FROM results_run WHERE id = ANY(%(runs)s::bigint[]) AND excluded_at IS NULL GROUP BY version_id
"""
_RUN = np.dtype(
    [
        ("id", ">i8"),
        ("started_at", ">i8"),
        ("recorded_at", ">i8"),
        ("content", ">i8"),
        ("environment", ">i8"),
        ("is_tagged", ">i4"),
    ]
)


def _runs(
    series: Collection[Series], pairs: Iterable[NDArray[np.void]], cut: Cut | None
) -> tuple[Runs, dict[int, MeasuredVersion], dict[CommitKey, datetime]]:
    """The runs of these pairs, their versions, and the times of commits without one."""
    # Most series of a place have the same runs as another one.
    distinct = {of_series["run"].tobytes() for of_series in pairs}
    rows, of_runs = read_runs(np.frombuffer(b"".join(distinct), ">i8").tolist())
    if cut:
        kept = seconds(rows["started_at"]) >= cut.started_at
        rows, of_runs = rows[kept], of_runs[kept]
    versions = measured_versions(set(of_runs.tolist()))
    times = commit_times(series, versions.values())
    positions, groups = _placed(series, rows, of_runs, versions, times, cut)
    in_order = np.argsort(positions, kind="stable")
    in_order = in_order[positions[in_order] >= 0]
    return runs_of(rows[in_order], positions[in_order], groups, is_cut=cut is not None), versions, times


def read_runs(ids: Collection[int]) -> tuple[NDArray[np.void], Indexes]:
    """Those of these runs that count, in the order of their starts, and the id of the version of each."""
    with connection.cursor() as cursor:
        # As a text: the driver takes longer for a hundred thousand numbers than the database.
        cursor.execute(_RUNS, {"runs": f"{{{','.join(map(str, ids))}}}"})
        by_version = {pk: np.frombuffer(packed, dtype=_RUN) for pk, packed in cursor.fetchall()}
    versions = np.repeat(list(by_version), [len(runs) for runs in by_version.values()]).astype(np.int64)
    rows = np.concatenate([np.empty(0, _RUN), *by_version.values()])
    in_order = np.lexsort((rows["id"], rows["started_at"]))
    return rows[in_order], versions[in_order]


def runs_of(
    rows: NDArray[np.void], positions: Indexes, groups: Sequence[PlacedGroup], *, is_cut: bool
) -> Runs:
    """``rows`` are in the order of ``positions``."""
    return Runs(
        ids=rows["id"].astype(np.int64),
        positions=positions,
        recorded_at=seconds(rows["recorded_at"]),
        started_at=seconds(rows["started_at"]),
        content_ids=rows["content"].astype(np.int64),
        environment_ids=rows["environment"].astype(np.int64),
        sessions=_sessions(rows),
        groups=groups,
        is_cut=is_cut,
    )


def _sessions(rows: NDArray[np.void]) -> dict[int, str]:
    tagged = np.flatnonzero(rows["is_tagged"])
    if not len(tagged):
        return {}
    at = dict(zip(rows["id"][tagged].tolist(), tagged.tolist(), strict=True))
    tags = Run.objects.filter(pk__in=list(at)).values_list("pk", "tags")
    return {at[pk]: session for pk, of_run in tags if (session := session_of(of_run))}


def _placed(
    series: Collection[Series],
    rows: NDArray[np.void],
    versions: Indexes,
    known: Mapping[int, MeasuredVersion],
    times: Mapping[CommitKey, datetime],
    cut: Cut | None,
) -> tuple[Indexes, list[PlacedGroup]]:
    """Where each run stands (-1: before the cut), and the groups; ``rows`` are in the order of their starts.

    Runs of one group are those of one ``position_of`` (see benchdash.results.queries).
    """
    branch = next((one.branch for one in series), "")
    product = next((one.product_id for one in series), 0)
    _, first, of_run = np.unique(
        _group_keys(branch, rows, versions, known), return_index=True, return_inverse=True
    )
    last = np.empty(len(first), dtype=np.int64)
    last[of_run] = np.arange(len(rows))  # of several, the last one stays
    groups = []
    for content, earliest, latest in zip(
        rows["content"][last].tolist(),
        seconds(rows["started_at"][first]).tolist(),
        versions[last].tolist(),
        strict=True,
    ):
        groups.append(placed_group(known[latest], product, branch, earliest, content, times))
    # Groups of a branch are sorted by when their commits were made.
    kept = [at for at, group in enumerate(groups) if cut is None or group.order[0] >= cut.placed_at]
    kept.sort(key=lambda at: groups[at].order)
    place = np.full(len(groups), -1)
    place[kept] = np.arange(len(kept))
    return place[of_run], [groups[at] for at in kept]


def placed_group(
    version: MeasuredVersion,
    product_id: int,
    branch: str,
    started_at: float,
    content_id: int,
    times: Mapping[CommitKey, datetime],
) -> PlacedGroup:
    """The group whose latest run is of this version and content, and whose first one started then."""
    time = moment(started_at)
    at = placed_at(version, product_id, branch, time, times)
    order = order_of_group(version, branch, at, time, content_id)
    return PlacedGroup(_plain(order), version.pk, version.commit, started_at)


def _group_keys(
    branch: str, rows: NDArray[np.void], versions: Indexes, known: Mapping[int, MeasuredVersion]
) -> Indexes:
    """One for each run, equal for those of one group."""
    ids = np.array(sorted(known), dtype=np.int64)
    builds = [known[pk].commit if branch else str(pk) for pk in ids.tolist()]
    number = {build: at for at, build in enumerate(dict.fromkeys(filter(None, builds)), 1)}
    of_version = np.array([number[build] if build else 0 for build in builds], dtype=np.int64)
    build = of_version[np.searchsorted(ids, versions)]
    day = days(rows["started_at"])
    contents, content = np.unique(rows["content"], return_inverse=True)
    return np.asarray(np.where(build, build, len(number) + 1 + day) * len(contents) + content)


def _plain(order: Sequence[Any]) -> list[Any]:
    return [one.timestamp() if isinstance(one, datetime) else one for one in order]
