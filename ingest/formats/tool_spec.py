r"""A reader for line-oriented tools: a declaration that looks like what the tool prints.

    WRK = ToolSpec(
        tool="wrk",
        recognised_by=r"^Running \S+ test @ ",
        lines=(
            PrintedLine("Running {_} test @ {option.url}", begins_run=True),
            PrintedLine("{option.client_threads} threads and {threads} connections"),
            PrintedLine("{percentile}% {latency}"),
            PrintedLine("Requests/sec: {qps}"),
        ),
        required={"qps": "no line 'Requests/sec: ...'"},
    )

A line of the file is one of these where all of it fits, blanks apart. ``{qps}`` is the value of a metric,
with the unit that is printed behind it; ``{latency_avg:us}`` has none and is in microseconds.

- ``{_}`` is a word that is not read, and three dots are any text;
- ``[[ stddev {latency_stddev}]]`` is there or not;
- ``{percentile}`` and ``{latency}`` on one line are a metric together;
- ``{operation}`` comes before the names of the metrics and counts on its line, and where it stands alone
  before those of the lines below;
- ``{threads}``, ``{duration_s}``, ``{workload}``, ``{version}`` and ``{option.any}`` are of the run,
  ``{fact.any}`` of the file; ``{option}`` is one that is called as the ``{operation}`` of its line;
- ``{command}`` is a whole command line, kept with the file, of which the flags are read too;
- ``{count.any}`` is a number for ``finish``, the first where it is printed again.

Some values are named by the file. ``ToolSpec.names`` says which place of the above each name stands for
(``"Avg(ms)": "latency_avg:ms"``); numbers of other names are not read.

- ``{fields}`` are names and numbers: ``Count: 240, Avg(ms): 63.0`` or ``Count=240``;
- ``{name}`` and ``{value}`` on one line are one of them; ``finish`` has others as ``unnamed``;
- ``{counts}`` are names and numbers likewise, each a count for ``finish``, whatever its name;
- ``{status}`` and ``{requests}`` on one line are a count that is called as the status, ``{failed}`` is one of
  errors; those of several lines are added;
- ``{pairs}`` are numbers with the units that name them: ``1250 ns/op 3 allocs/op``. A unit without a place
  is a metric itself (``allocs_per_op``);
- ``{flags}`` is the rest of a command line: ``-T 8 --time=1m``; ``finish`` has all of it in ``flags``;
- ``{property}`` is ``name=value``, an option of the run where the name has no place. A flag with the place
  ``property`` has such a value.

An ``interval`` line is of the time in which it was printed. It gives a row of the table ``Intervals``: its
metrics and counts, those of several operations side by side. ``finish`` may compute other rows of them.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from benchdash.results.readings import percentile_metric
from ingest.formats.limits import Limits
from ingest.formats.outputs import Read, bounded, distinct, read_runs, whole_lines
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.run_values import COUNT, OPTION, TEXTS, RunValues, operation_name
from ingest.formats.source import Source
from ingest.masking import mask_text

_PLACE = re.compile(r"\{([\w.]+)(?::([\w/%]+))?\}|\.\.\.|\[\[|\]\]")
# An interval in which nothing ended has no times.
_NAN = frozenset({"nan", "-nan"})
_GROUPS = {"[[": "(?:", "]]": ")?"}
# Places that are no values by themselves, or several.
_TAKEN_BY_NAME = frozenset(
    {
        *("_", "percentile", "operation", "name", "value"),
        *("fields", "counts", "command", "flags", "option", "property", "pairs"),
        *("status", "requests", "failed"),
    }
)
_BLANKS = re.compile(r"\s{2,}|\t|\s(?=p\d)")
_MIN_PERCENTILE, _MAX_PERCENTILE = 0.001, 100
_TEXT = r"(\S(?:.{0,200}?\S)??)"
# A text before a comma has none itself.
_CELL = r"([^\s,](?:[^,]{0,200}?[^\s,])??)"
# The unit of a time may stand apart from it.
_WORD = r"(\S{1,80}(?: (?:secs?|seconds|msec|[mµun]?s))?)"
_NUMBER = r"([0-9][0-9.eE+-]{0,30}[a-zA-Zµμ/%]{0,8})"
_COUNT = r"([0-9][0-9.]{0,30}(?:[eE][+-]?[0-9]{1,2})?)"
_PAIRS = r"([0-9].{0,2000}\S)"
_VALUES = {
    "option": r"(\S.{0,400})",
    "command": r"(\S.{0,20000})",
    "pairs": _PAIRS,
    "fields": r"(.{0,4000})",
    "counts": r"(.{0,4000})",
    "flags": r"((?: .{0,50000})?)",
    "name": r"([^,]{1,60}?)",
    "operation": r"([A-Za-z][\w.-]{0,60}?)",
    "property": r'([\w.-]{1,60}"?="?[^"]{0,500})',
    "started_at": r"([0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:]{8}\S{0,20})",
    "status": r"([0-9]{1,3})",
    **dict.fromkeys(("percentile", "threads", "requests", "failed"), _COUNT),
    "value": _WORD,
}


@dataclass(frozen=True, eq=False)
class PrintedLine:
    """A kind of line.

    A run begins with one that ``begins_run``, behind one that ``ends_run``, with the second one of those that
    are ``once_a_run`` (of its operation), and with an ``interval`` or another line that stands
    ``before_figures`` of a run behind some. What a ``heads_runs`` line says holds for all runs below it. A
    line ``behind`` another one is such only there, within a run; it stands before those it may be taken for.
    A run with a line that ``owes_figures`` is left out with a warning where none follow. A line with a
    ``failure`` costs the run that has no figures yet, and is a warning where it comes behind them; one with a
    ``warning`` is always such.
    """

    template: str
    begins_run: bool = False
    ends_run: bool = False
    interval: bool = False
    before_figures: bool = False
    behind: "PrintedLine | None" = None
    once_a_run: bool = False
    heads_runs: bool = False
    owes_figures: bool = False
    failure: str = ""
    warning: str = ""

    @cached_property
    def places(self) -> Sequence[tuple[str, str]]:
        """The names in the template with their units."""
        return [(place[1], place[2] or "") for place in _PLACE.finditer(self.template) if place[1]]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        # Words between the values tell such a line from others; without any, its values have to be numbers.
        has_words = re.search("[A-Za-z]{2}", _PLACE.sub("", self.template)) is not None
        parts, end = [], 0
        for place in _PLACE.finditer(self.template):
            before = self.template[end : place.start()]
            value = _GROUPS.get(place[0]) or _value(place[1], has_words)
            if value == _TEXT and self.template.startswith(",", place.end()):
                value = _CELL
            parts += [_literal(before.rstrip() if place[0] == "..." else before), value]
            end = place.end()
        return re.compile("".join([*parts, _literal(self.template[end:])]))

    @cached_property
    def beginning(self) -> str:
        """The first character, nothing where that may be any."""
        return "" if _PLACE.match(self.template) else self.template[:1]

    def begins(self, operation: str, run: RunValues, seen: Mapping["PrintedLine", Collection[str]]) -> bool:
        """Return whether such a line is not of the run at hand; ``seen`` are its kinds with operations."""
        return (
            self.begins_run
            or self.heads_runs
            or (self.once_a_run and operation in seen.get(self, ()))
            or ((self.interval or self.before_figures) and bool(run.readings))
        )


@dataclass(frozen=True, eq=False)
class PrintedTable:
    """Lines of cells under a line of their names, parted by two blanks or more; dashes are no value.

    A long name of a percentile fills its column: one blank parts it. The first cell is the operation, before
    the names of its metrics; that of ``total`` has none. ``columns`` are the metrics by the names above them,
    with a unit as in a template: ``latency_avg:ms``.
    """

    first: str
    columns: Mapping[str, str]
    total: str

    def head(self, text: str) -> Sequence[str]:
        """Return the names of the columns; nothing where the line does not name them."""
        names = _BLANKS.split(text)
        return names if names[0] == self.first and len(names) > 1 else ()

    def take(self, run: RunValues, names: Sequence[str], text: str, line: int) -> bool:
        """Note the cells of a line; return whether it was one of the table."""
        cells = text.split()
        if len(cells) != len(names):
            return False
        operation = "" if cells[0] == self.total else cells[0]
        for name, cell in zip(names[1:], cells[1:], strict=True):
            if name in self.columns and cell.strip("-"):
                metric, _, unit = self.columns[name].partition(":")
                run.take(metric, cell, line, unit=unit, operation=operation)
        run.line, run.last_line = run.line or line, line
        return True


def _literal(text: str) -> str:
    words = r"\s+".join(map(re.escape, re.split(r"\s+", text)))
    # Older versions and web pages have no blank behind a colon or a comma.
    return re.sub(r"([:,])\\s\+", r"\1\\s*", words)


def _value(name: str | None, has_words: bool) -> str:
    if name is None:
        return ".*?"
    if value := _VALUES.get(name):
        return value
    if name in TEXTS or name.startswith(OPTION):
        return _TEXT
    if name.startswith(COUNT):
        return _COUNT
    return _WORD if has_words or name == "_" else _NUMBER


@dataclass(frozen=True, eq=False)
class ToolSpec:
    """A tool: how its files are recognised, its lines, and what a run must have.

    ``recognised_by`` is looked for in the lines of the head. ``required`` are metrics with the sentence for a
    run without them, ``wanted`` are metrics, ``threads`` and ``duration_s`` without which there is a warning.
    ``own`` are metrics of this tool, see ``RunValues``, and ``names`` are places by what the file calls their
    values. ``texts`` returns the numbered texts of lines of which not each is as it is meant. ``finish``
    completes or checks the values of a run, and returns warnings. ``closing`` is the line with which, or
    behind which, a whole run ends; a last line that is such needs no line end. ``key`` names a run within its
    file, where its number does not; those of one name are repetitions.
    """

    tool: str
    recognised_by: str
    lines: Sequence[PrintedLine]
    required: Mapping[str, str]
    own: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    wanted: Sequence[str] = ()
    workload: str = ""
    finish: Callable[[RunValues], Iterable[str]] = lambda _: ()
    table: PrintedTable | None = None
    texts: Callable[[Sequence[str]], Iterator[tuple[int, str]]] = lambda lines: enumerate(
        map(str.strip, lines), start=1
    )
    closing: str = ""
    key: Callable[[RunValues], str] | None = None

    @cached_property
    def _recognised(self) -> re.Pattern[bytes]:
        return re.compile(self.recognised_by.encode(), re.MULTILINE)

    @cached_property
    def _lines_of_any_beginning(self) -> Sequence[PrintedLine]:
        return [kind for kind in self.lines if not kind.beginning]

    @cached_property
    def _lines_by_beginning(self) -> Mapping[str, Sequence[PrintedLine]]:
        """The lines that may begin with a character: to try all would take most of the time of reading."""
        return {
            beginning: [kind for kind in self.lines if kind.beginning in ("", beginning)]
            for beginning in {kind.beginning for kind in self.lines}
        }

    def recognise(self, head: bytes) -> bool:
        return self._recognised.search(head) is not None

    def without_its_lines(self, head: bytes) -> bytes:
        """Leave out the lines of this tool."""
        lines = head.decode("utf-8", "replace").split("\n")
        printed = {
            number
            for number, text in self.texts(lines)
            if any(kind.pattern.fullmatch(text) for kind in self.lines)
        }
        kept = (line for number, line in enumerate(lines, start=1) if number not in printed)
        return "\n".join(kept).encode()

    def parse(self, source: Source) -> ParsedReport:
        """Read each run of the file; of several the keys are ``1``, ``2``, ... or those of ``key``.

        Raise FormatError where none is whole. Of several runs one that is not is left out with a warning.
        """
        lines, warnings = whole_lines(source, closing=re.compile(self.closing or r"\}"))
        outputs = list(self._runs(lines, source.limits))
        if not outputs:
            sentence = next(iter(self.required.values()), f"no line with a result of {self.tool}")
            raise FormatError(f"{sentence}: nothing was measured", max(len(lines), 1))
        source.limits.check("runs", len(outputs))
        runs, intervals, notes = read_runs(outputs, self._read, lines)
        runs = distinct(runs) if self.key else runs
        if sum(bool(run.lost) for run in runs) > 1:
            raise FormatError(
                f"of {len(runs)} runs only the ends are there, and nothing tells them apart; keep all that "
                f"{self.tool} printed",
                outputs[0].last_line,
            )
        facts = {"tool": self.tool} | outputs[0].facts
        return ParsedReport(runs, intervals, facts, bounded(warnings + notes))

    def _runs(self, lines: Sequence[str], limits: Limits) -> Iterator[RunValues]:
        """Yield what was printed of each run that measured something."""
        head = RunValues(self.tool, self.own, self.names, limits=limits)
        run, seen = head.copy(), defaultdict[PrintedLine, set[str]](set)
        columns: Sequence[str] = ()
        ends = frozenset(kind for kind in self.lines if kind.ends_run)
        is_closing = re.compile(self.closing).match
        for number, text in self.texts(lines):
            if self.table:
                if columns and self.table.take(run, columns, text, number):
                    continue
                columns = self.table.head(text) or columns
            kind, values = self._kind_of(text, seen)
            if kind is None:
                run.is_closed = run.is_closed or is_closing(text) is not None
                continue
            operation = operation_name(values.get("operation", ""))
            if kind.begins(operation, run, seen) or not ends.isdisjoint(seen):
                # An error above all runs is of each that is measured, a warning of the next one.
                notes = run.notes
                if run.readings or run.rows or run.owes_figures or run.error is not head.error:
                    yield run
                    notes = []
                run = head.copy()
                run.notes += notes
                seen.clear()
            seen[kind].add(operation)
            run.is_closed = run.is_closed or is_closing(text) is not None
            _take(head if kind.heads_runs else run, kind, values, number, text)
            if kind.heads_runs:
                run = head.copy()
        if run.has_begun:
            yield run

    def _kind_of(
        self, text: str, seen: Collection[PrintedLine]
    ) -> tuple[PrintedLine | None, Mapping[str, str]]:
        """Return the kind of a line with its values by name, None where it is none of the tool."""
        for kind in self._lines_by_beginning.get(text[:1], self._lines_of_any_beginning):
            if kind.behind and kind.behind not in seen:
                continue
            if match := kind.pattern.fullmatch(text):
                values = zip(kind.places, match.groups(), strict=True)
                return kind, {name: value for (name, _), value in values if value is not None}
        return None, {}

    def _read(self, run: RunValues, key: str) -> Read:
        if run.error:
            raise run.error
        key = self.key(run) if self.key else key
        notes = [*run.notes, *run.check_times(), *self.finish(run), *run.check_rows()]
        notes += run.missing(self.wanted)
        if not run.is_closed:
            notes.append(f"the end of the output is missing after line {run.last_line}: is the file cut off?")
        return (
            run.parsed(key, self.required, self.workload),
            run.intervals(key),
            notes,
        )


def _take(run: RunValues, kind: PrintedLine, values: Mapping[str, str], line: int, text: str) -> None:
    """Note the values of a line. One that is none costs its run, and no other of the file."""
    run.line, run.last_line = run.line or line, line
    if len(values) == 1 and "operation" in values:
        run.operation = values["operation"]
    run.owes_figures = run.owes_figures or kind.owes_figures
    if kind.failure:
        run.fail(kind.failure, text, line)
    if kind.warning:
        run.warn(kind.warning, text, line)
    operation = operation_name(values.get("operation", "") or run.operation)
    try:
        if kind.interval:
            row = run.empty_row()
            _take_values(row, kind, values, line, operation)
            run.take_row({**row.counts, **row.figures}, operation)
        else:
            _take_values(run, kind, values, line, operation)
    except FormatError as error:
        if kind.interval:
            run.warn(error.message, text, line)
        else:
            run.error = run.error or error


def _take_values(
    run: RunValues, kind: PrintedLine, values: Mapping[str, str], line: int, operation: str
) -> None:
    for name, unit in kind.places:
        value = values.get(name)
        if value is None or (kind.interval and value in _NAN):
            continue
        if name not in _TAKEN_BY_NAME and not (name == "latency" and "percentile" in values):
            run.take(name, value, line, unit=unit, operation=operation)
            continue
        match name:
            case "value":
                run.take_named(values["name"], value, line, operation=operation)
            case "fields":
                run.take_fields(value, line, operation=operation)
            case "counts":
                run.take_counts(value, line)
            case "requests" | "failed":
                run.count(values.get("status", name), value, line)
            case "command" | "flags":
                run.take_flags(value, line)
                run.command = mask_text(value) if name == "command" else run.command
            case "option":
                run.take(f"{OPTION}{operation}", value, line)
            case "property":
                run.take_property(value, line)
            case "pairs":
                run.take_pairs(value, line)
            case "latency":
                if metric := _percentile(values["percentile"], line):
                    run.take(metric, value, line, unit=unit, operation=operation)


def _percentile(text: str, line: int) -> str:
    """Return the metric of a percentile, nothing for 0. Raise FormatError for what is none."""
    try:
        percentile = float(text)
    except ValueError:
        percentile = -1.0
    if not (percentile == 0 or _MIN_PERCENTILE <= percentile <= _MAX_PERCENTILE):
        raise FormatError(f"{text} is not a percentile", line)
    # If there were too few requests for a percentile, tools print 0 % in 0 seconds.
    return percentile_metric(percentile) if percentile else ""
