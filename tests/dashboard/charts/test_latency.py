"""Distributions as figures. plotly.graph_objects refuses a misspelt property."""

import math

import plotly.graph_objects as go
import pytest

from benchdash.charts.plotly import plotly
from benchdash.dashboard.charts import latency
from benchdash.dashboard.charts.compare import lines
from benchdash.results.distributions import Bounds, distribution_of


def valued(*rows):
    return distribution_of(("latency_ms", "count"), rows)


def buckets(*rows):
    return distribution_of(("from_ms", "to_ms", "count"), rows)


def drawn(draw, *parts):
    """The figure for Plotly, held against what that knows."""
    figure = plotly(draw(*parts))
    go.Figure(figure)
    return figure


def words(distribution):
    return {name: latency.bounds_words(bounds) for name, bounds in latency.named_percentiles(distribution)}


# --- in words -----------------------------------------------------------------------------------------------


def test_bounds_are_as_exact_as_the_bucket():
    assert latency.bounds_words(Bounds(12.11, 12.33)) == "12.11 to 12.33"
    assert latency.bounds_words(Bounds(0, 1)) == "under 1.000"
    assert latency.bounds_words(Bounds(1000, math.inf)) == "over 1,000"
    assert latency.bounds_words(Bounds(5, 5.00001)) == "5.000"


def test_percentiles_are_the_buckets_that_hold_them():
    assert words(buckets(*((ms, ms + 1, 1) for ms in range(100)))) == {
        "p50": "49.00 to 50.00",
        "p75": "74.00 to 75.00",
        "p90": "89.00 to 90.00",
        "p95": "94.00 to 95.00",
        "p99": "98.00 to 99.00",
        "max": "99.00 to 100.0",
    }


def test_percentiles_finer_than_the_number_of_operations_are_not_said():
    assert list(words(buckets((1, 2, 2), (2, 4, 1)))) == ["p50", "max"]


# --- one run ------------------------------------------------------------------------------------------------


def test_response_times_are_bars_on_an_axis_of_logs():
    figure = drawn(latency.bars, valued([1.0, 2.0], [10.0, 6.0], [100.0, 2.0]))
    bars = figure["data"][0]
    assert bars["x"] == pytest.approx([0, 1, 2])
    assert bars["width"] == pytest.approx([1, 1, 1])
    assert bars["y"] == pytest.approx([2, 6, 2])
    assert bars["customdata"][1] == "3.16 to 31.6 ms<br>6, 60.0\u00a0%"


def test_very_many_buckets_are_gathered_without_losing_an_operation():
    bars = drawn(latency.bars, valued(*([1 + n / 100, 3.0] for n in range(1000))))["data"][0]
    assert len(bars["y"]) == 60
    assert sum(bars["y"]) == pytest.approx(3000)


def test_one_bucket_is_one_bar():
    assert drawn(latency.bars, valued([5.0, 9.0]))["data"][0]["y"] == pytest.approx([9])


def test_operations_of_0_ms_have_a_place_too():
    figure = drawn(latency.bars, buckets((0, 1, 60), (1, 2, 30), (2, 4, 10)))
    assert figure["data"][0]["y"] == pytest.approx([60, 30, 10])
    assert [note["text"] for note in figure["layout"]["annotations"]] == ["p50", "p95", "p99"]


def test_the_axis_of_a_narrow_distribution_has_ticks_too():
    figure = drawn(latency.bars, buckets((2, 2.5, 1), (2.5, 3.2, 1)))
    assert figure["layout"]["xaxis"]["tickvals"] == pytest.approx([math.log10(2), math.log10(3)])


# --- several versions ---------------------------------------------------------------------------------------


TWO = lines(["10.2.44", "10.6.23"], base=0, in_order=True)
OLD, NEW = buckets((1, 2, 90), (2, 4, 10)), buckets((2, 4, 40), (8, 16, 60))


def test_percentiles_stand_on_an_axis_of_nines():
    figure = drawn(latency.percentile_curves, TWO, [OLD, NEW])
    axis = figure["layout"]["xaxis"]
    assert axis["ticktext"] == ["50", "90", "99"]
    assert axis["tickvals"] == pytest.approx([2, 10, 100])
    old, new, *_ = figure["data"]
    assert (old["x"][0], old["x"][-1]) == pytest.approx((10**0.05, 100))
    assert old["y"][0] == pytest.approx(math.sqrt(2))
    assert new["y"][-1] == pytest.approx(math.sqrt(128))
    assert figure["layout"]["yaxis"]["title"]["text"] == "response time (ms), lower is better"


def test_the_percentiles_of_the_table_are_marked_and_wide_buckets_have_bars():
    [curve] = drawn(latency.percentile_curves, TWO[:1], [OLD])["data"]
    marked = [number for number, size in enumerate(curve["marker"]["size"]) if size]
    assert [curve["x"][number] for number in marked] == pytest.approx([2, 4, 10, 20, 100])
    # The median lies from 1 to 2 ms and is drawn at 1.41.
    assert curve["error_y"]["array"][marked[0]] == pytest.approx(2 - math.sqrt(2))
    assert curve["error_y"]["arrayminus"][marked[0]] == pytest.approx(math.sqrt(2) - 1)
    assert sum(length is not None for length in curve["error_y"]["array"]) <= len(marked)
    [narrow] = drawn(latency.percentile_curves, TWO[:1], [buckets((1, 1.02, 90))])["data"]
    assert "error_y" not in narrow


def test_a_bucket_without_an_end_has_no_error_bar():
    [curve] = drawn(latency.percentile_curves, TWO[:1], [buckets((0, 1, 90), (1000, None, 10))])["data"]
    assert "error_y" not in curve
    assert curve["text"][-1] == "p99: over 1,000 ms"
    assert all(math.isfinite(value) for value in curve["y"])


def test_a_million_operations_are_a_hundred_points():
    curve = drawn(latency.percentile_curves, TWO[:1], [buckets((1, 2, 999_999), (2, 4, 1))])["data"][0]
    assert len(curve["x"]) < 130
    assert curve["y"][-1] == pytest.approx(math.sqrt(2))


def test_few_lines_have_their_legend_above_and_many_beside():
    many = lines([str(number) for number in range(9)], base=0, in_order=True)
    above = drawn(latency.percentile_curves, TWO, [OLD, NEW])["layout"]
    assert (above["showlegend"], above["legend"]["orientation"]) == (True, "h")
    beside = drawn(latency.percentile_curves, many, [OLD] * 9)["layout"]
    assert beside["showlegend"]
    assert "orientation" not in beside["legend"]
    assert not drawn(latency.percentile_curves, TWO[:1], [OLD])["layout"]["showlegend"]
