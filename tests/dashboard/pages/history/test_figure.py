"""Histories as figures. plotly.graph_objects refuses a misspelt property."""

from datetime import UTC, datetime, timedelta

import plotly.graph_objects as go
import pytest

from benchdash.charts.plotly import plotly
from benchdash.dashboard.pages.history.figure import (
    Shared,
    clipped_words,
    history_figure,
    line_colours,
    shared_axes,
    small_figure,
    suits_log,
)
from benchdash.dashboard.pages.history.flags import flags_of
from benchdash.dashboard.pages.history.histories import HistoryLine, HistoryLook, versions_axis
from benchdash.regressions.models import ChangePoint
from benchdash.regressions.queries import Difference
from benchdash.results.models import Configuration, Hardware, Product, Series, Workload
from benchdash.results.points import MeasuredVersion, Point

START = datetime(2026, 3, 2, 4, 0, tzinfo=UTC)


def make_series(pk=1, *, metric="tps", unit="1/s", direction="higher", workload="oltp", **fields):
    return Series(
        pk=pk,
        product=Product(pk=1, name="MariaDB"),
        hardware=Hardware(pk=1, name="box"),
        configuration=Configuration(pk=1, name="default"),
        workload=Workload(pk=len(workload), name=workload),
        metric=metric,
        unit=unit,
        direction=direction,
        **{"threads": 4, "line": "10.6", **fields},
    )


def make_point(number, value, *, low=None, high=None, runs=1):
    product = Product(pk=1, name="MariaDB")
    version = MeasuredVersion(number, f"10.6.{number}", "", None, None, f"A{number:06}", product)
    ids = tuple(range(10 * number, 10 * number + runs))
    return Point(
        version=version,
        commit=None,
        time=START + timedelta(days=number),
        value=value,
        low=low,
        high=high,
        run_id=ids[-1],
        first_run_id=ids[0],
        content_id=None,
        environment_id=None,
        run_ids=ids,
        values=(value,) * runs,
        sessions=("",) * runs,
        position=(number, None),
        placed_at=START,
    )


def make_line(values, *, series=None, **parts):
    points = [make_point(number, value) for number, value in enumerate(values, 1)]
    return HistoryLine(series=series or make_series(), points=points, **parts)


def make_shift(before, after, *, state="confirmed", series=None, incident=7):
    return ChangePoint(
        series=series or make_series(),
        state=state,
        before=before,
        after=after,
        change=after / before - 1,
        incident_id=incident,
    )


def drawn(*lines, names=None, against="versions", relative=False, log=False):
    axis = versions_axis(lines) if against == "versions" else None
    look = HistoryLook(axis, log=log, bases=first_values(*lines) if relative else None)
    names = names or [f"line {n}" for n, _ in enumerate(lines)]
    return written(history_figure(lines, names, look, "/runs/{}/".format, flags_of(lines, look)))


def written(figure):
    """The figure for Plotly, held against what that knows."""
    made = plotly(figure)
    go.Figure(made)
    return made


def first_values(*lines):
    return {line.series: line.points[0].value for line in lines}


# --- points -------------------------------------------------------------------------------------------------


def test_a_line_leads_from_every_point_to_its_run():
    figure = drawn(make_line([100, 90]))
    trace = figure["data"][0]
    assert trace["x"] == ["10.6.1", "10.6.2"]
    assert trace["y"] == [100, 90]
    assert trace["meta"] == {"links": ["/runs/10/", "/runs/20/"]}
    assert figure["layout"]["xaxis"]["categoryarray"] == ["10.6.1", "10.6.2"]
    assert figure["layout"]["yaxis"]["title"]["text"] == "tps, higher is better"


def test_a_point_says_version_value_runs_time_hardware_and_configuration():
    figure = drawn(make_line([100]), names=["one <line>"])
    trace = figure["data"][0]
    assert trace["text"] == ["10.6.1<br>100.0 tps, n = 1<br>3 Mar 2026, 04:00:00 UTC"]
    assert trace["hovertemplate"] == (
        "<b>one &lt;line&gt;</b><br>%{text}<br>box, configuration default<extra></extra>"
    )


def test_tags_in_versions_are_shown_and_not_obeyed():
    point = make_point(1, 100)
    version = point.version._replace(version="<b>10.6</b>")
    figure = drawn(HistoryLine(series=make_series(), points=[point._replace(version=version)]))
    shown = "&lt;b&gt;10.6&lt;/b&gt;"
    assert figure["data"][0]["x"] == figure["layout"]["xaxis"]["categoryarray"] == [shown]
    assert figure["data"][0]["text"][0].startswith(f"{shown}<br>")


def test_a_name_is_never_taken_for_a_part_of_the_template():
    figure = drawn(make_line([100]), names=["at %{x}"])
    assert "at %&#123;x}" in figure["data"][0]["hovertemplate"]


