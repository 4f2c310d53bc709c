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

- ``{_}`` is a word that is not read, and three dots at the end are the rest of the line;
- ``{percentile}`` and ``{latency}`` on one line are a metric together;
- ``{operation}`` comes before the names of the metrics on its line;
- ``{pairs}`` are numbers to the end of the line, each with the unit behind it that names its metric
  (``allocs/op`` is ``allocs_per_op``);
- ``{threads}``, ``{duration_s}``, ``{workload}``, ``{version}`` and ``{option.any}`` are of the run;
- ``{count.any}`` is a number for ``finish``.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from benchdash.results.readings import percentile_metric
from ingest.formats.outputs import Read, bounded, read_runs, whole_lines
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.run_values import COUNT, OPTION, TEXTS, RunValues
from ingest.formats.source import Source

_PLACE = re.compile(r"\{([\w.]+)(?::([\w/%]+))?\}")
_BLANKS = re.compile(r"\s{2,}|\t")
_MAX_PERCENTILE = 100
_TEXT = r"(\S(?:.{0,200}?\S)??)"
# The unit of a time may stand apart from it.
_WORD = r"(\S{1,80}(?: (?:secs?|seconds|msec|[mµun]?s))?)"
_NUMBER = r"([0-9][0-9.eE+-]{0,30}[a-zA-Zµμ/%]{0,8})"
_COUNT = r"([0-9][0-9.]{0,30})"
_PAIRS = r"([0-9].{0,2000}\S)"


@dataclass(frozen=True, eq=False)
class PrintedLine:
    """A kind of line.

    A run begins with one that ``begins_run``, and with the second one of those that are ``once_a_run``. What
    a ``heads_runs`` line says holds for all runs below it.
    """

    template: str
    begins_run: bool = False
    once_a_run: bool = False
    heads_runs: bool = False

    @cached_property
    def places(self) -> Sequence[tuple[str, str]]:
        """The names in the template with their units."""
        return [(place[1], place[2] or "") for place in _PLACE.finditer(self.template)]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        template, rest = (
            (self.template[:-3].rstrip(), r".*") if self.template.endswith("...") else (self.template, "")
        )
        # Words between the values tell such a line from others; without any, its values have to be numbers.
        has_words = re.search("[A-Za-z]{2}", _PLACE.sub("", template)) is not None
        parts, end = [], 0
        for place in _PLACE.finditer(template):
            parts += [_literal(template[end : place.start()]), _value(place[1], has_words)]
            end = place.end()
        return re.compile("".join([*parts, _literal(template[end:]), rest]))


@dataclass(frozen=True, eq=False)
class PrintedTable:
    """Lines of cells under a line of their names, parted by two blanks or more; dashes are no value.

    The first cell is the operation, before the names of its metrics; that of ``total`` has none. ``columns``
    are the metrics by the names above them, with a unit as in a template: ``latency_avg:ms``.
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
    return r"\s+".join(map(re.escape, re.split(r"\s+", text)))


def _value(name: str, has_words: bool) -> str:
    if name in TEXTS or name.startswith(OPTION):
        return _TEXT
    if name in ("threads", "percentile") or name.startswith(COUNT):
        return _COUNT
    if name == "pairs":
        return _PAIRS
    return _WORD if has_words or name == "_" else _NUMBER


@dataclass(frozen=True, eq=False)
class ToolSpec:
    """A tool: how its files are recognised, its lines, and what a run must have.

    ``recognised_by`` is looked for in the lines of the head. ``required`` are metrics with the sentence for a
    run without them; ``own`` are metrics of this tool and ``renamed`` those that units name, see
    ``RunValues``. ``finish`` completes or checks the values of a run, and returns warnings. ``closing`` is
    the line with which, or behind which, a whole run ends.
    """

    tool: str
    recognised_by: str
    lines: Sequence[PrintedLine]
    required: Mapping[str, str]
    own: Mapping[str, str] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    workload: str = ""
    finish: Callable[[RunValues], Sequence[str]] = lambda _: ()
    table: PrintedTable | None = None
    closing: str = ""

    @cached_property
    def _recognised(self) -> re.Pattern[bytes]:
        return re.compile(self.recognised_by.encode(), re.MULTILINE)

    def recognise(self, head: bytes) -> bool:
        return self._recognised.search(head) is not None

    def without_its_lines(self, head: bytes) -> bytes:
        """Leave out the lines of this tool."""
        lines = head.decode("utf-8", "replace").split("\n")
        kept = (
            line for line in lines if not any(kind.pattern.fullmatch(line.strip()) for kind in self.lines)
        )
        return "\n".join(kept).encode()

    def parse(self, source: Source) -> ParsedReport:
        """Read each run of the file; of several the keys are ``1``, ``2``, ...

        Raise FormatError where none is whole. Of several runs one that is not is left out with a warning.
        """
        lines, warnings = whole_lines(source)
        outputs = list(self._runs(lines))
        if not outputs:
            sentence = next(iter(self.required.values()), f"no line with a result of {self.tool}")
            raise FormatError(f"{sentence}: nothing was measured", max(len(lines), 1))
        source.limits.check("runs", len(outputs))
        runs, intervals, notes = read_runs(outputs, self._read, lines)
        return ParsedReport(runs, intervals, {"tool": self.tool}, bounded(warnings + notes))

    def _runs(self, lines: Sequence[str]) -> Iterator[RunValues]:
        """Yield what was printed of each run that measured something."""
        head = RunValues(self.tool, self.own, self.renamed)
        run, seen = head.copy(), set[PrintedLine]()
        columns: Sequence[str] = ()
        for number, text in enumerate(map(str.strip, lines), start=1):
            if self.table:
                if columns and self.table.take(run, columns, text, number):
                    continue
                columns = self.table.head(text) or columns
            run.is_closed = run.is_closed or re.match(self.closing, text) is not None
            kinds = ((kind, found) for kind in self.lines if (found := kind.pattern.fullmatch(text)))
            kind, found = next(kinds, (None, None))
            if kind is None or found is None:
                continue
            begins = kind.begins_run or kind.heads_runs or (kind.once_a_run and kind in seen)
            if begins and run.readings:
                yield run
            if begins:
                run, seen = head.copy(), set()
            seen.add(kind)
            for of in (head, run) if kind.heads_runs else (run,):
                _take(of, kind, found.groups(), number)
        if run.readings:
            yield run

    def _read(self, run: RunValues, key: str) -> Read:
        notes = [*self.finish(run)]
        if not run.is_closed:
            notes.append(f"the end of the output is missing after line {run.last_line}: is the file cut off?")
        return run.parsed(key, self.required, self.workload), (), notes


def _take(run: RunValues, kind: PrintedLine, values: Sequence[str], line: int) -> None:
    run.line, run.last_line = run.line or line, line
    named = {name: value for (name, _), value in zip(kind.places, values, strict=True)}
    percentile, operation = named.get("percentile"), named.get("operation", "")
    for (name, unit), value in zip(kind.places, values, strict=True):
        if name in ("_", "percentile", "operation"):
            continue
        if name == "pairs":
            run.take_pairs(value, line)
            continue
        metric = _percentile(percentile, line) if percentile and name == "latency" else name
        run.take(metric, value, line, unit=unit, operation=operation)


def _percentile(text: str, line: int) -> str:
    """Return the metric of a percentile. Raise FormatError for what is none."""
    try:
        percentile = float(text)
    except ValueError:
        percentile = 0.0
    if not 0 < percentile <= _MAX_PERCENTILE:
        raise FormatError(f"{text} is not a percentile", line)
    return percentile_metric(percentile)
