"""The insert benchmark's tables: what a step of it did to each build, one line a build, the build's tag last.

    l.i1
    ips   qps rps rmbps wps    wmbps rpq   rkbpq wpi   ... maxop p50   p99  tag
    23148 0   954 10.2  1933.1 88.8  0.041 0.449 0.084 ... 0.672 28319 1747 my5649.c1

A table of one step may have the name of the step above it. A file of one build has a line for each step, and
no line says which.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from benchdash.results.readings import HIGHER, LOWER, UNKNOWN, Direction
from ingest.formats.cells import is_missing, number
from ingest.formats.outputs import bounded, missing_line_end, quoted
from ingest.formats.report import FormatError, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.formats.tables.entries import RunEntry, distinct_runs
from ingest.formats.tables.grids import refuse_relative
from ingest.formats.tables.sections import sections, with_build, words_of
from ingest.formats.tables.table import refuse_copies
from ingest.formats.tables.vocabulary import Metric


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
_STEP = re.compile(r"[A-Za-z][\w.+-]{0,60}")


def recognise(head: bytes) -> bool:
    if not all(name.encode() in head for name in _RATES):
        return False
    return any(_is_head(words_of(line)) for line in head.decode("utf-8", "replace").splitlines())


def parse(source: Source) -> ParsedReport:
    """Return a run for each line of figures.

    Raise FormatError with the line that cannot be understood, and where all figures are relative ones.
    """
    source.limits.check("cells", sum(len(words_of(line)) for line in source.lines))
    found = list(sections(source.lines, _is_head))
    rows = [(_step(section.title), line, cells) for section in found for line, cells in section.rows]
    absolute = [row for row in rows if not _are_ratios(row[2], row[1])]
    ratios = [line for section in found for line in section.ratios]
    ratios += [row[1] for row in rows if row not in absolute]
    if not absolute:
        if ratios:
            refuse_relative([(ratios[0], "relative to")])
        raise FormatError("no line of figures stands under the names of the columns", line=1)
    refuse_copies((line, (step, tuple(cells.values()))) for step, line, cells in absolute)
    entries = [RunEntry(line, _run(step, cells, line)) for step, line, cells in absolute]
    counts = Counter(entry.run.column for entry in entries if not entry.run.workload)
    warnings = [f"line {line}: relative figures; left out" for line in sorted(ratios)]
    warnings += [
        f"line {section.line}: the table under {quoted(section.title)} was left out: one column is "
        "none of the insert benchmark, or there twice"
        for section in found
        if _names_columns(words_of(section.title))
    ]
    for tag, count in counts.items():
        if count > 1:
            of = f" of {tag[:60]}" if tag else ""
            warnings.append(
                f"nothing names the steps{of}: its {count} lines are 'step 1' to 'step {count}', "
                "in their order"
            )
    if len(absolute) == 1 and counts:
        warnings.append("one line, and nothing names its step: its sender does")
    runs = distinct_runs(_with_steps(entries, counts))
    warnings += missing_line_end(source)
    return ParsedReport(runs, facts={"tool": "the insert benchmark"}, warnings=bounded(warnings))


def _step(title: str) -> str | None:
    """Return ``l.i0`` of ``## l.i0`` or ``l.i0:``; a sentence names no step."""
    step = title.strip("#*`: ")
    return step if _STEP.fullmatch(step) else None


def _run(step: str | None, cells: Mapping[str, str], line: int) -> ParsedRun:
    readings = (
        _METRICS[name].reading(number(cell, line), line)
        for name, cell in cells.items()
        if name != _TAG and not is_missing(cell)
    )
    return with_build(ParsedRun(tuple(readings), workload=step), cells.get(_TAG, ""))


def _with_steps(entries: Sequence[RunEntry], counts: Counter[str | None]) -> Iterator[RunEntry]:
    """Yield the entries; lines of one build whose steps nobody names are its steps, in their order."""
    seen: Counter[str | None] = Counter()
    for entry in entries:
        run = entry.run
        if not run.workload and counts[run.column] > 1:
            seen[run.column] += 1
            run = replace(run, workload=f"step {seen[run.column]}")
        yield replace(entry, run=run)


def _is_head(words: Sequence[str]) -> bool:
    """Return whether words are names of columns, each there once, and none of another tool."""
    # rmbps and rkbps differ in their units alone.
    metrics = {_METRICS[word].name if word in _METRICS else word for word in words}
    return _names_columns(words) and _COLUMNS.issuperset(words) and len(metrics) == len(words)


def _names_columns(words: Sequence[str]) -> bool:
    known = _COLUMNS.intersection(words)
    return len(known) >= _FEWEST_COLUMNS and known.issuperset(_RATES)


def _are_ratios(cells: Mapping[str, str], line: int) -> bool:
    """Return whether the rates of a line are ratios. Raise FormatError where it has none."""
    rates = {name: cells[name] for name in _RATES}
    if empty := next((name for name, cell in rates.items() if is_missing(cell)), None):
        raise FormatError(f"no value for {empty}", line)
    least = _MIN_FRACTION if any("." in cell for cell in rates.values()) else _MIN_RATE
    return max(number(cell, line) for cell in rates.values()) < least
