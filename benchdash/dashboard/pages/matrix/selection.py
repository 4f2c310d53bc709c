"""The look of the matrix as its address says it, and the links that change it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from functools import partial
from typing import Final, TypeVar, get_args

from django.http import QueryDict
from django.utils.dateparse import parse_date, parse_datetime

from benchdash.dashboard.charts.matrix import MatrixLook, Order, Values
from benchdash.dashboard.compare.controls import AXES
from benchdash.dashboard.compare.selection import SCALES, one_known, read_threads
from benchdash.dashboard.shell.navigation import Link, address_with
from benchdash.dashboard.shell.switches import Switch, switch
from benchdash.regressions.comparison.branch_table import Around
from benchdash.regressions.comparison.rows import RelativeTo

T = TypeVar("T", bound=str)

_ORDERS: Final = (
    ("name", "name"),
    ("last", "change into the last column"),
    ("worst", "most lost in any column"),
)
_ROWS: Final = (
    ("grouped", "in groups of workloads"),
    ("flat", "without groups"),
    ("groups", "the groups alone"),
)
_CHANGED: Final = (("", "all"), ("1", "only what changed"))
_CHARTS: Final = (("", "curves"), ("percentiles", "percentiles"))
_DRAWN: Final = (("", "absolute"), ("relative", "relative"))
ALL: Final = "all"
"""In place of a workload that is opened: the curves of all on the same axes."""
EACH: Final = "each"
"""In its place: every workload, one by one."""
_COLOURS: Final = (("certain", "what is beyond the noise"), ("size", "every difference by its size"))


@dataclass(frozen=True)
class MatrixPresentation:
    """The look of a matrix and of the charts of its ``opened`` workloads.

    ``drawn``, ``scale`` and ``charts`` are empty where charts are as they are by themselves; ``operation`` is
    whose response times their percentiles are of.
    """

    nights: bool
    values: Values
    relative_to: RelativeTo
    order: Order
    rows: str
    only_changed: bool
    colours: str
    workloads: Sequence[str]
    threads: Sequence[int | None]
    opened: Sequence[str]
    until: datetime | None
    drawn: str
    scale: str
    charts: str
    operation: str

    @property
    def opened_rows(self) -> list[str]:
        """The ids of the workloads that are opened one by one."""
        return [pk for pk in self.opened if pk not in (ALL, EACH)]

    def opens(self, workload: str) -> bool:
        """Tell whether the workload with this id is open."""
        return workload in self.opened or EACH in self.opened

    def look(self, *, opened: Collection[str]) -> MatrixLook:
        """Return the look; ``opened`` are names of workloads."""
        return MatrixLook(
            values=self.values,
            order=self.order,
            opened=opened,
            only_changed=self.only_changed,
            by_size=self.colours == "size",
            groups=self.rows != "flat",
            only_groups=self.rows == "groups",
        )


def read_view(query: QueryDict, *, branches: bool, releases: bool) -> MatrixPresentation:
    """Read the look; ``branches`` and ``releases`` tell whether there are such columns, and one is true."""
    return MatrixPresentation(
        nights=branches and (query.get("over") == "nights" or not (releases or query.get("v"))),
        values=_one_of(query.get("values"), get_args(Values)),
        relative_to=_one_of(query.get("relative_to"), get_args(RelativeTo)),
        order=_one_of(query.get("sort"), get_args(Order)),
        rows=_one_of(query.get("rows"), [value for value, _ in _ROWS]),
        only_changed=query.get("changed") == "1",
        colours=_one_of(query.get("colours"), [value for value, _ in _COLOURS]),
        workloads=query.getlist("workload"),
        threads=read_threads(query),
        opened=query.getlist("open"),
        until=_moment(query.get("until", "")),
        drawn=one_known(query, "drawn", ("relative",)),
        scale=one_known(query, "axis", SCALES),
        charts=one_known(query, "charts", ("percentiles",)),
        operation=query.get("operation", ""),
    )


def switches(
    query: QueryDict, path: str, view: MatrixPresentation, look: MatrixLook, *, both: bool
) -> list[Switch]:
    """Return the switches; ``both`` tells whether there are releases and branches to choose from."""
    address = partial(address_with, path, query)
    said = "change" if view.nights else "ratio"
    base = "the baseline" if view.nights else "the reference"
    values = (("relative", said), ("absolute", "absolute"), ("both", "both"))
    against = (("base", base), ("previous", "the column before"))
    colours = "size" if look.by_size else "certain"
    made = [
        switch("Values", "values", values, view.values, address),
        switch("Against", "relative_to", against, view.relative_to, address),
        switch("Workloads", "changed", _CHANGED, "1" if view.only_changed else "", address),
        switch("Rows", "rows", _ROWS, view.rows, address),
        switch("Sorted by", "sort", _ORDERS, view.order, address),
        switch("Colours", "colours", _COLOURS, colours, address),
        switch("Opened rows", "charts", _CHARTS, view.charts, address),
        switch("Curves", "drawn", _DRAWN, view.drawn, address),
        switch("Axes", "axis", AXES, view.scale, address),
    ]
    if both:
        over = (("versions", "versions"), ("nights", "nights"))
        made.insert(0, switch("Columns", "over", over, "nights" if view.nights else "versions", address))
    return made


def pages(query: QueryDict, path: str, around: Around) -> list[Link]:
    """Return links to the nights before and after; the newest are shown without saying until when."""
    ends = [("Earlier", around.earlier), ("Later", around.later)]
    texts = [(name, end.astimezone(UTC).isoformat().replace("+00:00", "Z")) for name, end in ends if end]
    return [
        Link(name, address_with(path, query, until="" if name == "Later" and around.is_last else text))
        for name, text in texts
    ]


def _moment(text: str) -> datetime | None:
    """Read a time, or the end of a day, by UTC where it does not say otherwise."""
    try:
        day = parse_date(text)
        found = datetime.combine(day, time.max) if day else parse_datetime(text)
        return found and (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _one_of(asked: str | None, known: Sequence[T]) -> T:
    """Return what is asked for, or the first where it is none of these."""
    return next((one for one in known if one == asked), known[0])
