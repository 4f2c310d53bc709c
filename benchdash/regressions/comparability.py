"""What else than the version differs between the columns of a comparison."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from benchdash.regressions.comparison import Cell, Column, ComparisonTable, Row
from benchdash.regressions.queries import Difference, differences
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


def doubts(
    tables: Sequence[ComparisonTable], names: Sequence[tuple[Column, str]], base: Column
) -> list[Doubt]:
    """What makes the columns of these tables unlike each other; ``names`` are what the page calls them.

    One statement.
    """
    columns = [column for column, _ in names]
    found = [_different_places(what, columns, part) for what, part in _PLACE]
    found.append(_different_facts(tables, names, base))
    found.append(single_runs(row for table in tables for row in table.rows))
    return [doubt for doubt in found if doubt]


def _different_places(what: str, columns: Sequence[Column], part: Callable[[Column], str]) -> Doubt | None:
    values = list(dict.fromkeys(map(part, columns)))
    return Doubt(f"Different {what}: {listed(values)}.") if len(values) > 1 else None


def _different_facts(
    tables: Sequence[ComparisonTable], names: Sequence[tuple[Column, str]], base: Column
) -> Doubt | None:
    """Settings and facts of the machine in which the newest run of a column differs from that of the base."""
    newest = _newest_runs(tables)
    runs = Run.objects.select_related("content", "environment").in_bulk(list(newest.values()))
    base_run = runs.get(newest.get(base.key, 0))
    if base_run is None:
        return None
    by_difference: dict[Difference, list[str]] = defaultdict(list)
    for column, name in names:
        run = runs.get(newest.get(column.key, 0))
        for difference in differences(base_run, run) if run and column != base else []:
            by_difference[difference].append(name)
    if not by_difference:
        return None
    what = sorted({difference.name for difference in by_difference})
    return Doubt(
        f"Different settings or environments: {listed(what)}.",
        [f"{difference} ({', '.join(of)})" for difference, of in by_difference.items()],
    )


def _newest_runs(tables: Sequence[ComparisonTable]) -> dict[tuple[int, str, int, int, str], int]:
    """By column, the latest run behind any of its cells."""
    newest: dict[tuple[int, str, int, int, str], int] = {}
    for table in tables:
        for row in table.rows:
            for column, cell in zip((table.base, *table.columns), (row.base, *row.cells), strict=True):
                if cell:
                    newest[column.key] = max(cell.run_id, newest.get(column.key, 0))
    return newest


def single_runs(rows: Iterable[Row]) -> Doubt | None:
    """Values of which nothing says how much of a difference is noise."""
    cells = [cell for row in rows for cell in (row.base, *row.cells) if cell]
    single = sum(map(_is_bare, cells))
    if not single:
        return None
    which = "All values are" if single == len(cells) else f"{single:,} of {len(cells):,} values are"
    return Doubt(f"{which} from single runs: without repeats nothing says how much of a difference is noise.")


def _is_bare(cell: Cell) -> bool:
    return cell.n == 1 and cell.tool_interval is None


def listed(names: Iterable[str]) -> str:
    """``a; b; c; d and 3 more``."""
    shown = list(names)
    more = len(shown) - _NAMED
    # Configurations may have names with commas in them.
    return "; ".join(shown[:_NAMED]) + (f" and {more} more" if more > 0 else "")
