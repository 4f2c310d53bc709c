"""The selection in an address, as the addresses of other pages say it.

Overview, History and the pages under Compare share what a visitor selects: versions (``v``), the reference
(``base``), the place (product, hardware, configuration and so on), workloads, threads and metrics. A page
reads of them what it can show, and its links take all of them along.
"""

import re
from typing import Final

from django.http import QueryDict

PAGES: Final = frozenset({"overview", "matrix", "pair", "sweep", "history"})
PLACE: Final = ("product", "branch", "build", "line", "hardware", "configuration", "counterpart")
# In an address, for a part of a place that is empty: no branch (a release), no build, no counterpart.
EMPTY: Final = frozenset({"none", "~"})
# ``12.3.1~branch``: a version at a place. The id of a version alone means it at every place.
_COLUMN: Final = re.compile(r"[0-9]+(\.[0-9]+\.[0-9]+)?(~.*)?", re.DOTALL)


def whole_number(text: str) -> int | None:
    """Read a number of at most nine digits; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def names_place(query: QueryDict) -> bool:
    return any(query.get(name) for name in PLACE)


def selected(query: QueryDict, *, here: str, there: str) -> str:
    """Return the selection of the page ``here`` as a query of the page ``there`` (names of URLs).

    It has nothing that the address does not say, so that each page begins with what suits it.
    """
    columns, base = query.getlist("v"), query.get("base", "")
    if not _COLUMN.fullmatch(base) or (here == "sweep" and "." not in base):
        # A baseline of a branch, or a value of a setting.
        base = ""
    if here == "sweep" != there:
        # There a version is meant wherever it was measured; the other pages would have to ask where.
        columns = [text for text in columns if "." in text]
    if here == "pair":
        sides = [text for text in (base, query.get("against", "")) if text]
        if not {*sides} <= {*columns}:
            columns, base = sides, sides[0]
    kept = QueryDict(mutable=True)
    if there == "pair":
        base = base or next(iter(columns), "")
        others = [text for text in columns if text != base]
        # The reference, or the oldest, against the newest of the others.
        sides = [*([base] if base else []), *others[-1:]]
        kept.setlist("v", columns if len(columns) > len(sides) else [])
        kept.setlist("base", sides[:1])
        kept.setlist("against", sides[1:])
    else:
        kept.setlist("v", columns)
        kept.setlist("base", [base] if base else [])
    for name in (*PLACE, "workload", "threads", "metric"):
        kept.setlist(name, query.getlist(name))
    return kept.urlencode()
