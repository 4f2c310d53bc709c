"""Sorts the lines that one sysbench printed: header, interval lines, histogram, reports."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ingest.formats.outputs import Figure, given_twice, quoted
from ingest.formats.report import FormatError
from ingest.formats.sysbench.hooks import HookRun, hook_runs
from ingest.formats.sysbench.interval_lines import IntervalLines, is_checkpoint
from ingest.formats.sysbench.numbers import figure, number

SQL = "SQL statistics"
CPU = "CPU speed"
MEMORY = "Total operations"
FILES = "File operations"
FILE_COUNTS = "Operations performed"
THROUGHPUT = "Throughput"
GENERAL = "General statistics"
LATENCY = "Latency (ms)"
FAIRNESS = "Threads fairness"

_HEADINGS = {
    f"{heading}:": heading for heading in (SQL, CPU, FILES, THROUGHPUT, GENERAL, LATENCY, FAIRNESS)
} | {
    "OLTP test statistics:": SQL,
    "Test execution summary:": GENERAL,
    "Latency statistics:": LATENCY,
}
_INNER_HEADINGS = {"per-request statistics": LATENCY, "response time": LATENCY}
# The names of figures, by which they are known behind a blank line and without the blanks before them.
_NAMES = {
    SQL: {"read", "write", "other", "total", "transactions", "queries", "ignored errors", "reconnects"}
    | {"deadlocks", "read/write requests", "other operations"},
    CPU: {"events per second"},
    FILES: {"reads/s", "writes/s", "fsyncs/s"},
    THROUGHPUT: {"events/s (eps)", "time elapsed", "total number of events", "read", "write", "fsync"}
    | {"read, MiB/s", "written, MiB/s"},
    GENERAL: {"total time", "total number of events", "total time taken by event execution"},
    LATENCY: {"min", "avg", "max", "sum", "percentile stats"},
    FAIRNESS: {"events (avg/stddev)", "execution time (avg/stddev)"},
}

_RUN_BEGINS = "Running the test with following options:"
_HEADER_ENDS = "Threads started!"
_OPTIONS = {
    "Number of threads": "threads",
    "Prime numbers limit": "cpu_max_prime",
    "Maximum prime number checked in CPU test": "cpu_max_prime",
    "block size": "memory_block_size",
    "total size": "memory_total_size",
    "operation": "memory_oper",
    "scope": "memory_scope",
    "Memory block size": "memory_block_size",
    "Memory transfer size": "memory_total_size",
    "Memory operations type": "memory_oper",
    "Memory scope type": "memory_scope",
}
_OPTIONS_IN_WORDS = re.compile(
    r"Target transaction rate: (?P<rate>.+)/sec(?:, with jitter .+)?"
    r"|Report intermediate results every (?P<report_interval>.+) second(?:\(s\))?"
    r"|Report checkpoint\(s\) at (?P<report_checkpoints>.+) seconds"
    r"|Warmup time: (?P<warmup_time>.+)s"
    r"|Initializing random number generator from seed \((?P<rand_seed>.+)\)\."
    r"|Thread yields per test: (?P<thread_yields>[0-9]+) Locks used: (?P<thread_locks>[0-9]+)"
    r"|Running (?P<oltp_test_mode>mixed|simple|non-transactional|stored procedure) (?:OLTP )?test"
    r"|(?P<file_num>[0-9]+) files, .+ each"
    r"|(?P<file_total_size>\S+) total file size"
    r"|Block size (?P<file_block_size>.+)"
    r"|Using (?P<file_io_mode>.+) I/O mode"
    r"|Doing (?:(?P<oltp_read_only>read-only|read/write)|(?P<file_test_mode>(?:sequential|random) .+)) test"
)
# What 0.4 says in words, as its options are written.
_MEANT = {
    ("oltp_test_mode", "mixed"): "complex",
    ("oltp_test_mode", "non-transactional"): "nontrx",
    ("oltp_test_mode", "stored procedure"): "sp",
    ("oltp_read_only", "read-only"): "on",
    ("oltp_read_only", "read/write"): "off",
}
_PRIME_LIMIT = "Maximum prime number checked in CPU test: "
_COMMAS_OF_CSV = 9
_TESTS = {
    "Doing CPU performance benchmark": "cpu",
    "Doing memory operations speed test": "memory",
    "Running memory speed test with the following options:": "memory",
    "Doing thread subsystem performance test": "threads",
    "Doing mutex performance test": "mutex",
    "Doing OLTP test.": "oltp",
}

# What scripts write from a report, such as ``transactions: 122666 (4087.95 per sec.)``.
_SUMMARY = re.compile(r"(?:transactions|queries|events|tps|qps|avg|95th|time) ?[:=] *[0-9]")
_OPERATIONS = re.compile(r"(?:Total operations|Operations performed): +(.*)")
_MEMORY_SIZES = re.compile(r"[0-9].*B transferred \(")
_FILE_SIZES = re.compile(r"Read \S+ +Written \S+ +Total transferred .*")

# What people write behind a figure, in a language of their own mostly.
_REMARK = re.compile(r"(?<!\s)\s++(?:#|//|<-).*|(?<=[0-9)s])\s+\(?[^\x00-\x7f].*")
_ESCAPED = re.compile(r"\\([\[\]()])")


def plain_line(line: str) -> str:
    """Return a line without what a document adds to it: hard blanks, and Markdown's backslashes."""
    line = line.replace("\xa0", " ")
    return _ESCAPED.sub(r"\1", line) if "\\" in line else line


