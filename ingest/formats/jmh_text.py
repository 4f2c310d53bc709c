"""JMH's text output: all that it prints while it runs, or only the table at the end."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ingest.formats.jmh_results import (
    LARGEST_THREADS,
    NOT_APPLICABLE,
    PERCENTILES,
    Measured,
    Result,
    Row,
    metric_name,
    phase_options,
    report_of,
    scale_of,
    score_percentile,
    workload_name,
)
from ingest.formats.jmh_table import Columns, TableRow, columns_of, printed_number
from ingest.formats.report import Fact, FormatError, ParsedReport
from ingest.formats.source import Source

_FIRST_LINES = ("# JMH version: ", "# JMH 1", "# VM invoker: ", "# Benchmark mode: ")
_MODES = {
    "Throughput": "thrpt",
    "Average time": "avgt",
    "Sampling time": "sample",
    "Single shot invocation time": "ss",
}
_OLD_VERSION = re.compile(r"# JMH (\d\S*) \(.*")
_FORK = re.compile(r"(\d{1,9}) of (\d{1,9})")
_ITERATION = re.compile(r"Iteration\s+(\d{1,9}): (.*)")
_RESULT = re.compile(r'(?:Secondary result|Result)(?: "([^"]*)")?:(.*)')
_PERCENTILE = re.compile(r"p\((\d{1,3}[.,]\d{1,9})\) = (.*)")
_PHASE = re.compile(r"(\d{1,9}) iterations, (\S.*?) each(?:, (\d{1,9}) calls per op)?")
_PARAMETER = re.compile(r"(?:^\(|, )([\w$]+) = ")
_THREADS = re.compile(r"(\d{1,9}) thread")
_TROUBLE = ("ERROR: org.openjdk.jmh.", "<forked VM failed", 'Exception in thread "main"')

_DEEPEST_PACKAGE = 20

# A benchmark, its parameters and its mode.
_Key = tuple[str, tuple[tuple[str, str], ...], str | None]


def recognise(head: bytes) -> bool:
    lines = head.decode("utf-8", "replace").splitlines()
    return any(line.startswith(_FIRST_LINES) or columns_of(line) for line in lines)


def parse(source: Source) -> ParsedReport:
    """One run for each benchmark with its parameters and mode.

    Raises FormatError, with the line, where nothing was measured, a table cannot be read or the output breaks
    off. Benchmarks that failed are warnings.
    """
    log = _Log()
    for number, line in enumerate(source.lines, start=1):
        if number < len(source.lines) or source.ends_with_newline:
            log.read(number, line)
        else:
            log.read_cut(number, line)
    for section in log.sections:
        section.match()
    results = [result for section in log.sections for result in section.results()]
    if not results:
        raise log.refusal(last_line=len(source.lines))
    log.sections[-1].refuse_a_cut()
    warnings = [warning for section in log.sections for warning in section.warnings()]
    return report_of(results, [*log.warnings, *warnings])


@dataclass(frozen=True, slots=True)
class _Failure:
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.reason[:200]} (line {self.line})"


@dataclass(slots=True, eq=False)
class _TableEntry:
    """The rows of the table that belong to one benchmark."""

    line: int
    benchmark: str
    params: dict[str, str]
    mode: str | None
    score: Measured | None = None
    secondary: dict[str, Measured] = field(default_factory=dict)
    is_matched: bool = False

    @property
    def key(self) -> _Key:
        return self.benchmark, _applicable(self.params), self.mode

    @property
    def workload(self) -> str:
        return workload_name(self.benchmark, self.params, self.mode)


@dataclass(slots=True, eq=False)
class _Block:
    """One benchmark as it ran: its header, its iterations and its result."""

    benchmark: str
    header: Mapping[str, str]
    parameters: str = ""
    params: dict[str, str] = field(default_factory=dict)
    fork: int | None = None
    forks: int | None = None
    score: Measured | None = None
    secondary: dict[str, Measured] = field(default_factory=dict)
    iterations: list[Row] = field(default_factory=list)
    failure: _Failure | None = None
    entry: _TableEntry | None = None

    @property
    def mode(self) -> str | None:
        return _MODES.get(self.header.get("Benchmark mode", "").partition(",")[0])

    @property
    def workload(self) -> str:
        return workload_name(self.benchmark, self.params, self.mode)

    @property
    def measured(self) -> Measured | None:
        """The score, by the table where there is one: a benchmark may print what looks like a result."""
        return (self.entry.score if self.entry else None) or self.score


class _Section:
    """The benchmarks of one execution of JMH, and the table that sums them up."""

    def __init__(self) -> None:
        self.blocks: list[_Block] = []
        self.columns: Columns | None = None
        self.entries: list[_TableEntry] = []
        self.is_complete = False
        self.last_line = 0
        self._units: set[str] = set()
        self._entry_by_key: dict[_Key, _TableEntry] = {}

    def add(self, line: int, row: TableRow) -> None:
        """Take a row of the table. Raises FormatError for a score in a unit that is none of JMH's."""
        self._units.add(row.printed.unit)
        entry = _TableEntry(line, row.benchmark, row.params, row.mode)
        known = self._entry_by_key.get(entry.key)
        if row.label:
            entry = known or entry
            if row.printed.measured:
                entry.secondary[metric_name(row.label, row.benchmark)] = row.printed.measured
        else:
            self._check(row, line, known)
            entry.score = row.printed.measured
        if entry is not known:
            self._entry_by_key[entry.key] = entry
            self.entries.append(entry)

    def _check(self, row: TableRow, line: int, known: _TableEntry | None) -> None:
        if row.printed.measured and not scale_of(row.printed.unit):
            raise FormatError(
                f"the unit {row.printed.unit[:40]!r} is neither a time per operation nor operations per time",
                line,
            )
        if known and known.score and not row.mode:
            raise FormatError(
                f"{known.workload} stands in line {known.line} too, and no column tells them apart", line
            )

    def knows(self, unit: str) -> bool:
        return unit in self._units or scale_of(unit) is not None

    def match(self) -> None:
        """Find for each benchmark that ran its rows in the table, which shortens the names."""
        names = frozenset(self.columns.params if self.columns else ())
        has_mode = bool(self.columns and self.columns.has_mode)
        waiting: dict[_Key, list[_TableEntry]] = {}
        for entry in reversed(self.entries):
            waiting.setdefault(entry.key, []).append(entry)
        for block in self.blocks:
            block.params = _parameters(block.parameters, names)
            params, mode = _applicable(block.params), block.mode if has_mode else None
            keys = ((name, params, mode) for name in _short_names(block.benchmark))
            key = next((key for key in keys if waiting.get(key)), None)
            if key and (block.score or not block.failure):
                block.entry = waiting[key].pop()
                block.entry.is_matched = True

    def results(self) -> Iterator[Result]:
        for block in self.blocks:
            if block.measured:
                yield _result(block, block.measured)
        for entry in self.entries:
            if entry.score and not entry.is_matched:
                yield Result(
                    benchmark=entry.benchmark,
                    params=entry.params,
                    mode=entry.mode,
                    score=entry.score,
                    secondary=entry.secondary,
                )

    def warnings(self) -> Iterator[str]:
        for block in self.blocks:
            if block.failure and block.measured:
                yield f"part of {block.workload} failed, the score is of the rest: {block.failure}"
            elif block.failure:
                yield f"{block.workload} failed and was left out: {block.failure}"
            elif not block.measured:
                yield f"{block.workload} was left out: the output has no score of it"
        for entry in self.entries:
            if not entry.score and not entry.is_matched:
                yield f"{entry.workload} was left out: its score is not a number"
        if self.blocks:
            yield from self._warnings_of_names()

    def _warnings_of_names(self) -> Iterator[str]:
        if unlisted := self._unlisted():
            yield f"the table has no row for {_listed(unlisted)}"
        if nameless := self._nameless():
            yield f"only the table tells of {_listed(nameless)}; it may have shortened the name"

    def refuse_a_cut(self) -> None:
        """Raises FormatError where the end of the output is missing."""
        if not self.blocks:
            return
        missing = ([] if self.is_complete else ["'# Run complete'"]) + ([] if self.columns else ["the table"])
        if missing:
            missed = " and ".join(missing)
            raise FormatError(
                f"the output ends here, before {missed}: JMH was stopped or the file is cut off",
                self.last_line,
            )
        if (unlisted := self._unlisted()) and not self._nameless():
            raise FormatError(
                f"the table ends here and has no row for {_listed(unlisted)}: the file is cut off",
                self.last_line,
            )

    def _unlisted(self) -> list[str]:
        return [block.workload for block in self.blocks if block.measured and not block.entry]

    def _nameless(self) -> list[str]:
        return [entry.workload for entry in self.entries if not entry.is_matched]


