"""Histories of all series of one place as arrays over common positions: what analysis reads.

A place may have millions of measurements; as points (see benchdash.results.points) each would take a
kilobyte, here it takes some tens of bytes.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from django.db import connection

from benchdash.results.arrays import Indexes, Numbers
from benchdash.results.models import Series
from benchdash.results.points import Groups, Runs, group, medians, read_measurements


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
class PlacedRuns:
    """The runs of all series of a place, in the order of their positions and starts; one element each.

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
    is_cut: bool

    @cached_property
    def index_of(self) -> dict[int, int]:
        """By the id of a run."""
        return {pk: at for at, pk in enumerate(self.ids.tolist())}


@dataclass(frozen=True, slots=True)
class SeriesValues:
    """What one series has: ``runs`` are indexes of PlacedRuns in ascending order, ``values`` belong to them.

    ``levels`` are the median of each position, NaN where there is none.
    """

    runs: Indexes
    values: Numbers
    levels: Numbers


@dataclass(frozen=True, slots=True)
class Layout:
    """The runs of a place, and by the id of a series what is measured in it."""

    runs: PlacedRuns
    measured: dict[int, SeriesValues]


@dataclass(frozen=True, slots=True)
class _Cut:
    """Where a long branch is cut: runs that started earlier are not read, nor older commits run later."""

    started_at: datetime
    placed_at: float
    least_run_id: int


def lay_out(series: Collection[Series], *, most_values: int) -> Layout:
    """The runs that count of series of one product and branch (or of releases), on common positions.

    Where the series of a branch have more than about ``most_values`` values together, only the newest
    positions are read that hold so many. Five statements at most.
    """
    cut = _cut(series, most_values)
    measured = read_measurements(
        [one.pk for one in series],
        least_run_id=cut.least_run_id if cut else 0,
        since=cut.started_at if cut else None,
        intervals=False,
    )
    runs = measured.runs
    each = np.arange(len(runs.ids))
    stream = list(series)[:1]
    groups = group(stream, np.zeros_like(each), each, runs)
    # Groups of a branch are sorted by when their commits were made.
    left_out = int(np.searchsorted(groups.placed_at, cut.placed_at)) if cut else 0
    in_order = np.argsort(groups.of, kind="stable")
    in_order = in_order[groups.of[in_order] >= left_out]
    place = np.full(len(each), -1)
    place[in_order] = np.arange(len(in_order))
    placed = PlacedRuns(
        ids=runs.ids[in_order],
        positions=groups.of[in_order] - left_out,
        started_at=runs.started_at[in_order],
        recorded_at=runs.recorded_at[in_order],
        content_ids=runs.content_ids[in_order],
        environment_ids=runs.environment_ids[in_order],
        sessions={int(place[at]): name for at, name in runs.sessions.items() if place[at] >= 0},
        groups=_placed_groups(groups, runs, stream)[left_out:],
        is_cut=cut is not None,
    )
    run = place[measured.run]
    counts = np.flatnonzero(run >= 0)
    found = _by_series(placed, measured.series[counts], run[counts], measured.values[counts], len(series))
    return Layout(placed, dict(zip([one.pk for one in series], found, strict=True)))


def lay_on(runs: PlacedRuns, values: Sequence[Mapping[int, float]]) -> list[SeriesValues]:
    """Series whose values are given by the ids of runs that were laid out."""
    series = np.repeat(np.arange(len(values)), [len(one) for one in values])
    run = np.array([runs.index_of[pk] for one in values for pk in one], dtype=np.int64)
    return _by_series(
        runs, series, run, np.array([value for one in values for value in one.values()]), len(values)
    )


def _by_series(
    runs: PlacedRuns, series: Indexes, run: Indexes, values: Numbers, number: int
) -> list[SeriesValues]:
    """``series`` are indexes below ``number``, ``run`` of ``runs``."""
    if not number:
        return []
    in_order = np.lexsort((run, series))
    series, run, values = series[in_order], run[in_order], values[in_order]
    length = len(runs.groups)
    cell = series * length + runs.positions[run]
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    levels = np.full(number * length, np.nan)
    levels[cell[starts]] = medians(values, np.append(starts, len(values)))
    ends = np.searchsorted(series, np.arange(1, number))
    parts = zip(np.split(run, ends), np.split(values, ends), levels.reshape(number, length), strict=True)
    return [SeriesValues(*part) for part in parts]


def _placed_groups(groups: Groups, runs: Runs, stream: Sequence[Series]) -> list[PlacedGroup]:
    is_branch = any(one.branch for one in stream)
    placed = []
    for version, content, started_at, placed_at in zip(
        [runs.versions[at] for at in runs.version[groups.last].tolist()],
        runs.content_ids[groups.last].tolist(),
        runs.started_at[groups.first].tolist(),
        groups.placed_at.tolist(),
        strict=True,
    ):
        of_branch = [placed_at, version.commit or "", started_at, content]
        of_release = [version.sort_key, placed_at, started_at, version.pk, content]
        order = of_branch if is_branch else of_release
        placed.append(PlacedGroup(order, version.pk, version.commit, started_at))
    return placed


# --- long branches ----------------------------------------------------------------------------------------

# Series of one place are about as long as each other: some of them tell.
_SAMPLED = 20
# The cut goes on by such a part of what is read, so that most looks begin where the one before began.
_CUT_AGAIN_AFTER = 4
_LENGTHS = """
    SELECT count(*), series_id FROM results_measurement WHERE series_id = ANY(%(series)s) GROUP BY series_id
    ORDER BY 1 DESC, series_id LIMIT 1
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


def _cut(series: Collection[Series], most_values: int) -> _Cut | None:
    """None where everything can be read; releases are never cut."""
    some = sorted(one.pk for one in series if one.branch)[:_SAMPLED]
    if not some:
        return None
    newest = max(1, most_values // len(series))
    with connection.cursor() as cursor:
        cursor.execute(_LENGTHS, {"series": some})
        length, longest = cursor.fetchone() or (0, 0)
        over = max(0, length - newest)
        over -= over % max(1, newest // _CUT_AGAIN_AFTER)
        if not over:
            return None
        cursor.execute(_NTH_NEWEST, {"series": longest, "newest": length - over - 1})
        started_at, placed_at = cursor.fetchone()
        branch = next(iter(series))
        cursor.execute(
            _LEAST_ID, {"project": branch.project_id, "branch": branch.branch, "started_at": started_at}
        )
        (least_run_id,) = cursor.fetchone()
    return _Cut(started_at, placed_at, least_run_id)
