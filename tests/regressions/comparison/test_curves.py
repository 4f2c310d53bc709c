from benchdash.regressions.comparison.curves import curve_of, curves_of
from tests.dashboard.charts.tables import cell, table


def test_a_curve_goes_by_rising_threads_and_has_a_shape():
    curve = curve_of({8: cell(240.0), 1: cell(100.0), 4: cell(300.0), 2: cell(190.0)})
    assert [point.threads for point in curve.points] == [1, 2, 4, 8]
    assert curve.shape.peak.threads == 4


def test_response_times_and_single_points_are_no_curves():
    assert curve_of({n: cell(1.0, unit="ms", direction="lower") for n in (1, 2, 4, 8)}) is None
    assert curve_of({4: cell(100.0)}) is None


def test_the_curves_of_a_table_are_those_of_each_workload_and_column():
    base = {("ro", 1): 100.0, ("ro", 2): 190.0, ("rw", 1): 50.0, ("rw", None): 70.0}
    other = {("ro", 1): 110.0, ("ro", 2): cell(3.0, unit="1/min")}
    found = curves_of(table(base, other))
    assert [(one.workload, sorted(one.cells)) for one in found] == [("ro", [1, 2])]
