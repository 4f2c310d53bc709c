"""Figures of the compare page. plotly.graph_objects refuses a misspelt property."""

import itertools

import plotly.graph_objects as go
import pytest

from benchdash.charts.plotly import plotly
from benchdash.dashboard.charts.compare import ValueScale, against_threads, bars, bars_height, lines, values
from tests.dashboard.charts.tables import cell, rows

PLAIN = ValueScale()
TWO = lines(["10.2.44", "10.6.23"], base=0, in_order=True)


def link(series_id):
    return f"/history/?series={series_id}"


def curve(scale=PLAIN, metric="tps", **fields):
    base = {("ro", 1): cell(100.0, **fields), ("ro", 16): cell(1000.0, low=990.0, high=1020.0, **fields)}
    other = {("ro", 1): cell(90.0, **fields), ("ro", 16): cell(1100.0, **fields)}
    return plotly(against_threads(rows(base, other), TWO, metric, scale, link))


def bar(scale=PLAIN):
    base = {("DO 1", None): cell(20.0, low=18.0, high=22.0, unit="ns/op", direction="lower")}
    other = {("DO 1", None): cell(30.0, unit="ns/op", direction="lower")}
    [row] = rows(base, other)
    return plotly(bars(row, TWO, "score", scale, link))


@pytest.mark.parametrize(
    "scale",
    [
        ValueScale(relative_to=name, log=log)
        for name, log in itertools.product(["", "10.2.44"], [None, True, False])
    ],
)
def test_every_figure_is_one_that_plotly_knows(scale):
    for figure in (curve(scale), bar(scale)):
        go.Figure(figure)


def test_each_version_is_a_line_and_the_reference_is_dashed_ink():
    base, other = curve()["data"]
    assert (base["x"], base["y"]) == ([1, 16], [100.0, 1000.0])
    assert base["line"]["dash"] == "dash"
    assert base["line"]["color"] == "var(--ink)"
    assert (other["name"], other["y"]) == ("10.6.23", [90.0, 1100.0])
    assert other["meta"]["links"] == ["/history/?series=7"] * 2


def test_axes_say_unit_and_direction():
    layout = curve()["layout"]
    assert layout["yaxis"]["title"]["text"] == "tps, higher is better"
    assert layout["xaxis"]["tickvals"] == [1, 16]
    assert bar()["layout"]["xaxis"]["title"]["text"] == "score (ns/op), lower is better"


def test_error_bars_stand_where_an_error_is_known():
    base, _ = curve()["data"]
    assert base["error_y"]["array"] == [None, 20.0]
    assert base["error_y"]["arrayminus"] == [None, 10.0]


def test_relative_to_the_reference_is_per_cent_of_it():
    figure = curve(ValueScale(relative_to="10.2.44"))
    assert [trace["y"] for trace in figure["data"]] == [
        [100.0, 100.0],
        [pytest.approx(90), pytest.approx(110)],
    ]
    assert figure["layout"]["yaxis"]["title"]["text"] == "% of 10.2.44, higher is better"


def test_a_point_says_value_runs_change_and_verdict():
    _, other = curve()["data"]
    assert other["text"] == [
        "90.00, n = 1, −10.0\u00a0% (not enough to tell)",
        "1,100, n = 1, +10.0\u00a0% (not enough to tell)",
    ]


def test_a_version_that_was_not_measured_has_no_line_and_a_missing_count_is_a_gap():
    measured = rows({("ro", 1): 10.0, ("ro", 2): 20.0}, {("ro", 2): 22.0}, {})
    named = lines(["a", "b", "c"], base=0, in_order=True)
    figure = plotly(against_threads(measured, named, "tps", ValueScale(), link))
    assert [(trace["name"], trace["y"]) for trace in figure["data"]] == [
        ("a", [10.0, 20.0]),
        ("b", [None, 22.0]),
    ]


def test_response_times_over_more_than_a_decade_are_logarithmic_by_themselves():
    lower = {"unit": "ms", "direction": "lower"}
    assert curve(metric="latency_p95", **lower)["layout"]["yaxis"]["type"] == "log"
    assert curve(ValueScale(log=False), metric="latency_p95", **lower)["layout"]["yaxis"]["type"] == "linear"
    assert curve()["layout"]["yaxis"]["type"] == "linear"


def test_bars_begin_at_zero_with_the_tool_s_error():
    figure = bar()
    [trace] = figure["data"]
    assert trace["type"] == "bar"
    assert trace["x"] == [20.0, 30.0]
    assert trace["error_x"]["array"] == [2.0, None]
    assert figure["layout"]["yaxis"]["ticktext"] == ["10.2.44", "10.6.23"]
    assert figure["layout"]["xaxis"]["rangemode"] == "tozero"


def test_bars_without_any_known_error_have_none():
    [row] = rows({("DO 1", None): 20.0}, {("DO 1", None): 30.0})
    [trace] = plotly(bars(row, TWO, "qps", PLAIN, link))["data"]
    assert "error_x" not in trace


def test_a_logarithmic_axis_has_no_zero_so_bars_become_points():
    [trace] = bar(ValueScale(log=True))["data"]
    assert (trace["type"], trace["mode"]) == ("scatter", "markers")


def test_relative_bars_mark_the_hundred_per_cent():
    figure = bar(ValueScale(relative_to="10.2.44"))
    assert figure["data"][0]["x"] == [100.0, pytest.approx(150)]
    assert figure["layout"]["shapes"][0]["x0"] == 100


def test_what_is_in_another_unit_is_not_drawn():
    [row] = rows(
        {("SELECT 1", None): cell(20.0, unit="ns/op", direction="lower")},
        {("SELECT 1", None): cell(5.0, unit="op/s")},
    )
    [trace] = plotly(bars(row, TWO, "score", ValueScale(), link))["data"]
    assert trace["x"] == [20.0]
    assert [value.is_foreign for value in values(row, TWO, "score")] == [False, True]


def test_versions_of_one_product_get_a_ramp_and_other_things_colours_of_their_own():
    assert [line.colour for line in lines(["a", "b", "c"], base=0, in_order=True)] == [
        "var(--ink)",
        "var(--ramp-1)",
        "var(--ramp-12)",
    ]
    assert [line.colour for line in lines(["a", "b", "c"], base=1, in_order=False)] == [
        "var(--cat-1)",
        "var(--ink)",
        "var(--cat-2)",
    ]


def test_long_names_keep_both_ends():
    [line] = lines(["11.8.3, a-configuration-with-a-long-name-number-2"], base=0, in_order=True)
    assert line.short_name == "11.8.3, a-config…ng-name-number-2"


def test_more_bars_are_higher():
    assert bars_height(1) == bars_height(2) < bars_height(3)


def test_tags_in_names_are_shown_and_not_obeyed():
    named = lines(["10.2.44", "<b>10.6</b>"], base=0, in_order=True)
    key = ("ro", None)
    [row] = rows({key: cell(100.0)}, {key: cell(90.0)})
    figure = plotly(bars(row, named, "tps", PLAIN, link))
    assert [text.partition("<br>")[0] for text in figure["data"][0]["customdata"]] == [
        "10.2.44",
        "&lt;b&gt;10.6&lt;/b&gt;",
    ]
    assert figure["layout"]["yaxis"]["ticktext"] == ["10.2.44", "&lt;b&gt;10.6&lt;/b&gt;"]
