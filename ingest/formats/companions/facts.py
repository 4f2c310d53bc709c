"""Facts of a machine in ``Key: value`` lines: a declaration of the keys, and the numbers in their values."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ingest.formats import outputs
from ingest.formats.report import CompanionReport, Fact, FormatError
from ingest.formats.source import Source

_PAIR = re.compile(r"[ \t]*([A-Za-z][^:=\n]{0,60}?)[ \t]*[:=][ \t]*(\S.{0,2000})")
# A count may have its parts in parentheses behind it.
_COUNT = re.compile(r"([0-9]{1,15})(?:\s*\(.*)?")
_AMOUNT = re.compile(r"([0-9]{1,3}(?:[.,\s\u00a0\u202f][0-9]{3})*|[0-9]{1,9})[ \t]*([MGT])B")
_KIB = {"M": 1024, "G": 1024**2, "T": 1024**3}
_SEPARATOR = re.compile(r"[^0-9]")
_MAX_VALUE_LENGTH = 300

Fields = dict[str, str]


def whole_lines(source: Source) -> tuple[Sequence[str], list[str]]:
    """Return the lines that have an end, and all warnings of the source."""
    lines, warnings = outputs.whole_lines(source)
    return lines, [*source.warnings, *warnings]


def fields_in_lines(source: Source) -> tuple[Fields, list[str]]:
    """Return the fields of a text, and warnings."""
    lines, warnings = whole_lines(source)
    return pairs_in(lines), warnings


@dataclass(frozen=True, eq=False)
class FactFile:
    """A text that tells of a machine: how it is known, its fields, and the facts that they are."""

    recognised_by: Callable[[bytes], object]
    hardware: Mapping[str, str]
    environment: Mapping[str, str]
    fields: Callable[[Source], tuple[Fields, list[str]]] = fields_in_lines

    def recognise(self, head: bytes) -> bool:
        return bool(self.recognised_by(head))

    def parse(self, source: Source) -> CompanionReport:
        """Raise FormatError where there are no fields."""
        fields, warnings = self.fields(source)
        if not fields:
            raise FormatError("nothing that is known of machines")
        return CompanionReport(
            hardware=facts_of(fields, self.hardware),
            environment=facts_of(fields, self.environment),
            warnings=tuple(warnings),
        )


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
    Fields that begin with the name ``Vulnerability *`` are facts of their own: ``mitigation.*``.
    """
    facts: dict[str, Fact] = {}
    for field, fact in _single(fields, names):
        name, _, kind = fact.partition(":")
        text = fields.get(field, "")
        value: Fact = text
        if kind:
            value = whole_number(text) if kind == "count" else _amount(text)
        if text and value is not None:
            facts.setdefault(name, value)
    return facts


def _single(fields: Mapping[str, str], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield fields with their facts, those of several fields one by one."""
    for name, fact in names.items():
        beginning, star, _ = name.partition("*")
        others = [field for field in fields if star and field.startswith(beginning)]
        yield from ((field, fact.replace("*", field.removeprefix(beginning))) for field in others or [name])


def whole_number(text: str) -> int | None:
    count = _COUNT.fullmatch(text.strip())
    return int(count[1]) if count else None


def _amount(text: str) -> int | None:
    """Return an amount of memory in KiB."""
    amount = _AMOUNT.fullmatch(text)
    return int(_SEPARATOR.sub("", amount[1])) * _KIB[amount[2]] if amount else None
