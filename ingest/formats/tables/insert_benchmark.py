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
from dataclasses import dataclass, field

from benchdash.results.readings import HIGHER, LOWER, UNKNOWN, Direction, Reading, reading
from ingest.formats.cells import is_missing, number
from ingest.formats.headings import product_and_version
from ingest.formats.outputs import bounded, missing_line_end, quoted
from ingest.formats.report import FormatError, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.formats.tables.column_blocks import named_build
from ingest.formats.tables.grids import refuse_relative
from ingest.formats.tables.table import counted, refuse_copies

_TAG = "tag"
_INSERTS, _QUERIES = "ips", "qps"
# Metrics that benchdash knows, and how much smaller their unit is.
_KNOWN: dict[str, tuple[str, float, str]] = {
    "qps": ("qps", 1, ""),
    "rmbps": ("read_mb_per_s", 1, ""),
    "rkbps": ("read_mb_per_s", 1 / 1024, "kB/s"),
    "wmbps": ("write_mb_per_s", 1, ""),
    "wkbps": ("write_mb_per_s", 1 / 1024, "kB/s"),
    "rkbpq": ("read_kb_per_op", 1, ""),
    "wkbpi": ("write_kb_per_op", 1, ""),
    "csps": ("context_switches_per_s", 1, ""),
    "cspq": ("cs_per_op", 1, ""),
    "cpupq": ("cpu_per_op", 1, ""),
    "maxop": ("latency_max", 1000, "s"),
}
# Others. Of a machine that does more because the server does more, nobody says which way is better.
_OWN: dict[str, tuple[str, str, Direction]] = {
    "ips": ("inserts_per_s", "1/s", HIGHER),
    "p50": ("interval_rate_p50", "1/s", HIGHER),
    "p99": ("interval_rate_p99", "1/s", HIGHER),
    "rps": ("storage_reads_per_s", "1/s", UNKNOWN),
    "wps": ("storage_writes_per_s", "1/s", UNKNOWN),
    "cpups": ("cpu_busy", "%", UNKNOWN),
    "rpq": ("reads_per_op", "1/op", LOWER),
    "wpi": ("writes_per_op", "1/op", LOWER),
    "dbgb1": ("database_gb", "GB", LOWER),
    "dbgb2": ("directory_gb", "GB", LOWER),
    "rss": ("rss_gb", "GB", LOWER),
}
_COLUMNS = frozenset({_TAG, *_KNOWN, *_OWN})
_FEWEST_COLUMNS = 6
# Ratios stay below these; the rates of a step do not, and are whole numbers.
_MIN_RATE, _MIN_FRACTION = 10, 100
_BETWEEN = re.compile(r"[\t ,|;]+")
_STEP = re.compile(r"[A-Za-z][\w.+-]{0,60}")
_SAYS_SOMETHING = re.compile(r"\w")


def recognise(head: bytes) -> bool:
    if not all(name.encode() in head for name in (_INSERTS, _QUERIES)):
        return False
    return any(_is_head(_words(line)) for line in head.decode("utf-8", "replace").splitlines())