def test_against_time_points_lie_where_their_first_run_began():
    figure = drawn(make_line([100, 90]), against="time")
    assert figure["data"][0]["x"] == ["2026-03-03T04:00:00", "2026-03-04T04:00:00"]
    assert figure["layout"]["xaxis"]["type"] == "date"


def test_relative_values_are_per_cent_of_their_base():
    first, second = make_line([200, 100]), make_line([10, 11], series=make_series(2, workload="other"))
    figure = drawn(first, second, relative=True)
    assert figure["data"][0]["y"] == [100, 50]
    assert figure["data"][1]["y"] == pytest.approx([100, 110])
    assert figure["layout"]["yaxis"]["title"]["text"] == "% of the first level, higher is better"


def test_a_line_of_zeros_can_be_drawn_in_per_cent():
    assert drawn(make_line([0, 0]), relative=True)["data"][0]["y"] == [0, 0]


def test_intervals_are_error_bars_of_few_points_and_a_band_of_many():
    few = HistoryLine(make_series(), [make_point(1, 100, low=90, high=120, runs=3), make_point(2, 100)])
    bars = drawn(few)["data"][0]["error_y"]
    assert (bars["array"], bars["arrayminus"]) == ([20, None], [10, None])
    many = HistoryLine(make_series(), [make_point(n, 100, low=90, high=120, runs=3) for n in range(1, 301)])
    band, trace = drawn(many)["data"]
    assert band["fill"] == "toself"
    assert len(band["x"]) == 601
    assert "error_y" not in trace


def test_a_band_has_gaps_where_there_are_no_intervals():
    points = [make_point(n, 100, low=90, high=120) for n in range(1, 301)]
    points[150] = make_point(151, 100)
    band = drawn(HistoryLine(make_series(), points))["data"][0]
    assert band["y"].count(None) == 2
    assert "10.6.151" not in band["x"]


def test_a_log_axis_has_no_interval_below_zero():
    line = HistoryLine(make_series(), [make_point(1, 5, low=-1, high=9)])
    assert "error_y" in drawn(line)["data"][0]
    assert "error_y" not in drawn(line, log=True)["data"][0]


def test_thousands_of_points_are_thinned_without_losing_extremes_or_changes():
    values = [100.0] * 5000
    values[1234], values[4000] = 900.0, 1.0
    line = make_line(values, shifts={3333: make_shift(100, 50)})
    trace = drawn(line)["data"][0]
    assert len(trace["x"]) <= 2000
    assert {900.0, 1.0} <= set(trace["y"])
    assert {"10.6.3333", "10.6.3334", "10.6.5000"} <= set(trace["x"])
    assert trace["mode"] == "lines"
    assert drawn(make_line([1] * 600))["data"][0]["mode"] == "lines+markers"


def test_excluded_points_are_hollow_and_not_joined():
    line = HistoryLine(make_series(), [make_point(1, 100)], excluded=[make_point(2, 10)])
    hollow = drawn(line)["data"][1]
    assert (hollow["x"], hollow["y"], hollow["mode"]) == (["10.6.2"], [10], "markers")
    assert hollow["marker"]["symbol"] == "circle-open"
    assert hollow["text"][0].endswith("excluded")


# --- what happened ------------------------------------------------------------------------------------------


def flags(figure):
    """The numbers above the plot; beside them stand the changes."""
    return [one for one in figure["layout"]["annotations"] if one.get("name")]


def test_a_change_is_a_vertical_line_with_its_levels_and_a_flag_that_leads_to_its_row():
    figure = drawn(make_line([100, 100, 80, 80], shifts={2: make_shift(100, 80)}))
    vertical, before, after = figure["layout"]["shapes"]
    assert (vertical["x0"], vertical["x1"], vertical["yref"]) == (2, 2, "paper")
    assert vertical["line"]["dash"] == "solid"
    assert vertical["line"]["color"] == "var(--worse-ink)"
    assert (before["x0"], before["x1"], before["y0"]) == (0, 2, 100)
    assert (after["x0"], after["x1"], after["y0"]) == (2, 3, 80)
    flag, change = figure["layout"]["annotations"]
    assert flag["text"] == '<a href="#flag-1" target="_self">1 ▼</a>'
    assert (flag["bgcolor"], flag["font"]["color"]) == ("var(--worse-ink)", "var(--surface)")
    assert change["text"] == "−20.0\u00a0%"


def test_a_suspected_change_is_dotted_and_its_flag_is_hollow():
    figure = drawn(make_line([100, 130], shifts={1: make_shift(100, 130, state="suspected", incident=None)}))
    vertical = figure["layout"]["shapes"][0]
    assert vertical["line"]["dash"] == "dot"
    assert vertical["line"]["color"] == "var(--better-ink)"
    [flag] = flags(figure)
    assert (flag["bgcolor"], flag["font"]["color"]) == ("var(--surface)", "var(--better-ink)")


