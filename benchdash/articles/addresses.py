"""Addresses of views that an article may hold: each must name what it compares.

An address that leaves the choice to the page would show other versions next year.
"""

from collections.abc import Callable, Mapping
from typing import Final

from django.db.models import Q
from django.http import QueryDict

from benchdash.database.ids import ids_in

MAX_QUERY: Final = 8000


class AddressError(Exception):
    """A sentence that says what an address lacks."""


def _have(query: QueryDict, *names: str) -> bool:
    return all(any(query.getlist(name)) for name in names)


_NEEDS_COLUMNS: Final = (
    lambda query: _have(query, "v", "metric"),
    "v, once for each version, and metric",
)
# By the name of a page: what its address must say.
PAGES: Final[Mapping[str, tuple[Callable[[QueryDict], bool], str]]] = {
    "compare": _NEEDS_COLUMNS,
    "pair": (
        lambda query: all(map(query.get, ("base", "against"))) or len(query.getlist("run")) > 1,
        "base and against, or run twice",
    ),
    "matrix": _NEEDS_COLUMNS,
    "curves": _NEEDS_COLUMNS,
    "latency": (lambda query: _have(query, "v"), "v, once for each version"),
    "sweep": (lambda query: all(map(query.get, ("v", "setting", "metric"))), "v, setting and metric"),
    "history": (lambda query: _have(query, "series"), "series, once for each"),
}


def checked_query(page: str, text: str) -> str:
    """Return the query of an address as it is stored. Raises AddressError."""
    if page not in PAGES:
        raise AddressError(f"{page[:50]!r} is none of {', '.join(PAGES)}")
    if len(text) > MAX_QUERY:
        raise AddressError(f"the address is longer than {MAX_QUERY} characters")
    query = QueryDict(text.removeprefix("?").replace("%00", ""), mutable=True)
    for name in ("page", "find", "find_base", "find_against", "format"):
        query.pop(name, None)
    if page == "matrix" and query.get("over") == "nights":
        raise AddressError("a matrix of nights shows other nights every day; choose versions")
    names_all, needed = PAGES[page]
    if not names_all(query):
        raise AddressError(f"the address must say what it compares: {needed}")
    return query.urlencode()


# --- which runs an address is about -------------------------------------------------------------------------


def runs_of(page: str, query: QueryDict) -> Q:
    """Return which runs count for a view, as far as its address tells: those of its columns or series."""
    found = _runs_of_things(page, query)
    if page in ("sweep", "history"):
        return found
    workloads = ids_in(query.getlist("workload"))
    counts = ids_in(query.getlist("threads"))
    if workloads:
        found &= Q(workload_id__in=workloads)
    if counts and "none" not in query.getlist("threads"):
        found &= Q(threads__in=counts)
    return found


def _runs_of_things(page: str, query: QueryDict) -> Q:
    if page == "history":
        return Q(measurements__series_id__in=ids_in(query.getlist("series")))
    if page == "pair" and query.getlist("run"):
        return Q(pk__in=[])  # both runs are named, and no other counts
    texts = [query.get("base", ""), query.get("against", "")] if page == "pair" else query.getlist("v")
    found = Q(pk__in=[])
    for text in texts:
        found |= _runs_of_column(text)
    return found


def _runs_of_column(text: str) -> Q:
    """``12.3.1~branch~counterpart`` is a version at a place, ``12`` the version at every place."""
    numbers, *rest = text.split("~", 2)
    ids = numbers.split(".")
    if len(ids_in(ids)) != len(ids) or len(ids) not in (1, 3):
        return Q(pk__in=[])
    condition = Q(version_id=int(ids[0]))
    if len(ids) == 3:
        condition &= Q(hardware_id=int(ids[1]), configuration_id=int(ids[2]))
    if rest or len(ids) == 3:
        branch, counterpart = (*rest, "", "")[:2]
        condition &= Q(branch=branch, counterpart=counterpart)
    return condition
