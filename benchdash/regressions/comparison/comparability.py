"""What else than the version differs between the columns of a comparison."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Final

import numpy as np
from django.db import connection

from benchdash.regressions.comparison.cells import Cell, ColumnKey, RowKey
from benchdash.regressions.comparison.columns import Column
from benchdash.regressions.comparison.rows import Row
from benchdash.regressions.comparison.run_commands import are_equally_long, data_size, seconds, told_length
from benchdash.regressions.comparison.version_table import ComparisonTable
from benchdash.regressions.detection import Comparison
from benchdash.regressions.queries import Difference, differences, differing
from benchdash.results.models import Run

_NAMED: Final = 4

_PLACE: Final[tuple[tuple[str, Callable[[Column], str]], ...]] = (
    ("hardware", lambda column: column.hardware),
    ("configurations", lambda column: column.configuration),
    ("counterparts", lambda column: column.counterpart or "none"),
    ("builds", lambda column: column.version.build or "plain"),
)


@dataclass(frozen=True)
class Doubt:
    """One reason why columns may not be compared as they stand; ``details`` where there is more to say."""

    text: str
    details: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """How large the tables of a run were made, and how many seconds it was to last, as far as is known."""

    size: Mapping[str, str]
    seconds: float | None

    @classmethod
    def of(cls, run: Run) -> "Said":
        return cls(data_size(run.options), seconds(run.options, run.duration_s))


# A project's runs were told a handful of things: one row for each, with its runs as texts of bytes. The ids
# are one parameter, because thousands of them, each one of its own, take longer to write than to look up.
_SAID: Final = """
    SELECT options::text, string_agg(int8send(id), ''::bytea),
        string_agg(float8send(coalesce(duration_s, 'NaN')), ''::bytea)
    FROM results_run WHERE id = ANY(%(runs)s) GROUP BY options
