from benchdash.results.wording import metric_name, short_metric_name


def test_a_metric_of_one_operation_is_named_after_both():
    assert metric_name("read.latency_p95") == "read: response time, 95th percentile"
    assert metric_name("statement_1.latency_avg") == "statement 1: response time, average"
    assert short_metric_name("read.latency_p99") == "read: response time p99"


def test_a_metric_of_a_profiler_keeps_its_own_name():
    assert metric_name("gc.alloc.rate.norm") == "gc.alloc.rate.norm"
    assert short_metric_name("gc.alloc.rate.norm") == "gc.alloc.rate.norm"
