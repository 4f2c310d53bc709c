from benchdash.results.wording import metric_name, p_value, short_metric_name, unit_words


def test_a_metric_of_one_operation_is_named_after_both():
    assert metric_name("read.latency_p95") == "read: response time, 95th percentile"
    assert metric_name("statement_1.latency_avg") == "statement 1: response time, average"
    assert short_metric_name("read.latency_p99") == "read: response time p99"


def test_a_metric_of_a_profiler_keeps_its_own_name():
    assert metric_name("gc.alloc.rate.norm") == "gc.alloc.rate.norm"
    assert short_metric_name("gc.alloc.rate.norm") == "gc.alloc.rate.norm"


def test_what_the_intervals_of_a_rate_say_is_named_after_it():
    assert metric_name("tps_worst") == "transactions per second, worst interval"
    assert metric_name("ops_per_s_variation") == "operations per second, variation within a run"
    assert short_metric_name("ops_per_s_worst") == "ops/s worst"
    assert short_metric_name("stalls_per_min") == "stalls/min"
    assert metric_name("my_worst") == "my_worst"


def test_the_unit_of_a_worst_interval_is_said_by_its_name():
    assert (unit_words("tps_worst", "1/s"), unit_words("stalls_per_min", "1/min")) == ("", "")
    assert (unit_words("tps_variation", "%"), unit_words("my_worst", "1/s")) == ("%", "1/s")


def test_a_p_value_has_two_digits_and_no_more_than_three_zeros():
    assert [p_value(value) for value in (0.00012, 0.0341, 0.5, None)] == ["< 0.001", "0.034", "0.50", "–"]
