"""How numbers, changes, times and states are written."""

from datetime import UTC, datetime, timedelta

import pytest
from django.template import engines

from benchdash.dashboard.shell import numbers

NOW = datetime(2026, 3, 2, 16, 58, 3, tzinfo=UTC)


def rendered(template, **context):
    return engines["django"].from_string("{% load figures %}" + template).render(context)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (15344.4, "15,344"),
        (1234567, "1,234,567"),
        (999.96, "1,000"),
        (153.44, "153.4"),
        (1.5, "1.500"),
        (0.01534, "0.01534"),
        (0.0000001534, "1.534e−07"),
        (-12.5, "−12.50"),
        (0, "0"),
        (None, "–"),
        (float("nan"), "–"),
    ],
)
def test_a_number_has_separated_thousands_or_four_digits(value, text):
    assert numbers.number(value) == text


def test_fewer_digits_may_be_asked_for():
    assert numbers.number(153.44, digits=3) == "153"
    assert numbers.number(1.534, digits=2) == "1.5"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-0.084, "−8.4\u00a0%"),
        (0.123, "+12.3\u00a0%"),
        (0.0004, "0.0\u00a0%"),
        (-0.0004, "0.0\u00a0%"),
        (12.0, "+1,200.0\u00a0%"),
        (None, "–"),
    ],
)
def test_a_change_has_a_sign_and_one_decimal(value, text):
    assert numbers.change(value) == text


def test_a_ratio_has_two_decimals():
    assert [numbers.ratio(value) for value in (0.9216, 1, None)] == ["0.92", "1.00", "–"]


def test_an_interval_is_written_as_its_larger_half():
    assert numbers.plus_minus(100, 96, 103) == "±\u00a04.0"
    assert numbers.plus_minus(100, None, None) == ""


def test_the_interval_of_equal_runs_is_zero():
    assert numbers.plus_minus(0.01, 0.01, 0.010000000000000002) == "±\u00a00"
    assert numbers.plus_minus(100, 1, 9000) == "±\u00a0over\u00a0100\u00a0%"
    assert numbers.plus_minus(0, 0, 4) == "±\u00a04.0"


@pytest.mark.parametrize(
    ("change", "direction", "level"),
    [
        (-0.019, "higher", "same"),
        (-0.02, "higher", "worse-1"),
        (-0.05, "higher", "worse-2"),
        (-0.10, "higher", "worse-3"),
        (-0.20, "higher", "worse-4"),
        (0.07, "higher", "better-2"),
        (0.07, "lower", "worse-2"),
        (-0.30, "lower", "better-4"),
        (None, "higher", "unknown"),
    ],
)
def test_the_level_of_a_change_knows_which_direction_is_better(change, direction, level):
    assert numbers.level(change, direction) == level


def test_a_verdict_decides_over_the_size_of_a_change():
    assert numbers.level(-0.15, "higher", "same") == "same"
    assert numbers.level(-0.15, "higher", "unknown") == "unknown"
    assert numbers.level(-0.01, "higher", "worse") == "worse-1"


def test_a_ratio_has_the_level_of_its_change():
    assert numbers.ratio_level(0.92, "higher") == "worse-2"
    assert numbers.ratio_level(1.08, "lower") == "worse-2"
    assert numbers.ratio_level(None, "lower") == "unknown"


def test_metrics_are_named_in_words():
    assert numbers.metric_name("tps") == "transactions per second"
    assert numbers.metric_name("latency_p95") == "response time, 95th percentile"
    assert numbers.metric_name("latency_p99_9") == "response time, 99.9th percentile"
    assert numbers.metric_name("gc.alloc.rate.norm") == "gc.alloc.rate.norm"


def test_an_axis_carries_unit_and_direction():
    assert numbers.axis_title("tps", "1/s", "higher") == "tps, higher is better"
    assert numbers.axis_title("latency_p95", "ms", "lower") == "response time p95 (ms), lower is better"
    assert numbers.axis_title("score", "ns/op", "lower") == "score (ns/op), lower is better"


@pytest.mark.parametrize(
    ("passed", "text"),
    [
        (timedelta(seconds=20), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(hours=3, minutes=50), "3 hours ago"),
        (timedelta(days=12), "12 days ago"),
        (timedelta(days=70), "2 months ago"),
        (timedelta(days=500), "18 Oct 2024"),
        (timedelta(hours=-2), "in 2 hours"),
    ],
)
def test_times_are_relative_to_now(passed, text):
    assert numbers.ago(NOW - passed, NOW) == text


def test_a_relative_time_keeps_the_exact_one():
    html = rendered("{{ time|ago }}", time=datetime(2020, 3, 2, 16, 58, 3, tzinfo=UTC))
    assert html == (
        '<time datetime="2020-03-02T16:58:03Z" title="2 Mar 2020, 16:58:03 UTC">2 Mar 2020</time>'
    )


def test_a_change_is_told_by_sign_and_words_beside_its_colour():
    html = rendered('{% change_figure change "higher" %}', change=-0.084)
    assert html == (
        '<span class="change level-worse-2" title="worse">'
        '<span aria-hidden="true">▼</span>\u00a0−8.4\u00a0%</span>'
    )


def test_a_state_is_a_badge_with_its_word():
    assert rendered('{% badge "confirmed" %}') == '<span class="badge badge-strong">confirmed</span>'
    assert ">won&#x27;t fix<" in rendered('{% badge "wontfix" label %}', label="won't fix")


def test_a_commit_is_shown_short_and_kept_whole():
    html = rendered("{{ commit|commit }}", commit="0123456789abcdef")
    assert html == '<code class="commit" title="0123456789abcdef">0123456789</code>'


def test_what_a_file_or_a_person_wrote_is_escaped():
    assert "<b>" not in rendered("{% badge state %}{{ commit|commit }}", state="<b>", commit="<b>")


@pytest.mark.parametrize(
    ("size", "text"),
    [(512, "512\u00a0bytes"), (12_400, "12.4\u00a0kB"), (5_000_000_000, "5.00\u00a0GB"), (None, "–")],
)
def test_sizes_are_decimal(size, text):
    assert rendered("{{ size|bytes_words }}", size=size) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(12.5, "12.5\u00a0s"), (200, "3\u00a0min 20\u00a0s"), (3900, "1\u00a0h 05\u00a0min")],
)
def test_durations_are_in_the_units_of_their_size(value, text):
    assert rendered("{{ value|seconds }}", value=value) == text
