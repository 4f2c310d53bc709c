"""One report of sysbench: its lines by name."""

import re
from dataclasses import dataclass, field

from ingest.formats.outputs import PrintedNumber, given_twice, measured, quoted
from ingest.formats.report import FormatError


def number(text: str, line: int) -> float:
    """Return a plain decimal number. Raise FormatError for anything that was not measured.

    Where nothing was measured sysbench prints 18446744073709.55 ms.
    """
    return measured(text, line, "is not a number that sysbench measures")


def figure(text: str, line: int) -> PrintedNumber:
    return PrintedNumber.of(number(text, line), text, line)


@dataclass(slots=True)
class ReportBlock:
    """The lines of one report by name, each with its number. ``end`` is the number of the last one."""

    line: int
    end: int
    headings: set[str] = field(default_factory=set)
    values: dict[str, tuple[str, int]] = field(default_factory=dict)

    def add(self, name: str, value: str, line: int) -> None:
        """Raise FormatError for a name that is there already."""
        if name in self.values:
            raise given_twice(f"'{name[:80]}:'", line)
        self.values[name] = value, line
        self.end = line

    def text(self, name: str) -> tuple[str, int]:
        """Return a value and its line. Raise FormatError where the report lacks it."""
        try:
            return self.values[name]
        except KeyError:
            message = f"the report is not complete: no '{name}:' up to this line"
            raise FormatError(message, self.end) from None

    def figure(self, name: str) -> PrintedNumber:
        """Return a number, or a time in seconds."""
        text, line = self.text(name)
        return figure(text.removesuffix("s"), line)

    def match(self, name: str, pattern: re.Pattern[str]) -> tuple[re.Match[str], int]:
        """Return a value of several parts, and its line."""
        text, line = self.text(name)
        match = pattern.fullmatch(text)
        if match is None:
            raise FormatError(f"two numbers are missing in {quoted(text)}", line)
        return match, line

    def figures(self, name: str, pattern: re.Pattern[str]) -> tuple[PrintedNumber, PrintedNumber]:
        """Return the two numbers of one line."""
        match, line = self.match(name, pattern)
        return figure(match[1], line), figure(match[2], line)
