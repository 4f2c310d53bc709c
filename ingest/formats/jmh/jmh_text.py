"""JMH's text output: all that it prints while it runs, or only the table at the end."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.formats.jmh.results import (
    PERCENTILES,
    Result,
    Row,
    Score,
    jvm_arguments,
    metric_name,
    phase_options,
    report_of,
    score_percentile,
    score_scale,
    workload_name,
)
from ingest.formats.jmh.table import (
    BenchmarkEntries,
    BenchmarkEntry,
    Key,
    Printed,
    ScoreColumns,
    applicable,
    columns_of,
    listed,
    printed_number,
)
from ingest.formats.outputs import MAX_THREADS
from ingest.formats.report import Fact, FormatError, ParsedReport
from ingest.formats.source import Source
from ingest.masking import mask_text

_FIRST_LINES = ("# JMH version: ", "# JMH 1", "# VM invoker: ", "# Benchmark mode: ", "# Run progress: ")
_MODES = {
    "Throughput": "thrpt",
    "Average time": "avgt",
    "Sampling time": "sample",
    "Single shot invocation time": "ss",
}
_ITERATION = re.compile(r"Iteration +([0-9]{1,9}): (.*)")
_FAILED_WARM_UP = re.compile(r"# Warmup Iteration +[0-9]{1,9}: <failure>")
_RESULTS = tuple(
    f"{kind}{sign}" for kind in ("Result", "Secondary result", "Run result") for sign in (" ", ":")
)
_TROUBLES = ("ERROR: org.openjdk.jmh.", "<forked VM failed", 'Exception in thread "main"')
_OLD_VERSION = re.compile(r"# JMH ([0-9]\S*) \(.*")
_FORK = re.compile(r"([0-9]{1,9}) of ([0-9]{1,9})")
_RESULT = re.compile(r'(Secondary result|Result|Run result)(?:\s+"([^"]*)")?:(.*)')
_PERCENTILE = re.compile(r"(?:p\( *([0-9]{1,3}[.,][0-9]{1,9})\)|(max)) = (.*)")
_PHASE = re.compile(r"([0-9]{1,9}) iterations, (\S.*?) each(?:, ([0-9]{1,9}) calls per op)?")
_PARAMETER = re.compile(r"(?:^\(|, )([\w$]+) = ")
_THREADS = re.compile(r"([0-9]{1,9}) thread")
_FAILURE = "<failure>"

_LINES_OF_A_RESULT = 3
_LINES_TO_A_NUMBER = 2
_LINES_TO_A_REASON = 5


def recognise(head: bytes) -> bool:
    lines = head.decode("utf-8", "replace").splitlines()
    return any(line.startswith(_FIRST_LINES) or columns_of(line) for line in lines)


def parse(source: Source) -> ParsedReport:
    """Return one run for each benchmark with its parameters and mode.

    Raise FormatError, with the line, where nothing was measured, a table cannot be read or the output breaks
    off. Benchmarks that failed are warnings.
    """
    log = _Log(source)
    results = [result for section in log.sections for result in section.results()]
    if not results:
        raise log.refusal()
    log.sections[-1].refuse_a_cut(log.last_line)
    warnings = [warning for section in log.sections for warning in section.warnings()]
    return report_of(results, [*log.warnings, *warnings])


@dataclass(frozen=True, slots=True)
class _Failure:
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.reason} (line {self.line})"


@dataclass(frozen=True, slots=True)
class _Header:
    """What is said before a benchmark runs."""

    mode: str | None = None
    threads: int | None = None
    options: Mapping[str, Fact] = field(default_factory=dict)
    environment: Mapping[str, Fact] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class _Block:
    """One benchmark as it ran: its header, its iterations and its result.

    ``results`` are the lines that say what was measured, each with those below it.
    """

    benchmark: str
    header: _Header
    parameters: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    fork: int | None = None
    forks: int | None = None
    score: Score | None = None
    secondary: dict[str, Score] = field(default_factory=dict)
    iterations: list[Row] = field(default_factory=list)
    results: list[list[str]] = field(default_factory=list)
    failure: _Failure | None = None
    entry: BenchmarkEntry | None = None
    measured: Score | None = None

    @property
    def mode(self) -> str | None:
        return self.header.mode

    @property
    def workload(self) -> str:
        return workload_name(self.benchmark, self.params, self.mode)

    def result(self, score: Score) -> Result:
        forks: dict[str, Fact] = {} if self.forks is None else {"forks": self.forks}
        return Result(
            benchmark=self.benchmark,
            params=self.params,
            mode=self.mode,
            score=score,
            threads=self.header.threads,
            secondary={**self.secondary, **self.entry.secondary} if self.entry else self.secondary,
            options={**forks, **self.header.options},
            environment=self.header.environment,
            iterations=tuple(self.iterations),
        )


class _Section:
    """The benchmarks of one execution of JMH, and the table that sums them up."""

    def __init__(self) -> None:
        self.blocks: list[_Block] = []
        self.columns: ScoreColumns | None = None
        self.entries = BenchmarkEntries()
        self.is_complete = False

    def match(self) -> None:
        """Find for each benchmark that ran its rows in the table, which shortens the names."""
        names = frozenset(self.columns.params if self.columns else ())
        has_mode = bool(self.columns and self.columns.has_mode)
        waiting: dict[Key, list[BenchmarkEntry]] = {}
        for entry in self.entries:
            waiting.setdefault((_last_names(entry.benchmark), *entry.key[1:]), []).append(entry)
        for block in self.blocks:
            block.params = _parameters(block.parameters, names)
            mode = block.mode if has_mode else None
            candidates = waiting.get((_last_names(block.benchmark), applicable(block.params), mode), [])
            places = (
                place
                for place, entry in enumerate(candidates)
                if _may_be_called(block.benchmark, entry.benchmark)
            )
            if (block.results or not block.failure) and (place := next(places, None)) is not None:
                block.entry = candidates.pop(place)

    def results(self) -> Iterator[Result]:
        for block in self.blocks:
            if score := block.measured:
                yield block.result(score)
        yield from (entry.result for entry in self._nameless() if entry.result)

    def warnings(self) -> Iterator[str]:
        for block in self.blocks:
            if block.failure and block.measured:
                yield f"part of {block.workload} failed, the score is of the rest: {block.failure}"
            elif block.failure:
                yield f"{block.workload} failed and was left out: {block.failure}"
            elif not block.measured:
                problem = block.entry.problem if block.entry else "the output has no score of it"
                yield f"{block.workload} was left out: {problem}"
        for entry in self._nameless():
            yield from entry.warnings()
        if self.blocks and (unlisted := self._unlisted()):
            yield f"the table has no row for {listed(unlisted)}"
        if self.blocks and (nameless := self._nameless()):
            names = listed([entry.workload for entry in nameless])
            yield f"only the table tells of {names}; it may have shortened the name"

    def warnings_of_the_end(self) -> Iterator[str]:
        """Yield a warning of rows that the last benchmark of the table lacks, though it was measured."""
        block = next((block for block in self.blocks if block.entry in self.entries[-1:]), None)
        if not block or not block.entry:
            return
        _read_results(block)
        metrics = {metric for entry in self.entries for metric in entry.secondary}
        has_percentiles = score_percentile(0) in metrics
        missing = [
            metric
            for metric in block.secondary
            if metric not in block.entry.secondary and (has_percentiles or not metric.startswith("score_p"))
        ]
        if missing:
            yield f"the table ends before the rows of {listed(missing)} of {block.workload}: it is cut off"

    def refuse_a_cut(self, last_line: int) -> None:
        """Raise FormatError where the end of the output is missing."""
        if not self.blocks:
            return
        missing = ([] if self.is_complete else ["'# Run complete'"]) + ([] if self.columns else ["the table"])
        if missing:
            missed = " and ".join(missing)
            raise FormatError(
                f"the output ends here, before {missed}: JMH was stopped or the file is cut off", last_line
            )
        if (unlisted := self._unlisted()) and not self._nameless():
            raise FormatError(
                f"the table ends here and has no row for {listed(unlisted)}: the file is cut off", last_line
            )

    def _unlisted(self) -> list[str]:
        return [block.workload for block in self.blocks if block.measured and not block.entry]

    def _nameless(self) -> list[BenchmarkEntry]:
        matched = {id(block.entry) for block in self.blocks}
        return [entry for entry in self.entries if id(entry) not in matched]


class _Log:
    """The output, sorted into sections."""

    def __init__(self, source: Source) -> None:
        self.sections = [_Section()]
        self.warnings: list[str] = []
        self._limits = source.limits
        self._block: _Block | None = None
        self._trouble: _Failure | None = None
        # Comments since the last blank line: what they say is said of the benchmark that is named next.
        self._comments: list[str] = []
        # The lines of a result, and of a failure, that are still to come.
        self._result: list[str] | None = None
        self._failed_at = 0
        self._is_in_header = self._is_in_table = False
        self.last_line = len(source.lines) if source.ends_with_newline else len(source.lines) - 1
        for number, line in enumerate(source.lines[: self.last_line], start=1):
            self._read(line, number)
        if self._failed_at:
            self._fail(self.last_line, "no reason is given")
        if not source.ends_with_newline:
            self._read_cut(source.lines[-1])
        for section in self.sections:
            section.match()
            for block in section.blocks:
                _settle(block)
        self.warnings += self.sections[-1].warnings_of_the_end()

    def refusal(self) -> FormatError:
        """Return why no benchmark was measured."""
        last = max(self.last_line, 1)
        blocks = [block for section in self.sections for block in section.blocks]
        entries = [entry for section in self.sections for entry in section.entries]
        failed = next((block for block in blocks if block.failure), None)
        if failed and failed.failure:
            reason = f"{failed.workload} failed: {failed.failure.reason}"
            return FormatError(f"no benchmark was measured; {reason}", failed.failure.line)
        if self._trouble:
            return FormatError(f"no benchmark was measured: {self._trouble.reason}", self._trouble.line)
        if entries:
            problem = entries[0].problem.removeprefix("its score ")
            return FormatError(f"the score of {entries[0].workload} {problem}", entries[0].line)
        if blocks:
            return FormatError(f"no result of {blocks[-1].workload}; did JMH finish?", last)
        return FormatError("no header of a benchmark and no row of a table; did JMH finish?", last)

    def _read(self, line: str, number: int) -> None:
        if self._failed_at:
            self._read_reason(line, number)
        if self._result is not None:
            self._read_below_result(self._result, line)
        if self._is_in_table and self._read_row(line, number):
            return
        if line.startswith("# "):
            self._read_comment(line, number)
            return
        self._is_in_header = False
        if not line:
            self._comments = []
        elif found := _ITERATION.fullmatch(line):
            if found[2].endswith(_FAILURE):
                self._failed_at = number
            elif self._block:
                _add_iteration(self._block, int(found[1]), found[2])
        elif line.startswith(_RESULTS):
            if self._block:
                self._result = [line]
                self._block.results.append(self._result)
        elif line == _FAILURE:
            self._failed_at = number
        elif line.startswith(_TROUBLES):
            self._fail(number, line)
        elif columns := columns_of(line):
            self._start_section_after_a_table()
            self.sections[-1].columns = columns
            self._is_in_table = True

    def _read_comment(self, line: str, number: int) -> None:
        name, _, value = line.partition(": ")
        if name == "# Benchmark" and value:
            self._start_section_after_a_table()
            self._block = _Block(value.strip(), _header(self._comments))
            self.sections[-1].blocks.append(self._block)
            self.sections[-1].is_complete = False
            self._is_in_header = True
            return
        self._comments.append(line)
        if self._block and self._is_in_header and name == "# Parameters":
            self._block.parameters = value
            return
        if self._block and self._is_in_header and line.startswith("# VM "):
            # In JMH 0.9 the virtual machine stands below the name.
            self._block.header = _header(self._comments)
            return
        self._is_in_header = False
        if line.startswith("# Run complete"):
            self.sections[-1].is_complete = True
        elif _FAILED_WARM_UP.match(line):
            self._failed_at = number
        elif self._block and name == "# Fork":
            # In the virtual machine of JMH itself it is ``N/A``.
            fork = _FORK.match(value)
            self._block.fork, self._block.forks = (int(fork[1]), int(fork[2])) if fork else (1, 0)
        elif self._block and line.startswith("# Warmup Fork:"):
            self._block.fork = None

    def _read_row(self, line: str, number: int) -> bool:
        """Take a row of the table; the first line that is none ends it."""
        section = self.sections[-1]
        row = section.columns.row(line) if section.columns and line.strip() else None
        if row:
            section.entries.add(number, row)
            self._limits.check("runs", len(section.entries), number)
        elif line.strip() and not section.blocks:
            raise FormatError(f"not a row of JMH's table: {mask_text(line.strip()[:80])!r}", number)
        self._is_in_table = row is not None
        return self._is_in_table

    def _read_cut(self, line: str) -> None:
        """Read the last line where it has no line end: what stands there may be half of it.

        Raise FormatError for half a row of the table.
        """
        section, number = self.sections[-1], self.last_line + 1
        if not (self._is_in_table and section.columns and line.strip()):
            self.warnings.append(f"line {number}, the last one, has no line end and was left out")
            return
        row = section.columns.row(line)
        if not row or not section.entries.knows(row.printed.unit):
            raise FormatError("the table breaks off within this line: the file is cut off", number)
        section.entries.add(number, row)
        self.warnings.append(f"line {number}, the last one, has no line end: the table may break off there")

    def _start_section_after_a_table(self) -> None:
        if self.sections[-1].columns:
            self.sections.append(_Section())
            self._block = None

    def _read_below_result(self, result: list[str], line: str) -> None:
        """Take the lines below a result; of sampled operations the percentiles stand further below."""
        block = self._block
        is_sampled = block and block.mode == "sample" and block.results[:1] == [result]
        if len(result) < _LINES_OF_A_RESULT or (is_sampled and line[:1] in ("", " ")):
            result.append(line)
        else:
            self._result = None

    def _read_reason(self, line: str, number: int) -> None:
        """Take the next line that is not blank for the reason of a failure."""
        if line.strip():
            self._fail(number, line)
        elif number == self._failed_at + _LINES_TO_A_REASON:
            self._fail(number, "no reason is given")
        else:
            return
        self._failed_at = 0

    def _fail(self, line: int, reason: str) -> None:
        """Note the first failure of a benchmark."""
        failure = _Failure(line, mask_text(reason[:1000].strip())[:200])
        if self.sections[-1].columns:
            self.warnings.append(f"after the table: {failure}")
        elif self._block is None:
            self._trouble = self._trouble or failure
        elif not self._block.failure:
            self._block.failure = failure


def _settle(block: _Block) -> None:
    """Decide what was measured: by the table, where there is one, for a benchmark may print such lines."""
    block.measured = block.entry.score if block.entry else None
    # Old tables have no percentiles.
    if not block.measured or block.mode == "sample":
        _read_results(block)
        block.measured = block.measured or block.score


def _read_results(block: _Block) -> None:
    """Read what was measured where it is printed.

    The first result of a benchmark is its score. JMH 1.0 to 1.10 names no others, and the table has them.
    """
    results, block.results = block.results, []
    for line, *below in results:
        if found := _RESULT.fullmatch(line):
            kind, name, number = found.groups()
            printed = _result_number(number, below)
            if kind != "Secondary result" and not block.score:
                _read_score(block, printed, below)
            elif printed and printed.measured and name:
                label, method = name.rpartition(":")[2], block.benchmark.rpartition(".")[2]
                block.secondary[metric_name(label, method)] = printed.measured


def _read_score(block: _Block, printed: Printed | None, below: Sequence[str]) -> None:
    if printed and printed.measured and printed.measured.score and score_scale(printed.unit):
        block.score = printed.measured
    for line in below if block.mode == "sample" else ():
        if found := _PERCENTILE.fullmatch(line.strip()):
            percentile = 100.0 if found[2] else float(found[1].replace(",", "."))
            number = printed_number(found[3].strip())
            if percentile in PERCENTILES and number and number.measured:
                block.secondary[score_percentile(percentile)] = number.measured


def _result_number(beside: str, below: Sequence[str]) -> Printed | None:
    """Return the number of a result, which stands in the same line or below it."""
    texts = [text for text in (beside.strip(), *map(str.strip, below[:_LINES_TO_A_NUMBER])) if text]
    text = next((text for text in texts if not text.startswith("N = ")), "")
    return printed_number(text.removeprefix("mean =").partition("[")[0].strip())


def _add_iteration(block: _Block, iteration: int, text: str) -> None:
    printed = printed_number(text)
    scale = score_scale(printed.unit) if printed else None
    if printed and printed.measured and scale and block.fork:
        # Of a power of ten not even the first digit is known.
        is_known = printed.measured.score == 0 or not printed.measured.approximate
        score = printed.measured.score * scale.factor if is_known else None
        block.iterations.append((block.fork, iteration, score))


def _header(comments: Sequence[str]) -> _Header:
    fields = dict(map(_key_and_value, comments))
    threads = _THREADS.match(fields.get("Threads", ""))
    return _Header(
        mode=_MODES.get(fields.get("Benchmark mode", "").partition(",")[0]),
        threads=int(threads[1]) if threads and 0 < int(threads[1]) <= MAX_THREADS else None,
        options=_options(fields),
        environment=_environment(fields),
    )


def _key_and_value(line: str) -> tuple[str, str]:
    """Return key and value of ``# VM version: JDK 17``."""
    if old := _OLD_VERSION.fullmatch(line):
        return "JMH version", old[1]
    key, _, value = line.removeprefix("# ").partition(": ")
    return key, value.strip()


