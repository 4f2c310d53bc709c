"""Tables with a name or a thread count over every column and beside every row: one value in each cell."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ingest.formats.cells import is_missing, is_number, number, whole_number
from ingest.formats.outputs import bounded
from ingest.formats.product_names import split_product_version
from ingest.formats.report import Fact, FormatError, ParsedReport, ParsedRun
from ingest.formats.tables.entries import RunEntry, distinct_runs, refuse_copies
from ingest.formats.tables.metric_words import TITLE_WORDS, Mention, Metric, mentions

WORKLOAD_HEADS = frozenset({"query", "queries", "workload", "benchmark", "test", "statement"})
THREAD_HEADS = frozenset({"clients", "threads", "connections", "users", "sessions", "concurrency"})

# Reads a table that was found.
Read = Callable[[], ParsedReport]

_NAME = re.compile(r"(?!.*: )\w(?:.*[\w)+])?")
_QUERY_HEADS = frozenset({"query", "queries"})
# Ratios stay below this; in a table of rates at least one number does not.
_MIN_RATE = 10
_EMPTY_TITLES = frozenset({"", "result", "results", "throughput", "performance", "benchmark"})


@dataclass(frozen=True, slots=True)
class GridRow:
    line: int
    label: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """``head`` stands over the row labels; ``titles`` are the lines around the table, with their numbers.

    Every row has as many cells as there are columns. ``metric`` is what the layout itself says that the
    numbers are; a title knows better.
    """

    line: int
    head: str
    columns: tuple[str, ...]
    rows: tuple[GridRow, ...]
    titles: tuple[tuple[int, str], ...]
    metric: Metric | None = None


def counts_threads(head: str) -> bool:
    """Return whether a head such as ``Concurrent clients`` says that thread counts follow."""
    words = head.casefold().split()
    return bool(words) and words[-1] in THREAD_HEADS


def is_count(text: str) -> bool:
    return text.isascii() and text.isdigit()


def product_and_version(label: str) -> tuple[str | None, str | None]:
    """Return product and version of a column or row; a label that begins with a digit is a version alone."""
    label = label.strip()
    return (None, label) if label[:1].isdigit() else split_product_version(label)


def named_builds(report: ParsedReport) -> ParsedReport:
    """Return the report with names of columns taken for versions: ``x.my8044_rel.c8r32`` is a build.

    Which product it is of, its sender says.
    """
    runs = tuple(
        run if run.version else replace(run, product=None, version=run.column) for run in report.runs
    )
    return replace(report, runs=runs)


def heads_grid(head: str, names: Sequence[str], *, looks_sure: bool) -> bool:
    """Return whether ``head`` and ``names`` can only be the first line of such a table.

    That is so where a name has a version, or where the caller is sure because what stands around says so.
    """
    if any(name.casefold() == "score" for name in names):
        return False  # JMH's own table
    if not all(_NAME.fullmatch(name) for name in names if name):
        return False
    if all(map(is_count, names)):
        return bool(head) and (counts_threads(head) or head.casefold() in WORKLOAD_HEADS)
    if head and head.casefold() not in WORKLOAD_HEADS and not counts_threads(head):
        return False
    if not head and any(map(is_number, names)):
        return False
    return looks_sure or any(product_and_version(name)[1] for name in names)


def says_metric(head: str, titles: Iterable[str]) -> bool:
    """Return whether the head or a title says what the numbers of a table are."""
    return head.casefold() in _QUERY_HEADS or any(any(mentions(title)) for title in titles)


def read_grid(grid: Grid) -> ParsedReport:
    """Return the runs of a table whose titles, or whose head ``query``, say what all of its numbers are.

    Raise FormatError where they do not, and for every row and cell that cannot be understood.
    """
    _check(grid)
    metric, workload = _metric_and_workload(grid)
    entries: list[RunEntry] = []
    warnings: list[str] = []
    for row in grid.rows:
        for column, cell in zip(grid.columns, row.cells, strict=True):
            if is_missing(cell):
                warnings.append(f"line {row.line}: no value for {row.label} and {column}; left out")
                continue
            readings = (metric.reading(number(cell, row.line), row.line),)
            entries.append(RunEntry(row.line, replace(_run(grid, row, column, workload), readings=readings)))
    if not entries:
        raise FormatError("no cell of the table holds a value", grid.line)
    return ParsedReport(distinct_runs(entries), facts=title_fact(grid.titles), warnings=bounded(warnings))


def title_fact(titles: Iterable[tuple[int, str]]) -> dict[str, Fact]:
    """Return the text around a table as a fact of its runs."""
    title = " ".join(text.strip() for _, text in titles)
    return {"title": title} if title else {}


def _check(grid: Grid) -> None:
    """Raise FormatError for columns and rows without a name, and for those that are there twice."""
    for index, column in enumerate(grid.columns):
        if not column:
            raise FormatError(f"column {index + 2} has no name", grid.line)
        if column in grid.columns[:index]:
            raise FormatError(f"two columns are called {column[:80]!r}", grid.line)
    if all(map(is_count, grid.columns)) and not counts_threads(grid.head):
        raise FormatError(
            f"are {', '.join(grid.columns[:3])} thread counts or versions? "
            "Write 'threads' before them, or the product into each version's name",
            grid.line,
        )

    if not grid.rows:
        raise FormatError("the table has no rows", grid.line)
    for row in grid.rows:
        if not row.label:
            raise FormatError("the row has no name", row.line)
    refuse_copies((row.line, (row.label, row.cells)) for row in grid.rows)


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _run(grid: Grid, row: GridRow, column: str, workload: str | None) -> ParsedRun:
    """Return the run that a cell belongs to, still without its reading."""
    threads = None
    if all(map(is_count, grid.columns)):
        named, threads = row.label, whole_number(column, "the thread count", grid.line)
    elif counts_threads(grid.head):
        named, threads = column, whole_number(row.label, "the thread count", row.line)
    else:
        named, workload = column, row.label
    product, version = product_and_version(named)
    return ParsedRun((), column=named, product=product, version=version, workload=workload, threads=threads)


def _metric_and_workload(grid: Grid) -> tuple[Metric, str | None]:
    """Return the metric that the titles name, and the rest of the title, the workload of its curves."""
    refuse_relative(grid.titles)
    found = [(line, text, mention) for line, text in grid.titles for mention in mentions(text)]
    if not found:
        if grid.metric is not None:
            return grid.metric, None
        if grid.head.casefold() in _QUERY_HEADS and not grid.titles:
            return Metric("qps"), None
        raise FormatError(
            f"nothing says what the numbers are; write a title above the table, with {TITLE_WORDS}", grid.line
        )
    line, text, mention = found[0]
    for other_line, _, other in found[1:]:
        if other.metric != mention.metric:
            raise FormatError(
                f"the titles name both {mention.metric.name} and {other.metric.name}; "
                "send one table for each metric",
                other_line,
            )
    if mention.lacks_unit:
        raise FormatError(f"{text[mention.start : mention.end]!r} has no unit; write '(ms)' behind it", line)
    others = [text for number, text in grid.titles if number < grid.line and number != line]
    other_title = others[0] if len(others) == 1 else None
    return mention.metric, _title_without(mention, text) or other_title


def numbered_texts(lines: Iterable[str]) -> list[tuple[int, str]]:
    """Return the lines above a table that are not blank, with their numbers."""
    return [(number, text) for number, line in enumerate(lines, start=1) if (text := line.strip())]


def second_table(line: int) -> FormatError:
    return FormatError("a second table begins; send each table as a file of its own", line)


def refuse_relative(titles: Iterable[tuple[int, str]]) -> None:
    for line, text in titles:
        if "relative to" in text.casefold():
            raise FormatError(
                "these are relative figures; upload the absolute ones, and benchdash computes the ratios",
                line,
            )


def refuse_ratios(rows: Iterable[GridRow], line: int) -> None:
    """Raise FormatError where nothing says what the numbers are, and all are as small as ratios are."""
    numbers = [float(cell) for row in rows for cell in row.cells if is_number(cell)]
    if numbers and max(numbers) < _MIN_RATE:
        raise FormatError(
            f"no number reaches {_MIN_RATE}: are these relative figures? Upload the absolute ones, "
            "or write 'queries per second' above the table",
            line,
        )


def _title_without(mention: Mention, title: str) -> str | None:
    before = title[: mention.start].strip(" \t,:;-([")
    after = title[mention.end :].strip(" \t,:;-)]")
    rest = before or after
    return None if rest.casefold() in _EMPTY_TITLES else rest
