"""Figures that have every part there is."""

from benchdash.charts.colours import token
from benchdash.charts.figure import (
    Axis,
    AxisMarks,
    Band,
    Bars,
    Figure,
    FlagMark,
    Label,
    Level,
    Line,
    Plot,
    Shade,
    VerticalLine,
)

INK, BLUE = token("ink"), token("accent")


def figure_of(*marks, y=None, **parts):
    return Figure(Axis("x"), [Plot(y or Axis("y"), list(marks))], **parts)


def line(name="a", **parts):
    hover = ["first\nvalue", "second", ""]
    return Line(name, [0, 1, 2], [10.0, 12.0, None], BLUE, hover=hover, **parts)


_NAMES = ["10.6.1", "10.6.2", "10.6.3"]
_MARKS = [
    line(errors=[(9.0, 11.0), None, None], links=["/runs/1/", "/runs/2/", ""], times=["2026-03-02"] * 3),
    line("b", size=0, dash="dash"),
    Line("c", [0, 1], [10.0, 99.0], [INK, BLUE], width=0, symbol=["triangle-up", "circle-open"]),
    Band([0, 1, 1, 0, None], [11.0, 12.0, 8.0, 9.0, None], BLUE, 0.25),
    VerticalLine(1),
    Level(10.0, (0, 1)),
    Level(11.0),
    Shade((0, 1), token("worse-2"), 0.4, has_edges=True),
    Label(1, "p95"),
    Label(0, "warm-up", "bottom", "right"),
    Label(2, "-20 %", "top", "left"),
    FlagMark(1, 1, "1 ▼", "-20.0 %", token("worse-ink"), is_filled=True),
    FlagMark(2, 2, "2", "", INK, is_filled=False),
    AxisMarks([1], ["1: settings changed\nfsync: ON"], "triangle-up", INK),
]
_ROWS = Bars(
    "",
    [1.0, 2.0, 3.0],
    range(3),
    [INK, BLUE, BLUE],
    hollow=[0],
    errors=[(0.5, 1.5), None, None],
    hover=_NAMES,
    links=["/runs/1/"] * 3,
)
_GROUPS = [Bars(name, range(2), [1.0, None], BLUE, texts=["100 %", ""], hover=["", ""]) for name in "ab"]
_STEPS = Bars("", [0.5, 1.5], [3.0, 4.0], BLUE, widths=[1.0, 1.0], hover=["", ""])
_DAYS = ["2026-03-02T04:00:00", "2026-03-03T04:00:00"]

WITH_EVERYTHING = [
    Figure(
        Axis(scale="names", names=_NAMES, key_places=[0], range=(-0.5, 2.5), max_ticks=3),
        [Plot(Axis("tps", range=(0, 20), max_ticks=4), _MARKS)],
        names="ends",
    ),
    Figure(
        Axis("x", from_zero=True), [Plot(Axis("a\nb"), [line()]), Plot(Axis("c"), [line("d")])], names="above"
    ),
    Figure(
        Axis("ms", suffix=" %", is_signed=True),
        [Plot(Axis(scale="names", names=_NAMES), [_ROWS, VerticalLine(1)])],
    ),
    Figure(Axis("ms", "log"), [Plot(Axis(scale="names", names=_NAMES), [_ROWS])]),
    Figure(
        Axis(scale="names", names=_NAMES[:2]), [Plot(Axis("tps", from_zero=True), _GROUPS)], names="above"
    ),
    Figure(Axis("ms"), [Plot(Axis("operations"), [_STEPS])], is_small=True),
    Figure(
        Axis("time", "time", key_places=[], range=(_DAYS[0], _DAYS[1]), max_ticks=4),
        [Plot(Axis("tps", "log"), [Line("a", _DAYS, [1.0, 100.0], BLUE, hover=["", ""], head="a")])],
        says_all=True,
    ),
]
