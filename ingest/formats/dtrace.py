"""DTrace: the distributions of times that quantize(), lquantize() and llquantize() print.

A row is a bucket: where it begins, a bar, and how many times fell into it. It ends where the next row begins;
empty rows stand at both ends. The key of the aggregation stands above it. DTrace counts nanoseconds unless
the script divides them, and only the key can say so.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchdash.results.readings import Reading, reading
from ingest.formats.outputs import bounded, missing_line_end
from ingest.formats.report import FormatError, Intervals, NearMiss, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.masking import mask_text

_HEADER_TEXT = r"[ \t]*value[ ]+-+ Distribution -+ count[ \t]*"
_HEADER = re.compile(_HEADER_TEXT)
_RECOGNISED = re.compile(rf"^{_HEADER_TEXT}\r?$".encode(), re.MULTILINE)
_ROW = re.compile(r"[ \t]*(< |>= )?(-?[0-9]{1,19}) \|([@ ]{0,40})[ \t]+([0-9]{1,19})[ \t]*")
_OF_THE_TOOL = re.compile(r"\s*(dtrace: .*|\^C.*|CPU\s+ID\s.*)?")
_MARK = re.compile(r"^dtrace: |^CPU +ID +FUNCTION:NAME")
_UNITS_IN_MS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
_UNITS = {
    **dict.fromkeys(("ns", "nsec", "nsecs", "nanosecond", "nanoseconds"), "ns"),
    **dict.fromkeys(("us", "µs", "μs", "usec", "usecs", "microsecond", "microseconds"), "us"),
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
}
_UNIT = re.compile(
    rf"(?:\bin\s+)?[(\[]?\b({'|'.join(sorted(_UNITS, key=len, reverse=True))})\b[)\]]?", re.IGNORECASE
)
_MAX_NAME_LENGTH = 38  # with " histogram" behind it a source has at most 50 characters
_MAX_DISTRIBUTIONS = 100


@dataclass(frozen=True, slots=True)
class _Row:
    """``mark`` is ``<`` or ``>=`` at the ends of lquantize(), where a bucket has one end."""

    mark: str
    value: int
    count: int
    line: int


@dataclass(frozen=True, slots=True)
class _Table:
    """``line`` is that of the heading; ``ends_file`` where nothing follows, as DTrace's empty line does."""

    key: str
    rows: Sequence[_Row]
    line: int
    ends_file: bool = False

    @property
    def is_complete(self) -> bool:
        return bool(self.rows) and (self.rows[-1].count == 0 or self.rows[-1].mark == ">=")

    @property
    def total(self) -> int:
        return sum(row.count for row in self.rows)

    @property
    def unit(self) -> str | None:
        found = _UNIT.search(self.key)
        return _UNITS[found[1].lower()] if found else None

    @property
    def name(self) -> str:
        """The key without its unit, as the name of an operation."""
        plain = re.sub(r"\W+", " ", _UNIT.sub("", mask_text(self.key))).strip().lower()
        return plain[:_MAX_NAME_LENGTH].strip()


def recognise(head: bytes) -> bool:
    return _RECOGNISED.search(head) is not None


def near_miss(lines: Sequence[str]) -> NearMiss | None:
    """Say what lines lack that DTrace printed."""
    return NearMiss.by(
        _MARK,
        lines,
        "no distribution is in it; let the script print quantize() of the times, or each time as a number",
    )


def parse(source: Source) -> ParsedReport:
    """Return one run with a histogram for each key. Raise FormatError where no distribution is complete."""
    tables = list(_tables(source.lines))
    complete = [table for table in tables if table.is_complete]
    if not complete:
        line = tables[-1].rows[-1].line if tables and tables[-1].rows else len(source.lines)
        raise FormatError("the distribution breaks off in this line; was the file cut off?", line)
    warnings = [
        f"the distribution that begins in line {table.line} breaks off and was not read"
        for table in tables
        if not table.is_complete
    ]
    warnings += missing_line_end(source)
    if source.ends_with_newline and tables[-1].ends_file:
        # An empty row may also stand between others.
        warnings.append(f"nothing follows line {len(source.lines)}: the file may be cut off")
    last = {table.name: table for table in complete}
    for name, table in last.items():
        if (times := sum(one.name == name for one in complete)) > 1:
            what = f"the distribution {name!r}" if name else "the distribution"
            warnings.append(f"{what} is printed {times} times; the last, in line {table.line}, was read")
    kept = list(last.values())[:_MAX_DISTRIBUTIONS]
    if len(last) > len(kept):
        warnings.append(f"only {len(kept)} of {len(last)} distributions were read")
    if any(table.unit is None for table in kept):
        warnings.append("no unit is named above a distribution: its times were read as nanoseconds")
    measured = [table for table in kept if table.total]
    if not measured:
        raise FormatError("the distributions are empty: nothing was measured", kept[0].line)
    run = ParsedRun(readings=tuple(map(_total, measured)))
    return ParsedReport((run,), tuple(map(_histogram, measured)), {"tool": "DTrace"}, bounded(warnings))


def _tables(lines: Sequence[str]) -> Iterator[_Table]:
    key, heading = "", 0
    rows: list[_Row] = []
    for number, line in enumerate(lines, start=1):
        if _HEADER.fullmatch(line):
            if heading:
                yield _Table(key, rows, heading)
                key = ""
            heading, rows = number, []
        elif heading and (found := _ROW.fullmatch(line)):
            mark, value, _, count = found.groups()
            rows.append(_Row((mark or "").strip(), int(value), int(count), number))
        elif heading:
            yield _Table(key, rows, heading)
            key, heading, rows = "", 0, []
        if not heading and not _OF_THE_TOOL.fullmatch(line):
            key = line.strip()
    if heading:
        yield _Table(key, rows, heading, ends_file=True)


def _total(table: _Table) -> Reading:
    """Return the reading ``select.total_events``."""
    metric = ".".join(filter(None, [table.name.replace(" ", "_"), "total_events"]))
    return reading("total_events", table.total)._replace(metric=metric)


def _histogram(table: _Table) -> Intervals:
    scale = _UNITS_IN_MS[table.unit or "ns"]
    rows = tuple(
        (low * scale, None if high is None else high * scale, float(count))
        for low, high, count in _buckets(table.rows)
    )
    return Intervals("", f"{table.name} histogram".strip(), ("from_ms", "to_ms", "count"), rows)


def _buckets(rows: Sequence[_Row]) -> Iterator[tuple[int, int | None, int]]:
    """Yield where each bucket with a count begins and ends. Raise FormatError for what cannot be times."""
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        if following and following.mark != ">=" and row.mark != "<" and following.value <= row.value:
            raise FormatError("the values of a distribution must rise", following.line)
        if not row.count:
            continue
        low = 0 if row.mark == "<" else row.value
        high = row.value if row.mark == "<" else following.value if following else None
        if low < 0 or (high is not None and high <= low):
            raise FormatError(f"{row.count} values below 0, which no time can be", row.line)
        yield low, high, row.count
