"""Iterations as figures. plotly.graph_objects refuses a misspelt property."""

import plotly.graph_objects as go

from benchdash.dashboard.pages.runs import iterations as intervals
from benchdash.results.models import IntervalSamples


def samples(columns, rows):
    return IntervalSamples(columns=columns, rows=rows)


def test_iterations_are_drawn_fork_by_fork_beside_the_score():
    rows = [[1.0, 1.0, 50.0], [1.0, 2.0, 52.0], [2.0, 1.0, 70.0]]
    figure = intervals.iterations(
        samples(["fork", "iteration", "score"], rows), unit="ns/op", direction="lower", score=57.3
    )
    go.Figure(figure)
    assert [trace["name"] for trace in figure["data"]] == ["fork 1", "fork 2"]
    assert figure["data"][0]["x"] == ["1.1", "1.2"]
    assert figure["layout"]["shapes"][0]["y0"] == 57.3
    assert figure["layout"]["yaxis"]["title"]["text"] == "score (ns/op), lower is better"
