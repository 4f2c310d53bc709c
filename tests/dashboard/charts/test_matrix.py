"""Workloads by versions."""

from benchdash.dashboard import numbers
from benchdash.dashboard.charts.matrix import matrix
from tests.dashboard.charts.tables import cell, table

STEADY = (1.0, 1.001, 1.002)


def steady(value, **fields):
    """Three runs that hardly differ."""
    return cell(*(value * factor for factor in STEADY), **fields)


def drawn(found, opened=()):
    def link(rows, column):
        return f"/{rows[0].workload}/{len(rows)}/{column}"

    return matrix(found, write=numbers.ratio, link=link, opened=opened)


def test_thread_counts_are_folded_to_their_geometric_mean():
    found = table({("ro", 1): 100.0, ("ro", 2): 100.0}, {("ro", 1): 50.0, ("ro", 2): 200.0})
    [row] = drawn(found).rows
    assert (row.workload, row.threads, row.folds) == ("ro", None, 2)
    assert row.cells[0].text == "1.00"
    assert row.cells[0].says == "2 thread counts, 2 runs, 2 unknown"


def test_an_opened_workload_has_a_row_for_each_thread_count():
    found = table({("ro", 1): 100.0, ("ro", 16): 400.0}, {("ro", 1): 50.0, ("ro", 16): 800.0})
    whole, *parts = drawn(found, opened={"ro"}).rows
    assert whole.is_open
    assert [(part.threads, part.is_part, part.cells[0].text) for part in parts] == [
        (1, True, "0.50"),
        (16, True, "2.00"),
    ]
    assert [part.base.text for part in (whole, *parts)] == ["200.0", "100.0", "400.0"]


def test_a_cell_says_value_runs_and_verdict_and_leads_somewhere():
    found = table({("ro", 4): steady(100.0)}, {("ro", 4): steady(90.0)})
    [row] = drawn(found).rows
    assert row.threads == 4
    [one] = row.cells
    assert (one.text, one.level) == ("0.90", "worse-3")
    assert one.says == "90.09 per second, n = 3, worse, noise: repeats"
    assert one.url == "/ro/1/0"
    assert row.base.url == "/ro/1/None"


def test_a_longer_time_is_worse():
    unit = {"unit": "ms", "direction": "lower"}
    found = table(
        {("ro", 4): steady(100.0, **unit)}, {("ro", 4): steady(107.0, **unit)}, metric="latency_p95"
    )
    assert drawn(found).rows[0].cells[0].level == "worse-2"


def test_single_runs_have_no_colour():
    found = table({("ro", 4): 100.0}, {("ro", 4): 50.0})
    assert drawn(found).rows[0].cells[0].level == "unknown"


def test_thread_counts_that_contradict_each_other_are_coloured_by_their_mean_alone():
    base = {("ro", 1): steady(100.0), ("ro", 2): steady(100.0)}
    found = table(base, {("ro", 1): steady(80.0), ("ro", 2): steady(122.0)})
    one = drawn(found).rows[0].cells[0]
    assert (one.text, one.level) == ("0.99", "same")
    assert one.says.endswith("1 better, 1 worse")


def test_what_was_not_measured_is_empty():
    found = table({("ro", 4): 100.0}, {("ro", 4): 90.0, ("rw", 4): 50.0})
    ro, rw = drawn(found).rows
    assert rw.base is None
    assert rw.cells[0].text == "–"
    assert drawn(table({("ro", 4): 100.0, ("rw", 4): 1.0}, {("ro", 4): 90.0})).rows[1].cells == [None]
    assert ro.cells[0].text == "0.90"


def test_the_total_is_the_mean_of_all_ratios_where_all_go_in_one_direction():
    found = table({("ro", 4): 100.0, ("rw", 4): 100.0}, {("ro", 4): 50.0, ("rw", 4): 200.0})
    assert [one.text for one in drawn(found).total] == ["1.00"]
    mixed = table(
        {("avgt", None): cell(1.0, unit="ns/op", direction="lower"), ("thrpt", None): cell(1.0)},
        {("avgt", None): cell(2.0, unit="ns/op", direction="lower"), ("thrpt", None): cell(2.0)},
    )
    assert drawn(mixed).total == []
