"""The output of one sysbench, its lines sorted: header, interval lines, histogram, reports."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ingest.formats.report import FormatError
from ingest.formats.sysbench.hooks import HOOK, figures_of, hook_reports
from ingest.formats.sysbench.interval_lines import IntervalLines, is_checkpoint
from ingest.formats.sysbench.report_block import ReportBlock, number

SQL = "SQL statistics"
CPU = "CPU speed"
FILES = "File operations"
OPERATIONS = "Total operations"
THROUGHPUT = "Throughput"
GENERAL = "General statistics"
LATENCY = "Latency (ms)"
FAIRNESS = "Threads fairness"
EVENTS_OF_EACH, TIME_OF_EACH = "events (avg/stddev)", "execution time (avg/stddev)"
TRANSFERRED = "transferred"

_HEADINGS = {heading: heading for heading in (SQL, CPU, FILES, THROUGHPUT, GENERAL, LATENCY, FAIRNESS)} | {
    "OLTP test statistics": SQL,
    "Test execution summary": GENERAL,
    "Latency statistics": LATENCY,
    "per-request statistics": LATENCY,
    "response time": LATENCY,
}
_INNER_HEADINGS = ("per-request statistics", "response time")
# The names of figures, by which they are known behind a blank line and without the blanks before them.
_NAMES = frozenset(
    {
        *("read", "write", "other", "total", "transactions", "queries", "ignored errors", "reconnects"),
        *("deadlocks", "read/write requests", "other operations"),
        *("events per second", "reads/s", "writes/s", "fsyncs/s", "fsync", "read, MiB/s", "written, MiB/s"),
        *("events/s (eps)", "time elapsed", "total time", "total number of events"),
        *("total time taken by event execution", "min", "avg", "max", "sum", "percentile stats"),
        *(EVENTS_OF_EACH, TIME_OF_EACH),
    }
)

_RUN_BEGINS = "Running the test with following options:"
_HEADER_ENDS = "Threads started!"
_PRIME_LIMIT = "Maximum prime number checked in CPU test"
_OPTIONS = {
    "Number of threads": "threads",
    "Prime numbers limit": "cpu_max_prime",
    _PRIME_LIMIT: "cpu_max_prime",
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
# Words of 0.4, as its options are written.
_OPTION_OF_WORD = {
    "mixed": "complex",
    "non-transactional": "nontrx",
    "stored procedure": "sp",
    "read-only": "on",
    "read/write": "off",
}
_COMMAS_OF_CSV = 9
_BEGINS_JSON = frozenset('[{"}],')
_TESTS = {
    "Doing CPU performance benchmark": "cpu",
    "Doing memory operations speed test": "memory",
    "Running memory speed test with the following options:": "memory",
    "Doing thread subsystem performance test": "threads",
    "Doing mutex performance test": "mutex",
    "Doing OLTP test.": "oltp",
}

_SIZES = re.compile(r"[0-9].*B transferred \(|Read \S+ +Written \S+ +Total transferred ")
# Remarks of people behind a figure, in a language of their own mostly.
_REMARK = re.compile(r"(?<!\s)\s++(?:#|//|<-).*|(?<=[0-9)s])\s+\(?[^\x00-\x7f].*")
_ESCAPED = re.compile(r"\\([\[\]()])")


def plain_line(line: str) -> str:
    """Return a line without what a document adds to it: hard blanks, and Markdown's backslashes."""
    line = line.replace("\xa0", " ")
    return _ESCAPED.sub(r"\1", line) if "\\" in line else line


