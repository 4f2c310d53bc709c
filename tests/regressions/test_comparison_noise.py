"""The noise that the cells of one table lend each other."""

import numpy as np
import pytest

from benchdash.regressions.comparison.cells import Cell
from benchdash.regressions.comparison.rows import compared_rows


def cell(values, *, sessions=()):
    return Cell(
        value=float(np.median(values)),
        n=len(values),
        low=None,
        high=None,
        values=tuple(values),
        tool_interval=None,
        series_id=1,
        run_id=1,
        unit="1/s",
        direction="higher",
        sessions=tuple(sessions),
    )


def comparisons(base, other):
    """Of rows 1, 2 ... of two columns."""
    sides = [{("load", number): one for number, one in enumerate(side, 1)} for side in (base, other)]
    return [row.comparisons[0] for row in compared_rows(sides[0], [sides[1]])]


def share_of_tables_with_a_difference(*, rows, session_sd=0.0, trials=1500):
    """Between equal versions with three runs, or sessions, each: any adjusted p < 0.05."""
    rng = np.random.default_rng(4)

    def column():
        session = session_sd * rng.normal(size=(1, 3))
        logs = session + 0.03 * rng.normal(size=(rows, 3))
        return [cell(100 * np.exp(row), sessions="abc" if session_sd else ()) for row in logs]

    found = [min(one.p for one in comparisons(column(), column())) < 0.05 for _ in range(trials)]
    return np.mean(found)


def test_the_runs_of_a_cell_do_not_count_twice_as_their_own_neighbours():
    assert 0.04 <= share_of_tables_with_a_difference(rows=1) <= 0.06
    [alone] = comparisons([cell([100, 102, 98])], [cell([90, 92, 88])])
    assert alone.basis == "runs"


def test_of_tables_of_equal_versions_five_per_cent_show_a_difference_though_rows_share_sessions():
    assert share_of_tables_with_a_difference(rows=5, session_sd=0.03, trials=800) <= 0.065


def test_single_runs_are_judged_by_the_repeats_of_other_rows():
    one, _ = comparisons([cell([100]), cell([50, 51])], [cell([80]), cell([50, 51])])
    assert one.basis == "table"
    assert one.verdict == "worse"


def test_sessions_that_all_rows_share_count_once():
    """Two rows of one session each side: however they agree, they cannot tell."""
    base = [cell([100, 101], sessions="aa"), cell([50, 50.5], sessions="aa")]
    other = [cell([90, 91], sessions="bb"), cell([45, 45.5], sessions="bb")]
    for one in comparisons(base, other):
        assert (one.verdict, one.p, one.basis) == ("unknown", None, "within session")
        assert one.ratio == pytest.approx(0.9, abs=0.01)
        assert one.low < 0.9 < one.high


def test_sessions_of_another_column_are_the_history_of_one_session_each():
    single = [{("load", 1): cell([100, 101], sessions="aa")}, {("load", 1): cell([70, 71], sessions="bb")}]
    repeated = {("load", 1): cell([99, 100, 101], sessions="cde")}
    [row] = compared_rows(single[0], [single[1], repeated])
    assert (row.comparisons[0].basis, row.comparisons[0].verdict) == ("table", "worse")
