"""The points of series as plain rows, for who needs thousands of them and little of each.

The same groups in the same order as of ``benchdash.results.queries.histories``, without an object for each
version, and times as numbers.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from django.db import connection

from benchdash.results.models import Series
from benchdash.results.queries import (
    CommitKey,
    commit_times,
    levels_of_groups,
    measured_versions,
    position_of,
)
from benchdash.results.sessions import sessions_of


class PointRow(NamedTuple):
    """What ``benchdash.results.queries.Point`` says; ``time`` is epoch seconds."""

    version: str
    commit: str | None
    time: float
    value: float
    low: float | None
    high: float | None
    n: int
    run_id: int
    version_id: int
    run_ids: tuple[int, ...]
    independent: int


_ROWS = """
    SELECT measured.series_id, measured.run_id, measured.value, measured.low, measured.high,
        extract(epoch FROM run.started_at)::float8, version.id, version.version, version.commit,
        extract(epoch FROM version.committed_at)::float8, version.sort_key,
        run.content_id, CASE WHEN run.tags <> '{}' THEN run.tags END
    FROM results_measurement measured
    JOIN results_run run ON run.id = measured.run_id
    JOIN results_serverversion version ON version.id = run.version_id
    WHERE measured.series_id = ANY(%(series)s) AND run.excluded_at IS NULL
    ORDER BY run.started_at, measured.run_id
"""
_NEWEST_ROWS = _ROWS.replace(
    "FROM results_measurement measured",
    """FROM unnest(%(series)s::bigint[]) AS wanted (id) CROSS JOIN LATERAL (
        SELECT * FROM results_measurement WHERE series_id = wanted.id ORDER BY run_id DESC LIMIT %(newest)s
    ) measured""",
)


class _Sample(NamedTuple):
    series_id: int
    run_id: int
    value: float
    low: float | None
    high: float | None
    started_at: float
    version_id: int
    version: str
    commit: str | None
    committed_at: float | None
    sort_key: str
    content_id: int | None
    tags: Sequence[str] | None


_Group = list[_Sample]


def point_rows(of_series: Mapping[int, Series], *, newest: int | None = None) -> dict[int, list[PointRow]]:
    """The points of each series, in order, in a constant number of statements; ``of_series`` is by id.

    ``newest``: of each series only so many of the runs that came in last, excluded ones counted.
    """
    groups: dict[Hashable, _Group] = defaultdict(list)
    branches = {pk: series.branch for pk, series in of_series.items()}
    for sample in _samples(of_series, newest):
        position = position_of(
            branches[sample.series_id],
            version_id=sample.version_id,
            commit=sample.commit,
            started_at=sample.started_at,
            content_id=sample.content_id,
        )
        groups[sample.series_id, position].append(sample)
    times = _times(of_series, groups.values())
    ordered: dict[int, list[tuple[Any, ...]]] = {pk: [] for pk in of_series}
    for samples, row in zip(groups.values(), _rows(list(groups.values())), strict=True):
        series = of_series[samples[0].series_id]
        # No two groups of a series have the same order; the rows themselves are never compared.
        ordered[series.pk].append((*_order(series, samples, times), row))
    return {pk: [found[-1] for found in sorted(rows)] for pk, rows in ordered.items()}


def _samples(series_ids: Iterable[int], newest: int | None) -> list[_Sample]:
    with connection.cursor() as cursor:
        cursor.execute(
            _ROWS if newest is None else _NEWEST_ROWS, {"series": list(series_ids), "newest": newest}
        )
        return list(map(_Sample._make, cursor.fetchall()))


def _rows(groups: Sequence[_Group]) -> list[PointRow]:
    sessions = {at: _sessions(samples) for at, samples in enumerate(groups) if len(samples) > 1}
    levels = levels_of_groups(
        [[sample.value for sample in groups[at]] for at in sessions], list(sessions.values())
    )
    rows = [_row_of_one(samples[0]) for samples in groups]
    for (at, of_group), (value, low, high) in zip(sessions.items(), levels, strict=True):
        samples = groups[at]
        latest, n = samples[-1], len(samples)
        rows[at] = rows[at]._replace(
            version=latest.version,
            commit=latest.commit,
            value=value,
            low=low,
            high=high,
            n=n,
            run_id=latest.run_id,
            version_id=latest.version_id,
            run_ids=tuple(sample.run_id for sample in samples),
            independent=len(set(of_group)) or n,
        )
    return rows


def _row_of_one(sample: _Sample) -> PointRow:
    _, run_id, value, low, high, started_at, version_id, version, commit, *_ = sample
    return PointRow(version, commit, started_at, value, low, high, 1, run_id, version_id, (run_id,), 1)


def _sessions(samples: _Group) -> tuple[str, ...]:
    if not any(sample.tags for sample in samples):
        return ()
    return sessions_of([(sample.run_id, sample.tags or ()) for sample in samples])


def _times(of_series: Mapping[int, Series], groups: Iterable[_Group]) -> Mapping[CommitKey, float]:
    """For commits without a time; see ``commit_times``."""
    without = {
        samples[-1].version_id
        for samples in groups
        if samples[-1].commit and samples[-1].committed_at is None
    }
    if not without:
        return {}
    found = commit_times(of_series.values(), measured_versions(without).values())
    return {key: time.timestamp() for key, time in found.items()}


def _order(series: Series, samples: _Group, times: Mapping[CommitKey, float]) -> tuple[Any, ...]:
    """As ``order_of_group`` has it."""
    latest, first = samples[-1], samples[0].started_at
    placed_at = latest.committed_at
    if series.branch:
        if placed_at is None:
            placed_at = times.get((series.product_id, series.branch, latest.commit), first)
        return placed_at, latest.commit or "", first, latest.content_id or 0
    placed_at = -inf if placed_at is None else placed_at
    return latest.sort_key, placed_at, first, latest.version_id, latest.content_id or 0
