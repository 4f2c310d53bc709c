"""What the address of one page under Compare means to the pages beside it."""

from typing import Final

from django.http import QueryDict

# These choose any number of versions by ``v`` and hold them against ``base``.
_OF_COLUMNS: Final = frozenset({"compare", "matrix", "curves", "latency"})
# These know workloads by their ids; the page "Settings" knows them by their names.
_OF_WORKLOAD_IDS: Final = _OF_COLUMNS | {"pair"}
_OF_ONE_METRIC: Final = frozenset({"matrix", "sweep"})


def carried(query: QueryDict, *, here: str, there: str) -> str:
    """What the page ``here`` and the page ``there`` (names of URLs) both understand, as a query.

    Nothing is carried that the address does not say, so that each page begins with what suits it.
    """
    kept = QueryDict(mutable=True)
    for name, texts in _columns(query, here, there).items():
        kept.setlist(name, texts)
    if {here, there} <= _OF_WORKLOAD_IDS:
        kept.setlist("workload", query.getlist("workload"))
    kept.setlist("threads", query.getlist("threads"))
    metrics = query.getlist("metric")
    if there != "latency":
        kept.setlist("metric", metrics[:1] if there in _OF_ONE_METRIC else metrics)
    return kept.urlencode()


def _columns(query: QueryDict, here: str, there: str) -> dict[str, list[str]]:
    columns, base = query.getlist("v"), query.get("base", "")
    if here == "matrix" and query.get("over") == "nights":
        # There it is a night, or a release by another id.
        base = ""
    if here in _OF_COLUMNS and there in _OF_COLUMNS:
        return {"v": columns, "base": [base] if base else []}
    if here in _OF_COLUMNS and there == "pair":
        return _pair(columns, base)
    if here == "pair" and there in _OF_COLUMNS:
        sides = [text for text in (base, query.get("against", "")) if text]
        return {"v": sides, "base": sides[:1]}
    return {}


def _pair(columns: list[str], base: str) -> dict[str, list[str]]:
    """The reference, or the oldest, against the newest of the others."""
    base = base or next(iter(columns), "")
    others = [text for text in columns if text != base]
    return {"base": [base] if base else [], "against": others[-1:]}
