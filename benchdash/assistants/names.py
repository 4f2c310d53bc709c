"""Names that are not known, and those that may be meant."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

_MAX_NEAREST: Final = 5


def nearest_words(what: str, asked: str, known: Sequence[str]) -> str:
    """Write ``the workload 'oltp_read' is not known; nearest are 'oltp_read_only', 'oltp_read_write'``."""
    folded = {name.casefold(): name for name in known}
    near = get_close_matches(asked.casefold(), folded, n=_MAX_NEAREST, cutoff=0.5)
    contained = [name for name in folded if asked.casefold() in name]
    found = [folded[name] for name in dict.fromkeys([*near, *contained])][:_MAX_NEAREST]
    if found:
        return f"the {what} {asked!r} is not known; nearest are {', '.join(map(repr, found))}"
    some = ", ".join(map(repr, sorted(known)[:_MAX_NEAREST]))
    more = f" and {len(known) - _MAX_NEAREST} more" if len(known) > _MAX_NEAREST else ""
    return f"the {what} {asked!r} is not known; there are {some or 'none'}{more}"
