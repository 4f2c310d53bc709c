"""How the address wants scaling curves drawn, and what the page offers to change it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from django.http import QueryDict

from benchdash.dashboard import filters
from benchdash.dashboard.filters import Filter
from benchdash.dashboard.forms.compare import SCALES, Choice, Columns, View, read_choice
from benchdash.dashboard.forms.compare_controls import Switch
from benchdash.dashboard.navigation import Link

PLANE: Final = "plane"
_VALUES: Final = ("relative", "own")
_REPEATS: Final = ("band", "none")


@dataclass(frozen=True)
class CurvesView(View):
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


@dataclass(frozen=True)
class CurvesChoice(Choice):
    view: CurvesView


def read_curves_choice(query: QueryDict, columns: Columns) -> CurvesChoice:
    choice = read_choice(query, columns)
    return CurvesChoice(
        columns=choice.columns,
        metrics=choice.metrics,
        workloads=choice.workloads,
        threads=[count for count in choice.threads if count is not None],
        view=_read_view(query),
    )


def _read_view(query: QueryDict) -> CurvesView:
    def one_of(name: str, known: Sequence[str]) -> str:
        text = query.get(name, "")
        return text if text in known else ""

    return CurvesView(
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


def curves_switches(path: str, choice: CurvesChoice) -> list[Switch]:
    view = choice.view
    is_plane = view.shows == PLANE

    def switch(label: str, name: str, now: str, options: Sequence[tuple[str, str]]) -> Switch:
        return Switch(
            label,
            [Link(words, choice.address(path, **{name: value}), value == now) for words, value in options],
        )

    shows = switch(
        "Show", "view", view.shows, [("against threads", ""), ("response time against throughput", PLANE)]
    )
    axes = switch("Axes", "axis", view.scale, [("auto", ""), ("linear", "linear"), ("log", "log")])
    repeats = [("bars", ""), *([] if is_plane else [("band", "band")]), ("none", "none")]
    if is_plane:
        return [shows, axes, switch("Repeats", "repeats", view.repeats, repeats)]
    return [
        shows,
        switch(
            "Values",
            "values",
            view.values,
            [("absolute", ""), ("of the reference", "relative"), ("of own first point", "own")],
        ),
        axes,
        switch("Threads", "x", view.threads_axis, [("log", ""), ("linear", "linear")]),
        switch("Repeats", "repeats", view.repeats, repeats),
        switch("Fitted law", "fit", "usl" if view.fit else "", [("off", ""), ("on", "usl")]),
    ]


def scale_up_filters(choice: CurvesChoice, counts: Sequence[int]) -> list[Filter]:
    options = [(str(count), str(count)) for count in counts]
    view = choice.view
    return [
        filters.one_of("from", "Scale-up from", options, _text(view.before), empty="fewest threads"),
        filters.one_of("to", "to", options, _text(view.after), empty="most threads"),
    ]


def _text(count: int | None) -> str | None:
    return None if count is None else str(count)


def without_reference(choice: CurvesChoice) -> CurvesChoice:
    """Where nothing is there to be relative to."""
    return replace(choice, view=replace(choice.view, values=""))
