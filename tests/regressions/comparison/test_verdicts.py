"""One verdict of a cell, of a row over thread counts, of a table, and of the newest night."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchdash.regressions.comparison.verdict_words import MIXED, side_of
from benchdash.regressions.comparison.verdicts import of_cell, of_night, of_row, of_table
from benchdash.results.readings import HIGHER, LOWER, UNKNOWN
from tests.dashboard.charts.tables import cell, judged, table

VERDICTS = ["same", "unknown", "worse", "better", "likely_worse", "likely_better"]
MARGIN = 0.02


@pytest.mark.parametrize(
    ("cells", "verdict"),
    [
        (["same", "same"], "same"),
        (["same", "", "same"], "same"),
        (["same", "unknown"], "unknown"),
        (["worse", *["same"] * 5], "worse"),
        (["worse", "likely_worse", "unknown"], "worse"),
        (["likely_worse", "same"], "likely_worse"),
        (["worse", "better"], MIXED),
        (["worse", "likely_better"], MIXED),
        (["", ""], ""),
    ],
)
def test_a_row_is_as_certain_as_the_most_certain_of_its_thread_counts(cells, verdict):
    assert of_row(cells) == verdict


def test_a_row_is_mixed_where_a_thread_count_contradicts_the_mean():
    assert of_row(["worse", "unknown"], -0.1, HIGHER) == "worse"
    assert of_row(["worse", "unknown"], 0.1, LOWER) == "worse"
    assert of_row(["worse", "unknown"], 0.1, HIGHER) == MIXED
    assert of_row(["worse", "unknown"], 0.0, HIGHER) == "worse"


def of_workloads(*workloads, change=-0.05, direction=HIGHER):
    """The verdict of a table with a list of verdicts by thread count for each workload."""
    keys = [(f"w{at}", threads) for at, cells in enumerate(workloads) for threads in range(len(cells))]
    sides = [
        {key: cell(value, direction=direction) for key in keys} for value in (100.0, 100.0 * (1 + change))
    ]
    found = judged(table(*sides), *(verdict for cells in workloads for verdict in cells))
    return of_table(found.rows, 0, margin=MARGIN)


def test_a_table_is_as_certain_as_a_third_of_its_workloads():
    assert of_workloads(["worse"], ["unknown"], ["same"]) == "worse"
    assert of_workloads(["worse"], ["unknown"], ["unknown"], ["same"]) == "unknown"
    assert of_workloads(["likely_worse"], ["unknown"], ["same"]) == "likely_worse"
    assert of_workloads(["worse"], ["likely_worse"], *[["same"]] * 4) == "likely_worse"
    assert of_workloads(["worse"], ["likely_better"]) == MIXED
    assert of_workloads(["worse"], ["same"], change=-0.01) == "unknown"
    assert of_workloads(["worse"], ["worse"], change=0.05, direction=LOWER) == "worse"
    assert of_workloads(["same"], ["same"], change=0.001) == "same"


def test_a_workload_with_many_thread_counts_is_one_of_the_workloads_of_a_table():
    quiet = ["same"] * 12
    assert of_workloads(["worse", "same"], ["unknown"], quiet) == "worse"
    assert of_workloads(quiet, ["worse"], ["unknown"], ["unknown"]) == "unknown"


def test_the_table_of_one_workload_says_what_its_row_says():
    assert of_workloads(["worse", *["same"] * 5], change=-0.001) == "worse"
    assert of_workloads(["worse", "better"]) == MIXED


@given(st.lists(st.lists(st.sampled_from(VERDICTS), min_size=1, max_size=4), min_size=1, max_size=5))
def test_nothing_is_called_the_same_beside_a_difference_nor_certain_without_one(workloads):
    cells = [verdict for of_threads in workloads for verdict in of_threads]
    verdict = of_workloads(*workloads)
    assert (verdict == "same") == (set(cells) == {"same"})
    if verdict in ("worse", "better"):
        assert verdict in cells
        assert {side_of(one) for one in cells} <= {"", verdict}
    for of_threads in workloads:
        assert of_workloads(of_threads) == of_row(of_threads, -0.05, HIGHER)


def test_what_was_not_measured_on_both_sides_has_no_verdict():
    found = table({("w", 1): 100.0, ("x", 1): 100.0}, {("w", 1): 90.0})
    assert of_cell(found.rows[1].comparisons[0]) == ""
    [told, untold] = judged(replace(found, rows=found.rows[:1]), "worse").rows, found.rows[1:]
    assert of_table([*told, *untold], 0, margin=MARGIN) == "worse"
    assert of_table(untold, 0, margin=MARGIN) == ""


def test_a_single_night_is_never_certain():
    assert of_night(0.97, 0.01, HIGHER) == "likely_worse"
    assert of_night(0.97, 0.01, LOWER) == "likely_better"
    assert of_night(0.995, 0.01, HIGHER) == "same"
    assert of_night(0.97, 0.01, UNKNOWN) == "unknown"
    assert of_night(None, 0.01, HIGHER) == of_night(0.97, None, HIGHER) == "unknown"
