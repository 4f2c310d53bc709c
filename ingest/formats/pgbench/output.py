"""The lines that pgbench prints, sorted by the run and the part of it that they belong to.

A run prints its progress first and its report last. Where nobody asked for progress, or kept it, there is the
report alone; from version 14 on a banner stands before both. Of a report people keep the end alone, too.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ingest.formats.cells import is_number, number, whole_number
from ingest.formats.outputs import Figure, given_twice, quoted
from ingest.formats.report import FormatError

TYPE = "transaction type"
PROCESSED = "number of transactions actually processed"

_VERSION = r"(\S{1,60}?)(?: \([^()]{1,200}\))?"
_BANNER = re.compile(rf"pgbench \({_VERSION}(?:, server {_VERSION})?\)")
_FIELD = re.compile(r"([a-z][a-z0-9. -]{1,80}?)(?:: | = )(.+)")
_NAMES = frozenset(
    {
        *("scaling factor", "partition method", "partitions", "query mode", "duration", "weight", PROCESSED),
        *(f"number of {what}" for what in ("clients", "threads", "transactions per client")),
        *(f"number of {kind} failures" for kind in ("serialization", "deadlock", "other")),
        *(f"number of transactions {what}" for what in ("retried", "skipped")),
        *("number of failed transactions", "maximum number of tries", "total number of retries"),
        *("latency average", "latency stddev", "rate limit schedule lag"),
        *("initial connection time", "average connection time"),
    }
)
# With one of these begins a report whose beginning nobody kept.
_BEGIN_THE_END = frozenset(
    {
        *("scaling factor", "query mode", "maximum number of tries", PROCESSED, "latency average"),
        *(f"number of {what}" for what in ("clients", "threads", "transactions per client")),
        *("number of failed transactions", "latency stddev", "initial connection time"),
    }
)
_LATE = re.compile(r"number of transactions above the (\S{1,40}) ms latency limit")
_TPS = re.compile(r"(\S+) \(([a-z ]{1,60})\)")
_SCRIPT = re.compile(r"SQL script ([0-9]{1,4}): ?(.*)")
_SHARE = re.compile(r"([0-9]+) transactions \(\S+% of total(?:, tps = \S+)?\)")
_ONLY_STATEMENTS = "script statistics:"
_STATEMENTS = re.compile(
    r"statement latencies in milliseconds(?:, file ([0-9]{1,4}))?"
    r"(?P<columns>| and failures|, failures and retries):"
)
_COUNTS = {"": 0, " and failures": 1, ", failures and retries": 2}
_STATEMENT = tuple(
    re.compile(rf"[ \t]*([0-9.]+|-?nan){counts}[ \t]+(\S.*)")
    for counts in ("", r"[ \t]+([0-9]+)", r"[ \t]+([0-9]+)[ \t]+([0-9]+)")
)
_NUMBER = r"[0-9]{1,13}+(?:\.[0-9]{1,9}+)?+"
_MEASURED = rf"{_NUMBER}|-?nan"
_TICK = re.compile(
    rf"progress: (?P<time_s>{_NUMBER}) s, (?P<tps>{_NUMBER}) tps, lat (?P<latency_avg>{_MEASURED}) ms"
    rf"(?: stddev (?P<latency_stddev>{_MEASURED}))?(?:, (?P<failed>{_NUMBER}) failed)?"
    rf"(?:, lag (?P<schedule_lag_avg>{_MEASURED}) ms)?(?:, (?P<skipped>{_NUMBER}) skipped)?"
    rf"(?:, (?P<retried>{_NUMBER}) retried, (?P<retries>{_NUMBER}) retries)?"
)
_LIKE_A_TICK = re.compile(r"progress: \S+ s, ")
_COLUMNS = tuple(_TICK.groupindex)
_LATENCIES = frozenset({"latency_avg", "latency_stddev", "schedule_lag_avg"})
_FAILED = re.compile(
    r"pgbench: (?:error|fatal): .+|(?:pgbench: ?)?[Cc]lient [0-9]+ (?:script [0-9]+ )?aborted in .+"
)
_ABORTED = re.compile(r"(?:pgbench: (?:error|fatal): )?Run was aborted; .+")
FILLED = re.compile(r"[0-9]+ (?:of [0-9]+ tuples \([0-9]+%\) done.*|tuples done\.)")
_MAX_COMMAND_LENGTH = 20_000


def figure(text: str, line: int) -> Figure:
    """Raise FormatError for anything but a finite number that is not negative."""
    return Figure.of(number(text, line), text, line)


@dataclass(slots=True)
class Statistics:
    """Lines ``name: value`` or ``name = value``, of a report or of one script; ``end`` is the last one."""

    end: int
    values: dict[str, tuple[str, int]] = field(default_factory=dict)

    def add(self, name: str, value: str, line: int) -> None:
        if name in self.values:
            raise given_twice(f"'{name}'", line)
        self.values[name] = (value, line)
        self.end = line

    def text(self, name: str) -> tuple[str, int]:
        """Return a value and its line. Raise FormatError where it is missing."""
        if name not in self.values:
            raise FormatError(f"the report is not complete: no '{name}' up to this line", self.end)
        return self.values[name]

    def figure(self, name: str, pattern: str = r"(\S+)") -> Figure:
        """Return the number in a value of the given form. Raise FormatError where either is missing."""
        text, line = self.text(name)
        found = re.fullmatch(pattern, text)
        if found is None:
            raise FormatError(f"the number is missing in {quoted(f'{name}: {text}')}", line)
        return figure(found[1], line)

    def maybe(self, name: str, pattern: str = r"(\S+)") -> Figure | None:
        """Return the figure, None where there is no line of that name."""
        return self.figure(name, pattern) if name in self.values else None


@dataclass(frozen=True, slots=True)
class Statement:
    """One command of a script. ``latency`` is None where it was never executed."""

    text: str
    latency: Figure | None
    failures: int
    retries: int


@dataclass(slots=True)
class Script:
    """The output for one script: name and numbers where there are several, statements where asked for."""

    statistics: Statistics
    name: str = ""
    statements: list[Statement] = field(default_factory=list)
    statements_end: int = 0


@dataclass(slots=True)
class PgbenchReport:
    """``tps`` by the words behind it, which say what was counted. ``scripts`` by their printed numbers.

    ``has_files`` tells that pgbench numbers the files of statements, as it does where there are several.
    ``begins_at`` is the line of a report whose beginning is missing, 0 of a whole one.
    """

    statistics: Statistics
    tps: dict[str, Figure] = field(default_factory=dict)
    latency_limit: str = ""
    scripts: dict[int, Script] = field(default_factory=dict)
    has_files: bool = False
    begins_at: int = 0

    @property
    def end(self) -> int:
        ends = [max(script.statistics.end, script.statements_end) for script in self.scripts.values()]
        return max([self.statistics.end, *ends])


@dataclass(slots=True)
class PgbenchOutput:
    """The output of one pgbench. ``failures`` come with their lines; ``last_line`` is the last of its own.

    ``line`` is its first. ``ticks`` are its progress lines: a cell for each of ``columns``, seconds first.
    """

    line: int
    last_line: int
    command: str = ""
    tool_version: str = ""
    server_version: str = ""
    columns: tuple[str, ...] = ()
    ticks: list[tuple[float | None, ...]] = field(default_factory=list)
    strange_ticks: list[int] = field(default_factory=list)
    failures: list[tuple[str, int]] = field(default_factory=list)
    report: PgbenchReport | None = None
    error: FormatError | None = None


def sort_lines(lines: Iterable[str]) -> list[PgbenchOutput]:
    """Return the outputs of all pgbench runs in a file. One that cannot be understood holds the ``error``."""
    sorter = _Sorter()
    for line_number, line in enumerate(lines, start=1):
        sorter.sort(line, line_number)
    _join_progress_behind_report(sorter.outputs)
    return sorter.outputs


def ends_report(line: str) -> bool:
    """Return whether this is a last line that a report may have, and whole."""
    found = _FIELD.fullmatch(line.strip())
    return found is not None and found[1] == "tps" and _TPS.fullmatch(found[2]) is not None


def _join_progress_behind_report(outputs: list[PgbenchOutput]) -> None:
    """Give progress lines that end a file to the report before them, where it has none and lasted as long."""
    if len(outputs) < 2 or outputs[-1].report or outputs[-1].failures or not outputs[-1].ticks:
        return
    report, progress = outputs[-2:]
    if report.ticks or not (report.report and report.report.tps):
        return
    text = report.report.statistics.values.get("duration", ("", 0))[0].removesuffix(" s")
    if is_number(text) and (progress.ticks[-1][0] or 0.0) <= float(text) + 1:
        report.columns, report.ticks = progress.columns, progress.ticks
        report.strange_ticks = progress.strange_ticks
        outputs.pop()


class _Sorter:
    def __init__(self) -> None:
        self.outputs: list[PgbenchOutput] = []
        self.command = ""
        self.script: Script | None = None
        self.counts: int | None = None

    def sort(self, line: str, line_number: int) -> None:
        text = line.strip()
        if text.startswith("progress: ") and _LIKE_A_TICK.match(text):
            self._tick(text, line_number)
        elif text.startswith("pgbench (") and (banner := _BANNER.fullmatch(text)):
            output = self._begin(line_number)
            output.tool_version = banner[1]
            output.server_version = banner[2] or banner[1]
        elif text.startswith(f"{TYPE}: "):
            output = self._output(line_number)
            output.report = PgbenchReport(Statistics(line_number))
            output.report.statistics.add(TYPE, text.removeprefix(f"{TYPE}: "), line_number)
        elif _ABORTED.fullmatch(text) and self.outputs:
            self.outputs[-1].last_line = line_number
            self.outputs[-1].failures.append((text, line_number))
        elif _FAILED.fullmatch(text):
            self._output(line_number).failures.append((text, line_number))
        elif self._begins_the_end(text):
            output = self._output(line_number)
            output.report = PgbenchReport(Statistics(line_number), begins_at=line_number)
            self._is_of_report(line, text, line_number)
        elif not self._is_of_report(line, text, line_number) and _is_call(text):
            self.command = text

    def _begin(self, line_number: int) -> PgbenchOutput:
        output = PgbenchOutput(line_number, line_number, self.command)
        self.outputs.append(output)
        self.command, self.script, self.counts = "", None, None
        return output

    def _output(self, line_number: int) -> PgbenchOutput:
        """Return the output that has no report yet: what is printed before one belongs to it."""
        if not self.outputs or self.outputs[-1].report:
            return self._begin(line_number)
        self.outputs[-1].last_line = line_number
        return self.outputs[-1]

    def _begins_the_end(self, text: str) -> bool:
        """Return whether a line begins the end of a report, of which the beginning was not kept."""
        found = _FIELD.fullmatch(text)
        if found is None or not (found[1] in _BEGIN_THE_END or ends_report(text)):
            return False
        report = self.outputs[-1].report if self.outputs else None
        if report is None:
            return True
        is_there = found[1] in report.statistics.values or found[1] == "tps"
        return bool(report.tps) and is_there and self.script is None and not _adds_a_rate(report, found[2])

    def _tick(self, text: str, line_number: int) -> None:
        tick = _TICK.fullmatch(text)
        if tick is None:
            self._output(line_number).strange_ticks.append(line_number)
            return
        columns, row = _cells(tick)
        before = self.outputs[-1].ticks if self.outputs else []
        runs_backwards = before and (row[0] or 0.0) < (before[-1][0] or 0.0)
        output = self._begin(line_number) if runs_backwards else self._output(line_number)
        output.columns = output.columns or columns
        if columns == output.columns:
            output.ticks.append(row)
        else:
            output.strange_ticks.append(line_number)

    def _is_of_report(self, line: str, text: str, line_number: int) -> bool:
        """Return whether the line belongs to the report of the last output, where it is noted."""
        output = self.outputs[-1] if self.outputs else None
        if output is None or output.report is None:
            return False
        try:
            known = self._report_line(output.report, line, text, line_number)
        except FormatError as error:
            output.error = output.error or error
            known = True
        if known:
            output.last_line = line_number
        return known

    def _report_line(self, report: PgbenchReport, line: str, text: str, line_number: int) -> bool:
        """Raise FormatError for a line that stands there twice, and for figures that are none."""
        if self.counts is not None and self.script is not None:
            if found := _STATEMENT[self.counts].fullmatch(line):
                self._statement(self.script, found, line_number)
                return True
            self.counts = None
        text = text.removeprefix("- ")
        if found := _SCRIPT.fullmatch(text):
            self.script = self._script(report, int(found[1]), line_number)
            self.script.name = found[2]
        elif text == _ONLY_STATEMENTS:
            self.script = self._script(report, 1, line_number)
            self.script.statements_end = line_number
        elif found := _STATEMENTS.fullmatch(text):
            if self.script is None or found[1]:
                self.script = self._script(report, int(found[1] or 1), line_number)
                report.has_files = bool(found[1])
            self.counts = _COUNTS[found["columns"]]
            self.script.statements_end = line_number
        elif self.script is not None and (found := _SHARE.fullmatch(text)):
            self.script.statistics.add("transactions", found[1], line_number)
        elif found := _FIELD.fullmatch(text):
            return self._field(report, found[1], found[2], line_number)
        else:
            return False
        return True

    def _script(self, report: PgbenchReport, script_number: int, line_number: int) -> Script:
        if script_number in report.scripts:
            raise given_twice(f"script {script_number}", line_number)
        script = report.scripts[script_number] = Script(Statistics(line_number))
        return script

    def _field(self, report: PgbenchReport, name: str, value: str, line_number: int) -> bool:
        if name == "tps" and self.script is None:
            _add_tps(report, value, line_number)
        elif late := _LATE.fullmatch(name):
            report.latency_limit = late[1]
            report.statistics.add("late", value, line_number)
        elif name in _NAMES:
            statistics = self.script.statistics if self.script else report.statistics
            statistics.add(name, value, line_number)
        else:
            return False
        return True

    def _statement(self, script: Script, found: re.Match[str], line_number: int) -> None:
        latency, *counts, text = found.groups()
        script.statements_end = line_number
        script.statements.append(
            Statement(
                text=text,
                latency=None if latency.endswith("nan") else figure(latency, line_number),
                failures=_count(counts[0], line_number) if counts else 0,
                retries=_count(counts[1], line_number) if len(counts) > 1 else 0,
            )
        )


def _adds_a_rate(report: PgbenchReport, value: str) -> bool:
    """Return whether this is the second of the rates that a report of before version 14 has."""
    found = _TPS.fullmatch(value)
    return found is not None and found[2] not in report.tps


def _add_tps(report: PgbenchReport, value: str, line_number: int) -> None:
    found = _TPS.fullmatch(value)
    if found is None:
        raise FormatError(f"the words are missing that say what tps = {quoted(value)} counts", line_number)
    if found[2] in report.tps:
        raise given_twice(f"'tps ({found[2]})'", line_number)
    report.tps[found[2]] = figure(found[1], line_number)
    report.statistics.end = line_number


def _count(text: str, line_number: int) -> int:
    return 0 if not text.strip("0") else whole_number(text, "the count", line_number)


def _cells(tick: re.Match[str]) -> tuple[tuple[str, ...], tuple[float | None, ...]]:
    """Return the columns and numbers of a progress line; no response times where no transaction ended."""
    texts = {name: text for name, text in zip(_COLUMNS, tick.groups(), strict=True) if text is not None}
    idle = not float(texts["tps"])
    return tuple(texts), tuple(
        None if text.endswith("nan") or (idle and name in _LATENCIES) else float(text) or 0.0
        for name, text in texts.items()
    )


def _is_call(text: str) -> bool:
    """Return whether the line calls pgbench, as ``set -x`` or a script prints it."""
    return (
        "pgbench " in text
        and len(text) <= _MAX_COMMAND_LENGTH
        and any(word.rpartition("/")[2] == "pgbench" for word in text.split())
    )
