"""sysbench 1.0 and 1.1: the text that ``sysbench <test> run`` prints.

A file holds one run, or several where a shell loop wrote them one after another. Each begins with the banner,
tells its options, may print interval lines, checkpoint reports and a histogram, and ends with a report.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise, takewhile
from pathlib import PurePosixPath

from benchdash.results.readings import Reading, percentile_metric, reading
from ingest.formats.report import Fact, FormatError, Intervals, ParsedReport, ParsedRun
from ingest.formats.source import Source

_BANNER_TEXT = r"sysbench ([0-9]+\.[0-9]+[\w.+~-]{0,60})(?: \(using ([^)\n]{1,100})\)|:[^\n]{0,100})?[ \t]*"
_BANNER = re.compile(_BANNER_TEXT)
_BANNER_IN_HEAD = re.compile(rf"^{_BANNER_TEXT}\r?$".encode(), re.MULTILINE)

_RUN_BEGINS = "Running the test with following options:"
_HEADER_ENDS = "Threads started!"
_HEADER = re.compile(
    r"Number of threads: (?P<threads>.+)"
    r"|Target transaction rate: (?P<rate>.+)/sec"
    r"|Report intermediate results every (?P<report_interval>.+) second\(s\)"
    r"|Report checkpoint\(s\) at (?P<report_checkpoints>.+) seconds"
    r"|Warmup time: (?P<warmup_time>.+)s"
    r"|Initializing random number generator from seed \((?P<rand_seed>.+)\)\."
    r"|Prime numbers limit: (?P<cpu_max_prime>.+)"
    r"|block size: (?P<memory_block_size>.+)"
    r"|total size: (?P<memory_total_size>.+)"
    r"|operation: (?P<memory_oper>.+)"
    r"|scope: (?P<memory_scope>.+)"
    r"|(?P<file_num>[0-9]+) files, .+ each"
    r"|(?P<file_total_size>\S+) total file size"
    r"|Block size (?P<file_block_size>.+)"
    r"|Using (?P<file_io_mode>.+) I/O mode"
    r"|Doing (?P<file_test_mode>.+) test"
)

_TICK = re.compile(r"\[\s*([0-9]\S*?)\s*s\s*\]\s+(.*)")
_TICK_SHAPES = (
    re.compile(
        r"thds: (?P<threads>\S+) tps: (?P<tps>\S+) qps: (?P<qps>\S+)"
        r" \(r/w/o: (?P<reads_per_s>[^\s/]+)/(?P<writes_per_s>[^\s/]+)/(?P<other_per_s>[^\s/]+)\)"
        r" lat \(ms,(?P<rank>[0-9]{1,3})%\): (?P<latency>\S+)"
        r" err/s:? (?P<errors_per_s>\S+) reconn/s:? (?P<reconnects_per_s>\S+)"
    ),
    re.compile(
        r"thds: (?P<threads>\S+) eps: (?P<events_per_s>\S+)"
        r" lat \(ms,(?P<rank>[0-9]{1,3})%\): (?P<latency>\S+)"
    ),
    re.compile(
        r"reads: (?P<read_mib_per_s>\S+) MiB/s writes: (?P<written_mib_per_s>\S+) MiB/s"
        r" fsyncs: (?P<fsyncs_per_s>\S+)/s latency \(ms,(?P<rank>[0-9]{1,3})%\): (?P<latency>\S+)"
    ),
    re.compile(r"(?P<transferred_mib_per_s>[^\s,]+) MiB/sec,?"),
    re.compile(r"queue length: (?P<queue_length>[^\s,]+), concurrency: (?P<concurrency>\S+)"),
)
_BUCKET = re.compile(r"([^\s|]+) \|\**\s+([^\s|]+)")

_SQL = "SQL statistics"
_CPU = "CPU speed"
_MEMORY = "Total operations"
_FILES = "File operations"
_THROUGHPUT = "Throughput"
_GENERAL = "General statistics"
_LATENCY = "Latency (ms)"
_FAIRNESS = "Threads fairness"
_HEADINGS = frozenset({_SQL, _CPU, _FILES, _THROUGHPUT, _GENERAL, _LATENCY, _FAIRNESS})

_WHOLE = re.compile(r"[0-9]{1,15}")
_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?")
_COUNT_AND_RATE = re.compile(r"(\S+)\s+\(\s*(\S+) per sec\.\)")
_OPERATIONS = re.compile(r"(?:Total operations|Operations performed): (.*)")
_OPERATIONS_AND_RATE = re.compile(r"(\S+)\s+\(\s*(\S+) (?:per second|ops/sec)\)")
_TRANSFERRED = re.compile(r"(\S+) MiB transferred \((\S+) MiB/sec\)")
_IO_RATES = re.compile(r"IOPS=(\S+) (\S+) MiB/s\b.*")
_PERCENTILE = re.compile(r"([0-9]{1,3})(?:st|nd|rd|th) percentile")

_SHELL = re.compile(r"[0-9]?[<>|&;]")
_SECRET_NAME = re.compile(r"pass|pwd|secret|token|key", re.IGNORECASE)
_SECRET = re.compile(r"((?:pass\w*|pwd|secret|token|key)\s*[=:]\s*|://[^:/@\s]*:)[^\s@]+", re.IGNORECASE)

# Where nothing was measured sysbench prints 18446744073709.55 ms.
_LARGEST = 1e13
_MOST_THREADS = 1_000_000
# The total time and the time that sysbench divides by are taken up to 2 ms apart, mostly less than one.
_CLOCK_SLACK_S = 1e-3
_LONGEST_COMMAND = 20_000
_MOST_WARNINGS = 20


def recognise(head: bytes) -> bool:
    return _BANNER_IN_HEAD.search(head) is not None


def parse(source: Source) -> ParsedReport:
    """Read every run of the file; where there are several, their keys are ``1``, ``2``, ...

    Raises FormatError where no run is complete. Of several runs an incomplete one is left out with a warning.
    """
    lines, warnings = _whole_lines(source)
    outputs = list(_outputs(lines))
    if not outputs:
        raise FormatError("no run of sysbench: no banner with a report after it", line=len(source.lines))
    tests = [output for output in outputs if output.is_a_test] or outputs[:1]
    runs, intervals, notes = _runs(tests)
    return ParsedReport(tuple(runs), tuple(intervals), _facts(tests), _bounded(warnings + notes))


def _whole_lines(source: Source) -> tuple[Sequence[str], list[str]]:
    """The lines that have an end, and a warning where the last one has none: its number may be cut short."""
    lines = source.lines
    if source.ends_with_newline:
        return lines, []
    return lines[:-1], [
        f"line {len(lines)}, the last one, has no line end and was not read: the file may be cut off"
    ]


def _bounded(warnings: Sequence[str]) -> tuple[str, ...]:
    unread = len(warnings) - _MOST_WARNINGS
    more = (f"{unread} more warnings like these",) if unread > 0 else ()
    return tuple(warnings[:_MOST_WARNINGS]) + more


@dataclass(frozen=True, slots=True)
class _Figure:
    """A printed number. ``rounding`` is half of its last digit."""

    value: float
    rounding: float
    line: int


def _figure(text: str, line: int) -> _Figure:
    """Raises FormatError as ``_number`` does."""
    value = _number(text, line)
    decimals = len(text.partition(".")[2])
    return _Figure(value, 0.5 * 10.0**-decimals, line)


def _number(text: str, line: int) -> float:
    """Raises FormatError for anything but a plain decimal number that could have been measured."""
    if _NUMBER.fullmatch(text) is None:
        raise FormatError(f"{_quoted(text)} is not a number that sysbench measures", line)
    value = float(text)
    if value > _LARGEST:
        raise FormatError(f"{text} is too large to have been measured", line)
    return value


def _quoted(text: str) -> str:
    """Text of the file for a message: short, and without secrets."""
    return repr(_SECRET.sub(r"\1***", text[:160]))


_Tick = tuple[tuple[str, ...], tuple[float, ...]]


@dataclass(slots=True)
class _Block:
    """The lines of one report, by heading and name. ``end`` is the number of the last one."""

    line: int
    end: int
    values: dict[str, dict[str, tuple[str, int]]] = field(default_factory=dict)

    def add(self, heading: str, name: str, value: str, line: int) -> None:
        names = self.values.setdefault(heading, {})
        if name in names:
            raise FormatError(f"'{name[:80]}:' is there twice: did two processes write into one file?", line)
        names[name] = (value, line)
        self.end = line

    def has(self, heading: str, name: str | None = None) -> bool:
        return heading in self.values and (name is None or name in self.values[heading])

    def text(self, heading: str, name: str) -> tuple[str, int]:
        """A value and its line. Raises FormatError where the report lacks it."""
        if not self.has(heading, name):
            raise FormatError(
                f"the report is not complete: no '{name}:' under '{heading}:' up to this line", self.end
            )
        return self.values[heading][name]

    def figure(self, heading: str, name: str, unit: str = "") -> _Figure:
        text, line = self.text(heading, name)
        return _figure(text.removesuffix(unit), line)

    def figures(
        self, heading: str, name: str, pattern: re.Pattern[str] = _COUNT_AND_RATE
    ) -> tuple[_Figure, _Figure]:
        """The two numbers of one line, by default a count and its rate."""
        text, line = self.text(heading, name)
        match = pattern.fullmatch(text)
        if match is None:
            raise FormatError(f"two numbers are missing in {_quoted(text)}", line)
        return _figure(match[1], line), _figure(match[2], line)


@dataclass(slots=True)
class _Output:
    """What one sysbench printed from its banner on, sorted but not yet understood.

    Header values and FATAL lines come with their line number, interval lines as columns and values.
    """

    line: int
    last_line: int
    version: str
    luajit: str
    command: str
    begins_with: str = ""
    begun: bool = False
    header: dict[str, tuple[str, int]] = field(default_factory=dict)
    ticks: list[_Tick] = field(default_factory=list)
    strange_ticks: list[int] = field(default_factory=list)
    checkpoints: list[int] = field(default_factory=list)
    histogram: list[tuple[float, float]] = field(default_factory=list)
    blocks: list[_Block] = field(default_factory=list)
    fatal: list[tuple[str, int]] = field(default_factory=list)
    error: FormatError | None = None

    @property
    def is_a_test(self) -> bool:
        """Whether a test was run, or failed; prepare, cleanup and help are none."""
        return self.begun or bool(self.blocks or self.fatal)


def _outputs(lines: Sequence[str]) -> Iterator[_Output]:
    banners = [
        (index, banner)
        for index, line in enumerate(lines)
        if line.startswith("sysbench ") and (banner := _BANNER.fullmatch(line))
    ]
    starts = [index for index, _ in banners]
    previous = -1
    for (_, banner), (start, stop) in zip(banners, pairwise([*starts, len(lines)]), strict=True):
        output = _Output(
            line=start + 1,
            last_line=stop,
            version=banner[1],
            luajit=banner[2] or "",
            command=_command(lines[previous + 1 : start]),
        )
        try:
            _Sorter(output).sort(lines[start + 1 : stop])
        except FormatError as error:
            output.error = error
        yield output
        previous = start


def _command(lines: Sequence[str]) -> str:
    """The last line that calls sysbench to run a test, as ``set -x`` or a script prints it."""
    for line in reversed(lines):
        if (
            "sysbench" in line
            and len(line) <= _LONGEST_COMMAND
            and _positional(_arguments(line))[-1:] == ["run"]
        ):
            return line.strip()
    return ""


def _arguments(command: str) -> list[str]:
    """The words after ``sysbench``, which may have a path before it, up to a pipe or a redirection."""
    words = command.split()
    start = next(
        (i for i, word in enumerate(words, start=1) if word.split("/")[-1] == "sysbench"), len(words)
    )
    return list(takewhile(lambda word: not _SHELL.match(word), words[start:]))


def _positional(arguments: Sequence[str]) -> list[str]:
    """The test, if it is named so, and the command: empty where the words are no call of sysbench."""
    words = [argument for argument in arguments if not argument.startswith("-")]
    return words if len(words) <= 2 else []


class _Sorter:
    """Sorts the lines of one sysbench into an output."""

    def __init__(self, output: _Output) -> None:
        self.output = output
        self.in_header = True
        self.in_histogram = False
        self.heading = ""
        self.block: _Block | None = None

    def sort(self, lines: Iterable[str]) -> None:
        """Raises FormatError for figures that are none, and for two reports written into each other."""
        for number, line in enumerate(lines, start=self.output.line + 1):
            if text := line.strip():
                self._sort(text, line[0].isspace(), number)
            else:
                self.heading = ""

    def _sort(self, text: str, indented: bool, number: int) -> None:
        output = self.output
        output.begins_with = output.begins_with or text[:200]
        if self.in_histogram and (bucket := _BUCKET.fullmatch(text)):
            output.histogram.append((_number(bucket[1], number), _number(bucket[2], number)))
        elif text.startswith("FATAL: "):
            output.fatal.append((text.removeprefix("FATAL: "), number))
        elif text.startswith("[") and (tick := _TICK.fullmatch(text)):
            self._tick(tick[1], tick[2], number)
        elif text.endswith(":") and text[:-1] in _HEADINGS:
            self._open(text[:-1], number)
        elif self.heading and indented and self.block:
            name, _, value = text.partition(":")
            if value:
                self.block.add(self.heading, name, value.strip(), number)
        elif self.in_header:
            self._header(text, number)
        elif text.startswith("Latency histogram "):
            self.in_histogram = True
        elif operations := _OPERATIONS.fullmatch(text):
            self._open(_MEMORY, number).add(_MEMORY, "operations", operations[1], number)
        elif self.block and _TRANSFERRED.fullmatch(text):
            self.block.add(_MEMORY, "transferred", text, number)

    def _header(self, text: str, number: int) -> None:
        if text == _RUN_BEGINS:
            self.output.begun = True
        elif text == _HEADER_ENDS:
            self.in_header = False
        elif (match := _HEADER.fullmatch(text)) and match.lastgroup:
            self.output.header.setdefault(match.lastgroup, (match[match.lastgroup], number))

    def _open(self, heading: str, number: int) -> _Block:
        """The report that this heading belongs to: a new one where the report at hand has it already."""
        self.in_header = self.in_histogram = False
        self.heading = heading
        if self.block is None or self.block.has(heading):
            self.block = _Block(line=number, end=number)
            self.output.blocks.append(self.block)
        self.block.values[heading] = {}
        self.block.end = number
        return self.block

    def _tick(self, seconds: str, text: str, number: int) -> None:
        if text == "Checkpoint report:":
            self.output.checkpoints.append(number)
            self.block = None
            return
        match = next((found for shape in _TICK_SHAPES if (found := shape.fullmatch(text))), None)
        if match is None:
            self.output.strange_ticks.append(number)
            return
        columns = _tick_columns(match.re, match.groupdict().get("rank", ""))
        values = (seconds, *match.groups())
        tick = (
            tuple(column for column in columns if column),
            tuple(_number(value, number) for column, value in zip(columns, values, strict=True) if column),
        )
        ticks = self.output.ticks
        if "queue_length" in columns and ticks and ticks[-1][1][0] == tick[1][0]:
            ticks[-1] = (ticks[-1][0] + tick[0][1:], ticks[-1][1] + tick[1][1:])
        else:
            ticks.append(tick)


@cache
def _tick_columns(shape: re.Pattern[str], rank: str) -> tuple[str, ...]:
    """The columns of an interval line by position, empty for what is none.

    With percentiles disabled the rank is 0 and the latency means nothing.
    """
    latency = percentile_metric(int(rank)) if rank and 1 <= int(rank) <= 100 else ""
    columns = {"rank": "", "latency": latency}
    return ("time_s", *(columns.get(group, group) for group in shape.groupindex))


def _runs(tests: Sequence[_Output]) -> tuple[list[ParsedRun], list[Intervals], list[str]]:
    alone = len(tests) == 1
    runs: list[ParsedRun] = []
    intervals: list[Intervals] = []
    warnings: list[str] = []
    for position, output in enumerate(tests, start=1):
        try:
            run, notes = _run(output, key="" if alone else str(position))
        except FormatError as error:
            if position == len(tests) and not runs:
                raise
            notes = [f"left out: {error.message} (line {error.line})"]
        else:
            runs.append(run)
            intervals += _interval_tables(output, run.key)
        warnings += notes if alone else [f"run {position}: {note}" for note in notes]
    return runs, intervals, warnings


def _run(output: _Output, key: str) -> tuple[ParsedRun, list[str]]:
    """The run of one output and what is to be known about it.

    Raises FormatError where the test failed or its report is missing, not complete or impossible.
    """
    block = _final_block(output)
    totals = _totals(output, block)
    clock = _clock(output, block, totals)
    readings = (
        *_rates(block, totals, clock),
        *_latencies(block),
        *([reading("total_time", totals.elapsed.value)] if totals.elapsed else []),
        *([reading("total_events", totals.events.value)] if totals.events else []),
    )
    arguments = _arguments(output.command)
    options = _command_options(arguments)
    run = ParsedRun(
        readings=readings,
        key=key,
        workload=_workload(arguments),
        threads=_threads(output, options),
        duration_s=totals.elapsed.value if totals.elapsed else None,
        options=options | _header_options(output) | _percentile_option(block),
    )
    return run, list(_notes(output, block, totals, clock))


def _final_block(output: _Output) -> _Block:
    """The report of the whole run or, after checkpoints, of the rest of it."""
    if not output.version.startswith("1."):
        raise FormatError(f"sysbench {output.version} is not read, only 1.0 and 1.1 are", output.line)
    if failed := _failures(output):
        words = "; ".join(dict.fromkeys(_quoted(text) for text, _ in failed[:3]))
        raise FormatError(f"sysbench failed: {words}", failed[0][1])
    if output.error:
        raise output.error
    if not output.is_a_test:
        printed = f", only {_quoted(output.begins_with)}" if output.begins_with else ""
        raise FormatError(f"no test was run: sysbench's banner{printed}", output.last_line)
    blocks, checkpoints = output.blocks, output.checkpoints
    if len(blocks) <= len(checkpoints):
        raise FormatError(
            "no final report: sysbench was stopped, or the file is cut off after this line", output.last_line
        )
    if len(blocks) > len(checkpoints) + 1:
        raise FormatError(
            "another report begins without a banner before it; send one run, or runs with their banners",
            blocks[len(checkpoints) + 1].line,
        )
    return blocks[-1]


def _failures(output: _Output) -> list[tuple[str, int]]:
    """The FATAL lines, except the one after which sysbench still reports."""
    return [(text, line) for text, line in output.fatal if not _is_forced_shutdown(text)]


def _is_forced_shutdown(text: str) -> bool:
    return "forcing shutdown" in text


@dataclass(frozen=True, slots=True)
class _Totals:
    """What a report says of the run as a whole; fileio of 1.1 says nothing. ``rate`` is events per second."""

    elapsed: _Figure | None = None
    events: _Figure | None = None
    rate: _Figure | None = None


def _totals(output: _Output, block: _Block) -> _Totals:
    if block.has(_GENERAL) or output.version.startswith("1.0"):
        totals = _Totals(
            elapsed=block.figure(_GENERAL, "total time", unit="s"),
            events=block.figure(_GENERAL, "total number of events"),
            rate=block.figure(_CPU, "events per second") if block.has(_CPU) else None,
        )
    elif block.has(_THROUGHPUT, "read"):
        return _Totals()
    else:
        totals = _Totals(
            elapsed=block.figure(_THROUGHPUT, "time elapsed", unit="s"),
            events=block.figure(_THROUGHPUT, "total number of events"),
            rate=block.figure(_THROUGHPUT, "events/s (eps)"),
        )
    if totals.events and not totals.events.value:
        raise FormatError("not one event was completed", totals.events.line)
    return totals


@dataclass(frozen=True, slots=True)
class _Clock:
    """How fast ``count`` things happened, to a relative error: what turns other counts into rates."""

    count: float
    per_second: float
    error: float

    @property
    def seconds(self) -> float:
        return self.count / self.per_second

    def rate(self, count: float) -> float:
        return self.per_second if count == self.count else count * self.per_second / self.count


def _clock(output: _Output, block: _Block, totals: _Totals) -> _Clock | None:
    """The least rounded of all that the report says about its time.

    sysbench divides every count by one time, which it does not print: the total time is a little off, and has
    four decimals only. A count over its own rate mostly gives that time in more digits; where hardly a thing
    happens in a second, the total time does. After a checkpoint the counts cover the rest of the run, but
    the total time all of it.
    """
    pairs = [block.figures(_SQL, name) for name in ("transactions", "queries") if block.has(_SQL)]
    if block.has(_MEMORY):
        pairs.append(_memory_operations(block))
    if totals.events and totals.rate:
        pairs.append((totals.events, totals.rate))
    clocks = [
        _Clock(count.value, rate.value, rate.rounding / rate.value)
        for count, rate in pairs
        if count.value and rate.value
    ]
    elapsed = totals.elapsed
    if elapsed and elapsed.value and not output.checkpoints:
        clocks.append(
            _Clock(elapsed.value, 1.0, (elapsed.rounding + _CLOCK_SLACK_S) / elapsed.value),
        )
    return min(clocks, key=lambda clock: clock.error, default=None)


def _memory_operations(block: _Block) -> tuple[_Figure, _Figure]:
    return block.figures(_MEMORY, "operations", _OPERATIONS_AND_RATE)


def _rates(block: _Block, totals: _Totals, clock: _Clock | None) -> Iterator[Reading]:
    if block.has(_SQL):
        yield from _sql_rates(block, clock)
    if block.has(_MEMORY):
        yield reading("ops_per_s", _rate(clock, *_memory_operations(block)))
        if block.has(_MEMORY, "transferred"):
            _, transferred = block.figures(_MEMORY, "transferred", _TRANSFERRED)
            yield reading("transferred_mib_per_s", transferred.value)
    if block.has(_FILES):
        for metric in ("reads", "writes", "fsyncs"):
            yield reading(f"{metric}_per_s", block.figure(_FILES, f"{metric}/s").value)
        for direction in ("read", "written"):
            yield reading(f"{direction}_mib_per_s", block.figure(_THROUGHPUT, f"{direction}, MiB/s").value)
    if block.has(_THROUGHPUT, "read"):
        yield from _file_rates(block)
    if totals.events and clock:
        yield reading("events_per_s", clock.rate(totals.events.value))


def _sql_rates(block: _Block, clock: _Clock | None) -> Iterator[Reading]:
    transactions, tps = block.figures(_SQL, "transactions")
    queries, qps = block.figures(_SQL, "queries")
    errors, errors_per_s = block.figures(_SQL, "ignored errors")
    reconnects, reconnects_per_s = block.figures(_SQL, "reconnects")
    reads, writes, other = (block.figure(_SQL, name) for name in ("read", "write", "other"))
    if reads.value + writes.value + other.value != block.figure(_SQL, "total").value:
        raise FormatError("the queries performed do not add up to their total", reads.line)
    if clock is None:
        raise FormatError("neither a time nor a rate: nothing was measured", transactions.line)
    yield reading("tps", _rate(clock, transactions, tps))
    yield reading("qps", _rate(clock, queries, qps))
    yield reading("reads_per_s", clock.rate(reads.value))
    yield reading("writes_per_s", clock.rate(writes.value))
    yield reading("other_per_s", clock.rate(other.value))
    yield reading("errors_per_s", _rate(clock, errors, errors_per_s))
    yield reading("reconnects_per_s", _rate(clock, reconnects, reconnects_per_s))


def _rate(clock: _Clock | None, count: _Figure, printed: _Figure) -> float:
    """The rate of a count in all its digits, or the printed one where the two contradict each other."""
    if clock is None:
        return printed.value
    computed = clock.rate(count.value)
    margin = 1.01 * (printed.rounding + computed * clock.error)
    return computed if abs(computed - printed.value) <= margin else printed.value


def _file_rates(block: _Block) -> Iterator[Reading]:
    """The rates of fileio in 1.1: ``read:  IOPS=9645.73 150.71 MiB/s (158.03 MB/s)``."""
    for name, metric in (("read", "read"), ("write", "written")):
        operations, transferred = block.figures(_THROUGHPUT, name, _IO_RATES)
        yield reading(f"{name}s_per_s", operations.value)
        yield reading(f"{metric}_mib_per_s", transferred.value)
    text, line = block.text(_THROUGHPUT, "fsync")
    yield reading("fsyncs_per_s", _figure(text.removeprefix("IOPS="), line).value)


def _latencies(block: _Block) -> list[Reading]:
    least, average, most = (block.figure(_LATENCY, name) for name in ("min", "avg", "max"))
    if not least.value <= average.value <= most.value:
        raise FormatError("the least, average and highest latency are not in this order", average.line)
    figures = [("latency_min", least), ("latency_avg", average), ("latency_max", most)]
    figures += [
        (percentile_metric(rank), figure) for rank, figure in _percentiles(block).items() if rank <= 100
    ]
    figures.append(("latency_sum", block.figure(_LATENCY, "sum")))
    return [reading(metric, figure.value) for metric, figure in figures]


def _percentiles(block: _Block) -> dict[int, _Figure]:
    """The printed percentiles; none where they are disabled. Raises FormatError where the line is missing."""
    names = {name: int(match[1]) for name in block.values[_LATENCY] if (match := _PERCENTILE.fullmatch(name))}
    if not names and block.text(_LATENCY, "percentile stats")[0] != "disabled":
        raise FormatError("the percentile is not understood", block.text(_LATENCY, "percentile stats")[1])
    return {rank: block.figure(_LATENCY, name) for name, rank in names.items()}


def _threads(output: _Output, options: dict[str, Fact]) -> int | None:
    """What the tool itself printed, else the option of the command, which is taken out of the options."""
    asked = [options.pop(name, None) for name in ("threads", "num-threads")]
    if "threads" not in output.header:
        return next((number for number in asked if type(number) is int), None)
    text, line = output.header["threads"]
    number = _figure(text, line).value
    if not (number.is_integer() and 1 <= number <= _MOST_THREADS):
        raise FormatError(f"{text} is not a number of threads", line)
    return int(number)


def _header_options(output: _Output) -> dict[str, Fact]:
    return {
        name.replace("_", "-"): _option(text)
        for name, (text, _) in output.header.items()
        if name != "threads"
    }


def _percentile_option(block: _Block) -> dict[str, Fact]:
    return {"percentile": next(iter(_percentiles(block)), 0)}


def _command_options(arguments: Sequence[str]) -> dict[str, Fact]:
    """The options of a command line under their long names, without those that hold secrets."""
    options: dict[str, Fact] = {}
    for argument in arguments:
        name, is_set, value = argument.partition("=")
        if name.startswith("--") and not _SECRET_NAME.search(name):
            options[name[2:].replace("_", "-")] = _option(value if is_set else "on")
    return options


def _option(text: str) -> Fact:
    if text in ("on", "off"):
        return text == "on"
    return int(text) if _WHOLE.fullmatch(text) else text


def _workload(arguments: Sequence[str]) -> str | None:
    """The test that a command line names: ``oltp_delete`` of ``share/sysbench/oltp_delete.lua run``."""
    named = [argument.removeprefix("--test=") for argument in arguments if argument.startswith("--test=")]
    test = next(iter(named + _positional(arguments)[:-1]), "")
    return PurePosixPath(test).name.removesuffix(".lua") or None


def _notes(output: _Output, block: _Block, totals: _Totals, clock: _Clock | None) -> Iterator[str]:
    """What the reader of a run must know before trusting its figures."""
    if output.checkpoints:
        yield (
            f"after the checkpoint in line {output.checkpoints[-1]} the report covers only the rest "
            "of the run; total_time alone covers all of it"
        )
    elif totals.elapsed and clock and abs(clock.seconds - totals.elapsed.value) > 0.1 + 0.01 * clock.seconds:
        yield (
            f"the printed rates are those of {clock.seconds:.4g} s, "
            f"but the total time is {totals.elapsed.value:.4g} s (line {totals.elapsed.line})"
        )
    if totals.elapsed and not block.has(_FAIRNESS, "execution time (avg/stddev)"):
        yield f"the end of the report is missing after line {block.end}: '{_FAIRNESS}:' is not complete"
    for text, line in output.fatal:
        if _is_forced_shutdown(text):
            yield f"sysbench was forced to stop before its transactions were done (line {line})"
    for rank, figure in _percentiles(block).items():
        if rank > 100:
            yield f"{rank} is no percentile and was left out (line {figure.line})"
    if output.strange_ticks:
        yield (
            f"{len(output.strange_ticks)} interval lines were not understood, "
            f"the first in line {output.strange_ticks[0]}"
        )


def _interval_tables(output: _Output, key: str) -> Iterator[Intervals]:
    if output.ticks:
        shapes = dict.fromkeys(columns for columns, _ in output.ticks)
        columns = tuple(dict.fromkeys(column for shape in shapes for column in shape))
        rows = tuple(
            values if shape == columns else tuple(map(dict(zip(shape, values, strict=True)).get, columns))
            for shape, values in output.ticks
        )
        yield Intervals(key, "sysbench", columns, rows)
    if output.histogram:
        yield Intervals(key, "histogram", ("latency_ms", "count"), tuple(output.histogram))


def _facts(outputs: Sequence[_Output]) -> dict[str, Fact]:
    facts: dict[str, Fact] = {"tool": "sysbench", "tool_version": outputs[0].version}
    if outputs[0].luajit:
        facts["luajit"] = outputs[0].luajit
    if commands := [output.command for output in outputs if output.command]:
        facts["command"] = "\n".join(commands)
    return facts
