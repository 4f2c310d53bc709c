"""Whole tables at once, against recorded answers."""

import json
from pathlib import Path
from statistics import median

import pytest

from benchdash.regressions.comparison.cells import Cell
from benchdash.regressions.comparison.noise_floors import Floors, NoiseFloor
from benchdash.regressions.comparison.rows import compared_rows
from benchdash.regressions.detection.scatter import ToolInterval

TABLES = json.loads((Path(__file__).parents[1] / "fixtures" / "tables_of_comparisons.json").read_text())


def cell(told):
    low, high, samples = told.get("tool", (None, None, None))
    return Cell(
        value=median(told["values"]),
        n=len(told["values"]),
        low=low,
        high=high,
        values=tuple(told["values"]),
        tool_interval=None if low is None else ToolInterval(low, high, samples),
        series_id=1,
        run_id=1,
        unit=told["unit"],
        direction=told["direction"],
        sessions=tuple(told.get("sessions", ())),
        forks=tuple(told.get("forks", ())),
    )


def close(told):
    """Numbers to nine digits, None and words as they are."""
    return [pytest.approx(one, rel=1e-9) if isinstance(one, float) else one for one in told]


@pytest.mark.parametrize("table", TABLES, ids=range(len(TABLES)))
def test_a_table_of_any_kind_of_cells_has_the_answers_of_its_pairs(table):
    """Several runs, sessions, JMH forks, tools' own errors, missing cells, other units and directions."""
    base, *columns = [
        {(workload, threads): cell(told) for workload, threads, told in column} for column in table["columns"]
    ]

    def noise(pairs):
        names = (f"{row[0]} {row[1]} {one} {other}" for row, one, other in pairs.each())
        return Floors.of(
            NoiseFloor(*table["noise"][name]) if name in table["noise"] else None for name in names
        )

    rows = compared_rows(base, columns, noise=noise, margin=table["margin"], relative_to=table["relative_to"])
    assert [[row.workload, row.threads] for row in rows] == [told["row"] for told in table["rows"]]
    for row, told in zip(rows, table["rows"], strict=True):
        found = [one and [one.low, one.high] for one in (row.base, *row.cells)]
        assert found == [one and close(one) for one in told["intervals"]]
        assert [one and list(one) for one in row.comparisons] == [
            one and close(one) for one in told["comparisons"]
        ]