@dataclass(slots=True)
class SysbenchOutput:
    """The lines of one sysbench from its banner on, sorted but not yet understood.

    ``begin`` is the line of the banner. Where it is missing, ``version`` is empty, ``begin`` the line before
    the first one, and ``title`` the last text above the report. ``indent`` are the blanks before each line.
    Header values and FATAL lines come with their line number. ``stamp`` is the time before the banner,
    ``cpus`` the number of CPUs that a script printed before it, ``test`` the test that the header names,
    ``disorder`` the error of an interval that does not follow the one before it.
    """

    begin: int
    last_line: int
    indent: str
    version: str = ""
    luajit: str = ""
    stamp: str = ""
    command: str = ""
    cpus: int | None = None
    title: str = ""
    begins_with: str = ""
    begun: bool = False
    test: str = ""
    header: dict[str, tuple[str, int]] = field(default_factory=dict)
    interval_lines: IntervalLines = field(default_factory=IntervalLines)
    checkpoints: list[int] = field(default_factory=list)
    histogram: list[tuple[float, float]] = field(default_factory=list)
    blocks: list[ReportBlock] = field(default_factory=list)
    fatal: list[tuple[str, int]] = field(default_factory=list)
    error: FormatError | None = None
    disorder: FormatError | None = None
    _in_header: bool = True
    _in_histogram: bool = False
    # A blank line stands between the heading and the lines that follow.
    _is_parted: bool = False
    _block: ReportBlock | None = None
    # The lines of a JSON object that is not closed yet.
    _json: list[str] = field(default_factory=list)
    _open_brackets: int = 0

    @property
    def is_a_test(self) -> bool:
        """Return whether a test was run, or failed; prepare, cleanup and help are none."""
        return self.begun or bool(self.blocks or self.interval_lines or self.fatal)

    @property
    def line(self) -> int:
        """The line of the banner, or of the report without one."""
        if self.version:
            return self.begin
        return self.blocks[-1].line if self.blocks else self.begin + 1

    @property
    def has_report_of_a_hook(self) -> bool:
        """Return whether a hook printed the report, and not sysbench itself."""
        return bool(self.blocks) and HOOK in self.blocks[-1].headings

    @property
    def checkpoint_note(self) -> str:
        """The warning for figures behind a checkpoint."""
        return (
            f"after the checkpoint in line {self.checkpoints[-1]} the report covers only the rest of the run"
        )

    def sort(self, lines: Iterable[str]) -> None:
        """Sort the lines behind the banner.

        Figures that are none, and two reports written into each other, become the error.
        """
        try:
            for number_of_line, line in enumerate(lines, start=self.begin + 1):
                self._sort_line(_without_remark(plain_line(line)).removeprefix(self.indent), number_of_line)
        except FormatError as error:
            self.error = error

    def _sort_line(self, line: str, line_number: int) -> None:
        text, is_indented, block = line.strip(), line[:1].isspace(), self._block
        name, colon, value = text.partition(":")
        name, value = name.rstrip(), value.lstrip()
        is_within = is_indented and not self._is_parted
        if self._json or "{" in text[:2]:
            if text[:1] in _BEGINS_JSON:
                self._sort_json(text, line_number)
                return
            self._json.clear()
            self._open_brackets = 0
        if line[:1] == "[":
            if is_checkpoint(line):
                self.checkpoints.append(line_number)
                self._block = None
            else:
                self.interval_lines.add(line, line_number)
        elif not text:
            self._is_parted = True
        elif name in _HEADINGS and colon and not value and (block or name not in _INNER_HEADINGS):
            self._open(_HEADINGS[name], line_number)
        elif (
            block
            and value
            and (name in _NAMES or name.endswith("percentile"))
            and (name not in block.values or is_within)
        ):
            block.add(name, value, line_number)
        elif self._in_histogram or not (block and is_indented):
            self.begins_with = self.begins_with or ("" if is_indented else text[:200])
            self._sort_other(text, name, value, line_number)

    def _sort_json(self, text: str, line_number: int) -> None:
        """Take a line of a JSON object, which may be the report of a hook once it is closed."""
        self._json.append(text)
        self._open_brackets += text.count("{") - text.count("}")
        if self._open_brackets > 0:
            return
        begin, json = line_number - len(self._json) + 1, "".join(self._json)
        self._json.clear()
        self._open_brackets = 0
        for block in hook_reports(json, begin, line_number):
            if block.values["threads"][0] == "0":
                self.blocks.append(block)
                self._block = None
                continue
            try:
                figures = figures_of(block)
            except FormatError:
                self.interval_lines.strange.append(begin)
                continue
            last = self.interval_lines.last_time
            if figures["time_s"] <= last:
                self.disorder = self.disorder or FormatError(
                    f"a report for second {figures['time_s']:g} follows one for second {last:g}: are these "
                    "two runs, two processes, or checkpoints among the intervals? Send each run as a file of "
                    "its own",
                    begin,
                )
            self.interval_lines.add_figures(figures)

    def _sort_other(self, text: str, name: str, value: str, line_number: int) -> None:
        """Sort a line of the header or the histogram, or one of those that have no heading above them."""
        block = self._block
        if text.startswith("FATAL: "):
            self.fatal.append((text.removeprefix("FATAL: "), line_number))
        elif text.startswith("Latency histogram "):
            self._in_header = False
            self._in_histogram = True
            self.histogram.clear()
        elif self._in_histogram and " |" in text:
            latency, _, count = text.partition(" |")
            bucket = number(latency.strip(), line_number), number(count.lstrip("*").strip(), line_number)
            self.histogram.append(bucket)
        elif self._in_header or name == _PRIME_LIMIT:
            self._sort_header(text, name, value, line_number)
        elif block and OPERATIONS in block.headings and _SIZES.match(text):
            block.add(TRANSFERRED, text, line_number)
        elif block is None and text[0].isdigit() and text.count(",") == _COMMAS_OF_CSV:
            self.interval_lines.add(text, line_number)
        elif name in (OPERATIONS, "Operations performed"):
            self._open(OPERATIONS, line_number).add(OPERATIONS, value, line_number)

    def _sort_header(self, text: str, name: str, value: str, line_number: int) -> None:
        if text == _RUN_BEGINS:
            self.begun = True
        elif text == _HEADER_ENDS:
            self._in_header = False
        elif text in _TESTS:
            self.test = _TESTS[text]
        elif name in _OPTIONS and value:
            self.header.setdefault(_OPTIONS[name], (value, line_number))
        elif match := _OPTIONS_IN_WORDS.fullmatch(text):
            for option, word in match.groupdict().items():
                if word is not None:
                    self.header.setdefault(option, (_OPTION_OF_WORD.get(word, word), line_number))

    def _open(self, heading: str, line_number: int) -> ReportBlock:
        """Return the report that this heading belongs to, a new one where the last has it already."""
        self._in_header = self._in_histogram = self._is_parted = False
        if self._block is None or heading in self._block.headings:
            self._block = ReportBlock(line=line_number, end=line_number)
            self.blocks.append(self._block)
        self._block.headings.add(heading)
        self._block.end = line_number
        return self._block


def _without_remark(line: str) -> str:
    """Return ``read: 9`` of ``read: 9  # all reads``; what failed is told in full."""
    if (line.isascii() and "#" not in line and "//" not in line and "<-" not in line) or "FATAL: " in line:
        return line
    return _REMARK.sub("", line, count=1)
