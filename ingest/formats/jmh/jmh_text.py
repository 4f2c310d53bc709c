"""JMH's text output: all that it prints while it runs, or only its tables, alone or within a document."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import cast

from ingest.formats.documents import BlockKind, DocumentBlock, blocks_of_head, document_blocks, plain_text
from ingest.formats.jmh.cell_columns import CellColumns
from ingest.formats.jmh.executions import BenchmarkBlock, BenchmarkFailure, Execution
from ingest.formats.jmh.header import JmhHeader, are_contradictory, header_of
from ingest.formats.jmh.places import told_apart
from ingest.formats.jmh.results import report_of
from ingest.formats.jmh.score_table import (
    ScoreTable,
    headless_table,
    looks_like_a_row,
    table_at,
    table_of_cells,
)
from ingest.formats.jmh.table import BenchmarkEntry, Key
from ingest.formats.outputs import missing_line_end, quoted
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.source import Source
from ingest.masking import mask_text

_FIRST_LINES = ("# JMH version: ", "# JMH 1", "# VM invoker: ", "# Benchmark mode: ", "# Run progress: ")
_ITERATION = re.compile(r"Iteration +([0-9]{1,9}): (.*)")
_FAILED_WARM_UP = re.compile(r"# Warmup Iteration +[0-9]{1,9}: <failure>")
_RESULTS = tuple(
    f"{kind}{sign}" for kind in ("Result", "Secondary result", "Run result") for sign in (" ", ":")
)
_TROUBLES = ("ERROR: org.openjdk.jmh.", "<forked VM failed", 'Exception in thread "main"')
_FORK = re.compile(r"([0-9]{1,9}) of ([0-9]{1,9})")
_RESULT_OF = re.compile(r'(?P<secondary>Secondary )?[Rr]esult "(?P<name>[^":]+)')
_FAILURE = "<failure>"

# Lines of JMH that look like a heading of Markdown.
_COMMENT_OF_JMH = re.compile(
    r"JMH (?:version: |[0-9])|VM (?:version|invoker|options): |Blackhole mode: |(?:Warmup|Measurement): |"
    r"Warmup (?:Iteration|Fork)|Timeout: |Threads: |Benchmark(?: mode)?: |Parameters: |"
    r"Run (?:progress: |complete)|Fork: |Preparing profilers|Profilers consume|\*\*\*"
)
_BREAKS_OFF = "the table breaks off within this line: the file is cut off"
_NO_END = "line {}, the last one, has no line end: the table may break off there"
_MAX_CAPTION_LENGTH = 200
# Marks of comments in source code, lists and sbt before a line of JMH, and the blanks before a comment.
_LINE_MARK = re.compile(
    r"(?:[ \t]*(?://+|[*-](?=[ \t]|$))[ \t]?)?(?:[ \t]*\[info\] ?)?(?:[ \t]+(?=# [A-Z]))?"
)
_RULE = re.compile(r"[-=*#_]{3,}")
_MARKUP = re.compile(r"\s*(?:(?:</?\w[^<>]*>|\{@\w+)\s*)+")
_MAY_BEGIN_A_MARK = frozenset(" \t/*-[")
_UNIT_OF_JMH = re.compile(r"(?<!\w)(?:[nuµμm]?s/op|[kKMG]?ops?/(?:[nuµμm]?s|sec|min))(?!\w)")

_LINES_OF_A_RESULT = 3
_LINES_TO_A_REASON = 5


def recognise(head: bytes) -> bool:
    lines = map(_unmarked, head.decode("utf-8", "replace").splitlines())
    if any(
        line.startswith(_FIRST_LINES)
        or _RESULT_OF.match(line)
        or table_at(line, 1)
        or headless_table(line, 1)
        for line in lines
    ):
        return True
    tables = (part for part in blocks_of_head(head) if part.kind is BlockKind.TABLE)
    return any(table_of_cells(number, cells) for part in tables for number, cells in islice(part.rows(), 1))


def parse(source: Source) -> ParsedReport:
    """Return one run for each benchmark with its parameters and mode.

    Raise FormatError, with the line, where nothing was measured, a table cannot be read or the output breaks
    off. Benchmarks that failed are warnings.
    """
    log = _Log(source)
    results, notes = told_apart([execution.part() for execution in log.executions])
    if not results:
        raise log.refusal()
    log.executions[-1].refuse_a_cut(log.last_line)
    warnings = [warning for execution in log.executions for warning in execution.warnings()]
    return report_of(results, [*log.warnings, *notes, *warnings])


def _unmarked(line: str) -> str:
    """Return a line without the marks of a comment in source code, of a list and of sbt."""
    return _LINE_MARK.sub("", line, count=1) if line[:1] in _MAY_BEGIN_A_MARK else line


def _caption(text: str) -> str:
    """Return what a line says, without the rules that are drawn around it."""
    return _RULE.sub(" ", plain_text(text[:_MAX_CAPTION_LENGTH])).strip()


class _Log:
    """The output, sorted into executions of JMH."""

    def __init__(self, source: Source) -> None:
        self.executions = [Execution()]
        self.warnings: list[str] = []
        self._limits = source.limits
        self._block: BenchmarkBlock | None = None
        self._trouble: BenchmarkFailure | None = None
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
        # The last table: rows elsewhere may have the same columns. Those that have not are strays.
        self._latest: ScoreTable | None = None
        self._strays: list[tuple[int, str]] = []
        self._headings: tuple[str, ...] = ()
        self._is_in_code = False
        # Comments that stand by themselves, without the output of a benchmark, since the last table; and the
        # headers that they made.
        self._settings: list[str] = []
        self._headers: list[JmhHeader] = []
        self.last_line = len(source.lines) if source.ends_with_newline else len(source.lines) - 1
        for part in document_blocks(source.lines):
            self._read_part(part)
        if not (source.ends_with_newline or self.warnings):
            self.warnings += missing_line_end(source)
        if self._failed_at:
            self._fail(self.last_line, "no reason is given")
        self._end_settings()
        only_header = self._headers[0] if len(self._headers) == 1 else None
        scored: dict[Key, BenchmarkEntry] = {}
        for execution in self.executions:
            execution.header = execution.header or only_header
            execution.finish()
            execution.give_secondary_results(scored)
            line = execution.table.line if execution.table else None
            self._limits.check("runs", len(execution.entries), line)
        self.warnings += [*self.executions[-1].warnings_of_the_end(), *self._warnings_of_strays()]

    def refusal(self) -> FormatError:
        """Return why no benchmark was measured."""
        blocks = [block for execution in self.executions for block in execution.blocks]
        tables = [execution.table for execution in self.executions if execution.table]
        for block in blocks:
            if block.failure:
                reason = f"{block.workload} failed: {block.failure.reason}"
                return FormatError(f"no benchmark was measured; {reason}", block.failure.line)
        if self._trouble:
            return FormatError(f"no benchmark was measured: {self._trouble.reason}", self._trouble.line)
        for entry in (entry for execution in self.executions for entry in execution.entries):
            return FormatError(
                f"no benchmark was measured; {entry.workload} was left out: {entry.problem}", entry.line
            )
        for number, line in (row for table in tables for row in table.others):
            return FormatError(f"not a row of JMH's table: {quoted(line.strip())}", number)
        benchmark = blocks[-1].workload if blocks else "a benchmark"
        return FormatError(
            f"no score of {benchmark}; did JMH finish? Send the table that it prints at its end, or "
            "its JSON (-rf json): pictures and ratios are not read",
            tables[-1].line if tables and not blocks else max(self.last_line, 1),
        )

    def _warnings_of_strays(self) -> Iterator[str]:
        for number, line in self._strays[:1]:
            more = f"; so are {len(self._strays) - 1} more lines" if len(self._strays) > 1 else ""
            yield (
                f"line {number} looks like a row of JMH, but no head above it names its columns, and it was "
                f"not read: {quoted(line.strip())}{more}"
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
                if number > self.last_line:
                    self._read_cut(line)
                else:
                    self._read(line, number)
        if part.kind is not BlockKind.TEXT:
            self._leave_part()
        if not part.is_closed and (self.executions[-1].blocks or self.executions[-1].table):
            self.warnings.append(f"the code from line {part.line} on has no end: the file may be cut off")

    def _leave_part(self, caption: str = "") -> None:
        """Begin or end code or a table, which belongs to no output before or behind it."""
        self._end_comments()
        self._table, self._block, self._result = None, None, None
        self._text = caption
        if self.executions[-1].blocks or self.executions[-1].table:
            self._begin_execution()

    def _end_comments(self) -> None:
        """Keep what the comments say of the tables behind them, if no benchmark was named."""
        if not self.executions[-1].blocks:
            self._settings += self._comments
        self._comments = []

    def _end_settings(self) -> None:
        if (header := header_of(self._settings)) != JmhHeader():
            # Two settings of one thing hold for nothing.
            self._headers.append(JmhHeader() if are_contradictory(self._settings) else header)
        self._settings = []

    def _begin_execution(self) -> None:
        self.executions.append(Execution())

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
        elif line.startswith(_RESULTS):
            self._begin_result(line, number)
        elif line == _FAILURE:
            self._failed_at = number
        elif line.startswith(_TROUBLES):
            self._fail(number, line)
        elif table := table_at(line, number) or headless_table(line, number, self._latest):
            self._begin_table(table)
        elif looks_like_a_row(line, of_no_table=True):
            self._strays.append((number, line))
        elif any(map(str.isalnum, line)) and not _MARKUP.fullmatch(line):
            self._text = line

    def _begin_table(self, table: ScoreTable) -> None:
        self._start_execution_after_a_table()
        self._end_comments()
        execution = self.executions[-1]
        execution.table = self._table = table
        self._end_settings()
        execution.header = self._headers[-1] if self._headers else None
        execution.headings = execution.headings or self._headings
        execution.caption, self._text = _caption(self._text), ""
        self._is_beside_row = True
        self._latest = table

    def _begin_result(self, line: str, number: int) -> None:
        if match := _RESULT_OF.match(line):
            name = match["name"] if self._is_of_no_block() else ""
            if name and not (self._block and self._block.benchmark == name and match["secondary"]):
                self._begin_block(BenchmarkBlock(number, name, header_of(self._comments), is_headless=True))
        if self._block:
            self._result = [line]
            self._block.results.append(self._result)

    def _is_of_no_block(self) -> bool:
        """Return whether a result that comes now has no header of its benchmark above it."""
        return self._block is None or self._block.is_headless

    def _begin_block(self, block: BenchmarkBlock) -> None:
        self._start_execution_after_a_table()
        self._table, self._block = None, block
        execution = self.executions[-1]
        execution.blocks.append(block)
        execution.is_complete = False
        execution.is_excerpt = self._is_in_code or block.is_headless
        execution.headings = execution.headings or self._headings

    def _read_comment(self, line: str, number: int) -> None:
        name, _, value = line.partition(": ")
        if name == "# Benchmark" and value:
            self._begin_block(BenchmarkBlock(number, value.strip(), header_of(self._comments)))
            self._is_in_header = True
            return
        self._comments.append(line)
        if self._block and self._is_in_header and name == "# Parameters":
            self._block.parameters = value
            return
        if self._block and self._is_in_header and line.startswith("# VM "):
            # In JMH 0.9 the virtual machine stands below the name.
            self._block.header = header_of(self._comments)
            return
        self._is_in_header = False
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
        """Take a row of the table, whose rows may go on behind blank lines and other text."""
        if not line.strip():
            self._is_beside_row = False
            return False
        row = table.row_of(line)
        if row:
            if self._text and self.executions[-1].is_bare and table.rows:
                table = self._continue_table(table)
            table.rows.append((number, row))
            self._is_beside_row = True
            return True
        if not any(map(str.isalnum, line)):
            self._is_beside_row = False
            return False
        is_other = line.startswith("# ") or table_at(line, number) is not None or line.startswith(_TROUBLES)
        if is_other:
            return False
        is_meant = looks_like_a_row(line)
        if is_meant or (self._is_beside_row and self.executions[-1].is_bare):
            table.others.append((number, line))
        self._is_beside_row = self._is_beside_row and is_meant
        return is_meant

    def _continue_table(self, table: ScoreTable) -> ScoreTable:
        """Return the table of the rows behind some text, which has the head of the one before."""
        if table.others and table.others[-1][1] == self._text and self._text.endswith(":"):
            table.others.pop()
        self._table = None
        self._begin_table(ScoreTable(table.line, table.columns, table.separator))
        return cast(ScoreTable, self._table)

    def _read_table(self, part: DocumentBlock) -> None:
        """Read a table in cells, if it is one of JMH."""
        rows = part.rows()
        number, head = next(rows, (part.line, ()))
        table = table_of_cells(number, head)
        if table is None:
            _, first = next(rows, (0, ()))
            if any(map(_UNIT_OF_JMH.search, (*head, *first))):
                self.warnings.append(
                    f"the table in line {number} has units of JMH and was not read: its head names no score "
                    f"({quoted(' | '.join(head))})"
                )
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
        number = self.last_line + 1
        if self._table is None and (table := headless_table(line, number, self._latest)):
            table.rows.clear()
            self._begin_table(table)
        table = self._table
        if not (table and line.strip() and (self._is_beside_row or table.may_begin_a_row(line))):
            self.warnings.append(f"line {number}, the last one, has no line end and was left out")
            return
        row = table.row_of(line)
        if not row or not table.knows(row.number.unit):
            raise FormatError(_BREAKS_OFF, number)
        table.rows.append((number, row))
        self.warnings.append(_NO_END.format(number))

    def _start_execution_after_a_table(self) -> None:
        if self.executions[-1].table:
            self._begin_execution()
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
        failure = BenchmarkFailure(line, mask_text(reason[:1000].strip())[:200])
        if self.executions[-1].table:
            self.warnings.append(f"after the table: {failure}")
        elif self._block is None:
            self._trouble = self._trouble or failure
        elif not self._block.failure:
            self._block.failure = failure


def _ends_alike(part: DocumentBlock) -> bool:
    """Return whether the last row of a table has the bar at its end that the head has."""
    return part.lines[0].rstrip().endswith("|") <= part.lines[-1].rstrip().endswith("|")
