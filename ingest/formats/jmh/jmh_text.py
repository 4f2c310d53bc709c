"""JMH's text output: all that it prints while it runs, or only its tables, alone or within a document."""

import re
from collections.abc import Mapping
from typing import Any

from ingest.formats.documents import BlockKind, DocumentBlock, document_blocks, plain_text
from ingest.formats.jmh.executions import (
    LINES_TO_A_NUMBER,
    RESULT,
    BenchmarkBlock,
    BenchmarkFailure,
    Execution,
    told_apart,
)
from ingest.formats.jmh.header import are_contradictory, header_of
from ingest.formats.jmh.results import Result, report_of
from ingest.formats.jmh.score_table import (
    ScoreTable,
    columns_of,
    columns_of_line,
    looks_like_a_row,
)
from ingest.formats.outputs import bounded, quoted, whole_lines
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.source import Source
from ingest.masking import mask_text

_FIRST_LINES = ("# JMH version: ", "# JMH 1", "# VM invoker: ", "# Benchmark mode: ", "# Run progress: ")
_ITERATION = re.compile(r"Iteration +([0-9]{1,9}): (.*)")
_FAILED_WARM_UP = re.compile(r"# Warmup Iteration +[0-9]{1,9}: <failure>")
_TROUBLES = ("ERROR: org.openjdk.jmh.", "<forked VM failed", 'Exception in thread "main"')
_FORK = re.compile(r"([0-9]{1,9}) of ([0-9]{1,9})")
_FAILURE = "<failure>"

# Lines of JMH that look like a heading of Markdown.
_COMMENT_OF_JMH = re.compile(
    r"JMH (?:version: |[0-9])|VM (?:version|invoker|options): |Blackhole mode: |(?:Warmup|Measurement): |"
    r"Warmup (?:Iteration|Fork)|Timeout: |Threads: |Benchmark(?: mode)?: |Parameters: |"
    r"Run (?:progress: |complete)|Fork: |Preparing profilers|Profilers consume|\*\*\*"
)
_MAX_CAPTION_LENGTH = 200
# Marks of comments in source code, lists and sbt before a line of JMH, and the blanks before a comment.
_LINE_MARK = re.compile(
    r"(?:[ \t]*(?://+|[*-](?=[ \t]|$))[ \t]?)?(?:[ \t]*\[info\] ?)?(?:[ \t]+(?=# [A-Z]))?"
)
_RULE = re.compile(r"[-=*#_]{3,}")
_MAY_BEGIN_A_MARK = frozenset(" \t/*-[")
_UNIT_OF_JMH = re.compile(r"(?<!\w)(?:[nuµμm]?s/op|[kKMG]?ops?/(?:[nuµμm]?s|sec|min))(?!\w)")

# Nothing of a last line is lost that ends with a unit, or that has no words.
_WHOLE_LINE = re.compile(rf".*{_UNIT_OF_JMH.pattern}\W*|\W*")


def recognise(head: bytes) -> bool:
    lines = map(_unmarked, head.decode("utf-8", "replace").splitlines())
    return any(
        line.startswith(_FIRST_LINES)
        or ((found := RESULT.fullmatch(line)) and found[2])
        or columns_of_line(line)
        for line in lines
    )


def parse(source: Source) -> ParsedReport:
    """Return one run for each benchmark with its parameters and mode.

    Raise FormatError, with the line, where nothing was measured, a number cannot be read or the output breaks
    off. Benchmarks that failed are warnings.
    """
    log = _Log(source)
    results, notes = told_apart(log.executions)
    if not results:
        raise log.refusal()
    log.executions[-1].refuse_a_cut(log.last_line)
    warnings = [warning for execution in log.executions for warning in execution.warnings()]
    return report_of(results, [*log.warnings, *notes, *warnings], log.last_line)


def _unmarked(line: str) -> str:
    """Return a line without the marks of a comment in source code, of a list and of sbt."""
    return _LINE_MARK.sub("", line, count=1) if line[:1] in _MAY_BEGIN_A_MARK else line