@dataclass(slots=True)
class ReportBlock:
    """The lines of one report, by heading and name. ``end`` is the number of the last one."""

    line: int
    end: int
    values: dict[str, dict[str, tuple[str, int]]] = field(default_factory=dict)

    def add(self, heading: str, name: str, value: str, line: int) -> None:
        """Raise FormatError for a name that is there already."""
        names = self.values[heading]
        if name in names:
            raise given_twice(f"'{name[:80]}:'", line)
        names[name] = value, line
        self.end = line

    def has(self, heading: str, name: str | None = None) -> bool:
        return heading in self.values and (name is None or name in self.values[heading])

    def text(self, heading: str, name: str) -> tuple[str, int]:
        """Return a value and its line. Raise FormatError where the report lacks it."""
        try:
            return self.values[heading][name]
        except KeyError:
            raise FormatError(
                f"the report is not complete: no '{name}:' under '{heading}:' up to this line", self.end
            ) from None

    def number(self, heading: str, name: str) -> float:
        return number(*self.text(heading, name))

    def figure(self, heading: str, name: str, unit: str = "") -> Figure:
        text, line = self.text(heading, name)
        return figure(text.removesuffix(unit), line)

    def match(self, heading: str, name: str, pattern: re.Pattern[str]) -> tuple[re.Match[str], int]:
        """Return a value of several parts, and its line."""
        text, line = self.text(heading, name)
        match = pattern.fullmatch(text)
        if match is None:
            raise FormatError(f"two numbers are missing in {quoted(text)}", line)
        return match, line

    def figures(self, heading: str, name: str, pattern: re.Pattern[str]) -> tuple[Figure, Figure]:
        """Return the two numbers of one line."""
        match, line = self.match(heading, name, pattern)
        return figure(match[1], line), figure(match[2], line)


@dataclass(slots=True)
class SysbenchOutput:
    """What one sysbench printed from its banner on, sorted but not yet understood.

    ``begin`` is the line of the banner. Where it is missing, ``version`` is empty, ``begin`` the line before
    the first one, and ``title`` the last text above the report. ``indent`` are the blanks before each line.
    Header values and FATAL lines come with their line number. ``stamp`` is the time before the banner,
    ``cpus`` the number of CPUs that a script printed before it, ``test`` the test that the header names,
    ``hook_runs`` what hooks printed in the place of intervals or report, ``summary`` the first line of what a
    script made of a report.
    """

    begin: int
    last_line: int
    version: str
    luajit: str
    stamp: str
    command: str
    cpus: int | None
    indent: str
    title: str = ""
    summary: tuple[str, int] | None = None
    begins_with: str = ""
    begun: bool = False
    test: str = ""
    header: dict[str, tuple[str, int]] = field(default_factory=dict)
    interval_lines: IntervalLines = field(default_factory=IntervalLines)
    checkpoints: list[int] = field(default_factory=list)
    histogram: list[tuple[float, float]] = field(default_factory=list)
    blocks: list[ReportBlock] = field(default_factory=list)
    hook_runs: list[HookRun] = field(default_factory=list)
    fatal: list[tuple[str, int]] = field(default_factory=list)
    error: FormatError | None = None

    @property
    def is_a_test(self) -> bool:
        """Whether a test was run, or failed; prepare, cleanup and help are none."""
        return self.begun or bool(self.blocks or self.interval_lines or self.fatal or self.hook_runs)

    @property
    def line(self) -> int:
        """The line of the banner, or of the report without one."""
        if self.version:
            return self.begin
        return self.blocks[-1].line if self.blocks else self.begin + 1

    @property
    def has_report_of_a_hook(self) -> bool:
        """Whether a hook printed the report, or something that is none, and sysbench itself no other."""
        return not self.blocks and any(run.final or run.error for run in self.hook_runs)


def sort(output: SysbenchOutput, lines: Iterable[str]) -> None:
    """Fill the output with the lines after its banner, which can be gone through more than once.

    Figures that are none, and two reports written into each other, become its error.
    """
    try:
        _Sorter(output).sort(lines)
    except FormatError as error:
        output.error = error
    if not (output.interval_lines and output.blocks) and any("{" in line for line in lines):
        found = hook_runs(lines, first_line=output.begin + 1)
        output.hook_runs = [run for run in found if run.has_reports or run.error]


