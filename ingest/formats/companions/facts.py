"""Facts of a machine in ``Key: value`` lines: a declaration of the keys, and the numbers in their values."""

import re
from collections.abc import Mapping, Sequence

from ingest.formats.report import Fact

_PAIR = re.compile(r"[ \t]*([A-Za-z][^:=\n]{0,60}?)[ \t]*[:=][ \t]*(\S.{0,2000})")
# A count may have its parts in parentheses behind it.
_COUNT = re.compile(r"([0-9]{1,9})(?:\s*\(.*)?")
_AMOUNT = re.compile(r"([0-9]{1,3}(?:[.,\s\u00a0\u202f][0-9]{3})*|[0-9]{1,9})[ \t]*([MGT])B")
_KIB = {"M": 1024, "G": 1024**2, "T": 1024**3}
_SEPARATOR = re.compile(r"[^0-9]")
_MAX_VALUE_LENGTH = 300


def pairs_in(lines: Sequence[str]) -> dict[str, str]:
    """Return the first value of every key, without quotes around it."""
    fields: dict[str, str] = {}
    for line in lines:
        if pair := _PAIR.fullmatch(line.rstrip()):
            fields.setdefault(pair[1], pair[2].strip("\"'")[:_MAX_VALUE_LENGTH])
    return fields


def facts_of(fields: Mapping[str, str], names: Mapping[str, str]) -> dict[str, Fact]:
    """Return the facts that fields say, by the names of the fields; of several the first counts.

    ``cpus:count`` is a whole number and ``ram_kib:amount`` one of memory, and no fact where the text is none.
    """
    facts: dict[str, Fact] = {}
    for field, fact in names.items():
        name, _, kind = fact.partition(":")
        text = fields.get(field, "")
        value: Fact = text
        if kind:
            value = whole_number(text) if kind == "count" else _amount(text)
        if text and value is not None:
            facts.setdefault(name, value)
    return facts


def whole_number(text: str) -> int | None:
    count = _COUNT.fullmatch(text.strip())
    return int(count[1]) if count else None


def _amount(text: str) -> int | None:
    """Return an amount of memory in KiB."""
    amount = _AMOUNT.fullmatch(text)
    return int(_SEPARATOR.sub("", amount[1])) * _KIB[amount[2]] if amount else None
