"""What all figures share. plotly.graph_objects refuses a misspelt property."""

import re
from pathlib import Path

import plotly.graph_objects as go
from django.conf import settings

from benchdash.dashboard.charts import common


def test_a_figure_of_all_parts_is_one_that_plotly_knows():
    traces = [
        common.line(
            "10.6",
            [1, 2],
            [10.0, 20.0],
            colour=common.token("ramp-1"),
            links=["/a/", "/b/"],
            error_y=common.error_bars([10.0, 20.0], [9.0, None], [12.0, None], colour=common.token("ink-2")),
        ),
        common.line("10.11", [1, 2], [11.0, 21.0], colour=common.unordered_colour(9), is_base=True),
    ]
    for x in (common.threads_axis([1, 2]), common.versions_axis(["a"]), common.time_axis()):
        for y in (
            common.metric_axis("tps", "1/s", "higher"),
            common.metric_axis("latency_p95", "ms", "lower", log=True),
            common.relative_axis("10.2.44", "higher"),
        ):
            go.Figure(common.figure(traces, common.base_layout(lines=2, xaxis=x, yaxis=y)))


def test_every_colour_is_a_token_of_the_style_sheet():
    css = (Path(settings.BASE_DIR) / "static/css/base.css").read_text()
    known = set(re.findall(r"^\s*(--[\w-]+):", css, re.MULTILINE))
    used = {
        *common.ordered_colours(1),
        *common.ordered_colours(30),
        *(common.unordered_colour(index) for index in range(9)),
        *re.findall(r"var\(--[\w-]+\)", str(common.base_layout()) + str(common.axis())),
    }
    assert {colour[4:-1] for colour in used} <= known


def test_ordered_things_run_from_the_palest_to_the_strongest():
    assert common.ordered_colours(2) == ["var(--ramp-1)", "var(--ramp-12)"]
    assert len(set(common.ordered_colours(12))) == 12


def test_the_base_is_ink_with_a_dash():
    base = common.line("10.2", [1], [1.0], colour=common.token("ramp-1"), is_base=True)
    assert base["line"] == {"color": "var(--ink)", "width": 2, "dash": "dash"}


def test_a_threads_axis_has_ticks_at_the_measured_counts():
    axis = common.threads_axis([64, 1, 2, 2, 4096])
    assert axis["type"] == "log"
    assert axis["tickvals"] == [1, 2, 64, 4096]
    assert axis["ticktext"] == ["1", "2", "64", "4,096"]


def test_counts_too_near_to_each_other_share_a_tick():
    assert common.threads_axis([32, 36, 40, 48, 64])["tickvals"] == [32, 48, 64]


def test_throughput_begins_at_zero():
    assert common.metric_axis("tps", "1/s", "higher")["rangemode"] == "tozero"


def test_values_that_span_more_than_a_decade_want_a_log_axis():
    assert common.log_is_better([1, 11])
    assert not common.log_is_better([1, 9])
    assert not common.log_is_better([0, 11])
    assert not common.log_is_better([])


def test_names_stand_at_the_ends_of_up_to_six_lines():
    assert common.base_layout(lines=6)["meta"] == {"end_labels": True}
    assert not common.base_layout(lines=6)["showlegend"]
    assert common.base_layout(lines=7)["meta"] == {"end_labels": False}
    assert common.base_layout(lines=7)["showlegend"]


def test_a_point_without_an_interval_has_no_error_bar():
    bars = common.error_bars([10.0, 20.0], [9.0, None], [12.0, None])
    assert bars["array"] == [2.0, None]
    assert bars["arrayminus"] == [1.0, None]


def test_a_point_says_its_value_interval_and_number_of_runs():
    assert common.hover_text(15344.0, 15224.0, 15464.0, 5, "ms") == "15,344 ms ±\u00a0120, n = 5"
    assert common.hover_text(1.5, None, None, 1) == "1.500, n = 1"


def test_tags_in_names_and_units_are_shown_and_not_obeyed():
    tag = "<a href='https://elsewhere.example'>x</a> & y"
    shown = "&lt;a href='https://elsewhere.example'&gt;x&lt;/a&gt; &amp; y"
    assert common.line(tag, [1], [1.0], colour="")["name"] == shown
    assert common.metric_axis(tag, tag, "higher")["title"]["text"] == (f"{shown} ({shown}), higher is better")
    assert common.relative_axis(tag, "higher")["title"]["text"] == f"% of {shown}, higher is better"
    assert common.hover_text(1.0, None, None, 1, tag) == f"1.000 {shown}, n = 1"
