"""Workloads by versions."""

from benchdash.dashboard.charts.matrix import MatrixLook, is_tested, matrix
from benchdash.dashboard.shell import numbers
from benchdash.results.workload_groups import AUTOMATIC
from tests.dashboard.charts.tables import cell, judged, table

STEADY = (1.0, 1.001, 1.002)


def steady(value, **fields):
    """Three runs that hardly differ."""
    return cell(*(value * factor for factor in STEADY), **fields)


def drawn(found, **look):
    def link(rows, column):
        return f"/{rows[0].workload}/{len(rows)}/{column}"

    return matrix(found, write=numbers.ratio, link=link, look=MatrixLook(**look))


def test_thread_counts_are_folded_to_their_geometric_mean():
    found = table({("ro", 1): 100.0, ("ro", 2): 100.0}, {("ro", 1): 50.0, ("ro", 2): 200.0})
    [row] = drawn(found).rows
    assert (row.workload, row.threads, row.folds) == ("ro", None, 2)
    assert row.cells[0].text == "1.00"
    assert row.cells[0].says == "2 thread counts, 2 runs, 2 not enough to tell"


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
    assert one.says == "90.09 per second, n = 3 in 3 sessions, slower, noise: repeats"
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


def test_thread_counts_that_contradict_each_other_have_no_colour():
    base = {("ro", 1): steady(100.0), ("ro", 2): steady(100.0)}
    found = table(base, {("ro", 1): steady(80.0), ("ro", 2): steady(122.0)})
    one = drawn(found).rows[0].cells[0]
    assert (one.text, one.level) == ("0.99", "mixed")
    assert one.says.endswith("1 faster, 1 slower")


def test_what_was_not_measured_is_empty():
    found = table({("ro", 4): 100.0}, {("ro", 4): 90.0, ("rw", 4): 50.0})
    ro, rw = drawn(found).rows
    assert rw.base is None
    assert rw.cells[0].text == "–"
    assert drawn(table({("ro", 4): 100.0, ("rw", 4): 1.0}, {("ro", 4): 90.0})).rows[1].cells == [None]
    assert ro.cells[0].text == "0.90"


def test_the_total_is_the_mean_of_all_ratios():
    found = table({("ro", 4): 100.0, ("rw", 4): 100.0}, {("ro", 4): 50.0, ("rw", 4): 200.0})
    assert [one.text for one in drawn(found).total.mean] == ["1.00"]


def test_where_directions_differ_everything_is_a_speed_and_each_row_names_its_direction():
    time = {"unit": "ns/op", "direction": "lower"}
    mixed = drawn(
        table(
            {("avgt", None): steady(1.0, **time), ("thrpt", None): steady(1.0)},
            {("avgt", None): steady(2.0, **time), ("thrpt", None): steady(0.5)},
            metric="score",
        )
    )
    assert mixed.is_of_speeds
    cells = [(row.direction, row.cells[0].text, row.cells[0].level) for row in mixed.rows]
    assert cells == [("lower", "0.50", "worse-4"), ("higher", "0.50", "worse-4")]
    assert (mixed.mean_name, mixed.total.mean[0].text) == ("Geometric mean of speeds", "0.50")
    assert mixed.total.mean[0].says == "2 workloads: 2 slower"


def test_a_table_of_one_direction_has_ratios():
    found = drawn(table({("ro", 4): steady(100.0)}, {("ro", 4): steady(50.0)}))
    assert (found.is_of_speeds, found.mean_name, found.rows[0].direction) == (False, "Geometric mean", "")


def test_what_one_session_says_has_a_look_but_no_colour():
    found = table({("ro", 4): 100.0, ("rw", 4): 100.0}, {("ro", 4): 50.0, ("rw", 4): 200.0})
    shown = drawn(judged(found, "likely_worse", "likely_better", more_runs=2))
    assert [row.cells[0].level for row in shown.rows] == ["likely-worse", "likely-better"]
    assert shown.rows[0].cells[0].says == (
        "50.00 per second, n = 1 in 1 session, likely slower (one session),"
        " 2 more sessions of each would settle it, noise: one session each: no test"
    )
    assert shown.total.mean[0].level == "mixed"
    assert len(drawn(judged(found, "likely_worse", "unknown"), only_changed=True).rows) == 1


# --- groups, order, what is shown ---------------------------------------------------------------------------


def grouped(base, *columns):
    return table(base, *columns, grouping=AUTOMATIC)


def names_of(found):
    return [row.workload for row in found.rows]


def test_groups_of_several_workloads_are_sections_with_mean_lowest_and_highest():
    base = dict.fromkeys([("hot-points", 4), ("point-query", 4), ("scan", 4), ("scan", 8)], 100.0)
    change = {("hot-points", 4): 0.5, ("point-query", 4): 2.0, ("scan", 4): 0.9, ("scan", 8): 0.95}
    found = grouped(base, {key: base[key] * by for key, by in change.items()})
    points, ranges = drawn(found, groups=True).sections
    assert (points.name, points.size, names_of(points)) == ("point queries", 2, ["hot-points", "point-query"])
    assert [one.text for one in points.aggregates.mean] == ["1.00"]
    assert (points.aggregates.lowest, points.aggregates.highest) == (["0.50"], ["2.00"])
    assert (ranges.name, names_of(ranges), ranges.aggregates.mean) == ("range queries", ["scan"], ())
    assert [section.name for section in drawn(found).sections] == [""]


