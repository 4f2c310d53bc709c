import pytest

from ingest.formats.report import FormatError
from ingest.formats.tables.metric_words import Metric, mentions, metric_named


@pytest.mark.parametrize(
    ("title", "metric"),
    [
        ("Results (Queries per second, unprepared)", "qps"),
        ("queries/second", "qps"),
        ("OLTP read-only, transactions per second", "tps"),
        ("Throughput (tps)", "tps"),
        ("OLTP Readonly response time, 95th percentile (ms)", "latency_p95"),
        ("99.9th percentile latency in ms", "latency_p99_9"),
        ("p99 latency (ms)", "latency_p99"),
        ("Average response time (ms)", "latency_avg"),
        ("response time (average, ms)", "latency_avg"),
        ("latency_p95 by threads", "latency_p95"),
    ],
)
def test_a_title_names_its_metric(title, metric):
    assert [mention.metric.name for mention in mentions(title)] == [metric]


@pytest.mark.parametrize(
    "title", ["OLTP read-only", "my-tps-test", "queries per se", "response time (ms)", "rows per second"]
)
def test_a_title_without_the_words_names_none(title):
    assert list(mentions(title)) == []


def test_a_title_may_name_two_metrics():
    assert [mention.metric.name for mention in mentions("tps and average latency (ms)")] == [
        "tps",
        "latency_avg",
    ]


@pytest.mark.parametrize(
    ("unit", "value", "milliseconds"),
    [("us", 812.5, 0.8125), ("µs", 5.0, 0.005), ("s", 2.5, 2500), ("ms", 4.87, 4.87)],
)
def test_times_become_milliseconds(unit, value, milliseconds):
    metric = metric_named(f"average latency ({unit})")
    reading = metric.reading(value, line=1)
    assert (reading.metric, reading.value, reading.unit) == ("latency_avg", milliseconds, "ms")
    assert reading.printed_unit == ("" if unit == "ms" else unit)


@pytest.mark.parametrize(
    ("head", "metric"),
    [
        ("tps", Metric("tps")),
        ("QPS", Metric("qps")),
        ("latency_p95", Metric("latency_p95")),
        ("latency_p95 (us)", Metric("latency_p95", divisor=1000, printed_unit="us")),
        ("total_time", Metric("total_time")),
        ("queries per second", Metric("qps")),
    ],
)
def test_a_column_head_names_a_metric(head, metric):
    assert metric_named(head) == metric


@pytest.mark.parametrize(
    "head", ["Score", "", "tps of yesterday", "average latency", "latency_p95 (x)", "tps (ms)"]
)
def test_another_column_head_names_none(head):
    assert metric_named(head) is None


def test_a_unit_that_a_metric_cannot_have_is_refused():
    with pytest.raises(FormatError, match="'ms' is not a unit of tps") as caught:
        Metric("tps").in_unit("ms", line=7)
    assert caught.value.line == 7


def test_a_second_is_a_second_where_the_metric_is_in_seconds():
    assert Metric("total_time").in_unit("s", line=1).reading(2.5, line=1).value == 2.5


@pytest.mark.parametrize(
    ("text", "metric", "value"),
    [
        ("tps (k)", "tps", 2000),
        ("QPS (thousands)", "qps", 2000),
        ("QPS, in millions", "qps", 2e6),
        ("queries per second (x1,000)", "qps", 2000),
        ("tps [1/min, higher]", "tps", 2 / 60),
        ("tps (higher is better)", "tps", 2),
        ("nopm [1/s]", "nopm", 120),
        ("p95 latency (min)", "latency_p95", 120_000),
        ("latency_p95 [us, lower]", "latency_p95", 0.002),
    ],
)
def test_a_unit_or_a_scale_behind_a_metric_counts(text, metric, value):
    (mention,) = mentions(text)
    found = mention.metric.reading(2, line=1)
    assert (found.metric, found.value) == (metric, pytest.approx(value))
    assert metric_named(text) == mention.metric


def test_other_words_in_brackets_are_no_unit_and_another_unit_is_of_no_known_metric():
    assert [mention.metric.name for mention in mentions("tps (MySQL 8.0)")] == ["tps"]
    assert list(mentions("latency_p95 [MB]")) == list(mentions("tps (s)")) == []