class _Log:
    """The output, sorted into executions of JMH."""

    def __init__(self, source: Source) -> None:
        self.executions = [Execution()]
        self._block: BenchmarkBlock | None = None
        self._trouble: BenchmarkFailure | None = None
        # Comments since the last blank line: what they say is said of the benchmark that is named next.
        self._comments: list[str] = []
        # The lines of a result, and the line of a failure whose reason is still to come.
        self._result: list[str] | None = None
        self._failed_at = 0
        self._is_in_header = False
        # The table whose rows may go on, whether the line before was one of them, and whether text stands
        # between them and the next line.
        self._table: ScoreTable | None = None
        self._is_beside_row = self._is_apart = False
        # The last text, which is the caption of the next table.
        self._text = ""
        # Lines that look like rows and fit no table.
        self._unread: list[tuple[int, str]] = []
        self._headings: tuple[str, ...] = ()
        self._is_in_code = False
        # Comments that stand by themselves, without the output of a benchmark, since the last table; and the
        # headers that they made.
        self._settings: list[str] = []
        self._headers: list[Mapping[str, Any]] = []
        lines, self.warnings = whole_lines(source, closing=_WHOLE_LINE)
        self.last_line = len(lines)
        for part in document_blocks(lines):
            self._read_part(part)
        if self._failed_at:
            self._fail(self.last_line, "no reason is given")
        self._end_settings()
        only_header = self._headers[0] if len(self._headers) == 1 else None
        for execution in self.executions:
            execution.header = execution.header or only_header
            line = execution.table.line if execution.table else None
            source.limits.check("runs", execution.finish(), line)
        unread = [
            f"line {line} looks like a row of JMH, but fits no head above it, and was not read: "
            f"{quoted(text)}"
            for line, text in self._unread
        ]
        self.warnings += bounded(unread)

    def refusal(self) -> FormatError:
        """Return why no benchmark was measured."""
        blocks = [block for execution in self.executions for block in execution.blocks]
        tables = [execution.table for execution in self.executions if execution.table]
        unmatched = [row for execution in self.executions for row in execution.unmatched]
        reasons = [
            *(
                (at.failure.line, f"{at.result.workload} failed: {at.failure.reason}")
                for at in blocks
                if at.failure
            ),
            *([self._trouble] if self._trouble else ()),
            *((row.line, row.left_out) for row in unmatched),
            *((line, f"no head names the columns of the row {quoted(text)}") for line, text in self._unread),
        ]
        for line, reason in reasons:
            return FormatError(f"no benchmark was measured; {reason}", line)
        benchmark = blocks[-1].result.workload if blocks else "a benchmark"
        return FormatError(
            f"no score of {benchmark}; did JMH finish? Send the table that it prints at its end, or "
            "its JSON (-rf json): pictures and ratios are not read",
            tables[-1].line if tables and not blocks else max(self.last_line, 1),
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
            for number, line in enumerate(map(_unmarked, part.lines), part.line):
                self._read(line, number)
        if part.kind is not BlockKind.TEXT:
            self._leave_part()
        if not part.is_closed and not self.executions[-1].is_empty:
            self.warnings.append(f"the code from line {part.line} on has no end: the file may be cut off")

    def _leave_part(self, caption: str = "") -> None:
        """Begin or end code or a table, which belongs to no output before or behind it."""
        self._end_comments()
        self._table, self._block, self._result = None, None, None
        self._text = caption
        if not self.executions[-1].is_empty:
            self.executions.append(Execution())

    def _end_comments(self) -> None:
        """Keep what the comments say of the tables behind them, if no benchmark was named."""
        if not self.executions[-1].blocks:
            self._settings += self._comments
        self._comments = []

    def _end_settings(self) -> None:
        if header := header_of(self._settings):
            # Two settings of one thing hold for nothing.
            self._headers.append({} if are_contradictory(self._settings) else header)
        self._settings = []

    def _read(self, line: str, number: int) -> None:
        if self._failed_at:
            self._read_reason(line, number)
        if self._result is not None:
            self._read_below_result(self._result, line)
        if self._table and self._read_row(self._table, line, number):
            return
        if line.startswith("# "):
            if not _COMMENT_OF_JMH.match(line, 2):
                self._text = line[2:]
            self._read_comment(line, number)
            return
        self._is_in_header = False
        if not line:
            self._end_comments()
        elif iteration := _ITERATION.fullmatch(line):
            if iteration[2].endswith(_FAILURE):
                self._failed_at = number
            elif self._block:
                self._block.add_iteration(int(iteration[1]), iteration[2])
        elif found := RESULT.fullmatch(line):
            self._begin_result(found, number)
        elif line == _FAILURE:
            self._failed_at = number
        elif line.startswith(_TROUBLES):
            self._fail(number, line)
        elif columns := columns_of_line(line):
            self._begin_table(ScoreTable(number, columns))
        elif looks_like_a_row(line, of_no_table=True):
            self._unread.append((number, line.strip()))
        elif any(map(str.isalnum, line)):
            self._text = line

    def _begin_table(self, table: ScoreTable) -> None:
        self._start_execution_after_a_table()
        self._end_comments()
        execution = self.executions[-1]
        execution.table = self._table = table
        self._end_settings()
        execution.header = self._headers[-1] if self._headers else None
        execution.headings = execution.headings or self._headings
        execution.caption = _RULE.sub(" ", plain_text(self._text[:_MAX_CAPTION_LENGTH])).strip()
        self._text = ""
        self._is_beside_row, self._is_apart = True, False

    def _begin_result(self, found: re.Match[str], number: int) -> None:
        kind, name = found[1], (found[2] or "").partition(":")[0]
        if name and (self._block is None or self._block.is_headless):
            # No header of its benchmark stands above it.
            is_secondary = self._block and self._block.result.benchmark == name and kind != "Result"
            if not is_secondary:
                result = Result(name, line=number)
                self._begin_block(BenchmarkBlock(result, [*self._comments], is_headless=True))
        if self._block:
            self._result = []
            self._block.texts.append((found, self._result))

    def _begin_block(self, block: BenchmarkBlock) -> None:
        self._start_execution_after_a_table()
        self._table, self._block = None, block
        execution = self.executions[-1]
        execution.blocks.append(block)
        execution.is_complete = False
        execution.is_excerpt = self._is_in_code or block.is_headless
        execution.headings = execution.headings or self._headings

    def _start_execution_after_a_table(self) -> None:
        if self.executions[-1].table:
            self.executions.append(Execution())
            self._block = None

    def _read_comment(self, line: str, number: int) -> None:
        name, _, value = line.partition(": ")
        if name == "# Benchmark" and value:
            self._begin_block(BenchmarkBlock(Result(value.strip(), line=number), [*self._comments]))
            self._is_in_header = True
            return
        self._comments.append(line)
        if self._block and self._is_in_header:
            self._block.comments.append(line)
        if line.startswith("# Run complete"):
            self.executions[-1].is_complete = True
        elif _FAILED_WARM_UP.match(line):
            self._failed_at = number
        elif self._block and name == "# Fork":
            # In the virtual machine of JMH itself it is ``N/A``.
            fork = _FORK.match(value)
            self._block.fork, self._block.forks = (int(fork[1]), int(fork[2])) if fork else (1, 0)
        elif self._block and line.startswith("# Warmup Fork:"):
            self._block.fork = None

    def _read_row(self, table: ScoreTable, line: str, number: int) -> bool:
        """Take a row of the table. In the output of JMH its rows may go on behind other text."""
        if not any(map(str.isalnum, line)):
            self._is_beside_row = False
            return False
        is_bare = not self.executions[-1].blocks
        if row := table.columns.row_of_line(line):
            if self._is_apart and is_bare and table.rows:
                # A text between rows may tell them apart.
                self._unread.append((number, line.strip()))
                return True
            table.rows.append((number, row))
            self._is_beside_row = True
            return True
        if line.startswith(("# ", *_TROUBLES)) or columns_of_line(line):
            self._is_apart = True
            return False
        is_meant = looks_like_a_row(line)
        if is_meant or (self._is_beside_row and is_bare):
            self._unread.append((number, line.strip()))
        else:
            self._is_apart = True
        self._is_beside_row = self._is_beside_row and is_meant
        return is_meant

    def _read_table(self, part: DocumentBlock) -> None:
        """Read a table in cells, if it is one of JMH."""
        rows = part.rows()
        line, head = next(rows, (part.line, ()))
        columns = columns_of(head)
        if columns is None:
            _, first = next(rows, (0, ()))
            if any(map(_UNIT_OF_JMH.search, (*head, *first))):
                self.warnings.append(
                    f"the table in line {line} has units of JMH and was not read: its head names no score "
                    f"({quoted(' | '.join(head))})"
                )
            return
        table = ScoreTable(line, columns)
        self._begin_table(table)
        for number, cells in rows:
            if row := columns.row(cells):
                table.rows.append((number, row))
            elif any(cells):
                self._unread.append((number, " | ".join(cells)))

    def _read_below_result(self, result: list[str], line: str) -> None:
        """Take the lines below a result; of sampled operations the percentiles stand further below."""
        if len(result) < LINES_TO_A_NUMBER or line[:1] in ("", " "):
            result.append(line)
        else:
            self._result = None

    def _read_reason(self, line: str, number: int) -> None:
        """Take the next line that is not blank for the reason of a failure."""
        if line.strip():
            self._fail(number, line)
            self._failed_at = 0

    def _fail(self, line: int, reason: str) -> None:
        """Note the first failure of a benchmark."""
        failure = BenchmarkFailure(line, mask_text(reason[:1000].strip())[:200])
        if self.executions[-1].table:
            self.warnings.append(f"after the table: {failure}")
        elif self._block is None:
            self._trouble = self._trouble or failure
        elif not self._block.failure:
            self._block.failure = failure
