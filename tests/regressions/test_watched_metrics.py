import pytest
from django.db import connection

from benchdash.regressions.watched_metrics import UNWATCHED_METRICS, is_watched


@pytest.mark.parametrize(
    "metric",
    ["tps", "qps", "latency_avg", "latency_p99_9", "score", "nopm", "read.latency_p95", "cpu_per_op"],
)
def test_throughput_response_times_and_costs_are_watched(metric):
    assert is_watched(metric)


@pytest.mark.parametrize(
    "metric",
    ["latency_max", "read.latency_max", "total_time", "statement_1.latency_avg", "script_2.tps", "cpu_user"],
)
def test_what_follows_from_others_or_hangs_on_a_single_event_is_drawn_only(metric):
    assert not is_watched(metric)


@pytest.mark.parametrize("metric", ["stalls_per_min", "stalled_percent", "tps_worst", "ops_per_s_variation"])
def test_how_steady_a_run_was_is_drawn_only_because_it_may_be_0(metric):
    assert not is_watched(metric)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "metric", ["tps", "tps_worst", "latency_max", "read.latency_max", "gc.count", "statement_12.tps"]
)
def test_postgresql_reads_the_pattern_as_python_does(metric):
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s ~ %s", [metric, UNWATCHED_METRICS])
        assert cursor.fetchone()[0] is not is_watched(metric)
