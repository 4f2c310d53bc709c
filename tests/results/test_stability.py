"""How steady a run was, by numbers that can be checked by eye."""

import pytest

from benchdash.accounts.models import Project
from benchdash.results.readings import HIGHER, LOWER
from benchdash.results.records import SampleTable
from benchdash.results.stability import (
    DEFAULT_RULE,
    Interval,
    Rule,
    intervals,
    stability_of_run,
    stall_rule,
    throughput_metric,
    warmup_seconds,
)

# Twelve seconds: one stall of one second, one of two, and a dip that is none.
TWELVE = [100.0, 100.0, 10.0, 100.0, 100.0, 60.0, 100.0, 0.0, 20.0, 100.0, 100.0, 100.0]


def table(values, *, step=1.0, metric="tps", source="sysbench"):
    rows = tuple((step * number, value) for number, value in enumerate(values, 1))
    return SampleTable(source, ("time_s", metric), rows)


def steadiness(values, *, said=None, duration_s=None, rule=None, **parts):
    tables = [table(values, **parts)]
    return stability_of_run(tables, said=said or {}, duration_s=duration_s, rule=rule or Rule())


def spans(found):
    return [(stall.start, stall.end) for stall in found.stalls]


# --- stalls ---------------------------------------------------------------------------------------------


def test_seconds_below_half_of_the_median_that_follow_each_other_are_one_stall():
    found = steadiness(TWELVE)
    assert (found.median, found.limit) == (100, 50)
    assert spans(found) == [(2, 3), (7, 9)]
    assert [(stall.lowest, stall.mean) for stall in found.stalls] == [(10, 10), (0, 10)]
    assert found.stalls_per_min == 2 / 12 * 60
    assert found.stalled_percent == 3 / 12 * 100


def test_exactly_half_of_the_median_is_no_stall():
    assert spans(steadiness([100.0] * 10 + [50.0, 49.9])) == [(11, 12)]


def test_a_steady_run_has_no_stall_and_a_variation_of_zero():
    found = steadiness([100.0] * 10)
    assert (found.stalls, found.stalls_per_min, found.stalled_percent) == ([], 0, 0)
    assert (found.variation, found.worst) == (0, 100)


def test_variation_is_the_standard_deviation_in_per_cent_of_the_mean():
    # Mean 100; squared deviations 10 x 100 over n - 1 = 9.
    found = steadiness([90.0, 110.0] * 5)
    assert found.variation == pytest.approx((1000 / 9) ** 0.5)
    assert found.worst == 90


def test_a_run_that_stood_still_for_most_of_its_time_is_measured_by_what_it_did_otherwise():
    found = steadiness([100.0, 0.0, 0.0] * 4)
    assert found.median == 100
    assert found.stalled_percent == pytest.approx(8 / 12 * 100)
    assert len(found.stalls) == 4


def test_a_stall_shorter_than_asked_for_is_none():
    values = [100.0] * 10 + [0.0] + [100.0] * 5 + [0.0, 0.0] + [100.0]
    assert spans(steadiness(values, step=0.5)) == [(8, 9)]
    assert spans(steadiness(values, step=0.5, rule=Rule(min_s=0.5))) == [(5, 5.5), (8, 9)]


def test_the_threshold_is_that_of_the_rule():
    assert spans(steadiness(TWELVE, rule=Rule(below=0.7))) == [(2, 3), (5, 6), (7, 9)]
    assert steadiness(TWELVE, rule=Rule(below=0.05)).stalls_per_min == 5


def test_too_few_intervals_say_nothing():
    assert steadiness([100.0] * 9) is None
    assert steadiness([100.0] * 9, rule=Rule(fewest=9)) is not None
    assert steadiness([100.0], rule=Rule(fewest=0)) is None


def test_a_run_that_did_nothing_has_no_stalls():
    assert steadiness([0.0] * 20) is None


def test_readings_have_units_and_directions():
    found = {one.metric: (one.value, one.unit, one.direction) for one in steadiness(TWELVE).readings()}
    assert found["stalls_per_min"] == (10, "1/min", LOWER)
    assert found["stalled_percent"] == (25, "%", LOWER)
    assert found["tps_worst"] == (0, "1/s", HIGHER)
    value, unit, direction = found["tps_variation"]
    assert (unit, direction) == ("%", LOWER)
    assert value == pytest.approx(54.68, abs=0.01)


def test_worst_and_variation_are_named_after_what_was_counted():
    found = steadiness([100.0] * 10, metric="read_mib_per_s").readings()
    assert [(one.metric, one.unit) for one in found[2:]] == [
        ("read_mib_per_s_variation", "%"),
        ("read_mib_per_s_worst", "MiB/s"),
    ]


# --- intervals ------------------------------------------------------------------------------------------


def test_an_interval_begins_where_the_one_before_ended():
    found = intervals(SampleTable("x", ("tps", "time_s"), ((50.0, 10.0), (60.0, 20.0), (10.0, 50.0))), "tps")
    assert found == [Interval(0, 10, 50), Interval(10, 20, 60), Interval(20, 50, 10)]


