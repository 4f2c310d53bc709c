"""The newest points of many series as arrays over all of them: what tells how much each scatters.

The same groups in the same order as of ``benchdash.results.queries.histories``, in one statement.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from benchdash.results.arrays import Indexes, Numbers, days, ranks, seconds
from benchdash.results.queries import times_of_commits
from benchdash.results.sessions import sessions_of


class Stream(NamedTuple):
    """Where a series is: what tells how its runs are grouped."""

    product_id: int
    branch: str


@dataclass(frozen=True)
class NewestPoints:
    """An element for each point, series by series and in order.

    ``series`` are indexes of those asked for, ``values`` medians of groups, ``version_ids`` of their latest
    runs, and ``independent`` is the number of their sessions, or runs where none is known. ``run_ids`` are
    those of all runs, ``point_of_run`` their points.
    """

    series: Indexes
    values: Numbers
    version_ids: Indexes
    independent: Indexes
    run_ids: Indexes
    point_of_run: Indexes

    @cached_property
    def starts(self) -> Mapping[tuple[int, int], int]:
        """By the index of a series and the id of a run: where its point is."""
        series = self.series[self.point_of_run]
        return dict(
            zip(
                zip(series.tolist(), self.run_ids.tolist(), strict=True),
                self.point_of_run.tolist(),
                strict=True,
            )
        )


_KINDS: Final = (">i8", ">i8", ">f8", ">i8", ">i8", ">i8", ">i8")

# Texts of bytes: as rows, the driver would make an object of each number. Each run and each version is read
# once, by arrays of their ids in the order of their index: joined point by point it takes twice as long.
_NEWEST: Final = """
    WITH measured AS MATERIALIZED (
        SELECT wanted.number, newest.run_id, newest.value
        FROM unnest(%(series)s::bigint[]) WITH ORDINALITY AS wanted (id, number)
        CROSS JOIN LATERAL (
            SELECT run_id, value FROM results_measurement WHERE series_id = wanted.id
            ORDER BY run_id DESC LIMIT %(newest)s
        ) newest
    ), run AS MATERIALIZED (
        SELECT id, started_at, version_id, coalesce(content_id, 0) AS content_id, tags FROM results_run
        WHERE id = ANY(ARRAY(SELECT DISTINCT run_id FROM measured)) AND excluded_at IS NULL
    )
    SELECT * FROM (
        SELECT string_agg(int8send(number - 1), ''::bytea), string_agg(int8send(run_id), ''::bytea),
            string_agg(float8send(value), ''::bytea)
        FROM measured
    ) measurements, (
        SELECT string_agg(int8send(id), ''::bytea), string_agg(timestamptz_send(started_at), ''::bytea),
            string_agg(int8send(version_id), ''::bytea), string_agg(int8send(content_id), ''::bytea),
            json_object_agg(id, tags) FILTER (WHERE cardinality(tags) > 0)::text
        FROM run
    ) runs, (
        SELECT json_agg(json_build_array(id, coalesce(commit, ''),
            extract(epoch FROM committed_at)::float8, sort_key))::text
        FROM results_serverversion WHERE id = ANY(ARRAY(SELECT DISTINCT version_id FROM run))
    ) versions
