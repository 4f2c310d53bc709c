"""Comparison tables made by hand, for the tests of what is drawn of them."""

from dataclasses import replace

from benchdash.regressions.comparison.cells import Cell
from benchdash.regressions.comparison.rows import compared_rows
from benchdash.regressions.comparison.table import ComparisonTable


def cell(*values, unit="1/s", direction="higher", low=None, high=None, sessions=()):
    """A cell whose value is its middle run; ``sessions`` are those of its runs."""
    in_order = sorted(values)
    return Cell(
        value=in_order[len(in_order) // 2],
        n=len(values),
        low=low,
        high=high,
        values=values,
        tool_interval=None,
        series_id=7,
        run_id=1,
        unit=unit,
        direction=direction,
        sessions=sessions,
    )


def rows(base, *columns, grouping=None):
    """Rows of {(workload, threads): cell or value} of the base and of each column."""
    sides = [
        {key: one if isinstance(one, Cell) else cell(one) for key, one in side.items()}
        for side in (base, *columns)
    ]
    return compared_rows(sides[0], sides[1:], group_of=grouping.of if grouping else None)


def judged(found, *verdicts, basis="within session", **fields):
    """The table with these verdicts of its rows in place of those that were found."""
    told = [
        replace(row, comparisons=(row.comparisons[0]._replace(verdict=verdict, basis=basis, **fields),))
        for row, verdict in zip(found.rows, verdicts, strict=True)
    ]
    return replace(found, rows=tuple(told))


def table(base, *columns, metric="tps", grouping=None):
    found = rows(base, *columns, grouping=grouping)
    return ComparisonTable.of(metric, None, (None,) * len(columns), found, grouping=grouping)