def test_what_was_printed_late_stalled_for_all_the_time_it_stands_for():
    rows = (*((float(second), 100.0) for second in range(1, 11)), (15.0, 10.0))
    found = stability_of_run(
        [SampleTable("x", ("time_s", "tps"), rows)], said={}, duration_s=None, rule=Rule()
    )
    assert spans(found) == [(10, 15)]
    assert found.stalled_percent == pytest.approx(5 / 15 * 100)


def test_rows_without_a_number_or_without_time_between_them_are_no_intervals():
    rows = ((0.0, None), (1.0, 100.0), (2.0, None), (3.0, 90.0), (3.0, 5.0), (2.5, 7.0), (None, 8.0))
    found = intervals(SampleTable("x", ("time_s", "tps"), rows), "tps")
    assert found == [Interval(0, 1, 100), Interval(2, 3, 90)]


def test_a_last_interval_that_was_cut_short_is_left_out():
    rows = ((1.0, 100.0), (2.0, 100.0), (3.0, 100.0), (3.4, 10.0))
    assert [one.end for one in intervals(SampleTable("x", ("time_s", "tps"), rows), "tps")] == [1, 2, 3]


def test_time_that_begins_late_is_not_counted_from_zero():
    found = intervals(SampleTable("x", ("time_s", "tps"), ((100.0, 1.0), (101.0, 2.0))), "tps")
    assert [(one.start, one.end) for one in found] == [(99, 100), (100, 101)]


def test_throughput_is_what_the_test_did():
    columns = ("time_s", "read_mib_per_s", "written_mib_per_s")
    assert throughput_metric(SampleTable("x", columns, ((1.0, 0.0, 20.0),))) == "written_mib_per_s"
    assert throughput_metric(SampleTable("x", columns, ((1.0, 0.0, 0.0),))) == "read_mib_per_s"
    assert throughput_metric(SampleTable("x", ("time_s", "us"), ((1.0, 0.0),))) is None


def test_histograms_iterations_and_counters_without_a_time_say_nothing():
    tables = [
        SampleTable("histogram", ("latency_ms", "count"), ((1.0, 5.0),) * 20),
        SampleTable("iterations", ("fork", "iteration", "score"), ((1.0, 1.0, 5.0),) * 20),
        SampleTable("transaction counter", ("reading", "tpm"), ((1.0, 5.0),) * 20),
    ]
    assert stability_of_run(tables, said={}, duration_s=None, rule=Rule()) is None
    assert stability_of_run([], said={}, duration_s=None, rule=Rule()) is None


# --- warm-up --------------------------------------------------------------------------------------------


def test_the_warm_up_that_the_sender_names_is_left_out():
    found = steadiness([5.0, 5.0, *[100.0] * 10], said={"warmup_s": 2})
    assert (found.stalls, found.worst, found.warmup_s, found.seconds) == ([], 100, 2, 10)
    assert steadiness([5.0, 5.0, *[100.0] * 9], said={"warmup_s": 2}) is None


def test_an_interval_that_began_in_the_warm_up_belongs_to_it():
    assert steadiness([5.0, *[100.0] * 10], step=2.0, said={"warmup_s": 1.5}).worst == 100


def test_without_a_word_the_warm_up_is_that_of_the_rule():
    assert steadiness([5.0, *[100.0] * 10], rule=Rule(warmup_s=1)).worst == 100
    assert steadiness([5.0, *[100.0] * 10], rule=Rule(warmup_s=1), said={"warmup_s": 0}).worst == 5


def test_the_warm_up_of_a_tool_counts_where_its_lines_go_on_for_longer_than_it_measured():
    said = {"warmup-time": 5}
    assert warmup_seconds(said, 65.0, 60.0) == 5
    assert warmup_seconds(said, 60.0, 60.0) == 0
    assert warmup_seconds(said, 65.0, None) == 0
    assert warmup_seconds(said, 65.0, 60.0, default=9) == 5


@pytest.mark.parametrize("nonsense", ["5", True, None, -1, float("nan")])
def test_what_is_no_number_of_seconds_is_no_warm_up(nonsense):
    assert warmup_seconds({"warmup_s": nonsense}, 60.0, 60.0) == 0


def test_the_settings_have_the_rule_that_numbers_have_without_them():
    assert stall_rule(Project()) == DEFAULT_RULE


def test_a_project_may_have_a_rule_of_its_own(settings):
    settings.STALL_BELOW = 0.3
    settings.STALL_FEWEST_INTERVALS = 20
    options = {"stall_min_s": 5, "stall_warmup_s": 60}
    assert stall_rule(Project(options=options)) == Rule(below=0.3, min_s=5, fewest=20, warmup_s=60)
    assert stall_rule(Project(options={"stall_below": 0.8})).below == 0.8
