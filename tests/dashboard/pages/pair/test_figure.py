"""Charts of changes."""

import plotly.graph_objects as go

from benchdash.charts.plotly import plotly
from benchdash.dashboard.pages.pair.figure import PairChange, changes, height
from benchdash.regressions.detection.compare import Comparison


def figure(*comparisons):
    rows = [PairChange(f"w{number}", one, "tps", f"/{number}") for number, one in enumerate(comparisons)]
    made = plotly(changes(rows, title="change of tps"))
    go.Figure(made)
    return made


def test_a_change_stands_at_its_per_cent_with_its_interval():
    [trace] = figure(Comparison(0.9, 0.85, 0.95, 0.001, "worse"))["data"]
    assert [round(x, 6) for x in trace["x"]] == [-10.0]
    assert [round(x, 6) for x in trace["error_x"]["arrayminus"]] == [5.0]
    assert [round(x, 6) for x in trace["error_x"]["array"]] == [5.0]
    assert trace["text"] == [
        "w0<br>−10.0\N{NO-BREAK SPACE}% (−15.0\N{NO-BREAK SPACE}% to −5.0\N{NO-BREAK SPACE}%), slower"
    ]
    assert trace["meta"]["links"] == ["/0"]


def test_a_verdict_has_a_shape_and_not_only_a_colour():
    ratios = {"worse": 0.9, "better": 1.1, "likely_worse": 0.9, "likely_better": 1.1, "same": 1.0}
    compared = [Comparison(ratio, verdict=verdict) for verdict, ratio in ratios.items()]
    [trace] = figure(*compared, Comparison(1.2))["data"]
    assert trace["marker"]["symbol"] == [
        "triangle-down",
        "triangle-up",
        "triangle-down-open",
        "triangle-up-open",
        "circle",
        "circle-open",
    ]
    # What one session says has the colour of no verdict.
    assert trace["marker"]["color"][2:] == ["var(--ink-2)"] * 4


def test_rows_stand_from_top_to_bottom_and_names_are_no_markup():
    rows = [PairChange("<b>ro</b>", Comparison(1.1), "tps"), PairChange("rw", Comparison(1.2), "tps")]
    made = plotly(changes(rows, title=""))
    assert made["layout"]["yaxis"]["ticktext"] == ["&lt;b&gt;ro&lt;/b&gt;", "rw"]
    assert made["layout"]["yaxis"]["range"] == [1.5, -0.5]
    assert height(10) > height(3) > height(2) == height(1)


def test_an_interval_is_drawn_however_wide_and_leaves_the_chart_where_it_would_flatten_it():
    made = figure(Comparison(1.2, 0.5, 9.0), Comparison(1.1), Comparison(0.9, 0.8, 1.0))
    errors = made["data"][0]["error_x"]
    assert [one if one is None else round(one) for one in errors["arrayminus"]] == [70, None, 10]
    assert [one if one is None else round(one) for one in errors["array"]] == [780, None, 10]
    first, last = made["layout"]["xaxis"]["range"]
    # 2.5 times as far as the largest change, 20 %, and a little margin.
    assert (round(first), round(last)) == (-55, 55)
