from benchdash.results.probes import probe_of


def test_a_rate_goes_before_what_repeats_from_run_to_run():
    figures = [("index_size", 4096.0, "B"), ("latency_p95", 1.5, "ms"), ("tps", 812.25, "1/s")]
    assert probe_of(figures) == probe_of(reversed(figures)) == (812.25, "1/s")
    assert probe_of(figures[:1]) == (4096.0, "B")


def test_a_run_in_which_all_is_zero_has_none():
    assert probe_of([("errors_per_s", 0.0, "1/s")]) is None


def test_prints_that_are_the_same_are_the_same_number():
    assert probe_of([("score", 0.1 * 3, "ms")]) == probe_of([("score", 0.3, "ms")])