def test_levels_follow_the_values_when_these_are_relative():
    figure = drawn(make_line([200, 100], shifts={1: make_shift(200, 100)}), relative=True)
    assert [shape["y0"] for shape in figure["layout"]["shapes"][1:]] == [100, 50]


def test_changes_of_several_lines_at_one_place_are_one_line_named_by_the_largest():
    other = make_series(2, workload="other")
    figure = drawn(
        make_line([100, 90], shifts={1: make_shift(100, 90)}),
        make_line([10, 5], series=other, shifts={1: make_shift(10, 5, series=other)}),
    )
    assert sum(shape.get("yref") == "paper" for shape in figure["layout"]["shapes"]) == 1
    flag, change = figure["layout"]["annotations"]
    assert flag["name"] == "flag-1"
    assert change["text"] == "−50.0\u00a0% +1"


def test_flags_near_each_other_stand_above_each_other():
    shifts = {10: make_shift(100, 80), 12: make_shift(80, 100), 60: make_shift(100, 90)}
    figure = drawn(make_line([100] * 80, shifts=shifts))
    heights = {flag["x"]: flag["yshift"] for flag in flags(figure)}
    assert heights[10] != heights[12]
    assert heights[60] == min(heights.values())


def test_more_changes_than_flags_have_room_for_are_still_drawn():
    shifts = {index: make_shift(100, 100 - index) for index in range(1, 9)}
    figure = drawn(make_line([100] * 100, shifts=shifts))
    assert sum(shape.get("yref") == "paper" for shape in figure["layout"]["shapes"]) == 8
    assert len(flags(figure)) == 3


def test_on_a_narrow_screen_flags_are_numbers_alone():
    figure = drawn(make_line([100] * 100, shifts={50: make_shift(100, 80)}))
    narrow = figure["layout"]["meta"]["narrow"]["annotations"]
    assert [one["name"] for one in narrow] == ["flag-1"]


def ticks(figure):
    axis = figure["layout"]["xaxis"]
    assert axis["tickmode"] == "array"
    return dict(zip(axis["tickvals"], axis["ticktext"], strict=True))


def test_a_change_stands_at_a_place_that_the_axis_names():
    names = ticks(drawn(make_line([100] * 80, shifts={33: make_shift(100, 80), 61: make_shift(80, 90)})))
    assert {"10.6.34", "10.6.62"} <= names.keys()
    assert 6 <= len(names) <= 12


def test_of_changes_too_near_for_two_names_the_larger_is_named():
    names = ticks(drawn(make_line([100] * 80, shifts={33: make_shift(100, 80), 34: make_shift(80, 79)})))
    assert "10.6.34" in names
    assert "10.6.35" not in names


def test_against_time_a_change_is_named_by_its_day_and_each_year_once():
    figure = drawn(make_line([100] * 40, shifts={17: make_shift(100, 80)}), against="time")
    names = ticks(figure)
    assert names["2026-03-20T04:00:00"] == "20 Mar"
    assert [text for text in names.values() if "2026" in text] == ["3 Mar<br>2026"]
    few = figure["layout"]["meta"]["few_ticks"]
    assert "2026-03-20T04:00:00" in few["tickvals"]
    assert len(few["tickvals"]) <= 4


def test_changes_against_time_lie_at_their_time():
    figure = drawn(make_line([100, 80, 80], shifts={1: make_shift(100, 80)}), against="time")
    assert figure["layout"]["shapes"][0]["x0"] == "2026-03-04T04:00:00"
    assert figure["layout"]["annotations"][0]["x"] == "2026-03-04T04:00:00"


def test_a_switch_is_a_triangle_on_the_axis_that_says_what_was_switched():
    line = make_line([100, 90], switches={1: [Difference("performance_schema", "OFF", "ON")]})
    triangle = drawn(line)["data"][-1]
    assert triangle["marker"]["symbol"] == "triangle-up"
    assert triangle["x"] == ["10.6.2"]
    assert triangle["text"] == ["<b>1: settings changed</b><br>performance_schema: OFF → ON"]


def test_a_switch_without_a_change_has_a_flag_of_its_own():
    figure = drawn(make_line([100, 90], switches={1: [Difference("performance_schema", "OFF", "ON")]}))
    assert [one["text"] for one in flags(figure)] == ['<a href="#flag-1" target="_self">1</a>']
    assert len(figure["layout"]["annotations"]) == 1


def test_a_change_and_what_was_switched_at_it_are_one_flag():
    line = make_line(
        [100, 100, 80, 80],
        shifts={2: make_shift(100, 80)},
        switches={2: [Difference("performance_schema", "OFF", "ON")]},
    )
    [flag] = flags_of([line], HistoryLook(versions_axis([line])))
    assert flag.words == "10.6.3: −20.0\u00a0%, performance_schema: OFF → ON"


