import numpy as np
import pytest
from scipy import stats

from benchdash.regressions.detection.compare import (
    Sample,
    adjusted,
    adjusted_p,
    compare_samples,
    median_intervals,
)
from benchdash.regressions.detection.scatter import ToolInterval


def compare(base, other, **options):
    return compare_samples(base, other, **{"direction": "higher", **options})


def median_interval(values, *, noise_sd=np.nan, noise_df=0):
    [low], [high] = median_intervals([values], np.array([noise_sd]), np.array([noise_df]))
    return low, high


def test_the_ratio_is_that_of_the_medians():
    assert compare([100, 102, 101], [50, 52, 60]).ratio == pytest.approx(52 / 101)


@pytest.mark.parametrize(
    ("direction", "verdict"),
    [("higher", "worse"), ("lower", "better")],
)
def test_the_verdict_respects_the_direction(direction, verdict):
    comparison = compare([100, 101, 99, 100], [80, 81, 79, 80], direction=direction)
    assert comparison.verdict == verdict
    assert comparison.high < 0.82
    assert comparison.basis == "runs"


def test_one_run_each_and_nothing_else_known_says_nothing():
    comparison = compare([100], [60])
    assert (comparison.ratio, comparison.p, comparison.low, comparison.verdict) == (
        0.6,
        None,
        None,
        "unknown",
    )
    assert comparison.more_runs == 2


def test_known_noise_makes_one_run_enough():
    comparison = compare([100], [80], history_sd=0.02, history_df=19)
    assert (comparison.verdict, comparison.basis) == ("worse", "history")


def test_runs_that_scatter_more_than_the_history_are_believed_instead():
    assert compare([100, 150, 70], [90, 60, 140], history_sd=0.01, history_df=19).basis == "runs"


def test_the_tools_own_error_serves_one_run_each_and_is_named():
    comparison = compare(
        Sample([100], tool_interval=ToolInterval(98, 102, 10)),
        Sample([80], tool_interval=ToolInterval(78, 82, 10)),
    )
    assert (comparison.verdict, comparison.p, comparison.basis) == ("unknown", None, "tool")
    assert comparison.more_runs == 2


@pytest.mark.parametrize(
    ("value", "direction", "verdict"),
    [(40, "higher", "likely_worse"), (40, "lower", "likely_better"), (60, "higher", "unknown")],
)
def test_one_session_each_is_likely_at_most_and_only_beyond_what_sessions_usually_differ(
    value, direction, verdict
):
    one = compare(Sample([100, 101], "aa"), Sample([value, value * 1.01], "bb"), direction=direction)
    assert (one.verdict, one.p, one.basis, one.more_runs) == (verdict, None, "within session", 2)


def test_repeats_that_scatter_as_much_as_they_differ_are_not_even_likely():
    assert compare(Sample([100, 300], "aa"), Sample([40, 120], "bb")).verdict == "unknown"


def test_the_tools_own_error_is_the_least_that_repeats_are_trusted_with():
    """Three sessions agree to the digit, and the tool says 5 % of each of their runs."""
    wide = {"tool_interval": ToolInterval(97, 103)}
    one = compare(Sample([100] * 3, "abc", **wide), Sample([99.9] * 3, "def", **wide))
    alone = compare(Sample([100] * 3, "abc"), Sample([99.9] * 3, "def"))
    assert (alone.verdict, one.verdict) == ("same", "unknown")
    assert one.high / one.low > 1.05


def test_the_tools_own_error_does_not_count_beside_repeated_runs():
    assert compare(Sample([100, 101], tool_interval=ToolInterval(1, 900, 5)), [80, 82]).basis == "runs"


def test_runs_of_one_session_each_cannot_tell_but_have_an_interval():
    one = compare(Sample([100, 101, 99], "aaa"), Sample([80, 81, 79], "bbb"))
    assert (one.verdict, one.p, one.more_runs, one.basis) == ("unknown", None, 2, "within session")
    assert one.ratio == 0.8
    # exp(t(0.975, 5) x 15 % x sqrt(2)) on either side.
    assert (one.low, one.high) == (pytest.approx(0.46, abs=0.01), pytest.approx(1.38, abs=0.01))
    assert adjusted([one], direction="higher")[0].verdict == "unknown"


