"""Names that are not known, and those that may be meant."""

from collections.abc import Sequence
from typing import Final

from benchdash.results.wording import nearest

_MAX_NEAREST: Final = 5


def nearest_words(what: str, asked: str, known: Sequence[str]) -> str:
    """Write ``the workload 'oltp_read' is not known; nearest are 'oltp_read_only', 'oltp_read_write'``."""
    folded = {name.casefold(): name for name in known}
    near = nearest(asked.casefold(), folded, most=_MAX_NEAREST)
    contained = [name for name in folded if asked.casefold() in name]
    found = [folded[name] for name in dict.fromkeys([*near, *contained])][:_MAX_NEAREST]
    if found:
        return f"the {what} {asked!r} is not known; nearest are {', '.join(map(repr, found))}"
    some = ", ".join(map(repr, sorted(known)[:_MAX_NEAREST]))
    more = f" and {len(known) - _MAX_NEAREST} more" if len(known) > _MAX_NEAREST else ""
    return f"the {what} {asked!r} is not known; there are {some or 'none'}{more}"
