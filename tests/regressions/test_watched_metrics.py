import pytest

from benchdash.regressions.watched_metrics import MetricRules, SmallestChange, rules_of
from benchdash.results.models import ProjectMetric, Series
from tests.builders import make_project, make_series

BY_DEFAULT = MetricRules()


@pytest.mark.parametrize(
    "metric",
    ["tps", "qps", "latency_avg", "latency_p99_9", "score", "nopm", "read.latency_p95", "cpu_per_op"],
)
def test_throughput_response_times_and_costs_are_watched(metric):
    assert BY_DEFAULT.is_watched(metric)


@pytest.mark.parametrize(
    "metric",
    ["latency_max", "read.latency_max", "total_time", "statement_1.latency_avg", "script_2.tps", "cpu_user"],
)
def test_what_follows_from_others_or_hangs_on_a_single_event_is_drawn_only(metric):
    assert not BY_DEFAULT.is_watched(metric)


@pytest.mark.parametrize("metric", ["stalls_per_min", "stalled_percent", "tps_worst", "ops_per_s_variation"])
def test_how_steady_a_run_was_is_drawn_only_because_it_may_be_0(metric):
    assert not BY_DEFAULT.is_watched(metric)


def said(name, **fields):
    return MetricRules({name: ProjectMetric(name=name, **fields)})


@pytest.mark.parametrize(
    ("fields", "is_watched"),
    [
        ({"direction": "unknown"}, False),
        ({"direction": "unknown", "watched": True}, False),
        ({"direction": "lower"}, True),
        ({"direction": "lower", "watched": False}, False),
    ],
)
def test_an_own_metric_is_watched_once_its_direction_is_known(fields, is_watched):
    assert said("latency_max", **fields).is_watched("latency_max") is is_watched


def test_a_project_says_of_known_metrics_whether_they_are_watched():
    assert said("cpu_user", watched=True, is_own=False).is_watched("cpu_user")
    assert not said("tps", watched=False, is_own=False).is_watched("tps")
    assert said("tps", smallest_change=0.1, is_own=False).is_watched("tps")


def test_counts_that_a_project_does_not_watch_are_not_looked_at():
    assert BY_DEFAULT.is_looked_at("errors_per_s")
    assert not said("errors_per_s", watched=False, is_own=False).is_looked_at("errors_per_s")


@pytest.mark.django_db
def test_postgresql_leaves_out_the_same_series_as_python_does():
    project = make_project()
    metrics = ["tps", "qps", "tps_worst", "latency_max", "cpu_user", "latency_p95", "cpu_idle"]
    for metric in metrics:
        make_series([1], project=project, metric=metric)
    ProjectMetric.objects.create(project=project, name="qps", watched=False, is_own=False)
    ProjectMetric.objects.create(project=project, name="cpu_user", watched=True, is_own=False)
    ProjectMetric.objects.create(project=project, name="cpu_idle", smallest_change=0.1, is_own=False)
    Series.objects.filter(metric="latency_p95").update(direction="unknown")
    rules = rules_of(project.pk)
    left = Series.objects.filter(project=project).exclude(rules.unwatched())
    assert {one.metric for one in left} == {"tps", "cpu_user"}
    assert {one.metric for one in Series.objects.filter(project=project) if rules.watches(one)} == {
        "tps",
        "cpu_user",
    }


def test_the_smallest_change_is_a_share_a_difference_or_both():
    assert BY_DEFAULT.smallest_change("recall") is None
    smallest = said("recall", smallest_change_absolute=0.01).smallest_change("recall")
    assert smallest == SmallestChange(None, 0.01)
    assert smallest.is_reached(0.95, 0.94, change=-0.0105)
    assert not smallest.is_reached(0.95, 0.945, change=-0.005)
    both = SmallestChange(0.05, 0.01)
    assert not both.is_reached(0.95, 0.93, change=-0.02)
    assert both.is_reached(0.95, 0.90, change=-0.053)
