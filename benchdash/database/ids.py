"""The ids of rows in texts that anybody may have written."""

from collections.abc import Iterable
from typing import Final

# The largest bigint of PostgreSQL has 19.
_MOST_DIGITS: Final = 18


def ids_in(texts: Iterable[str]) -> list[int]:
    """Those that are ids, in their order; what cannot be one is left out."""
    return [int(text) for text in texts if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS]
