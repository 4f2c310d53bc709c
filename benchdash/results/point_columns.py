"""The points of series as columns, for who needs thousands of them and a few things of each.

The same groups in the same order as of ``benchdash.results.queries.histories``. The database answers one text
of bytes for each thing (as rows, the driver would make an object of each), only for those that are asked for;
and where each group has one run, which is usual, nothing is done run by run.
"""

import json
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from django.db import connection

from benchdash.results.arrays import Indexes, Numbers, days, ranks, seconds
from benchdash.results.models import Series
from benchdash.results.queries import levels_of_groups, times_of_commits
from benchdash.results.sessions import sessions_of

Column = Sequence[Any]  # text, numbers, None

COLUMNS: Final = ("version", "commit", "time", "value", "low", "high", "n", "run")


@dataclass(frozen=True)
class PointColumns:
    """The points of one series in order: ``columns`` by name, those that were asked for and ``value``.

    ``time`` is epoch seconds, the start of the first run; ``run`` the id of the latest; the others are what
    ``benchdash.results.queries.Point`` says. ``run_ids`` are those of all runs, ``groups`` their points.
    """

    columns: Mapping[str, Column]
    run_ids: Indexes
    groups: Indexes

    def __len__(self) -> int:
        return len(self.columns["value"])

    def index_of(self, run_id: int) -> int | None:
        """Of the point that a run belongs to; None for a run that does not count."""
        return self._index_of.get(run_id)

    @cached_property
    def _index_of(self) -> dict[int, int]:
        return dict(zip(self.run_ids.tolist(), self.groups.tolist(), strict=True))


def point_columns(
    of_series: Mapping[int, Series], asked: Collection[str] = COLUMNS
) -> dict[int, PointColumns]:
    """The points of each series, which are given by id, in one statement; ``asked`` are some of COLUMNS.

    One more where a commit has no time, and of low and high where a group has several runs.
    """
    wanted = {"value", *asked}
    rows = _read(of_series, wanted)
    return {pk: _points(series, rows.get(pk, _NOTHING), wanted) for pk, series in of_series.items()}


# --- reading ----------------------------------------------------------------------------------------------

_SEPARATOR: Final = "\x1f"  # no name of a version holds what cannot be printed
_NEVER: Final = np.iinfo(np.int64).min  # what PostgreSQL sends for -infinity

_NUMBERS: Final = {
    "run": ("int8send(measured.run_id)", ">i8"),
    "value": ("float8send(measured.value)", ">f8"),
    "low": ("float8send(coalesce(measured.low, 'NaN'))", ">f8"),
    "high": ("float8send(coalesce(measured.high, 'NaN'))", ">f8"),
    "started_at": ("timestamptz_send(run.started_at)", ">i8"),
    "content": ("int8send(coalesce(run.content_id, 0))", ">i8"),
    "committed_at": ("timestamptz_send(coalesce(version.committed_at, '-infinity'))", ">i8"),
    "version_id": ("int8send(run.version_id)", ">i8"),
}
_TEXTS: Final = {"version": "version.version", "commit": "version.commit", "sort_key": "version.sort_key"}
_ORDER: Final = ("run", "started_at", "content", "committed_at")
_ORDER_OF_BRANCH: Final = (*_ORDER, "commit")
_ORDER_OF_RELEASES: Final = (*_ORDER, "version_id", "sort_key")
_FROM: Final = """
    FROM results_measurement measured
    JOIN results_run run ON run.id = measured.run_id
    JOIN results_serverversion version ON version.id = run.version_id
    WHERE measured.series_id = ANY(%s) AND run.excluded_at IS NULL
    GROUP BY measured.series_id
"""

_Row = Mapping[str, Any]
"""Of each name of _NUMBERS or _TEXTS that was read its values by run; and ``tags`` of runs that have any."""
_NOTHING: Final[_Row] = {}


