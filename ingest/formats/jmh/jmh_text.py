"""JMH's text output: all that it prints while it runs, or only its tables, alone or within a document."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import cast

from ingest.formats.documents import BlockKind, DocumentBlock, blocks_of_head, document_blocks, plain_text
from ingest.formats.jmh.cell_columns import CellColumns
from ingest.formats.jmh.places import Part, told_apart
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
from ingest.formats.jmh.score_table import ScoreTable, table_at, table_of_cells
from ingest.formats.jmh.table import (
    BenchmarkEntries,
    BenchmarkEntry,
    Key,
    Printed,
    applicable,
    printed_number,
    warnings_of,
)
from ingest.formats.outputs import MAX_THREADS, missing_line_end, quoted
from ingest.formats.report import Fact, FormatError, ParsedReport, listed
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
_RESULT = re.compile(r'(Secondary result|Result|Run result)(?:\s+"([^"]*)")?\s*:(.*)')
_RESULT_OF = re.compile(r'(?P<secondary>Secondary )?[Rr]esult "(?P<name>[^":]+)')
_PERCENTILE = re.compile(r"(?:p\( *([0-9]{1,3}[.,][0-9]{1,9})\)|(max)) = (.*)")
_PHASE = re.compile(r"([0-9]{1,9}) iterations, (\S.*?) each(?:, ([0-9]{1,9}) calls per op)?")
_PARAMETER = re.compile(r"(?:^\(|, )([\w$]+) = ")
_THREADS = re.compile(r"([0-9]{1,9}) thread")
_INDENTED_THREADS = re.compile(r"[ \t]+# Threads: [0-9]")
_FAILURE = "<failure>"

# What JMH prints like a heading of Markdown.
_COMMENT_OF_JMH = re.compile(
    r"JMH (?:version: |[0-9])|VM (?:version|invoker|options): |Blackhole mode: |(?:Warmup|Measurement): |"
    r"Warmup (?:Iteration|Fork)|Timeout: |Threads: |Benchmark(?: mode)?: |Parameters: |"
    r"Run (?:progress: |complete)|Fork: |Preparing profilers|Profilers consume|\*\*\*"
)
_BREAKS_OFF = "the table breaks off within this line: the file is cut off"
_NO_END = "line {}, the last one, has no line end: the table may break off there"
_MAX_CAPTION_LENGTH = 200

_LINES_OF_A_RESULT = 3
_LINES_TO_A_NUMBER = 2
_LINES_TO_A_REASON = 5


def recognise(head: bytes) -> bool:
    lines = head.decode("utf-8", "replace").splitlines()
    if any(line.startswith(_FIRST_LINES) or _RESULT_OF.match(line) or table_at(line, 1) for line in lines):
        return True
    tables = (part for part in blocks_of_head(head) if part.kind is BlockKind.TABLE)
    return any(table_of_cells(number, cells) for part in tables for number, cells in islice(part.rows(), 1))


def parse(source: Source) -> ParsedReport:
    """Return one run for each benchmark with its parameters and mode.

    Raise FormatError, with the line, where nothing was measured, a table cannot be read or the output breaks
    off. Benchmarks that failed are warnings.
    """
    log = _Log(source)
    results, notes = told_apart([section.part() for section in log.sections])
    if not results:
        raise log.refusal()
    log.sections[-1].refuse_a_cut(log.last_line)
    warnings = [warning for section in log.sections for warning in section.warnings()]
    if all(result.threads is None for result in results):
        warnings += _indented_headers(source.lines)
    return report_of(results, [*log.warnings, *notes, *warnings])


def _indented_headers(lines: Sequence[str]) -> Iterator[str]:
    """Yield a warning where the lines that say threads and versions are indented, and so were not read."""
    for number, line in enumerate(lines, start=1):
        if _INDENTED_THREADS.match(line):
            yield (
                f"line {number}: the header of JMH is indented and was not read; thread count and version "
                "are missing unless you say them"
            )
            return


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

    ``results`` are the lines that say what was measured, each with those below it. ``is_headless``: only they
    are there, and they do not say the parameters.
    """

    benchmark: str
    header: _Header
    is_headless: bool = False
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
    """The benchmarks of one execution of JMH, and the table that sums them up; or one of both.

    ``headings`` and ``caption`` are what stands above it in a document. ``is_excerpt``: the document shows it
    within code, so that what is missing was left out on purpose.
    """

    def __init__(self) -> None:
        self.headings: tuple[str, ...] = ()
        self.caption = ""
        self.is_excerpt = False
        self.header = _Header()
        self.blocks: list[_Block] = []
        self.table: ScoreTable | None = None
        self.entries = BenchmarkEntries()
        self.is_complete = False

    @property
    def is_bare(self) -> bool:
        """Return whether it is a table alone."""
        return self.table is not None and not self.blocks

    def finish(self, header: "_Header") -> None:
        """Read the table, which shortens the names, and find its rows for each benchmark that ran.

        ``header`` is one that the document shows by itself: it holds for a table without output. Raise
        FormatError for numbers and units that cannot be read, and for results that nothing tells apart.
        """
        self.header = header
        if self.table:
            self.entries = self.table.entries()
            self.blocks = [block for block in self.blocks if not block.is_headless]
        names = Counter(block.benchmark for block in self.blocks if block.is_headless)
        if twice := next((name for name, count in names.items() if count > 1), None):
            raise FormatError(
                f"{names[twice]} results of {twice}, and nothing tells them apart: their parameters stand in "
                "the header of each benchmark and in the table at the end; send one of these too"
            )
        self._match()
        for block in self.blocks:
            _settle(block)

    def _match(self) -> None:
        names = frozenset(self.table.params if self.table else ())
        has_mode = bool(self.table and self.table.has_mode)
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

    def part(self) -> Part:
        line = self.table.line if self.table else 0
        return Part(line, self.headings, self.caption, self.is_bare, list(self._results()))

    def _results(self) -> Iterator[Result]:
        for block in self.blocks:
            if score := block.measured:
                yield block.result(score)
        for entry in self._nameless():
            if result := entry.result:
                yield self._with_header(result) if self.is_bare else result

    def _with_header(self, result: Result) -> Result:
        threads = self.header.threads if result.threads is None else result.threads
        return result._replace(
            threads=threads, options=self.header.options, environment=self.header.environment
        )

    def warnings(self) -> Iterator[str]:
        for block in self.blocks:
            if block.failure and block.measured:
                yield f"part of {block.workload} failed, the score is of the rest: {block.failure}"
            elif block.failure:
                yield f"{block.workload} failed and was left out: {block.failure}"
            elif not block.measured:
                problem = block.entry.problem if block.entry else "the output has no score of it"
                yield f"{block.workload} was left out: {problem}"
        yield from warnings_of(self._nameless())
        if self.table:
            yield from self.table.warnings(is_of_jmh=bool(self.blocks))
        if self.blocks and (unlisted := self._unlisted()):
            yield (
                f"the table has no row for {listed(unlisted)}: the score is that printed above it; "
                "rows were deleted, or the file is cut off"
            )
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
        if not self.blocks or self.is_excerpt:
            return
        missing = ([] if self.is_complete else ["'# Run complete'"]) + ([] if self.table else ["the table"])
        if missing:
            missed = " and ".join(missing)
            raise FormatError(
                f"the output ends here, before {missed}: JMH was stopped or the file is cut off", last_line
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
        self._is_in_header = False
        # The table whose rows may go on, whether the line before was one of them, and the last text that was
        # none: what stands between rows is the caption of those below it.
        self._table: ScoreTable | None = None
        self._is_beside_row = False
        self._text = ""
        self._headings: tuple[str, ...] = ()
        self._is_in_code = False
        # Headers that a document shows by themselves.
        self._headers: list[_Header] = []
        self.last_line = len(source.lines) if source.ends_with_newline else len(source.lines) - 1
        for part in document_blocks(source.lines):
            self._read_part(part)
        if not (source.ends_with_newline or self.warnings):
            self.warnings += missing_line_end(source)
        if self._failed_at:
            self._fail(self.last_line, "no reason is given")
        header = self._headers[0] if len(self._headers) == 1 else _Header()
        for section in self.sections:
            section.finish(header)
            self._limits.check("runs", len(section.entries), section.table.line if section.table else None)
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
        tables = [section.table for section in self.sections if section.table]
        for table in tables:
            for number, line in table.others[:1]:
                return FormatError(f"not a row of JMH's table: {quoted(line.strip())}", number)
        if tables and not blocks:
            return FormatError(
                "the head of JMH's table, and no row below it; did JMH finish?", tables[-1].line
            )
        if blocks and all(block.is_headless for block in blocks):
            return FormatError(
                f"only what profilers measured of {blocks[0].benchmark}, without its score; "
                "send the output or the table that has the scores too",
                last,
            )
        if blocks:
            return FormatError(f"no result of {blocks[-1].workload}; did JMH finish?", last)
        return FormatError(
            "versions and settings of JMH, but no result of a benchmark; did JMH finish?", last
        )

    def _read_part(self, part: DocumentBlock) -> None:
        """Read a part of a document. A file that is none is one part, of text."""
        self._headings = tuple(title for title in part.headings if not _COMMENT_OF_JMH.match(title))
        if part.kind is not BlockKind.TEXT:
            self._leave_part(" ".join(part.caption))
        self._is_in_code = part.kind is BlockKind.CODE and part.is_closed
        if part.kind is BlockKind.TABLE:
            self._read_table(part)
        else:
            for number, line in enumerate(part.lines, part.line):
                if number > self.last_line:
                    self._read_cut(line)
                else:
                    self._read(line, number)
        if part.kind is not BlockKind.TEXT:
            self._leave_part()
        if not part.is_closed and (self.sections[-1].blocks or self.sections[-1].table):
            self.warnings.append(f"the code from line {part.line} on has no end: the file may be cut off")

    def _leave_part(self, caption: str = "") -> None:
        """Begin or end code or a table, which belongs to no output before or behind it."""
        if self._is_in_code and self._comments and not self.sections[-1].blocks:
            self._headers.append(_header(self._comments))
        self._table, self._block, self._result, self._comments = None, None, None, []
        self._text = caption
        if self.sections[-1].blocks or self.sections[-1].table:
            self._begin_section()

    def _begin_section(self) -> None:
        self.sections.append(_Section())

    def _read(self, line: str, number: int) -> None:
        if self._failed_at:
            self._read_reason(line, number)
        if self._result is not None:
            self._read_below_result(self._result, line)
        if self._table and self._read_row(self._table, line, number):
            return
        if line.startswith("# "):
            self._text = line.removeprefix("# ").strip()
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
            self._begin_result(line)
        elif line == _FAILURE:
            self._failed_at = number
        elif line.startswith(_TROUBLES):
            self._fail(number, line)
        elif table := table_at(line, number):
            self._begin_table(table)
        elif any(map(str.isalnum, line)):
            self._text = line.strip()

    def _begin_table(self, table: ScoreTable) -> None:
        self._start_section_after_a_table()
        section = self.sections[-1]
        section.table = self._table = table
        section.headings = section.headings or self._headings
        section.caption, self._text = plain_text(self._text[:_MAX_CAPTION_LENGTH]), ""
        self._is_beside_row = True

    def _begin_result(self, line: str) -> None:
        if found := _RESULT_OF.match(line):
            name = found["name"] if self._is_of_no_block() else ""
            if name and not (self._block and self._block.benchmark == name and found["secondary"]):
                self._begin_block(_Block(name, _header(self._comments), is_headless=True))
        if self._block:
            self._result = [line]
            self._block.results.append(self._result)

    def _is_of_no_block(self) -> bool:
        """Return whether a result that comes now has no header of its benchmark above it."""
        return self._block is None or self._block.is_headless

    def _begin_block(self, block: _Block) -> None:
        self._start_section_after_a_table()
        self._table, self._block = None, block
        section = self.sections[-1]
        section.blocks.append(block)
        section.is_complete = False
        section.is_excerpt = self._is_in_code or block.is_headless
        section.headings = section.headings or self._headings

    def _read_comment(self, line: str, number: int) -> None:
        name, _, value = line.partition(": ")
        if name == "# Benchmark" and value:
            self._begin_block(_Block(value.strip(), _header(self._comments)))
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

    def _read_row(self, table: ScoreTable, line: str, number: int) -> bool:
        """Take a row of the table, whose rows may go on behind blank lines and other text."""
        if not line.strip():
            self._is_beside_row = False
            return False
        row = table.row_of(line)
        if row:
            if self._text and self.sections[-1].is_bare and table.rows:
                table = self._continue_table(table)
            table.rows.append((number, row))
            self._is_beside_row = True
            return True
        if not any(map(str.isalnum, line)):
            return False
        is_other = line.startswith("# ") or table_at(line, number) is not None or line.startswith(_TROUBLES)
        if is_other:
            return False
        is_meant = table.looks_like_a_row(line)
        if is_meant or (self._is_beside_row and self.sections[-1].is_bare):
            table.others.append((number, line))
        self._is_beside_row = self._is_beside_row and is_meant
        return is_meant

    def _continue_table(self, table: ScoreTable) -> ScoreTable:
        """Return the table of the rows behind some text, which has the head of the one before."""
        self._table = None
        self._begin_table(ScoreTable(table.line, table.columns, table.separator))
        return cast(ScoreTable, self._table)

    def _read_table(self, part: DocumentBlock) -> None:
        """Read a table in cells, if it is one of JMH."""
        rows = part.rows()
        number, head = next(rows, (part.line, ()))
        table = table_of_cells(number, head)
        if table is None:
            return
        self._begin_table(table)
        columns = cast(CellColumns, table.columns)
        for number, cells in rows:
            row = columns.row(cells)
            if number > self.last_line and not (
                row and table.knows(row.number.unit) and len(cells) >= columns.width and _ends_alike(part)
            ):
                raise FormatError(_BREAKS_OFF, number)
            if row:
                table.rows.append((number, row))
            elif any(cells):
                table.others.append((number, " | ".join(cells)))
        if part.line + len(part.lines) - 1 > self.last_line:
            self.warnings.append(_NO_END.format(self.last_line + 1))

    def _read_cut(self, line: str) -> None:
        """Read the last line where it has no line end: what stands there may be half of it.

        Raise FormatError for half a row of the table.
        """
        table, number = self._table, self.last_line + 1
        if not (table and line.strip() and (self._is_beside_row or table.may_begin_a_row(line))):
            self.warnings.append(f"line {number}, the last one, has no line end and was left out")
            return
        row = table.row_of(line)
        if not row or not table.knows(row.number.unit):
            raise FormatError(_BREAKS_OFF, number)
        table.rows.append((number, row))
        self.warnings.append(_NO_END.format(number))

    def _start_section_after_a_table(self) -> None:
        if self.sections[-1].table:
            self._begin_section()
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
        if self.sections[-1].table:
            self.warnings.append(f"after the table: {failure}")
        elif self._block is None:
            self._trouble = self._trouble or failure
        elif not self._block.failure:
            self._block.failure = failure


def _ends_alike(part: DocumentBlock) -> bool:
    """Return whether the last row of a table has the bar at its end that the head has."""
    return part.lines[0].rstrip().endswith("|") <= part.lines[-1].rstrip().endswith("|")


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
