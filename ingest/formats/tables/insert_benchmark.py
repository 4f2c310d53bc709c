"""The insert benchmark's tables: what a step of it did to each build, one line a build, the build's tag last.

    l.i1
    ips   qps rps rmbps wps    wmbps rpq   rkbpq wpi   ... maxop p50   p99  tag
    23148 0   954 10.2  1933.1 88.8  0.041 0.449 0.084 ... 0.672 28319 1747 my5649.c1

A table of one step may have the name of the step above it. A file of one build has a line for each step, and
no line says which.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchdash.results.readings import HIGHER, LOWER, UNKNOWN, Direction
from ingest.formats.cells import is_missing, number
from ingest.formats.outputs import bounded, missing_line_end, quoted
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.source import Source
from ingest.formats.tables.column_blocks import named_build
from ingest.formats.tables.columns import ColumnRole, Columns, TableColumn
from ingest.formats.tables.entries import RunEntry, distinct_runs
from ingest.formats.tables.grids import refuse_relative
from ingest.formats.tables.metric_words import Metric
from ingest.formats.tables.reading import read_columns
from ingest.formats.tables.table import Table, TableRow, counted, refuse_copies


def _own(name: str, unit: str, direction: Direction = UNKNOWN) -> Metric:
    return Metric(name, unit=unit, direction=direction, is_own=True)


_TAG = "tag"
_RATES = ("ips", "qps")
# If a machine does more because the server does more, nobody says which way is better.
_METRICS = {
    "ips": _own("inserts_per_s", "1/s", HIGHER),
    "qps": Metric("qps"),
    "rps": _own("storage_reads_per_s", "1/s"),
    "rmbps": Metric("read_mb_per_s"),
    "rkbps": Metric("read_mb_per_s", divisor=1024, printed_unit="kB/s"),
    "wps": _own("storage_writes_per_s", "1/s"),
    "wmbps": Metric("write_mb_per_s"),
    "wkbps": Metric("write_mb_per_s", divisor=1024, printed_unit="kB/s"),
    "rpq": _own("reads_per_op", "1/op", LOWER),
    "rkbpq": Metric("read_kb_per_op"),
    "wpi": _own("writes_per_op", "1/op", LOWER),
    "wkbpi": Metric("write_kb_per_op"),
    "csps": Metric("context_switches_per_s"),
    "cpups": _own("cpu_busy", "%"),
    "cspq": Metric("cs_per_op"),
    "cpupq": Metric("cpu_per_op"),
    "dbgb1": _own("database_gb", "GB", LOWER),
    "dbgb2": _own("directory_gb", "GB", LOWER),
    "rss": _own("rss_gb", "GB", LOWER),
    "maxop": Metric("latency_max", multiplier=1000, printed_unit="s"),
    "p50": _own("interval_rate_p50", "1/s", HIGHER),
    "p99": _own("interval_rate_p99", "1/s", HIGHER),
}
_COLUMNS = frozenset({_TAG, *_METRICS})
_FEWEST_COLUMNS = 6
# Ratios stay below these; the rates of a step do not, and are whole numbers.
_MIN_RATE, _MIN_FRACTION = 10, 100
_BETWEEN = re.compile(r"[\t ,|;]+")
_STEP = re.compile(r"[A-Za-z][\w.+-]{0,60}")
_SAYS_SOMETHING = re.compile(r"\w")


def recognise(head: bytes) -> bool:
    if not all(name.encode() in head for name in _RATES):
        return False
    return any(_is_head(_words(line)) for line in head.decode("utf-8", "replace").splitlines())


def parse(source: Source) -> ParsedReport:
    """Return a run for each line of figures.

    Raise FormatError with the line that cannot be understood, and where all figures are relative ones.
    """
    source.limits.check("cells", sum(len(_words(line)) for line in source.lines))
    ratios: list[int] = []
    warnings: list[str] = []
    tables = [
        replace(table, rows=tuple(rows)) for table, rows in _tables(source.lines, ratios, warnings) if rows
    ]
    rows = [(table.headings, row) for table in tables for row in table.rows]
    if not rows:
        if ratios:
            refuse_relative([(ratios[0], "relative to")])
        raise FormatError("no line of figures stands under the names of the columns", line=1)
    refuse_copies((row.line, (step, row.cells)) for step, row in rows)
    entries = [entry for table in tables for entry in _entries(table)]
    counts = Counter(entry.run.column for entry in entries if not entry.run.workload)
    warnings = [f"line {line}: relative figures; left out" for line in ratios] + warnings
    for tag, count in counts.items():
        if count > 1:
            of = f" of {tag[:60]}" if tag else ""
            warnings.append(
                f"nothing names the steps{of}: its {count} lines are 'step 1' to 'step {count}', "
                "in their order"
            )
    if len(rows) == 1 and counts:
        warnings.append("one line, and nothing names its step: its sender does")
    runs = distinct_runs(_with_steps(entries, counts))
    warnings += missing_line_end(source)
    return ParsedReport(runs, facts={"tool": "the insert benchmark"}, warnings=bounded(warnings))


def _entries(table: Table) -> Iterator[RunEntry]:
    columns = (
        TableColumn(index, name, ColumnRole.FACT, fact="version")
        if name == _TAG
        else TableColumn(index, name, ColumnRole.VALUE, metric=_METRICS[name])
        for index, name in enumerate(table.names)
    )
    for entry in read_columns(table, Columns(tuple(columns), ())).entries:
        yield replace(entry, run=replace(named_build(entry.run), workload=next(iter(table.headings), None)))


def _with_steps(entries: Sequence[RunEntry], counts: Counter[str | None]) -> Iterator[RunEntry]:
    """Yield the entries; lines of one build whose steps nobody names are its steps, in their order."""
    seen: Counter[str | None] = Counter()
    for entry in entries:
        run = entry.run
        if not run.workload and counts[run.column] > 1:
            seen[run.column] += 1
            run = replace(run, workload=f"step {seen[run.column]}")
        yield replace(entry, run=run)


def _words(line: str) -> list[str]:
    """Return the cells of a line, whose separators are tabs, blanks, commas or bars."""
    return _BETWEEN.split(line.strip().strip("|").strip()) if line.strip() else []


def _is_head(words: Sequence[str]) -> bool:
    return _names_enough(words) and not _why_no_head(words)


def _names_enough(words: Sequence[str]) -> bool:
    known = _COLUMNS.intersection(words)
    return len(known) >= _FEWEST_COLUMNS and known.issuperset(_RATES)


def _why_no_head(words: Sequence[str]) -> str:
    """Return what keeps words from being a head, most of which are columns."""
    if other := [word for word in words if word not in _COLUMNS]:
        return f"{', '.join(map(quoted, other[:3]))} is none of the insert benchmark"
    # rmbps and rkbps differ in their units alone.
    metrics = {_METRICS[word].name if word in _METRICS else word for word in words}
    return "one is there twice" if len(metrics) < len(words) else ""


def _tables(
    lines: Sequence[str], ratios: list[int], warnings: list[str]
) -> Sequence[tuple[Table, list[TableRow]]]:
    """Return tables with their lines of absolute figures.

    The lines of relative figures are added to ``ratios``, and ``warnings`` of other tables.
    """
    tables: list[tuple[Table, list[TableRow]]] = []
    head: list[str] = []
    step = ""
    are_ratios = False
    for line, text in enumerate(lines, start=1):
        words = _words(text)
        if not _SAYS_SOMETHING.search(text):
            continue
        is_figure = bool(words) and (is_missing(words[0]) or words[0].replace(".", "", 1).isdigit())
        if _is_head(words):
            head = words
            tables.append((Table(line, tuple(head), (), headings=(step,) if step else ()), []))
        elif head and len(words) > 1 and (len(words) == len(head) or is_figure):
            if _are_ratios(head, words, line) or are_ratios:
                ratios.append(line)
            else:
                tables[-1][1].append(TableRow(line, tuple(words)))
        elif "relative" in words:
            are_ratios = True
        else:
            # A title ends the table above it; its figures stand under names of columns of their own.
            are_ratios, head = False, []
            if _names_enough(words):
                why = _why_no_head(words)
                warnings.append(f"line {line}: the table under these columns was left out: {why}")
            else:
                # ``l.i0`` of ``## l.i0`` or ``l.i0:``; a sentence names no step.
                title = text.strip().strip("#*`:").strip()
                step = title if _STEP.fullmatch(title) else ""
    return tables


def _are_ratios(head: Sequence[str], words: Sequence[str], line: int) -> bool:
    """Return whether the rates of a line are ratios. Raise FormatError where it does not fit its head."""
    if len(words) != len(head):
        raise FormatError(f"{counted(len(words), 'cell')} under {counted(len(head), 'column')}", line)
    rates = {name: words[head.index(name)] for name in _RATES}
    if empty := next((name for name, cell in rates.items() if is_missing(cell)), None):
        raise FormatError(f"no value for {empty}", line)
    least = _MIN_FRACTION if any("." in cell for cell in rates.values()) else _MIN_RATE
    return max(number(cell, line) for cell in rates.values()) < least