def test_a_session_counts_once_however_many_runs_it_has():
    few = compare([100, 104, 98], [80, 83, 79])
    many = compare(Sample([100] * 4 + [104] * 4 + [98] * 4, "aaaabbbbcccc"), Sample([80, 83, 79], "def"))
    assert (many.basis, few.basis) == ("sessions", "runs")
    assert many.p == pytest.approx(few.p)


def test_known_noise_of_sessions_makes_one_session_enough():
    base, other = Sample([100, 101, 99], "aaa"), Sample([80, 81, 79], "bbb")
    known = compare(base, other, history_sd=0.02, history_df=19)
    assert (known.verdict, known.basis) == ("worse", "history")
    assert known.p == pytest.approx(compare([100], [80], history_sd=0.02, history_df=19).p, rel=0.01)


def test_forks_of_one_run_each_are_tested_and_the_interval_of_the_iterations_is_not():
    """Two forks of each that lie 10 % apart say little, however narrow the tool's interval is."""
    narrow = {"tool_interval": ToolInterval(99, 101, 50)}
    other = {"tool_interval": ToolInterval(94, 96, 50)}
    tested = compare(Sample([100], forks=[95, 105], **narrow), Sample([95], forks=[90, 100], **other))
    assert (tested.basis, tested.verdict) == ("forks", "unknown")
    assert tested.more_runs == 2
    assert compare(Sample([100], **narrow), Sample([95], **other)).basis == "tool"


def test_a_single_fork_is_no_test():
    side = {"tool_interval": ToolInterval(99, 101, 50)}
    one = compare(
        Sample([100], forks=[100], **side), Sample([50], forks=[50], tool_interval=ToolInterval(49, 51))
    )
    assert (one.basis, one.p, one.verdict) == ("within fork", None, "unknown")
    assert one.low < 0.5 < one.high


def test_the_margin_of_what_does_not_matter_can_be_chosen():
    base, other = [1000, 1001, 999, 1000], [1030, 1031, 1029, 1030]
    assert compare(base, other).verdict == "better"
    wide = compare(base, other, margin=0.05)
    assert wide.verdict == "same"
    assert adjusted([wide], direction="higher", margin=0.05)[0].verdict == "same"


def test_two_groups_of_equal_size_are_tested_nearly_as_scipy_does():
    """The error is that of the pooled t test; only the degrees of freedom are Welch-Satterthwaite's."""
    base, other = [100.0, 103.0, 98.0, 101.0], [95.0, 96.0, 99.0, 94.0]
    scipy_test = stats.ttest_ind(np.log(base), np.log(other))
    mine = compare(base, other)
    interval = scipy_test.confidence_interval()
    assert mine.p == pytest.approx(scipy_test.pvalue, rel=0.05)
    assert mine.low == pytest.approx(np.exp(-interval.high), rel=1e-3)
    assert mine.high == pytest.approx(np.exp(-interval.low), rel=1e-3)


def test_a_history_is_moderated_as_by_smyth():
    """s^2 = (d0 s0^2 + rss) / (d0 + df), t with d0 + df: by hand for two against two."""
    base, other = np.array([100.0, 102.0]), np.array([95.0, 98.0])
    rss = sum(((side - side.mean()) ** 2).sum() for side in (np.log(base), np.log(other)))
    sd = np.sqrt((10 * 0.02**2 + rss) / 12)
    t = (np.log(other).mean() - np.log(base).mean()) / sd
    expected = 2 * stats.t.sf(abs(t), 12)
    assert compare(base, other, history_sd=0.02, history_df=10).p == pytest.approx(expected)


def test_benjamini_hochberg_as_scipy_has_it():
    p = np.random.default_rng(3).uniform(size=50) ** 2
    assert adjusted_p(np.array(p)) == pytest.approx(stats.false_discovery_control(p))


