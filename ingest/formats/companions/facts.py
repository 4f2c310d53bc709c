"""Texts of ``Key: value`` lines, and the numbers in them."""

import re
from collections.abc import Sequence

from ingest.formats.companions.sampling import whole_lines
from ingest.formats.source import Source

_PAIR = re.compile(r"[ \t]*([A-Za-z][^:=\n]{0,60}?)[ \t]*[:=][ \t]*(\S.{0,2000})")
_WHOLE = re.compile(r"[0-9]{1,9}")
_MAX_VALUE_LENGTH = 300


def pairs(source: Source) -> tuple[dict[str, str], list[str]]:
    """Return the first value of every key, without quotes around it, and warnings."""
    lines, warnings = whole_lines(source)
    return pairs_in(lines), warnings


def pairs_in(lines: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        if pair := _PAIR.fullmatch(line.rstrip()):
            found.setdefault(pair[1], pair[2].strip("\"'")[:_MAX_VALUE_LENGTH])
    return found


def whole_number(text: str) -> int | None:
    text = text.strip()
    return int(text) if _WHOLE.fullmatch(text) else None
