"""Ids of rows in texts from outside."""

from collections.abc import Iterable
from typing import Final

# The largest bigint of PostgreSQL has 19.
MAX_DIGITS: Final = 18


def ids_in(texts: Iterable[str]) -> list[int]:
    """Return the texts that are ids as numbers, in their order."""
    return [int(text) for text in texts if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS]