def test_same_needs_the_whole_interval_within_two_per_cent():
    assert compare([1000, 1001, 999, 1000], [1003, 1002, 1004, 1003]).verdict == "same"
    assert compare([100, 110, 90], [101, 91, 111]).verdict == "unknown"


def test_an_unknown_verdict_says_how_many_more_runs_would_do():
    few = compare([100, 104, 96], [95, 99, 92])
    assert few.verdict == "unknown"
    assert 1 <= few.more_runs <= 5
    as_many = few.more_runs
    settled = compare([100, 104, 96] + [100, 97, 103] * as_many, [95, 99, 92] + [95, 92, 98] * as_many)
    assert settled.verdict == "worse"


def test_no_number_of_runs_is_named_when_it_is_hopeless():
    assert compare([100, 300, 30], [110, 310, 25]).more_runs is None


def test_values_that_are_not_positive_have_no_ratio():
    assert compare([0, 0], [5, 5]).ratio is None
    assert compare([0, 0], [5, 5]).verdict == "unknown"


def test_a_side_without_runs_is_an_error():
    with pytest.raises(ValueError, match="at least one run"):
        compare([], [1])


def test_the_measured_thread_pool_helps_only_at_many_threads():
    """tps of sysbench oltp_read_only on MariaDB 10.11.19: pool-of-threads, then one-thread-per-connection."""
    one = compare([875.08, 975.09, 867.19], [1075.08, 917.29, 1182.92])
    four = compare([913.13, 900.65, 985.37], [905.48, 849.5, 1083.97])
    many = compare([735.87, 680.36, 762.39], [508.43, 524.27, 575.58])
    assert [side.verdict for side in adjusted([one, four, many], direction="higher")] == [
        "unknown",
        "unknown",
        "worse",
    ]


def test_benjamini_hochberg_by_hand():
    found = adjusted_p(np.array([0.01, np.nan, 0.04, 0.03, 0.5]))
    assert found == pytest.approx([0.04, np.nan, 0.16 / 3, 0.16 / 3, 0.5], nan_ok=True)
    assert adjusted_p(np.array([0.6, 0.9])) == pytest.approx([0.9, 0.9])
    assert np.isnan(adjusted_p(np.array([np.nan]))).all()
    assert adjusted_p(np.array([])).size == 0


def test_a_verdict_does_not_outlive_the_size_of_its_table():
    close = compare([100, 102, 98], [95, 97, 93])
    assert close.verdict == "worse"
    others = [compare([100, 110, 90], [100, 91, 111])] * 9
    assert adjusted([close, *others], direction="higher")[0].verdict == "unknown"


def test_equal_runs_have_a_narrow_interval():
    assert median_interval([5, 5, 5]) == pytest.approx((5, 5))


def test_the_interval_holds_the_median():
    low, high = median_interval([1, 100, 100, 100, 100, 100])
    assert low < 100 <= high


def test_the_interval_of_rates_that_may_be_zero_is_plain():
    low, high = median_interval([0, 1, 2])
    assert (low + high) / 2 == pytest.approx(1)


def runs(rng, n):
    return 100 * np.exp(0.03 * rng.normal(size=n))


def share(trial, *, trials=2000):
    rng = np.random.default_rng(20)
    return sum(bool(trial(rng)) for _ in range(trials)) / trials


@pytest.mark.parametrize("n", [2, 3, 5, 20])
def test_ninety_five_per_cent_of_intervals_hold_the_level(n):
    def covered(rng):
        low, high = median_interval(runs(rng, n))
        return low <= 100 <= high

    assert 0.935 <= share(covered) <= 0.965


def test_two_runs_take_the_noise_of_their_neighbours_into_their_interval():
    alone = median_interval([100.0, 101.0])
    steadied = median_interval([100.0, 101.0], noise_sd=0.01, noise_df=40)
    assert alone[0] < 95
    assert alone[1] > 106
    assert steadied == pytest.approx((99.0, 102.0), abs=0.2)