"""


class _Version(NamedTuple):
    """``commit`` is empty where nobody named one, ``committed_at`` -inf where its time is not known."""

    pk: int
    commit: str
    committed_at: float
    sort_key: str


@dataclass(frozen=True)
class _Runs:
    """An element for each; ``version`` are indexes of ``versions``."""

    series: Indexes
    ids: Indexes
    values: Numbers
    started_us: Indexes
    version: Indexes
    content: Indexes
    versions: Sequence[_Version]
    tags: Mapping[int, Sequence[str]]


def newest_points(of_series: Mapping[int, Stream], *, newest: int) -> NewestPoints:
    """Of each series, which are given by id, so many of the runs that came in last; excluded ones are
    counted, but left out.
    """
    streams = list(of_series.values())
    runs = _read(list(of_series), newest)
    is_branch = np.array([bool(one.branch) for one in streams])[runs.series]
    point, first, last = _groups(runs, is_branch)
    order = _order(runs, streams, is_branch[last], first, last)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    point_of_run = place[point]
    return NewestPoints(
        series=runs.series[last][order],
        values=_medians(point_of_run, runs.values, len(order)),
        version_ids=np.array([one.pk for one in runs.versions], dtype=np.int64)[runs.version[last][order]],
        independent=_independent(runs, point_of_run, len(order)),
        run_ids=runs.ids,
        point_of_run=point_of_run,
    )


def _read(series_ids: Sequence[int], newest: int) -> _Runs:
    """Those that count, in the order of their starts."""
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST, {"series": list(series_ids), "newest": newest})
        [(*columns, tags, told)] = cursor.fetchall()
    series, of_run, values, ids, started, version_ids, content = (
        np.frombuffer(column or b"", kind).astype(kind[1:])
        for column, kind in zip(columns, _KINDS, strict=True)
    )
    versions = [
        _Version(pk, commit, -np.inf if committed is None else committed, sort_key)
        for pk, commit, committed, sort_key in sorted(json.loads(told or "[]"))
    ]
    run_of = _indexes(of_run, ids)
    at = np.flatnonzero(run_of >= 0)
    at = at[np.lexsort((of_run[at], started[run_of[at]]))]
    run = run_of[at]
    return _Runs(
        series=series[at],
        ids=of_run[at],
        values=values[at],
        started_us=started[run],
        version=_indexes(version_ids, np.array([one.pk for one in versions], dtype=np.int64))[run],
        content=content[run],
        versions=versions,
        tags={int(pk): said for pk, said in json.loads(tags or "{}").items()},
    )


def _indexes(wanted: Indexes, ids: Indexes) -> Indexes:
    """Where each of the wanted is among the distinct ids; -1 where it is not."""
    in_order = np.argsort(ids)
    places = np.searchsorted(ids, wanted, sorter=in_order)
    found = np.append(in_order, -1)[places]
    return np.where(np.append(ids, -1)[found] == wanted, found, -1)


def _groups(runs: _Runs, is_branch: NDArray[np.bool_]) -> tuple[Indexes, Indexes, Indexes]:
    """The group of each run, and the first and last run of each; see ``position_of`` of the queries."""
    commits = ranks([one.commit for one in runs.versions])[runs.version]
    no_commit = np.array([not one.commit for one in runs.versions], dtype=bool)[runs.version]
    day = -1 - days(runs.started_us)
    key = np.where(is_branch, np.where(no_commit, day, commits), runs.version)
    in_order = np.lexsort((runs.content, key, runs.series))
    parts = np.stack((runs.series, key, runs.content))[:, in_order]
    begins = np.ones(len(in_order), dtype=bool)
    begins[1:] = (parts[:, 1:] != parts[:, :-1]).any(axis=0)
    starts = np.flatnonzero(begins)
    point = np.empty(len(in_order), np.int64)
    point[in_order] = np.cumsum(begins) - 1
    # Sorting is stable: the runs of a group are still in the order of their starts.
    return point, in_order[starts], in_order[np.append(starts[1:], len(in_order))[: len(starts)] - 1]


def _order(
    runs: _Runs, streams: Sequence[Stream], is_branch: NDArray[np.bool_], first: Indexes, last: Indexes
) -> Indexes:
    """The groups by series, and as ``order_of_group`` of the queries sorts them."""
    versions, version = runs.versions, runs.version[last]
    started = seconds(runs.started_us[first])
    committed = np.array([one.committed_at for one in versions], dtype=float)[version]
    placed = _placed(runs, streams, np.where(is_branch, committed, 0), started, last)
    commits = ranks([one.commit for one in versions])[version]
    names = ranks([one.sort_key for one in versions])[version]
    ids = np.array([one.pk for one in versions], dtype=np.int64)[version]
    content = runs.content[last]
    return np.lexsort(
        (
            np.where(is_branch, 0, content),
            np.where(is_branch, content, ids),
            started,
            np.where(is_branch, commits, committed),
            np.where(is_branch, placed, names),
            runs.series[last],
        )
    )


def _placed(
    runs: _Runs, streams: Sequence[Stream], committed: Numbers, started: Numbers, last: Indexes
) -> Numbers:
    """For commits without a time: another build's, or when they were first measured."""
    without = np.flatnonzero(np.isneginf(committed)).tolist()
    of = [(streams[runs.series[last[at]]], runs.versions[runs.version[last[at]]].commit) for at in without]
    commits = {commit for _, commit in of if commit}
    times = (
        times_of_commits({one.product_id for one, _ in of}, {one.branch for one, _ in of}, commits)
        if commits
        else {}
    )
    for at, (stream, commit) in zip(without, of, strict=True):
        time = times.get((stream.product_id, stream.branch, commit or None))
        committed[at] = time.timestamp() if time else started[at]
    return committed


def _medians(groups: Indexes, values: Numbers, number: int) -> Numbers:
    in_order = values[np.lexsort((values, groups))]
    n = np.bincount(groups, minlength=number)
    starts = np.cumsum(n) - n
    return np.asarray((in_order[starts + (n - 1) // 2] + in_order[starts + n // 2]) / 2)


def _independent(runs: _Runs, point_of_run: Indexes, number: int) -> Indexes:
    independent = np.bincount(point_of_run, minlength=number)
    if runs.tags:
        is_tagged = np.fromiter((pk in runs.tags for pk in runs.ids.tolist()), bool, len(runs.ids))
        for point in set(point_of_run[is_tagged].tolist()):
            members = runs.ids[point_of_run == point].tolist()
            sessions = sessions_of([(pk, runs.tags.get(pk, ())) for pk in members])
            independent[point] = len(set(sessions)) or len(members)
    return independent