def _read(of_series: Mapping[int, Series], wanted: Collection[str]) -> dict[int, _Row]:
    names = {*wanted} & {*_NUMBERS, *_TEXTS}
    for series in of_series.values():
        names.update(_ORDER_OF_BRANCH if series.branch else _ORDER_OF_RELEASES)
    numbers = [name for name in _NUMBERS if name in names]
    texts = [name for name in _TEXTS if name in names]
    parts = [
        "measured.series_id",
        *(f"string_agg({_NUMBERS[name][0]}, ''::bytea)" for name in numbers),
        *(f"string_agg(coalesce({_TEXTS[name]}, ''), '{_SEPARATOR}')" for name in texts),
        "json_object_agg(run.id, run.tags) FILTER (WHERE run.tags <> '{}')::text",
    ]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(parts)} {_FROM}", [list(of_series)])
        found = cursor.fetchall()
    return {row[0]: _unpacked(numbers, texts, row[1:]) for row in found}


def _unpacked(numbers: Sequence[str], texts: Sequence[str], row: Sequence[Any]) -> _Row:
    """In the order of starts and, of runs that started at once, of ids."""
    arrays = {
        name: np.frombuffer(packed, _NUMBERS[name][1]).astype(_NUMBERS[name][1][1:])
        for name, packed in zip(numbers, row, strict=False)
    }
    in_order = np.lexsort((arrays["run"], arrays["started_at"]))
    split = {name: text.split(_SEPARATOR) for name, text in zip(texts, row[len(numbers) :], strict=False)}
    tags = json.loads(row[-1] or "{}")
    return {
        **{name: values[in_order] for name, values in arrays.items()},
        **{name: _taken(values, in_order) for name, values in split.items()},
        "tags": {int(run): of_run for run, of_run in tags.items()},
    }


def _taken(values: Sequence[Any], indexes: Indexes) -> list[Any]:
    return list(map(values.__getitem__, indexes.tolist()))


# --- groups -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Groups:
    """``of_run`` is the group of each run; ``first`` and ``last`` are the runs of each."""

    of_run: Indexes
    first: Indexes
    last: Indexes

    @classmethod
    def by(cls, keys: Sequence[Hashable]) -> "_Groups":
        """Runs with equal keys, in the order of their first appearance."""
        known: dict[Hashable, int] = dict.fromkeys(keys, 0)
        each = np.arange(len(keys))
        if len(known) == len(keys):
            return cls(each, each, each)
        known = dict(zip(known, range(len(known)), strict=True))
        of_run = np.fromiter(map(known.__getitem__, keys), np.int64, len(keys))
        first, last = np.empty(len(known), np.int64), np.empty(len(known), np.int64)
        # Of several that are put in one place the last one stays.
        last[of_run], first[of_run[::-1]] = each, each[::-1]
        return cls(of_run, first, last)


def _points(series: Series, row: _Row, wanted: Collection[str]) -> PointColumns:
    if not row:
        nothing = np.empty(0, np.int64)
        return PointColumns({name: () for name in COLUMNS if name in wanted}, nothing, nothing)
    groups = _Groups.by(_keys(series, row))
    in_order = _order(series, row, groups)
    place = np.empty_like(in_order)
    place[in_order] = np.arange(len(in_order))
    of_run = place[groups.of_run]
    first, last = groups.first[in_order], groups.last[in_order]
    make: dict[str, Callable[[], list[Any]]] = {
        "version": lambda: _taken(row["version"], last),
        "commit": lambda: [commit or None for commit in _taken(row["commit"], last)],
        "time": lambda: seconds(row["started_at"][first]).tolist(),
        "n": lambda: np.bincount(of_run, minlength=len(last)).tolist(),
        "run": row["run"][last].tolist,
    }
    columns = {name: column() for name, column in make.items() if name in wanted}
    levels = dict(zip(("value", "low", "high"), _levels(row, of_run, last, wanted), strict=True))
    return PointColumns(
        columns | {name: column for name, column in levels.items() if name in wanted}, row["run"], of_run
    )


