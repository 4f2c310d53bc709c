"""DTrace: the distributions of times that quantize(), lquantize() and llquantize() print, and single times.

A row is a bucket: where it begins, a bar, and how many times fell into it. It ends where the next row begins;
empty rows stand at both ends. The key of the aggregation stands above it. DTrace counts nanoseconds unless
the script divides them, and only the key can say so.

A script that prints each time gives a line for each, behind the probe that fired:

    CPU     ID                    FUNCTION:NAME
      0  18672     mysql_parse:select-finish 61634
"""

import operator
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from benchdash.results.readings import Reading, reading
from ingest.formats.outputs import bounded, missing_line_end, whole_lines
from ingest.formats.report import FormatError, Intervals, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.masking import mask_text

# Web pages turn hyphens into dashes.
_HEADER_TEXT = r"[ \t]*value[ ]+(?:-|–|—)+ Distribution (?:-|–|—)+ count[ \t]*"
_HEADER = re.compile(_HEADER_TEXT)
_PROBE_TEXT = r"[ \t]*[0-9]{1,4}[ \t]+[0-9]{1,7}[ \t]+[\w.$~<>,*&()-]{0,300}:(?P<probe>[\w-]{1,80})[ \t]+"
_RECOGNISED = re.compile(
    rf"^(?:{_HEADER_TEXT}\r?$|{_PROBE_TEXT}[0-9]{{1,19}}[ \t]*\r?$|CPU +ID +FUNCTION:NAME\b)".encode(),
    re.MULTILINE,
)
_TIMING = re.compile(
    rf"{_PROBE_TEXT}(?P<text>(?:\S.{{0,200}}?[ \t])?)(?P<time>[0-9]{{1,19}})[ \t]*+"
    r"(?P<unit>\w{0,12})[ \t]*+"
)
_ROW = re.compile(r"[ \t]*(< |>= )?(-?[0-9]{1,19}) \|([@ ]{0,40})[ \t]+([0-9]{1,19})[ \t]*")
_OF_THE_TOOL = re.compile(r"\s*+(dtrace: .*|\^C.*|CPU\s+ID\s.*|[#$%]?\s*+(?:sudo\s++)?dtrace\s.*)?")
_MS_OF_NS = 1e-6
_UNITS_IN_MS = {"ns": _MS_OF_NS, "us": 1e-3, "ms": 1.0, "s": 1e3}
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
_MAX_NS = 2**63
_MIN_POINT_IN_TIME = 1e12  # in ns, since a quarter of an hour after the machine started


class _Row(NamedTuple):
    """How many ``times`` fell into a bucket; ``mark`` is ``<`` or ``>=`` at the ends, which have one end."""

    mark: str
    value: int
    times: int
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
        return bool(self.rows) and (self.rows[-1].times == 0 or self.rows[-1].mark == ">=")

    @property
    def total(self) -> int:
        return sum(row.times for row in self.rows)


def recognise(head: bytes) -> bool:
    return _RECOGNISED.search(head) is not None


def parse(source: Source) -> ParsedReport:
    """Return one run with a histogram for each key, and for the times of each probe.

    Raise FormatError where no distribution is complete and no time is printed.
    """
    tables = list(_tables(source.lines))
    timings = _timings(whole_lines(source)[0])
    complete = [table for table in tables if table.is_complete]
    if not tables and not timings:
        raise FormatError("neither a distribution nor a time is printed", len(source.lines))
    if not complete and not timings:
        line = tables[-1].rows[-1].line if tables[-1].rows else len(source.lines)
        raise FormatError("the distribution breaks off in this line; was the file cut off?", line)
    warnings = [
        f"the distribution that begins in line {table.line} breaks off and was not read"
        for table in tables
        if not table.is_complete
    ]
    warnings += missing_line_end(source)
    if tables and source.ends_with_newline and tables[-1].ends_file:
        # An empty row may also stand between others.
        warnings.append(f"nothing follows line {len(source.lines)}: the file may be cut off")
    last = _last_of_each(complete, warnings)
    kept = dict(list(last.items())[:_MAX_DISTRIBUTIONS])
    if len(last) > len(kept):
        warnings.append(f"only {len(kept)} of {len(last)} distributions were read")
    if not all(_unit_of(table.key) for table in kept.values()):
        warnings.append("no unit is named above a distribution: its times were read as nanoseconds")
    measured = {name: table for name, table in kept.items() if table.total}
    if not measured and not timings:
        raise FormatError("the distributions are empty: nothing was measured", complete[0].line)
    readings = [_named(name, reading("total_events", table.total)) for name, table in measured.items()]
    histograms = [_histogram(name, table) for name, table in measured.items()]
    for timing in timings:
        if timing.name not in measured:
            readings += timing.readings()
            histograms.append(timing.histogram())
    if not all(timing.has_units for timing in timings):
        warnings.append("no unit stands behind the times of a probe: they were read as nanoseconds")
    if timings:
        last_line = max(timing.last_line for timing in timings)
        warnings.append(
            f"the last time of a probe is in line {last_line}; nothing tells whether more followed"
        )
    run = ParsedRun(readings=tuple(readings))
    return ParsedReport((run,), tuple(histograms), {"tool": "DTrace"}, bounded(warnings))