def test_a_table_of_one_group_has_no_sections():
    found = grouped({("hot-points", 4): 100.0, ("point-query", 4): 100.0}, {("hot-points", 4): 50.0})
    assert [section.name for section in drawn(found, groups=True).sections] == [""]


def test_groups_only_has_no_rows():
    found = grouped({("hot-points", 4): 100.0, ("scan", 4): 100.0}, {("scan", 4): 90.0})
    sections = drawn(found, groups=True, only_groups=True).sections
    assert [(section.name, section.rows) for section in sections] == [
        ("point queries", []),
        ("range queries", []),
    ]


def test_rows_are_sorted_by_the_step_into_the_last_column_or_by_the_worst():
    base = {("a", 4): 100.0, ("b", 4): 100.0, ("c", 4): 100.0}
    middle = {("a", 4): 50.0, ("b", 4): 90.0, ("c", 4): 100.0}
    last = {("a", 4): 50.0, ("b", 4): 95.0, ("c", 4): 130.0}
    found = table(base, middle, last)
    assert names_of(drawn(found)) == ["a", "b", "c"]
    assert names_of(drawn(found, order="last")) == ["c", "b", "a"]
    assert names_of(drawn(found, order="worst")) == ["a", "b", "c"]


def test_the_worst_of_a_time_is_the_longest():
    unit = {"unit": "ms", "direction": "lower"}
    base = {("a", 4): cell(1.0, **unit), ("b", 4): cell(1.0, **unit)}
    found = table(base, {("a", 4): cell(0.5, **unit), ("b", 4): cell(2.0, **unit)}, metric="latency_avg")
    assert names_of(drawn(found, order="worst")) == ["b", "a"]


def test_only_rows_beyond_the_noise_are_left_and_the_others_counted():
    base = {("ro", 4): steady(100.0), ("rw", 4): steady(100.0)}
    found = table(base, {("ro", 4): steady(90.0), ("rw", 4): steady(100.05)})
    shown = drawn(found, only_changed=True)
    assert (names_of(shown), shown.hidden) == (["ro"], 1)
    # The mean is still that of both.
    assert shown.total.mean == drawn(found).total.mean


def test_sizes_have_colours_only_where_that_is_wanted():
    found = table({("ro", 4): 100.0}, {("ro", 4): 50.0})
    assert not is_tested(found)
    assert drawn(found, by_size=True).rows[0].cells[0].level == "worse-4"
    assert is_tested(table({("ro", 4): steady(100.0)}, {("ro", 4): steady(50.0)}))


def test_a_change_within_the_noise_stays_grey_whatever_colours_are_wanted():
    found = table({("ro", 4): steady(100.0)}, {("ro", 4): steady(100.05)})
    assert drawn(found, by_size=True).rows[0].cells[0].level == "same"


def test_values_and_runs_stand_in_the_cells_where_they_are_wanted():
    found = table({("ro", 4): steady(100.0)}, {("ro", 4): steady(90.0)})
    base, one = drawn(found, values="both").rows[0].base, drawn(found, values="both").rows[0].cells[0]
    assert (one.text, one.below.replace("\N{NO-BREAK SPACE}", " ")) == ("0.90", "90.09, n = 3")
    assert (base.text, base.below.replace("\N{NO-BREAK SPACE}", " ")) == ("100.1", "n = 3")
    one = drawn(found, values="absolute").rows[0].cells[0]
    assert (one.text, one.level) == ("90.09", "worse-3")


def test_one_thread_count_of_all_rows_need_not_stand_in_each():
    assert drawn(table({("a", 4): 1.0, ("b", 4): 1.0}, {})).shares_threads
    assert not drawn(table({("a", 4): 1.0, ("b", 8): 1.0}, {})).shares_threads


def test_a_workload_whose_thread_counts_contradict_each_other_is_no_workload_without_a_change():
    base = {("ro", 1): steady(100.0), ("ro", 2): steady(100.0), ("rw", 1): steady(100.0)}
    other = {("ro", 1): steady(80.0), ("ro", 2): steady(122.0), ("rw", 1): steady(100.0)}
    found = drawn(table(base, other), only_changed=True)
    assert (names_of(found), found.hidden) == (["ro"], 1)


def test_a_mean_over_fewer_workloads_than_the_table_has_says_so():
    base = {("a", 1): 100.0, ("b", 1): 100.0, ("c", 1): 100.0}
    found = drawn(table(base, {("a", 1): 50.0, ("b", 1): 50.0}, dict.fromkeys(base, 90.0)))
    assert [(cell.text, cell.below) for cell in found.total.mean] == [
        ("0.50", "2 of 3 workloads"),
        ("0.90", ""),
    ]
