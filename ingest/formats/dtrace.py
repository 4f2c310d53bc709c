"""DTrace: the distributions of times that quantize(), lquantize() and llquantize() print.

      select (ns)
               value  ------------- Distribution ------------- count
                1024 |                                         0
                2048 |@@@@@@@@@@@@@                            61

A row is a bucket: where it begins, a bar, and how many times fell into it. It ends where the next row begins;
empty rows stand at both ends. The key of the aggregation stands above it. DTrace counts nanoseconds unless
the script divides them, and only the key can say so.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from benchdash.results.readings import reading
from benchdash.results.units import NANOSECONDS
from ingest.formats.outputs import bounded, missing_line_end
from ingest.formats.report import FormatError, Intervals, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.masking import mask_text

# Web pages turn hyphens into dashes.
_HEADING_TEXT = r"[ \t]*value[ ]+(?:-|–|—)+ Distribution (?:-|–|—)+ count[ \t]*"
_HEADING = re.compile(_HEADING_TEXT)
_RECOGNISED = re.compile(rf"^{_HEADING_TEXT}\r?$".encode(), re.MULTILINE)
_ROW = re.compile(r"[ \t]*(< |>= )?(-?[0-9]{1,19}) \|([@ ]{0,40})[ \t]+([0-9]{1,19})[ \t]*")
_OF_THE_TOOL = re.compile(r"\s*+(?:dtrace: .*|\^C.*|CPU\s+ID\s.*|[#$%]?\s*+(?:sudo\s++)?dtrace\s.*)?")
_UNIT = re.compile(
    rf"(?:\bin\s+)?[(\[]?\b({'|'.join(sorted(NANOSECONDS, key=len, reverse=True))})\b[)\]]?", re.IGNORECASE
)
_NS_PER_MS = 1_000_000
_MAX_NAME_LENGTH = 38  # with " histogram" behind it a source has at most 50 characters


class _Row(NamedTuple):
    """How many ``times`` fell into a bucket; ``mark`` is ``<`` or ``>=`` at the ends, which have one end."""

    mark: str
    value: int
    times: int
    line: int


@dataclass(slots=True)
class _Distribution:
    """The rows below a heading, whose line is ``line``, with the key above it."""

    key: str
    line: int
    rows: list[_Row] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        return bool(self.rows) and (self.rows[-1].times == 0 or self.rows[-1].mark == ">=")

    @property
    def total(self) -> int:
        return sum(row.times for row in self.rows)

    @property
    def unit(self) -> str:
        """The unit that the key says, else nothing."""
        unit = _UNIT.search(self.key)
        return unit[1].lower() if unit else ""

    @property
    def name(self) -> str:
        """The key without its unit, as the name of an operation."""
        plain = re.sub(r"\W+", " ", _UNIT.sub("", mask_text(self.key))).strip().lower()
        return plain[:_MAX_NAME_LENGTH].strip()

    def buckets(self) -> Iterator[tuple[float, float | None, float]]:
        """Yield where each bucket with a count begins and ends in ms, and its count.

        Raise FormatError for what cannot be times.
        """
        scale = NANOSECONDS[self.unit or "ns"] / _NS_PER_MS
        for row, following in zip(self.rows, [*self.rows[1:], None], strict=True):
            if following and following.mark != ">=" and row.mark != "<" and following.value <= row.value:
                raise FormatError("the values of a distribution must rise", following.line)
            if not row.times:
                continue
            low = 0 if row.mark == "<" else row.value
            high = row.value if row.mark == "<" else following.value if following else None
            if low < 0 or (high is not None and high <= low):
                raise FormatError(f"{row.times} values below 0, which no time can be", row.line)
            yield low * scale, None if high is None else high * scale, float(row.times)


def recognise(head: bytes) -> bool:
    return _RECOGNISED.search(head) is not None


def parse(source: Source) -> ParsedReport:
    """Return one run with a histogram for each key. Raise FormatError where no distribution is complete."""
    distributions = list(_distributions(source.lines))
    complete = [distribution for distribution in distributions if distribution.is_complete]
    source.limits.check("runs", len(distributions))
    if not complete:
        rows = [row for distribution in distributions for row in distribution.rows]
        line = rows[-1].line if rows else len(source.lines)
        raise FormatError("the distribution breaks off in this line; was the file cut off?", line)
    warnings = [
        f"the distribution that begins in line {distribution.line} breaks off and was not read"
        for distribution in distributions
        if not distribution.is_complete
    ]
    warnings += missing_line_end(source)
    if source.ends_with_newline and complete[-1].rows[-1].line == len(source.lines):
        # An empty row may also stand between others.
        warnings.append(f"nothing follows line {len(source.lines)}: the file may be cut off")
    named = _named(complete, warnings)
    if not all(distribution.unit for distribution in named.values()):
        warnings.append("no unit is named above a distribution: its times were read as nanoseconds")
    measured = {name: distribution for name, distribution in named.items() if distribution.total}
    if not measured:
        raise FormatError("the distributions are empty: nothing was measured", complete[0].line)
    readings = []
    histograms = []
    for name, distribution in measured.items():
        total = reading("total_events", distribution.total)
        operation = f"{name.replace(' ', '_')}." if name else ""
        readings.append(total._replace(metric=f"{operation}{total.metric}"))
        buckets = tuple(distribution.buckets())
        histograms.append(Intervals("", f"{name} histogram".strip(), ("from_ms", "to_ms", "count"), buckets))
    return ParsedReport(
        (ParsedRun(readings=tuple(readings)),), tuple(histograms), {"tool": "DTrace"}, bounded(warnings)
    )


def _distributions(lines: Sequence[str]) -> Iterator[_Distribution]:
    key, open_ = "", None
    for number, line in enumerate(lines, start=1):
        if _HEADING.fullmatch(line):
            if open_:
                yield open_
            key, open_ = "", _Distribution(key, number)
        elif open_ and (row := _ROW.fullmatch(line)):
            open_.rows.append(_Row((row[1] or "").strip(), int(row[2]), int(row[4]), number))
        else:
            if open_:
                yield open_
            key, open_ = key if _OF_THE_TOOL.fullmatch(line) else line.strip(), None
    if open_:
        yield open_


def _named(distributions: Sequence[_Distribution], warnings: list[str]) -> dict[str, _Distribution]:
    """Return the distributions by name: the last one under each key, and all that have none, numbered."""
    nameless = sum(not distribution.name for distribution in distributions)
    numbers = count(1)
    named: dict[str, _Distribution] = {}
    for distribution in distributions:
        name = distribution.name or (f"distribution {next(numbers)}" if nameless > 1 else "")
        if name in named:
            warnings.append(
                f"the distribution {name!r} is printed again in line {distribution.line}: the last is read"
            )
        named[name] = distribution
    if nameless > 1:
        warnings.append(
            f"{nameless} distributions have no key above them and are told apart by their order only"
        )
    return named
