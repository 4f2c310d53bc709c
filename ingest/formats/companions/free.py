"""free of procps: the memory of the machine. What is used just then says nothing of a run and is not read.

The unit is not printed and follows from the number: memory comes in pages of 4 kB, so that a count of bytes
is a multiple of 4096 and one of kB a multiple of 4.
"""

import re
from collections.abc import Sequence

from ingest.formats.companions.facts import FactFile, Fields, whole_lines
from ingest.formats.source import Source

_HEADING_TEXT = r"[ \t]+total +used +free +shared\b"
_HEADING_IN_HEAD = re.compile(rf"^{_HEADING_TEXT}[^\n]*\nMem:[ \t]".encode(), re.MULTILINE)
_ROW = re.compile(r"(Mem|Swap):[ \t]+([0-9]{1,18}|[0-9]{1,6}(?:[.,][0-9]{1,3})?[KMGTP]i?B?|0B)[ \t].*")
_PAGE_KB = 4
_PAGE_BYTES = 4096
_KB_PER_MB = 1024
# The least and the most memory of a machine with a database: 256 MB and 256 TB.
_MIN_KB = 256 * 1024
_MIN_MB = 1024


def _fields(source: Source) -> tuple[Fields, list[str]]:
    """Return the totals as they are printed, and in kB where their unit is clear."""
    lines, warnings = whole_lines(source)
    fields = _totals(lines)
    total, swap = fields.get("Mem", ""), fields.get("Swap", "")
    if kilobytes := _kilobytes(total):
        fields["kilobytes"] = str(kilobytes)
        if swap.isdecimal():
            # The unit of the memory, which is large enough to tell.
            fields["kilobytes of swap"] = str(int(swap) * kilobytes // int(total))
    elif total and (not total.isdecimal() or int(total) < _MIN_MB):
        # Printed by -h and -g; of others the unit is not clear, as with --si.
        fields["rounded"] = f"{total}Gi" if total.isdecimal() else total
    elif total:
        warnings.append(f"the unit of {total}, the total of the memory, is not clear")
    return fields, warnings


def _totals(lines: Sequence[str]) -> Fields:
    """Return the first total of memory and swap; ``free -s`` prints them again and again."""
    found: Fields = {}
    for line in lines:
        if row := _ROW.fullmatch(line.strip() + " "):
            found.setdefault(row[1], row[2])
    return found


def _kilobytes(text: str) -> int | None:
    """Return the total in kB; None where it is rounded to GB or its unit remains open."""
    if not text.isdecimal() or (total := int(text)) < _MIN_MB:
        return None
    if total < _MIN_KB:
        return total * _KB_PER_MB
    if total % _PAGE_BYTES == 0:
        return total // 1024
    return total if total % _PAGE_KB == 0 else None


FORMAT = FactFile(
    recognised_by=_HEADING_IN_HEAD.search,
    fields=_fields,
    hardware={
        "kilobytes": "ram_kib:count",
        "kilobytes of swap": "swap_kib:count",
        "rounded": "ram",
    },
    environment={},
)
