"""Charts of changes."""

import plotly.graph_objects as go

from benchdash.dashboard.charts.pair import Change, changes, height
from benchdash.regressions.detection import Comparison


def figure(*comparisons):
    rows = [Change(f"w{number}", one, f"/{number}") for number, one in enumerate(comparisons)]
    made = changes(rows, title="change of tps")
    go.Figure(made)
    return made


def test_a_change_stands_at_its_per_cent_with_its_interval():
    [trace] = figure(Comparison(0.9, 0.85, 0.95, 0.001, "worse"))["data"]
    assert [round(x, 6) for x in trace["x"]] == [-10.0]
    assert [round(one, 6) for one in trace["error_x"]["array"]] == [5.0]
    assert [round(one, 6) for one in trace["error_x"]["arrayminus"]] == [5.0]
    assert trace["text"] == [
        "−10.0\N{NO-BREAK SPACE}% (−15.0\N{NO-BREAK SPACE}% to −5.0\N{NO-BREAK SPACE}%), worse"
    ]
    assert trace["meta"]["links"] == ["/0"]


def test_a_verdict_has_a_shape_and_not_only_a_colour():
    ratios = {"worse": 0.9, "better": 1.1, "same": 1.0, "unknown": 1.2}
    [trace] = figure(*(Comparison(ratio, verdict=verdict) for verdict, ratio in ratios.items()))["data"]
    assert trace["marker"]["symbol"] == ["triangle-down", "triangle-up", "circle", "circle-open"]


def test_rows_stand_from_top_to_bottom_and_names_are_no_markup():
    made = changes([Change("<b>ro</b>", Comparison(1.1)), Change("rw", Comparison(1.2))], title="")
    assert made["layout"]["yaxis"]["ticktext"] == ["&lt;b&gt;ro&lt;/b&gt;", "rw"]
    assert made["layout"]["yaxis"]["range"] == [1.5, -0.5]
    assert height(10) > height(3) > height(2) == height(1)
