import numpy as np
import pytest

from benchdash.regressions.detection.curves import CurvePoint, scale_up, shape_of
from benchdash.regressions.detection.growing_tables import joint_looks


def curve(*values, threads=None, **fields):
    """One run each at 1, 2, 4 ... threads; a list in place of a value gives several runs."""
    counts = threads or [2**number for number in range(len(values))]
    return [
        CurvePoint(
            count, sorted(runs := value if isinstance(value, list) else [value])[len(runs) // 2], tuple(runs)
        )
        for count, value in zip(counts, values, strict=True)
    ]


def test_the_peak_is_the_largest_value_and_the_tail_is_measured_from_it():
    shape = shape_of(curve(100, 190, 300, 240))
    assert (shape.peak.threads, shape.peak.value) == (4, 300)
    assert shape.tail_off == pytest.approx(-0.2)


def test_a_curve_that_still_rises_has_no_tail():
    shape = shape_of(curve(100, 190, 300, 400))
    assert shape.peak.threads == 8
    assert shape.tail_off == 0


def test_without_repeats_nobody_knows_where_else_the_peak_could_be():
    assert shape_of(curve(100, 190, 300, 299)).peak.among == ()


def test_counts_whose_repeats_overlap_with_those_of_the_peak_may_be_the_peak():
    shape = shape_of(curve([99, 101], [195, 205], [290, 310], [289, 308]))
    assert shape.peak.threads == 4
    assert shape.peak.among == (4, 8)


def test_repeats_of_one_session_are_one():
    """Three runs of one session say nothing of the next session; two sessions of them do."""
    points = curve(100, 190, 300, [299, 300, 301])
    assert shape_of(points).peak.among == (4, 8)
    of_one = [*points[:3], CurvePoint(8, 300.0, (299.0, 300.0, 301.0), ("a", "a", "a"))]
    assert shape_of(of_one).peak.among == ()


def test_the_knee_is_where_twice_the_threads_bring_less_than_41_per_cent_more():
    """1 to 2: +90 %, 2 to 4: +58 %, 4 to 8: +33 %."""
    assert shape_of(curve(100, 190, 300, 400)).knee == 4
    assert shape_of(curve(100, 90, 80, 70)).knee == 1


def test_a_peak_that_jumps_about_on_a_plateau_is_hardly_ever_told():
    rng = np.random.default_rng(7)
    plateau = np.array([1000, 1900, 3500, 5000, 5050, 5080, 5100])
    told = 0
    for _ in range(10):
        nights = plateau * np.exp(rng.normal(0, 0.03, (60, 7)))
        peaks = np.array([float(shape_of(curve(*night)).peak.threads) for night in nights])
        assert len(set(peaks)) == 4
        key = ("ro", "curve_peak_threads")
        *_, found = joint_looks({key: peaks}, {key: "higher"}, first_new=8)
        told += sum(one.state == "confirmed" for one in found)
    assert told <= 1


def test_points_may_come_in_any_order():
    assert shape_of(curve(100, 190, 300, 240)[::-1]) == shape_of(curve(100, 190, 300, 240))


@pytest.mark.parametrize("values", [[100, 190, 300], [100, 190, 0, 240], [100, 190, [300, -1], 240]])
def test_too_few_counts_and_runs_that_did_nothing_have_no_shape(values):
    assert shape_of(curve(*values)) is None


def test_no_threads_have_no_shape():
    assert shape_of(curve(1, 2, 3, 4, threads=[0, 1, 2, 4])) is None


def test_scale_up_between_any_two_counts_and_its_efficiency():
    points = curve(100, 1743, 2980, threads=[1, 32, 64])
    assert scale_up(points, 32, 64).factor == pytest.approx(1.71, abs=0.001)
    whole = scale_up(points, 1, 64)
    assert whole.factor == pytest.approx(29.8)
    assert whole.efficiency == pytest.approx(29.8 / 64)
    assert scale_up(points, 64, 1).factor == pytest.approx(1 / 29.8)


def test_there_is_no_scale_up_to_a_count_that_was_not_measured():
    assert scale_up(curve(100, 190), 1, 4) is None
    assert scale_up(curve(0, 190), 1, 2) is None
    assert scale_up(curve(5, 190, threads=[0, 2]), 0, 2) is None