class _Log:
    """The lines of the output, sorted into sections as they come."""

    def __init__(self) -> None:
        self.sections = [_Section()]
        self.warnings: list[str] = []
        self._trouble: _Failure | None = None
        self._header: dict[str, str] = {}
        self._is_in_table = False
        # The metric of the result that is being read, and whether its number is still to come.
        self._metric = ""
        self._awaits_number = False
        self._awaits_reason = False

    def read(self, number: int, line: str) -> None:
        self._section.last_line = number
        if self._is_in_table and self._read_row(number, line):
            return
        if columns := columns_of(line):
            self._start_table(columns)
        elif line.endswith("<failure>"):
            self._fail(number, "")
        elif line.startswith("# "):
            self._read_header(line)
        elif text := line.strip():
            self._read_output(number, text)

    def read_cut(self, number: int, line: str) -> None:
        """Read the last line where it has no line end: what stands there may be half of it.

        Raises FormatError for half a row of the table.
        """
        if not (self._is_in_table and self._section.columns and line.strip()):
            self.warnings.append(f"line {number}, the last one, has no line end and was left out")
            return
        row = self._section.columns.row(line)
        if not row or not self._section.knows(row.printed.unit):
            raise FormatError("the table breaks off within this line: the file is cut off", number)
        self._section.add(number, row)
        self.warnings.append(f"line {number}, the last one, has no line end: the table may break off there")

    def refusal(self, last_line: int) -> FormatError:
        """Why no benchmark was measured."""
        blocks = [block for section in self.sections for block in section.blocks]
        entries = [entry for section in self.sections for entry in section.entries]
        failed = next((block for block in blocks if block.failure), None)
        if failed and failed.failure:
            reason = f"{failed.workload} failed: {failed.failure.reason[:200]}"
            return FormatError(f"no benchmark was measured; {reason}", failed.failure.line)
        if self._trouble:
            return FormatError(f"no benchmark was measured: {self._trouble.reason[:200]}", self._trouble.line)
        if entries:
            return FormatError(f"the score of {entries[0].workload} is not a number", entries[0].line)
        if blocks:
            return FormatError(f"no result of {blocks[-1].workload}; did JMH finish?", last_line)
        return FormatError("no header of a benchmark and no row of a table; did JMH finish?", last_line)

    @property
    def _section(self) -> _Section:
        return self.sections[-1]

    @property
    def _block(self) -> _Block | None:
        return self._section.blocks[-1] if self._section.blocks else None

    def _start_table(self, columns: Columns) -> None:
        self._start_section_after_a_table()
        self._section.columns = columns
        self._is_in_table = True

    def _start_section_after_a_table(self) -> None:
        if self._section.columns:
            self.sections.append(_Section())

    def _read_row(self, number: int, line: str) -> bool:
        """Take a row of the table, or the blank line after it; False where the line is neither."""
        section = self._section
        row = section.columns.row(line) if section.columns and line.strip() else None
        if row:
            section.add(number, row)
            return True
        if line.strip() and not section.blocks:
            raise FormatError(f"not a row of JMH's table: {line.strip()[:80]!r}", number)
        self._is_in_table = False
        return not line.strip()

    def _read_header(self, line: str) -> None:
        key, _, value = line.removeprefix("# ").partition(": ")
        if old := _OLD_VERSION.fullmatch(line):
            self._header["JMH version"] = old[1]
        elif key == "Benchmark":
            self._start_section_after_a_table()
            self._section.blocks.append(_Block(value.strip(), self._header))
            self._section.is_complete = False
            self._header = {}
            self._awaits_number = self._awaits_reason = False
        elif key.startswith("Run complete"):
            self._section.is_complete = True
        elif self._block and key in ("Parameters", "Fork", "Warmup Fork"):
            self._read_block_header(self._block, key, value)
        else:
            self._header[key] = value.strip()

    def _read_block_header(self, block: _Block, key: str, value: str) -> None:
        fork = _FORK.fullmatch(value)
        if key == "Parameters":
            block.parameters = value
        elif key == "Fork":
            # "N/A": in the virtual machine of JMH itself.
            block.fork, block.forks = (int(fork[1]), int(fork[2])) if fork else (1, 0)
        else:
            block.fork = None

    def _read_output(self, number: int, text: str) -> None:
        block = self._block
        if self._awaits_reason or text.startswith(_TROUBLE):
            self._fail(number, text)
        elif not block:
            return
        elif iteration := _ITERATION.fullmatch(text):
            _add_iteration(block, int(iteration[1]), iteration[2])
        elif result := _RESULT.fullmatch(text):
            self._start_result(block, text, result)
        elif self._awaits_number:
            self._read_number(block, text)
        elif self._metric == "score" and (percentile := _PERCENTILE.fullmatch(text)):
            _add_percentile(block, float(percentile[1].replace(",", ".")), percentile[2])

    def _start_result(self, block: _Block, text: str, result: re.Match[str]) -> None:
        is_secondary = text.startswith("Secondary")
        label = (result[1] or "").rpartition(":")[2]
        self._metric = metric_name(label, block.benchmark) if is_secondary else "score"
        self._awaits_number = True
        if number := result[2].strip():
            self._read_number(block, number)

    def _read_number(self, block: _Block, text: str) -> None:
        if text.startswith("N = "):
            return
        self._awaits_number = False
        printed = printed_number(text.removeprefix("mean =").partition("[")[0])
        if not printed or not printed.measured:
            return
        if self._metric != "score":
            block.secondary[self._metric] = printed.measured
        elif scale_of(printed.unit):
            block.score = printed.measured

    def _fail(self, line: int, reason: str) -> None:
        """Note the first failure of a benchmark. Where it has no reason yet, the next line is that."""
        self._awaits_reason = not reason
        failure = _Failure(line, reason)
        if self._block is None:
            self._trouble = self._trouble or failure
        elif not self._block.failure or not self._block.failure.reason:
            self._block.failure = failure


