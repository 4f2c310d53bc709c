"""Addresses of views that an article may hold: each must name what it compares.

An address that leaves the choice to the page would show other versions next year.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from django.db.models import Q
from django.http import QueryDict

from benchdash.addresses import (
    ColumnId,
    HistoryQuery,
    MatrixQuery,
    PairQuery,
    RowsQuery,
    SweepQuery,
    ViewQuery,
)
from benchdash.database.ids import ids_in

MAX_QUERY: Final = 8000


class AddressError(Exception):
    """A sentence that says what an address lacks."""


class _View(NamedTuple):
    """A page that articles show: its query, and the fields that an address must say, also in words."""

    query: type[ViewQuery]
    needs: tuple[str, ...]
    needed: str

    def names_all(self, query: ViewQuery) -> bool:
        return all(getattr(query, name) for name in self.needs)


_COLUMNS: Final = (("versions", "metrics"), "v, once for each version, and metric")
PAGES: Final[Mapping[str, _View]] = {
    "compare": _View(RowsQuery, *_COLUMNS),
    "pair": _View(PairQuery, ("base", "against"), "base and against, or run twice"),
    "matrix": _View(MatrixQuery, *_COLUMNS),
    "curves": _View(RowsQuery, *_COLUMNS),
    "latency": _View(RowsQuery, ("versions",), "v, once for each version"),
    "sweep": _View(SweepQuery, ("versions", "setting", "metrics"), "v, setting and metric"),
    "history": _View(HistoryQuery, ("series",), "series, once for each"),
}


def checked_query(page: str, text: str) -> str:
    """Return the query of an address as it is stored. Raises AddressError."""
    if page not in PAGES:
        raise AddressError(f"{page[:50]!r} is none of {', '.join(PAGES)}")
    if len(text) > MAX_QUERY:
        raise AddressError(f"the address is longer than {MAX_QUERY} characters")
    view = PAGES[page]
    query = view.query.of(text.removeprefix("?"))
    if isinstance(query, MatrixQuery):
        if query.over == "nights":
            raise AddressError("a matrix of nights shows other nights every day; choose versions")
        query = replace(query, find="", format="")
    are_runs = page == "pair" and len(query.runs) > 1
    if not are_runs and not view.names_all(query):
        raise AddressError(f"the address must say what it compares: {view.needed}")
    return str(query)


# --- which runs an address is about -------------------------------------------------------------------------


def runs_of(page: str, address: QueryDict | str) -> Q:
    """Return which runs count for a view, as far as its address tells: those of its columns or series."""
    query = PAGES[page].query.of(address)
    if page == "history":
        return Q(measurements__series_id__in=ids_in(query.series))
    found = Q(pk__in=[])
    if not query.runs:  # where both are named, no other counts
        for one in map(ColumnId.of, (query.base, query.against) if page == "pair" else query.versions):
            found |= _runs_of_column(one) if one else Q(pk__in=[])
    workloads, counts = ids_in(query.workloads), query.thread_counts
    if page == "sweep":
        return found
    if workloads:
        found &= Q(workload_id__in=workloads)
    if counts and None not in counts:
        found &= Q(threads__in=counts)
    return found


def _runs_of_column(column: ColumnId) -> Q:
    parts = zip(("version", "hardware", "configuration", "branch", "counterpart"), column, strict=True)
    return Q(**{name: part for name, part in parts if part is not None})
