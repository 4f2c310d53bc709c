from io import BytesIO

import pytest
from PIL import Image

from benchdash.charts.changes import PICTURE_HEIGHT, PICTURE_WIDTH, change_figure, change_picture
from benchdash.charts.figure import Level
from benchdash.regressions.models import ChangePoint
from benchdash.regressions.surroundings import around
from benchdash.results.points import history
from tests.builders import make_series

pytestmark = pytest.mark.django_db

MAX_BYTES = 60_000


def drawn(values, *, before, after, at, **fields):
    series = make_series(values=values, **fields)
    points = history(series)
    one = change_point_of(series, points[at], before=before, after=after)
    near, index = around(points, one)
    return change_picture(near, index, one)


def change_point_of(series, point, *, before, after):
    one = ChangePoint(series=series, run_id=point.first_run_id, before=before, after=after)
    one.change = after / before - 1 if before else None
    return one


def image_of(png):
    return Image.open(BytesIO(png)).convert("RGB")


def has(image, colour):
    wanted = tuple(bytes.fromhex(colour))
    return any(
        max(abs(a - b) for a, b in zip(found, wanted, strict=True)) < 12
        for _, found in image.getcolors(image.width * image.height)
    )


def test_a_picture_is_sharp_at_560_points_small_and_the_same_each_time():
    values = [1000.0, 1010.0, 990.0, 1005.0] * 15 + [800.0, 810.0, 795.0] * 5
    one = drawn(values, before=1000.0, after=800.0, at=60)
    assert image_of(one).size == (2 * PICTURE_WIDTH, 2 * PICTURE_HEIGHT)
    assert len(one) < MAX_BYTES
    series_again = drawn(values, before=1000.0, after=800.0, at=60, metric="tps")
    assert one == series_again


def test_a_level_is_drawn_as_far_as_it_reached():
    points = history(series := make_series([9.0, 10.0, 10.0, 8.0, 8.0, 10.0, 10.0]))
    one = change_point_of(series, points[3], before=10.0, after=8.0)
    starts = [points[at].first_run_id for at in (1, 3, 5)]
    [plot] = change_figure(points, 3, one, y_range=(0.0, 200.0), starts=starts).plots
    assert [(mark.x, mark.y) for mark in plot.marks if isinstance(mark, Level)] == [
        ((1, 2), 100.0),
        ((3, 4), 80.0),
    ]


def test_a_loss_is_drawn_in_another_colour_than_a_gain():
    loss = image_of(drawn([10.0] * 5 + [8.0] * 5, before=10.0, after=8.0, at=5))
    gain = image_of(drawn([8.0] * 5 + [10.0] * 5, before=8.0, after=10.0, at=5))
    assert (has(loss, "9a4a04"), has(loss, "1f5f9f")) == (True, False)
    assert (has(gain, "9a4a04"), has(gain, "1f5f9f")) == (False, True)


@pytest.mark.parametrize(
    ("values", "before", "after", "at"),
    [
        ([0.0, 0.0, 0.0, 4.0, 4.0], 0.0, 4.0, 3),
        ([5.0], 4.0, 5.0, 0),
        ([5.0, 5.0], 5.0, 5.0, 1),
        ([1e-9, 1e-9, 2e-9], 1e-9, 2e-9, 2),
        ([1e12, 1e12, 5e11], 1e12, 5e11, 2),
        ([100.0] * 20 + [1e7] + [90.0] * 20, 100.0, 90.0, 21),
    ],
)
def test_anything_that_can_be_measured_can_be_drawn(values, before, after, at):
    assert image_of(drawn(values, before=before, after=after, at=at)).width == 2 * PICTURE_WIDTH


def test_names_in_other_scripts_do_not_break_a_picture():
    assert drawn([2.0, 1.0], before=2.0, after=1.0, at=1, workload="чтение точек " * 20, hardware="машина")
