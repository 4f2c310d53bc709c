"""How the address wants scaling curves drawn, and what the page offers to change it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from django.http import QueryDict

from benchdash.dashboard.compare.controls import AXES
from benchdash.dashboard.compare.selection import (
    SCALES,
    ChosenColumns,
    Presentation,
    VersionSelection,
    one_known,
    read_measured,
)
from benchdash.dashboard.shell import filters
from benchdash.dashboard.shell.filters import FilterChip
from benchdash.dashboard.shell.selection import whole_number
from benchdash.dashboard.shell.switches import Switch, switch

PLANE: Final = "plane"


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
        """Return query parameters, without the thread counts, which are filters."""
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
    return CurvesPresentation(
        scale=one_known(query, "axis", SCALES),
        shows=one_known(query, "view", (PLANE,)),
        values=one_known(query, "values", ("relative", "own")),
        threads_axis=one_known(query, "x", ("linear",)),
        repeats=one_known(query, "repeats", ("band", "none")),
        fit=query.get("fit") == "usl",
        before=whole_number(query.get("from", "")),
        after=whole_number(query.get("to", "")),
    )


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


def scale_up_filters(choice: CurvesSelection, counts: Sequence[int | None]) -> list[FilterChip]:
    options = [(str(count), str(count)) for count in counts]
    before, after = (str(count or "") for count in (choice.view.before, choice.view.after))
    return [
        filters.one_of("from", "Scale-up from", options, before, empty="fewest threads"),
        filters.one_of("to", "to", options, after, empty="most threads"),
    ]