"""


def said_of(runs: Collection[int]) -> dict[int, Said]:
    """By the ids of runs; one statement."""
    with connection.cursor() as cursor:
        cursor.execute(_SAID, {"runs": list(runs)})
        rows = cursor.fetchall()
    found = {}
    for written, ids, durations in rows:
        options = json.loads(written)
        size, (length, is_counted) = data_size(options), told_length(options)
        for pk, duration_s in zip(_numbers(ids, ">i8"), _numbers(durations, ">f8"), strict=True):
            took = None if isnan(duration_s) else duration_s
            found[int(pk)] = Said(size, length if length or is_counted else took)
    return found


def _numbers(column: bytes, kind: str) -> list[float]:
    return list(np.frombuffer(column, kind).tolist())


Newest = dict[ColumnKey, dict[RowKey, int]]
"""By column and row the latest run of any metric."""


def doubts(
    tables: Sequence[ComparisonTable], names: Sequence[tuple[Column, str]], base: Column
) -> list[Doubt]:
    """What makes the columns of these tables unlike each other; ``names`` are what the page calls them.

    Two statements.
    """
    single = single_runs(row for table in tables for row in table.rows)
    return [*doubts_of_runs(newest_runs(tables), names, base), *([single] if single else [])]


def doubts_of_runs(newest: Newest, names: Sequence[tuple[Column, str]], base: Column) -> list[Doubt]:
    """In what else than the version the latest runs of columns differ; two statements."""
    facts = _different_facts(newest, names, base)
    return [
        *different_places([column for column, _ in names]),
        *_different_sizes_and_lengths(newest, names, base),
        *([facts] if facts else []),
    ]


def different_places(columns: Sequence[Column]) -> list[Doubt]:
    found = ((what, list(dict.fromkeys(map(part, columns)))) for what, part in _PLACE)
    return [Doubt(f"Different {what}: {listed(values)}.") for what, values in found if len(values) > 1]


def newest_runs(tables: Sequence[ComparisonTable]) -> Newest:
    newest: Newest = defaultdict(dict)
    for table in tables:
        for row in table.rows:
            key = row.workload, row.threads
            for column, cell in zip((table.base, *table.columns), (row.base, *row.cells), strict=True):
                if cell:
                    of_column = newest[column.key]
                    of_column[key] = max(cell.run_id, of_column.get(key, 0))
    return newest


def differently_told(base: Said, other: Said) -> tuple[list[Difference], Difference | None]:
    """In which sizes of tables two runs differ, and in their durations; what is unknown does not differ."""
    sizes = [] if base.size == other.size else _different_sizes(base.size, other.size)
    lengths = base.seconds, other.seconds
    if not lengths[0] or not lengths[1] or are_equally_long(lengths[0], lengths[1]):
        return sizes, None
    return sizes, Difference("duration", f"{lengths[0]:.3g} s", f"{lengths[1]:.3g} s")


def _different_sizes(base: Mapping[str, str], other: Mapping[str, str]) -> list[Difference]:
    known = base.keys() & other.keys()
    return differing({name: base[name] for name in known}, {name: other[name] for name in known})


def told_doubts(
    sizes: Mapping[Difference, Sequence[str]], lengths: Mapping[Difference, Sequence[str]]
) -> list[Doubt]:
    """Of what differs in sizes and durations; each with where it does."""
    return [
        Doubt(
            f"Different {what}: {listed(map(str, found))}.",
            [f"{difference} ({listed(places)})" for difference, places in found.items()],
        )
        for what, found in (("sizes of tables", sizes), ("durations", lengths))
        if found
    ]


def row_words(key: RowKey) -> str:
    """``oltp_read_only, 4 threads``."""
    workload, threads = key
    return workload if threads is None else f"{workload}, {threads:,} thread{'' if threads == 1 else 's'}"


def single_runs(rows: Iterable[Row]) -> Doubt | None:
    """Values of which nothing says how much of a difference is noise."""
    found = list(rows)
    values = sum(cell is not None for row in found for cell in (row.base, *row.cells))
    single = sum(map(_bare, found))
    if not single:
        return None
    which = "All values are" if single == values else f"{single:,} of {values:,} values are"
    return Doubt(f"{which} from single runs: without repeats or a history nothing says what is noise.")


def _different_sizes_and_lengths(
    newest: Newest, names: Sequence[tuple[Column, str]], base: Column
) -> list[Doubt]:
    """Row by row against the base, because workloads may be told differently."""
    said = said_of({run for rows in newest.values() for run in rows.values()})
    sizes: dict[Difference, list[str]] = defaultdict(list)
    lengths: dict[Difference, list[str]] = defaultdict(list)
    of_base = newest.get(base.key, {})
    for column, name in names:
        rows = newest.get(column.key, {}) if column != base else {}
        for key in sorted(rows.keys() & of_base.keys(), key=row_words):
            differ, length = differently_told(said[of_base[key]], said[rows[key]])
            for one in differ:
                sizes[one].append(f"{name}: {row_words(key)}")
            if length:
                lengths[length].append(f"{name}: {row_words(key)}")
    return told_doubts(sizes, lengths)


def _different_facts(newest: Newest, names: Sequence[tuple[Column, str]], base: Column) -> Doubt | None:
    """Settings and facts of the machine in which the newest run of a column differs from that of the base."""
    latest = {column: max(rows.values()) for column, rows in newest.items()}
    found = Run.objects.select_related("content", "environment").defer("content__text")
    runs = found.in_bulk(list(latest.values()))
    base_run = runs.get(latest.get(base.key, 0))
    if base_run is None:
        return None
    by_difference: dict[Difference, list[str]] = defaultdict(list)
    for column, name in names:
        run = runs.get(latest.get(column.key, 0))
        for difference in differences(base_run, run) if run and column != base else []:
            by_difference[difference].append(name)
    if not by_difference:
        return None
    what = sorted({difference.name for difference in by_difference})
    return Doubt(
        f"Different settings or environments: {listed(what)}.",
        [f"{difference} ({', '.join(of)})" for difference, of in by_difference.items()],
    )


def _bare(row: Row) -> int:
    """How many of its values have neither repeats nor an error nor a history to be judged by."""
    compared = list(zip(row.cells, row.comparisons, strict=True))
    judged = [cell is not None and _is_judged(one) for cell, one in compared]
    base = row.base is not None and _is_alone(row.base) and not any(judged)
    others = (cell is not None and _is_alone(cell) and not _is_judged(one) for cell, one in compared)
    return base + sum(others)


def _is_judged(comparison: Comparison | None) -> bool:
    return comparison is not None and comparison.basis != "none"


def _is_alone(cell: Cell) -> bool:
    return cell.n == 1 and cell.tool_interval is None


def listed(names: Iterable[str]) -> str:
    """``a; b; c; d and 3 more``."""
    shown = list(names)
    more = len(shown) - _NAMED
    # Configurations may have names with commas in them.
    return "; ".join(shown[:_NAMED]) + (f" and {more} more" if more > 0 else "")