def test_a_switch_of_several_lines_is_said_once():
    switches = {1: [Difference("performance_schema", "OFF", "ON")]}
    other = make_series(2, workload="other")
    figure = drawn(make_line([1, 2], switches=switches), make_line([3, 4], series=other, switches=switches))
    assert figure["data"][-1]["text"] == ["<b>1: settings changed</b><br>performance_schema: OFF → ON"]


# --- colours and scales -------------------------------------------------------------------------------------


def test_release_lines_and_thread_counts_get_a_ramp_and_others_colours_that_only_differ():
    lines = [make_series(1, line="10.6"), make_series(2, line="10.11")]
    assert line_colours(lines) == ["var(--ramp-1)", "var(--ramp-12)"]
    threads = [make_series(1, threads=1), make_series(2, threads=8)]
    assert line_colours(threads) == ["var(--ramp-1)", "var(--ramp-12)"]
    assert line_colours([make_series(1), make_series(2, workload="other")]) == [
        "var(--cat-1)",
        "var(--cat-2)",
    ]


def test_response_times_over_more_than_a_decade_suit_a_log_axis():
    latency = make_series(metric="latency_p95", unit="ms", direction="lower")
    assert suits_log([make_line([1, 20], series=latency)])
    assert not suits_log([make_line([1, 5], series=latency)])
    assert not suits_log([make_line([1, 20])])


# --- small charts -------------------------------------------------------------------------------------------


def test_small_charts_in_per_cent_share_one_vertical_axis():
    panels = [[make_line([100, 90])], [make_line([10, 12], series=make_series(2, workload="other"))]]
    lines = [panels[0][0], panels[1][0]]
    look = HistoryLook(versions_axis(lines), bases=first_values(*lines))
    shared = shared_axes(panels, look)
    assert shared.y == pytest.approx((87.6, 122.4))
    figure = written(small_figure(panels[0], ["one"], look, shared))
    assert figure["layout"]["yaxis"]["range"] == list(shared.y)
    assert figure["data"][0]["x"] == [0, 1]
    assert figure["layout"]["xaxis"]["ticktext"] == ["10.6.1", "10.6.2"]


def test_a_value_beyond_the_axis_is_marked_at_its_edge_and_said_beside_the_chart():
    line = make_line([100, 90, 1200, 100])
    look = HistoryLook(versions_axis([line]), bases=first_values(line))
    shared = shared_axes([[line]], look)
    figure = written(small_figure([line], ["one"], look, shared))
    edge = figure["data"][-1]
    assert (edge["x"], edge["y"], edge["marker"]["symbol"]) == ([2], [shared.y[1]], "triangle-up-open")
    assert edge["text"] == ["10.6.3<br>1,200, above it"]
    assert clipped_words([line], look, shared) == "△ 1 value lies above the axis, up to 1,200\u00a0%"


def test_where_all_values_are_within_the_axis_nothing_is_marked():
    line = make_line([100, 90])
    look = HistoryLook(versions_axis([line]), bases=first_values(line))
    shared = shared_axes([[line]], look)
    assert len(written(small_figure([line], ["one"], look, shared))["data"]) == 1
    assert clipped_words([line], look, shared) == ""


def test_small_charts_of_values_a_decade_apart_have_axes_of_their_own():
    far = [[make_line([1000])], [make_line([10], series=make_series(2, workload="other"))]]
    near = [[make_line([100])], [make_line([50], series=make_series(2, workload="other"))]]
    look = HistoryLook(versions_axis([far[0][0]]))
    assert shared_axes(far, look).y is None
    assert shared_axes(near, look).y == (0, 105)


def test_small_charts_against_time_share_it():
    panels = [[make_line([100, 90])], [make_line([10, 12, 14], series=make_series(2, workload="other"))]]
    look = HistoryLook(None)
    shared = shared_axes(panels, look)
    assert shared.times == (START + timedelta(days=1), START + timedelta(days=3))
    figure = written(small_figure(panels[0], ["one"], look, shared))
    assert figure["layout"]["xaxis"]["range"] == ["2026-03-03T03:02:24", "2026-03-05T04:57:36"]


def test_a_small_chart_carries_few_points_however_long_its_history():
    line = make_line([float(n % 7 + 1) for n in range(5000)])
    figure = written(small_figure([line], ["one"], HistoryLook(versions_axis([line])), Shared()))
    assert len(figure["data"][0]["x"]) <= 150


def test_release_lines_stand_in_a_legend_in_their_order():
    lines = [
        make_line([100, 90], series=make_series(n, line=name)) for n, name in enumerate(("10.6", "10.11"))
    ]
    layout = drawn(*lines)["layout"]
    assert layout["showlegend"]
    assert not layout["meta"]["end_labels"]
