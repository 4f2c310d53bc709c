"""How the address wants scaling curves drawn, and what the page offers to change it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from django.http import QueryDict

from benchdash.dashboard.compare.controls import AXES, Switch, switch
from benchdash.dashboard.compare.selection import (
    SCALES,
    ChosenColumns,
    Presentation,
    VersionSelection,
    read_measured,
)
from benchdash.dashboard.shell import filters
from benchdash.dashboard.shell.filters import FilterChip

PLANE: Final = "plane"
_VALUES: Final = ("relative", "own")
_REPEATS: Final = ("band", "none")


@dataclass(frozen=True)
class CurvesPresentation(Presentation):
    """Empty texts: as it is by itself. ``before`` and ``after`` are the thread counts of the scale-up."""

    shows: str = ""
    values: str = ""
    threads_axis: str = ""
    repeats: str = ""
    fit: bool = False
    before: int | None = None
    after: int | None = None

    @property
    def look(self) -> list[tuple[str, str]]:
        """As query parameters, without the thread counts, which are filters."""
        said = [
            ("view", self.shows),
            ("values", self.values),
            ("axis", self.scale),
            ("x", self.threads_axis),
            ("repeats", self.repeats),
            ("fit", "usl" if self.fit else ""),
        ]
        return [(name, value) for name, value in said if value]

    @property
    def kept(self) -> list[tuple[str, str]]:
        counts = [("from", self.before), ("to", self.after)]
        return [*self.look, *((name, str(count)) for name, count in counts if count is not None)]


@dataclass(frozen=True, kw_only=True)
class CurvesSelection(VersionSelection):
    view: CurvesPresentation


def read_curves_choice(query: QueryDict, columns: ChosenColumns) -> CurvesSelection:
    measured = read_measured(query)
    measured["threads"] = [count for count in measured["threads"] if count is not None]
    return CurvesSelection(columns=columns, view=_read_view(query), **measured)


def _read_view(query: QueryDict) -> CurvesPresentation:
    def one_of(name: str, known: Sequence[str]) -> str:
        text = query.get(name, "")
        return text if text in known else ""

    return CurvesPresentation(
        scale=one_of("axis", SCALES),
        shows=one_of("view", (PLANE,)),
        values=one_of("values", _VALUES),
        threads_axis=one_of("x", ("linear",)),
        repeats=one_of("repeats", _REPEATS),
        fit=query.get("fit") == "usl",
        before=_count(query.get("from", "")),
        after=_count(query.get("to", "")),
    )


def _count(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def curves_switches(path: str, choice: CurvesSelection) -> list[Switch]:
    view, address = choice.view, partial(choice.address, path)
    is_plane = view.shows == PLANE
    views = [("", "against threads"), (PLANE, "response time against throughput")]
    repeats = [("", "bars"), *([] if is_plane else [("band", "band")]), ("none", "none")]
    shows = switch("Show", "view", views, view.shows, address)
    axes = switch("Axes", "axis", AXES, view.scale, address)
    if is_plane:
        return [shows, axes, switch("Repeats", "repeats", repeats, view.repeats, address)]
    values = [("", "absolute"), ("relative", "of the reference"), ("own", "of own first point")]
    return [
        shows,
        switch("Values", "values", values, view.values, address),
        axes,
        switch("Threads", "x", [("", "log"), ("linear", "linear")], view.threads_axis, address),
        switch("Repeats", "repeats", repeats, view.repeats, address),
        switch("Fitted law", "fit", [("", "off"), ("usl", "on")], "usl" if view.fit else "", address),
    ]


def scale_up_filters(choice: CurvesSelection, counts: Sequence[int]) -> list[FilterChip]:
    options = [(str(count), str(count)) for count in counts]
    view = choice.view
    return [
        filters.one_of("from", "Scale-up from", options, _text(view.before), empty="fewest threads"),
        filters.one_of("to", "to", options, _text(view.after), empty="most threads"),
    ]


def _text(count: int | None) -> str | None:
    return None if count is None else str(count)


def without_reference(choice: CurvesSelection) -> CurvesSelection:
    """Return the selection with absolute values, for panels that lack the reference."""
    return replace(choice, view=replace(choice.view, values=""))