def _options(fields: Mapping[str, str]) -> dict[str, Fact]:
    options: dict[str, Fact] = {}
    for phase in ("warmup", "measurement"):
        printed = fields.get(phase.capitalize())
        found = _PHASE.fullmatch(printed or "")
        if found:
            options |= phase_options(
                phase, iterations=int(found[1]), time=found[2], batch_size=int(found[3] or 1)
            )
        elif printed == "<none>":
            options |= phase_options(phase, iterations=0, time=None, batch_size=None)
    return options


def _environment(fields: Mapping[str, str]) -> dict[str, Fact]:
    jdk_version, vm_name, vm_version = _virtual_machine(fields.get("VM version", ""))
    arguments = fields.get("VM options", "")
    found = {
        "tool_version": fields.get("JMH version"),
        "jdk_version": jdk_version,
        "vm_name": vm_name,
        "vm_version": vm_version,
        "jvm": fields.get("VM invoker"),
        "jvm_args": "" if arguments == "<none>" else jvm_arguments(arguments),
        "blackhole_mode": fields.get("Blackhole mode", "").partition(" (")[0],
    }
    return {name: value for name, value in found.items() if value}


def _virtual_machine(text: str) -> tuple[str, str, str]:
    """Split ``JDK 17.0.15, OpenJDK 64-Bit Server VM, 17.0.15+6`` into JDK version, name and version.

    Old JMH prints ``JDK 1.8.0_66, VM 25.66-b17``.
    """
    jdk, _, machine = text.removeprefix("JDK ").partition(", ")
    name, _, version = machine.rpartition(", ")
    return jdk, name, version if name else version.removeprefix("VM ")


def _parameters(text: str, names: frozenset[str]) -> Mapping[str, str]:
    """Return the parameters of ``(batchSize = 10, protocol = text)``.

    A value may look like one more parameter, so those that the head of the table names are the ones. It does
    not name those of a benchmark that failed.
    """
    found = list(_PARAMETER.finditer(text))
    named = [start for start in found if start[1] in names]
    starts = named if named and named[0] is found[0] else found
    ends = [start.start() for start in starts[1:]] + [len(text) - text.endswith(")")]
    return {start[1]: text[start.end() : end] for start, end in zip(starts, ends, strict=False)}


def _last_names(benchmark: str) -> str:
    """Return class and method."""
    return ".".join(benchmark.rsplit(".", 2)[-2:])


def _may_be_called(benchmark: str, name: str) -> bool:
    """Return whether the table may shorten the benchmark to this name: fewer or shorter packages."""
    if benchmark == name or benchmark.endswith(f".{name}"):
        return True
    whole, short = benchmark.split("."), name.split(".")
    return len(whole) == len(short) and all(map(str.startswith, whole, short))
