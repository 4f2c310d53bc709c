"""Figures for Plotly. plotly.graph_objects refuses a misspelt property."""

import re
from pathlib import Path

import plotly.graph_objects as go
from django.conf import settings

from benchdash.charts import parts
from benchdash.charts.colours import ordered_colours, token, unordered_colour
from benchdash.charts.figure import Axis, Figure, Line, Plot
from benchdash.charts.plotly import plotly
from tests.charts.figures import WITH_EVERYTHING, figure_of


def written(figure):
    made = plotly(figure)
    go.Figure(made)
    return made


def lines(count):
    return [Line(str(number), [1, 2], [1.0, 2.0], token("ink")) for number in range(count)]


def test_a_figure_of_all_parts_is_one_that_plotly_knows():
    for figure in WITH_EVERYTHING:
        written(figure)


def test_axes_of_all_kinds_are_known_to_plotly():
    for x in (parts.threads_axis([1, 2]), Axis(scale="names", names=["a", "b", "c"]), Axis(scale="time")):
        for y in (
            parts.metric_axis("tps", "1/s", "higher"),
            parts.metric_axis("latency_p95", "ms", "lower", log=True),
            parts.relative_axis("10.2.44", "higher"),
        ):
            written(Figure(x, [Plot(y, lines(1))]))


def test_every_colour_is_a_token_of_the_style_sheet():
    css = (Path(settings.BASE_DIR) / "static/css/base.css").read_text()
    known = set(re.findall(r"^\s*(--[\w-]+):", css, re.MULTILINE))
    used = {
        *ordered_colours(1),
        *ordered_colours(30),
        *(unordered_colour(index) for index in range(9)),
        *re.findall(r"var\(--[\w-]+\)", str(list(map(plotly, WITH_EVERYTHING)))),
    }
    assert {colour[4:-1] for colour in used} <= known


def test_ordered_things_run_from_the_palest_to_the_strongest():
    assert ordered_colours(2) == ["var(--ramp-1)", "var(--ramp-12)"]
    assert len(set(ordered_colours(12))) == 12


def test_a_threads_axis_has_ticks_at_the_measured_counts():
    axis = parts.threads_axis([64, 1, 2, 2, 4096])
    assert axis.scale == "log"
    assert axis.ticks == [(1, "1"), (2, "2"), (64, "64"), (4096, "4,096")]


def test_counts_too_near_to_each_other_share_a_tick():
    assert [at for at, _ in parts.threads_axis([32, 36, 40, 48, 64]).ticks] == [32, 48, 64]


def test_throughput_begins_at_zero():
    layout = written(figure_of(*lines(1), y=parts.metric_axis("tps", "1/s", "higher")))["layout"]
    assert layout["yaxis"]["rangemode"] == "tozero"


def test_values_that_span_more_than_a_decade_want_a_log_axis():
    assert parts.log_is_better([1, 11])
    assert not parts.log_is_better([1, 9])
    assert not parts.log_is_better([0, 11])
    assert not parts.log_is_better([])


def test_names_stand_at_the_ends_of_up_to_six_lines():
    six, seven = (written(figure_of(*lines(count), names="ends"))["layout"] for count in (6, 7))
    assert (six["meta"]["end_labels"], six["showlegend"]) == (True, False)
    assert (seven["meta"]["end_labels"], seven["showlegend"]) == (False, True)


def test_a_point_without_an_interval_has_no_error_bar():
    errors = parts.intervals([10.0, 20.0], [(9.0, 12.0), (None, None)])
    [trace] = written(figure_of(Line("a", [1, 2], [10.0, 20.0], token("ink"), errors=errors)))["data"]
    assert trace["error_y"]["array"] == [2.0, None]
    assert trace["error_y"]["arrayminus"] == [1.0, None]


def test_an_interval_that_dwarfs_its_value_is_not_drawn():
    assert parts.intervals([10.0, 10.0], [(0.0, 20.0), (0.0, 21.0)]) == [(0.0, 20.0), None]


def test_a_point_says_its_value_interval_and_number_of_runs():
    assert parts.hover_text(15344.0, 15224.0, 15464.0, 5, "ms") == "15,344 ms ±\u00a0120, n = 5"
    assert parts.hover_text(1.5, None, None, 1) == "1.500, n = 1"


def test_tags_in_texts_are_shown_and_not_obeyed():
    tag = "<a href='https://elsewhere.example'>x</a> & y"
    shown = "&lt;a href='https://elsewhere.example'&gt;x&lt;/a&gt; &amp; y"
    line = Line(tag, [0], [1.0], token("ink"), hover=[f"{tag}\n{tag}"], head=tag)
    figure = Figure(Axis(scale="names", names=[tag]), [Plot(parts.metric_axis(tag, tag, "higher"), [line])])
    [trace], layout = written(figure).values()
    assert (trace["name"], trace["x"], trace["text"]) == (shown, [shown], [f"{shown}<br>{shown}"])
    assert trace["hovertemplate"].startswith(f"<b>{shown}</b>")
    assert layout["yaxis"]["title"]["text"] == f"{shown} ({shown}), higher is better"
    assert layout["xaxis"]["categoryarray"] == [shown]


def test_a_figure_in_a_frame_leads_nowhere():
    text = str([plotly(figure, with_links=False) for figure in WITH_EVERYTHING])
    assert "href" in str(list(map(plotly, WITH_EVERYTHING)))
    assert "href" not in text
    assert "/runs/" not in text