def _add_iteration(block: _Block, iteration: int, text: str) -> None:
    printed = printed_number(text)
    scale = scale_of(printed.unit) if printed else None
    if printed and printed.measured and scale and block.fork:
        block.iterations.append((block.fork, iteration, printed.measured.score * scale.factor))


def _add_percentile(block: _Block, percentile: float, text: str) -> None:
    """Keep a percentile of sampled operations. JMH prints some for single shots, too, of the iterations."""
    printed = printed_number(text)
    if block.mode == "sample" and percentile in PERCENTILES and printed and printed.measured:
        block.secondary[score_percentile(percentile)] = printed.measured


def _result(block: _Block, score: Measured) -> Result:
    threads = _THREADS.match(block.header.get("Threads", ""))
    return Result(
        benchmark=block.benchmark,
        params=block.params,
        mode=block.mode,
        score=score,
        threads=int(threads[1]) if threads and 0 < int(threads[1]) <= LARGEST_THREADS else None,
        secondary={**block.secondary, **(block.entry.secondary if block.entry else {})},
        options=_options(block),
        environment=_environment(block.header),
        iterations=tuple(block.iterations),
    )


def _options(block: _Block) -> dict[str, Fact]:
    options: dict[str, Fact] = {} if block.forks is None else {"forks": block.forks}
    for phase in ("warmup", "measurement"):
        printed = block.header.get(phase.capitalize())
        found = _PHASE.fullmatch(printed or "")
        if found:
            options |= phase_options(
                phase, iterations=int(found[1]), time=found[2], batch_size=int(found[3] or 1)
            )
        elif printed == "<none>":
            options |= phase_options(phase, iterations=0, time=None, batch_size=None)
    return options