def _last_of_each(tables: Sequence[_Table], warnings: list[str]) -> dict[str, _Table]:
    """Return the distributions by name: the last one under each key, and all that have none, numbered."""
    names = [_name_of(table.key) for table in tables]
    if (nameless := names.count("")) > 1:
        warnings.append(
            f"{nameless} distributions have no key above them and are told apart by their order only"
        )
        numbers = count(1)
        names = [name or f"distribution {next(numbers)}" for name in names]
    found = dict(zip(names, tables, strict=True))
    warnings += [
        f"the distribution {name!r} is printed {times} times; the last, in line {found[name].line}, was read"
        for name, times in Counter(names).items()
        if times > 1
    ]
    return found


@dataclass(slots=True)
class _Timings:
    """The times, in ns, that were printed one by one under a name; ``line`` is that of the first."""

    name: str
    line: int
    last_line: int = 0
    times: "array[int]" = field(default_factory=lambda: array("Q"))
    has_units: bool = True

    def readings(self) -> Iterator[Reading]:
        """Yield how many times there are, and the least, average and greatest of them in ms."""
        average = sum(self.times) * _MS_OF_NS / len(self.times)
        yield _named(self.name, reading("total_events", len(self.times)))
        yield _named(self.name, reading("latency_min", min(self.times) * _MS_OF_NS))
        yield _named(self.name, reading("latency_avg", average))
        yield _named(self.name, reading("latency_max", max(self.times) * _MS_OF_NS))

    def histogram(self) -> Intervals:
        """Return how many times fell between two powers of two, as quantize() counts them."""
        counts = sorted(Counter(time.bit_length() for time in self.times).items())
        return _intervals(
            self.name, ((2**bits // 2 * _MS_OF_NS, 2**bits * _MS_OF_NS, times) for bits, times in counts)
        )


def _timings(lines: Iterable[str]) -> list[_Timings]:
    """Return the times under each name. Raise FormatError where they are points in time."""
    found: dict[str, _Timings] = {}
    for number, line in enumerate(lines, start=1):
        if ":" not in line or not (match := _TIMING.fullmatch(line)):
            continue
        unit = _unit_of(f"{match['text']} {match['unit']}")
        name = _name_of(match["text"]) or _name_of(match["probe"])
        timing = found.setdefault(name, _Timings(name, number))
        nanoseconds = round(_UNITS_IN_MS[unit or "ns"] / _MS_OF_NS)
        timing.times.append(min(int(match["time"]) * nanoseconds, _MAX_NS))
        timing.last_line = number
        timing.has_units = timing.has_units and unit is not None
    for timing in found.values():
        if timing.times[0] > _MIN_POINT_IN_TIME and all(map(operator.lt, timing.times, timing.times[1:])):
            raise FormatError(
                "these are points in time, not how long something took; let the script print 'timestamp' "
                "less the one at the beginning",
                timing.line,
            )
    return list(found.values())[:_MAX_DISTRIBUTIONS]


def _named(name: str, one: Reading) -> Reading:
    """Return the reading of an operation: ``select.total_events``."""
    return one._replace(metric=".".join(filter(None, [name.replace(" ", "_"), one.metric])))


def _unit_of(text: str) -> str | None:
    found = _UNIT.search(text)
    return _UNITS[found[1].lower()] if found else None


def _name_of(text: str) -> str:
    """Return a text without its unit, as the name of an operation."""
    plain = re.sub(r"\W+", " ", _UNIT.sub("", mask_text(text))).strip().lower()
    return plain[:_MAX_NAME_LENGTH].strip()


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
            mark, value, _, times = found.groups()
            rows.append(_Row((mark or "").strip(), int(value), int(times), number))
        elif heading:
            yield _Table(key, rows, heading)
            key, heading, rows = "", 0, []
        if not heading and not _OF_THE_TOOL.fullmatch(line):
            key = line.strip()
    if heading:
        yield _Table(key, rows, heading, ends_file=True)


def _histogram(name: str, table: _Table) -> Intervals:
    scale = _UNITS_IN_MS[_unit_of(table.key) or "ns"]
    buckets = _buckets(table.rows)
    return _intervals(
        name, ((low * scale, None if high is None else high * scale, times) for low, high, times in buckets)
    )


def _intervals(name: str, buckets: Iterable[tuple[float, float | None, int]]) -> Intervals:
    rows = tuple((low, high, float(times)) for low, high, times in buckets)
    return Intervals("", f"{name} histogram".strip(), ("from_ms", "to_ms", "count"), rows)


def _buckets(rows: Sequence[_Row]) -> Iterator[tuple[int, int | None, int]]:
    """Yield where each bucket with a count begins and ends. Raise FormatError for what cannot be times."""
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        if following and following.mark != ">=" and row.mark != "<" and following.value <= row.value:
            raise FormatError("the values of a distribution must rise", following.line)
        if not row.times:
            continue
        low = 0 if row.mark == "<" else row.value
        high = row.value if row.mark == "<" else following.value if following else None
        if low < 0 or (high is not None and high <= low):
            raise FormatError(f"{row.times} values below 0, which no time can be", row.line)
        yield low, high, row.times