def _keys(series: Series, row: _Row) -> Sequence[Hashable]:
    """What tells the groups of a series from each other; see ``benchdash.results.queries.position_of``."""
    keys: Sequence[Hashable]
    if not series.branch:
        keys = row["version_id"].tolist()
    elif all(row["commit"]):
        keys = row["commit"]
    else:
        measured = days(row["started_at"]).tolist()
        keys = [commit or day for commit, day in zip(row["commit"], measured, strict=True)]
    contents = row["content"]
    return keys if (contents == contents[0]).all() else list(zip(keys, contents.tolist(), strict=True))


def _order(series: Series, row: _Row, groups: _Groups) -> Indexes:
    """The groups as ``benchdash.results.queries.order_of_group`` sorts them."""
    last, first = groups.last, seconds(row["started_at"][groups.first])
    committed_at = row["committed_at"][last]
    placed_at = np.where(committed_at == _NEVER, -np.inf, seconds(committed_at))
    contents = row["content"][last]
    if not series.branch:
        order = ranks(_taken(row["sort_key"], last)), placed_at, first, row["version_id"][last], contents
        return np.lexsort(order[::-1])
    _place_commits_without_time(series, row["commit"], groups, placed_at, first)
    in_order = np.argsort(placed_at, kind="stable")
    if (np.diff(placed_at[in_order]) > 0).all():
        return in_order
    return np.lexsort((contents, first, ranks(_taken(row["commit"], last)), placed_at))


def _place_commits_without_time(
    series: Series, commits: Sequence[str], groups: _Groups, placed_at: Numbers, first: Numbers
) -> None:
    """In ``placed_at``: when another build of theirs was made, or when they were first measured."""
    without = np.flatnonzero(np.isneginf(placed_at))
    if not len(without):
        return
    placed_at[without] = first[without]
    of_groups = _taken(commits, groups.last[without])
    times = times_of_commits({series.product_id}, {series.branch}, {*of_groups} - {""})
    for at, commit in zip(without.tolist(), of_groups, strict=True):
        if found := times.get((series.product_id, series.branch, commit)):
            placed_at[at] = found.timestamp()


def _levels(
    row: _Row, of_run: Indexes, last: Indexes, wanted: Collection[str]
) -> tuple[list[float], Sequence[float | None], Sequence[float | None]]:
    """Value, low and high of each group: of its run, or of several their median and its interval."""
    values: list[float] = row["value"][last].tolist()
    nothing = np.full(len(last), np.nan)
    lows = _known(row["low"][last] if "low" in wanted else nothing)
    highs = _known(row["high"][last] if "high" in wanted else nothing)
    for at, (value, low, high) in _levels_of_several(row, of_run, len(last)).items():
        values[at], lows[at], highs[at] = value, low, high
    return values, lows, highs


def _known(values: Numbers) -> list[float | None]:
    """None for what is not known."""
    unknown = np.isnan(values)
    if unknown.all():
        return [None] * len(values)
    known: list[float | None] = values.tolist()
    for at in np.flatnonzero(unknown).tolist():
        known[at] = None
    return known


def _levels_of_several(
    row: _Row, of_run: Indexes, number: int
) -> dict[int, tuple[float, float | None, float | None]]:
    """By group, of those with several runs."""
    if number == len(of_run):
        return {}
    n = np.bincount(of_run, minlength=number)
    by_group = np.argsort(of_run, kind="stable")
    ends = np.cumsum(n)
    several = np.flatnonzero(n > 1).tolist()
    members = [by_group[ends[at] - n[at] : ends[at]] for at in several]
    values = [row["value"][runs].tolist() for runs in members]
    sessions = [_sessions(row["run"][runs].tolist(), row["tags"]) for runs in members]
    return dict(zip(several, levels_of_groups(values, sessions), strict=True))


def _sessions(run_ids: Sequence[int], tags: Mapping[int, Sequence[str]]) -> tuple[str, ...]:
    return sessions_of([(run, tags.get(run, ())) for run in run_ids]) if tags else ()