def _environment(header: Mapping[str, str]) -> dict[str, Fact]:
    jdk_version, vm_name, vm_version = _virtual_machine(header.get("VM version", ""))
    arguments = header.get("VM options", "")
    found = {
        "tool_version": header.get("JMH version"),
        "jdk_version": jdk_version,
        "vm_name": vm_name,
        "vm_version": vm_version,
        "jvm": header.get("VM invoker"),
        "jvm_args": "" if arguments == "<none>" else arguments,
        "blackhole_mode": header.get("Blackhole mode", "").partition(" (")[0],
    }
    return {name: value for name, value in found.items() if value}


def _virtual_machine(text: str) -> tuple[str, str, str]:
    """JDK version, name and version of ``JDK 17.0.15, OpenJDK 64-Bit Server VM, 17.0.15+6``.

    Old JMH prints ``JDK 1.8.0_66, VM 25.66-b17``.
    """
    jdk, _, machine = text.removeprefix("JDK ").partition(", ")
    name, _, version = machine.rpartition(", ")
    return jdk, name, version if name else version.removeprefix("VM ")


def _parameters(text: str, names: frozenset[str]) -> dict[str, str]:
    """The parameters of ``(batchSize = 10, protocol = text)``.

    A value may look like one more parameter, so those that the head of the table names are the ones. It does
    not name those of a benchmark that failed.
    """
    found = list(_PARAMETER.finditer(text))
    named = [start for start in found if start[1] in names]
    starts = named if named and named[0] is found[0] else found
    ends = [start.start() for start in starts[1:]] + [len(text) - text.endswith(")")]
    return {start[1]: text[start.end() : end] for start, end in zip(starts, ends, strict=False)}


def _applicable(params: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, " ".join(value.split())) for name, value in params.items() if value != NOT_APPLICABLE)


def _short_names(benchmark: str) -> Iterator[str]:
    """What the table may call it: without its first packages, or with one letter for each of them."""
    names = benchmark.split(".")
    for length in range(min(len(names), _DEEPEST_PACKAGE)):
        yield ".".join([name[:1] for name in names[:length]] + names[length:])
        yield ".".join(names[length:])


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