def parse(source: Source) -> ParsedReport:
    """Return a run for each line of figures.

    Raise FormatError with the line that cannot be understood, and where all figures are relative ones.
    """
    source.limits.check("cells", sum(len(_words(line)) for line in source.lines))
    rows, ratios, strange = _rows(source.lines)
    if not rows:
        if ratios:
            refuse_relative([(ratios[0], "relative to")])
        raise FormatError("no line of figures stands under the names of the columns", line=1)
    refuse_copies((row.line, (row.step, row.tag, tuple(row.cells.values()))) for row in rows)
    warnings = [f"line {line}: relative figures; left out" for line in ratios]
    warnings += [f"line {line}: the table under these columns was left out: {why}" for line, why in strange]
    counts = Counter((row.step, row.tag) for row in rows)
    seen: Counter[tuple[str, str]] = Counter()
    runs = []
    for row in rows:
        place = row.step, row.tag
        seen[place] += 1
        runs.append(_run(row, seen[place] if counts[place] > 1 else None))
    for (step, tag), count in counts.items():
        if count > 1 and not step:
            of = f" of {tag[:60]}" if tag else ""
            warnings.append(
                f"nothing names the steps{of}: its {count} lines are 'step 1' to 'step {count}', "
                "in their order"
            )
    if len(rows) == 1 and not rows[0].step:
        warnings.append("one line, and nothing names its step: its sender does")
    warnings += missing_line_end(source)
    named = tuple(map(named_build, runs))
    return ParsedReport(named, facts={"tool": "the insert benchmark"}, warnings=bounded(warnings))


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of figures: its texts by their columns, and the name of the step above its table."""

    line: int
    step: str
    tag: str
    cells: dict[str, str] = field(default_factory=dict)


def _words(line: str) -> list[str]:
    """Return the cells of a line, whose separators are tabs, blanks, commas or bars."""
    return _BETWEEN.split(line.strip().strip("|").strip()) if line.strip() else []


def _names_one_twice(words: Sequence[str]) -> bool:
    """Return whether two columns are the same metric: ``rmbps`` and ``rkbps`` differ in their units alone."""
    return len({_KNOWN[word][0] if word in _KNOWN else word for word in words}) < len(words)


def _is_head(words: Sequence[str]) -> bool:
    return (
        len(words) >= _FEWEST_COLUMNS
        and _COLUMNS.issuperset(words)
        and not _names_one_twice(words)
        and {_INSERTS, _QUERIES}.issubset(words)
    )


def _why_no_head(words: Sequence[str]) -> str:
    """Return what keeps a line from being a head, whose other words are columns; empty for any other line."""
    known = _COLUMNS.intersection(words)
    if len(known) < _FEWEST_COLUMNS or not {_INSERTS, _QUERIES} <= known:
        return ""
    other = [word for word in words if word not in _COLUMNS]
    return (
        f"{', '.join(map(quoted, other[:3]))} is none of the insert benchmark"
        if other
        else "one is there twice"
    )


def _is_figure(word: str) -> bool:
    return is_missing(word) or word.replace(".", "", 1).isdigit()


def _rows(lines: Sequence[str]) -> tuple[list[_Row], list[int], list[tuple[int, str]]]:
    """Return the lines of absolute figures, the numbers of those of relative ones, and of heads of others."""
    rows: list[_Row] = []
    ratios: list[int] = []
    strange: list[tuple[int, str]] = []
    head: list[str] = []
    step = ""
    are_ratios = False
    for number_, line in enumerate(lines, start=1):
        words = _words(line)
        if not _SAYS_SOMETHING.search(line):
            continue
        if _is_head(words):
            head = words
        elif head and _is_row(words, head):
            row = _row(number_, words, head, step)
            if are_ratios or _is_of_ratios(row):
                ratios.append(number_)
            else:
                rows.append(row)
        elif "relative" in words:
            are_ratios = True
        else:
            # A title ends the table above it; its figures stand under names of columns of their own.
            are_ratios, head = False, []
            if why := _why_no_head(words):
                strange.append((number_, why))
            else:
                step = _title(line)
    return rows, ratios, strange


def _is_row(words: Sequence[str], head: Sequence[str]) -> bool:
    return len(words) > 1 and (len(words) == len(head) or _is_figure(words[0]))


def _row(line: int, words: Sequence[str], head: Sequence[str], step: str) -> _Row:
    if len(words) != len(head):
        raise FormatError(f"{counted(len(words), 'cell')} under {counted(len(head), 'column')}", line)
    cells = dict(zip(head, words, strict=True))
    if empty := next((name for name in (_INSERTS, _QUERIES) if is_missing(cells[name])), None):
        raise FormatError(f"no value for {empty}", line)
    return _Row(line, step, cells.pop(_TAG, ""), cells)


def _is_of_ratios(row: _Row) -> bool:
    rates = [row.cells[name] for name in (_INSERTS, _QUERIES)]
    least = _MIN_FRACTION if any("." in rate for rate in rates) else _MIN_RATE
    return all(number(rate, row.line) < least for rate in rates)


def _title(line: str) -> str:
    """Return the name of a step: ``l.i0`` of ``## l.i0`` or ``l.i0:``; a sentence names none."""
    text = line.strip().strip("#*`:").strip()
    return text if _STEP.fullmatch(text) else ""


def _run(row: _Row, position: int | None) -> ParsedRun:
    """Return the run of a line.

    ``position`` is its place among lines of one step and build: where the step has a name they repeat it,
    else they are its steps.
    """
    inserts, queries = (number(row.cells[name], row.line) for name in (_INSERTS, _QUERIES))
    if not inserts and not queries:
        raise FormatError("neither an insert nor a query was made", row.line)
    product, version = product_and_version(row.tag) if row.tag else (None, None)
    workload = row.step or (f"step {position}" if position else "")
    repetition = position if row.step else None
    return ParsedRun(
        tuple(_readings(row)),
        key="/".join(str(part) for part in (workload, row.tag, repetition) if part),
        column=row.tag or None,
        product=product,
        version=version,
        workload=workload or None,
        repetition=repetition,
    )


def _readings(row: _Row) -> Iterator[Reading]:
    for column, cell in row.cells.items():
        if is_missing(cell):
            continue
        value = number(cell, row.line)
        if column in _KNOWN:
            metric, factor, printed = _KNOWN[column]
            yield reading(metric, value * factor)._replace(printed_unit=printed)
        else:
            name, unit, direction = _OWN[column]
            yield Reading(name, value, unit, direction, is_own=True)