def _without_remark(line: str) -> str:
    """Return ``read: 9`` of ``read: 9  # all reads``; what failed is told in full."""
    if (line.isascii() and "#" not in line and "//" not in line and "<-" not in line) or "FATAL: " in line:
        return line
    return _REMARK.sub("", line, count=1)


class _Sorter:
    def __init__(self, output: SysbenchOutput) -> None:
        self.output = output
        self.in_header = True
        self.in_histogram = False
        self.heading = ""
        # Whether a blank line stands between the heading and what follows.
        self.is_parted = False
        self.block: ReportBlock | None = None

    def sort(self, lines: Iterable[str]) -> None:
        for line_number, whole in enumerate(lines, start=self.output.begin + 1):
            line = _without_remark(plain_line(whole)).removeprefix(self.output.indent)
            first, text = line[:1], line.strip()
            if first == "[":
                if is_checkpoint(line):
                    self.output.checkpoints.append(line_number)
                    self.block = None
                else:
                    self.output.interval_lines.add(line, line_number)
            elif not text:
                self.is_parted = True
            elif text in _HEADINGS:
                self._open(_HEADINGS[text], line_number)
            elif self._figure(text, line_number, is_indented=first.isspace()):
                pass
            elif not first.isspace():
                self._plain(text, line_number)
            elif self.in_histogram:
                self._bucket(line, line_number)
            elif self.in_header:
                self._header(text, line_number)

    def _figure(self, text: str, line_number: int, *, is_indented: bool) -> bool:
        """Take a line of the report under the heading; return whether it is one."""
        if not self.heading or not self.block:
            return False
        name, _, value = (part.strip() for part in text.partition(":"))
        is_below = is_indented and not self.is_parted
        if not value and name in _INNER_HEADINGS:
            self._open(_INNER_HEADINGS[name], line_number)
            return True
        names = self.block.values[self.heading]
        is_known = name in _NAMES.get(self.heading, ()) or name.endswith("percentile")
        if value and (is_below or (is_known and name not in names)):
            self.block.add(self.heading, name, value, line_number)
            return True
        return is_below

    def _bucket(self, line: str, line_number: int) -> None:
        """Read ``       0.728 |***                                      12``."""
        value, bar, count = line.partition(" |")
        if bar:
            latency = number(value.strip(), line_number)
            self.output.histogram.append((latency, number(count.lstrip("*").strip(), line_number)))

    def _plain(self, line: str, line_number: int) -> None:
        output = self.output
        output.begins_with = output.begins_with or line[:200]
        if line.startswith("FATAL: "):
            output.fatal.append((line.removeprefix("FATAL: "), line_number))
        elif self.in_header:
            self._header(line, line_number)
        elif line.startswith("Latency histogram "):
            self.in_histogram = True
            output.histogram.clear()
        elif self.block and MEMORY in self.block.values and _MEMORY_SIZES.match(line):
            self.block.add(MEMORY, "transferred", line, line_number)
        elif line[0].isdigit():
            if self.block is None and line.count(",") == _COMMAS_OF_CSV:
                output.interval_lines.add_csv(line)
        elif operations := _OPERATIONS.fullmatch(line):
            heading = FILE_COUNTS if "," in operations[1] else MEMORY
            self._open(heading, line_number).add(heading, "operations", operations[1], line_number)
        elif self.block and FILE_COUNTS in self.block.values and _FILE_SIZES.fullmatch(line):
            self.block.add(FILE_COUNTS, "transferred", line, line_number)
        elif line.startswith(_PRIME_LIMIT):
            self._header(line, line_number)
        else:
            self._summary(line, line_number)

    def _header(self, line: str, line_number: int) -> None:
        header = self.output.header
        if line == _RUN_BEGINS:
            self.output.begun = True
        elif line == _HEADER_ENDS:
            self.in_header = False
        elif line in _TESTS:
            self.output.test = _TESTS[line]
        elif (option := line.partition(": "))[0] in _OPTIONS:
            header.setdefault(_OPTIONS[option[0]], (option[2], line_number))
        elif match := _OPTIONS_IN_WORDS.fullmatch(line):
            for name, value in match.groupdict().items():
                if value is not None:
                    header.setdefault(name, (_MEANT.get((name, value), value), line_number))
        else:
            self._summary(line, line_number)

    def _summary(self, line: str, line_number: int) -> None:
        if self.output.summary is None and _SUMMARY.match(line):
            self.output.summary = line, line_number

    def _open(self, heading: str, line_number: int) -> ReportBlock:
        """Return the report that this heading belongs to, a new one where the last has it already."""
        self.in_header = self.in_histogram = False
        self.heading, self.is_parted = heading, False
        if self.block is None or heading in self.block.values:
            self.block = ReportBlock(line=line_number, end=line_number)
            self.output.blocks.append(self.block)
        self.block.values[heading] = {}
        self.block.end = line_number
        return self.block
