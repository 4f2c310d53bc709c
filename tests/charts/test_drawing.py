"""Figures as pictures."""

from dataclasses import replace

import pytest

from benchdash.charts.drawing import MAX_NAMES, PictureOptions, picture_of
from benchdash.charts.figure import Axis, Figure, Line, Plot
from benchdash.charts.png import png
from benchdash.charts.shapes import Area, Dot, Text
from benchdash.charts.svg import svg
from tests.charts.figures import BLUE, WITH_EVERYTHING, figure_of, line

WIDE, NARROW = PictureOptions(800, 400), PictureOptions(300, 300, "dark")


def drawn(figure, options=WIDE):
    return picture_of(figure, options, title="tps of oltp_read_only", footer=["benchdash"])


def words(picture):
    return [shape.text for shape in picture.shapes if isinstance(shape, Text)]


def dots(picture):
    return [shape for shape in picture.shapes if isinstance(shape, Dot)]


@pytest.mark.parametrize("options", [WIDE, NARROW])
@pytest.mark.parametrize("figure", WITH_EVERYTHING)
def test_every_figure_can_be_drawn_within_its_picture(figure, options):
    picture = drawn(figure, options)
    assert svg(picture).startswith("<svg")
    assert png(picture).startswith(b"\x89PNG")
    for shape in picture.shapes:
        places = shape.places if hasattr(shape, "places") else [shape.place]
        assert all(0 <= x <= options.width and 0 <= y <= options.height for x, y in places)


def test_a_picture_says_title_unit_and_names():
    said = words(drawn(WITH_EVERYTHING[0]))
    assert said[0] == "tps of oltp_read_only"
    assert {"tps", "a", "b", "10.6.1", "1 ▼", "-20.0 %", "warm-up", "p95"} <= set(said)


def test_in_a_narrow_picture_a_flag_is_a_number_alone():
    said = words(drawn(WITH_EVERYTHING[0], NARROW))
    assert "1 ▼" in said
    assert "-20.0 %" not in said


def test_the_plots_of_a_figure_stand_below_each_other():
    first, second = (
        shape.place[1]
        for shape in drawn(WITH_EVERYTHING[1]).shapes
        if getattr(shape, "text", "") in ("a, b", "c")
    )
    assert first + 100 < second


def test_bars_side_by_side_do_not_overlap():
    bars = [shape for shape in drawn(WITH_EVERYTHING[4]).shapes if isinstance(shape, Area)]
    (_, left_end), (right_start, _) = (
        (min(x for x, _ in bar.places), max(x for x, _ in bar.places)) for bar in bars
    )
    assert left_end <= right_start


def test_where_the_axis_has_no_zero_bars_are_points():
    assert len(dots(drawn(WITH_EVERYTHING[3]))) == 3


def test_a_value_beyond_the_axis_is_hollow_at_its_edge():
    axis = Axis(range=(0, 10))
    inside, beyond = dots(drawn(figure_of(Line("", [1, 2], [5.0, 50.0], BLUE), y=axis)))
    assert (inside.is_hollow, beyond.is_hollow) == (False, True)
    assert beyond.place[1] < inside.place[1]


def test_of_very_many_lines_a_legend_names_a_dozen():
    many = Figure(Axis(), [Plot(Axis(), [replace(line(), name=f"line {number}") for number in range(20)])])
    assert f"and {20 - MAX_NAMES} more" in words(drawn(many))
