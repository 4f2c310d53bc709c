"""Tables with a name or a thread count over every column and beside every row: one value in each cell."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from benchdash.results.readings import LOWER
from ingest.formats.cells import is_number, quantity, whole_number
from ingest.formats.headings import is_count, product_and_version, said_by, thread_count
from ingest.formats.report import FormatError
from ingest.formats.tables.columns import (
    FACTORS,
    ColumnRole,
    Columns,
    TableColumn,
    is_level,
    names_setting,
    names_statistic,
)
from ingest.formats.tables.reading import Entries, read_columns, repetition_number
from ingest.formats.tables.table import Cell, Table, TableRow, refuse_copies
from ingest.formats.tables.vocabulary import (
    TITLE_WORDS,
    Mention,
    Metric,
    counts_threads,
    head_of,
    heads_workloads,
    in_english,
    is_of_another_format,
    metric_named,
    names_metric,
    time_factor,
    title_mentions,
)

NOTHING_SAYS = (
    f"nothing says what the numbers are; write a title above the table, with {TITLE_WORDS}, "
    "or name the metric in the field 'metric'"
)
RELATIVE = "these are relative figures; upload the absolute ones, and benchdash computes the ratios"

_NAME = re.compile(r"(?!.*: |[0-9]+:)\w(?:.*[\w)+\]])?")
_QUERY_HEADS = frozenset({"query", "queries"})
# Ratios stay below this; in a table of rates at least one number does not.
_MIN_RATE = 10
_SECONDS = frozenset({"s", "sec", "seconds"})
_UNIT_BEHIND = re.compile(r"(?P<name>.*\S)\s*[(\[](?P<unit>[A-Za-zµ%/]{1,10})[)\]]")
# The queries of TPC-H and TPC-DS are timed, mostly.
_NUMBERED_QUERY = re.compile(r"(?:Q(?:uery)?[ .#]?[0-9]+[a-z]?|total|sum|geo.*)", re.IGNORECASE)
_MAX_NAME_WORDS = 12
_TIMES = re.compile(r"\b(?:time|latency|duration|runtime)s?\b", re.IGNORECASE)


def heads_grid(head: str, names: Sequence[str], *, looks_sure: bool) -> bool:
    """Return whether ``head`` and ``names`` can only be the first line of such a table.

    That is so where a name has a version, or where the caller is sure because what stands around says so.
    """
    names = [name for name in names if not head_of(name).is_derived or product_and_version(name)[1]]
    if not names or is_of_another_format(names) or not all(_NAME.fullmatch(name) for name in names if name):
        return False
    if all(map(is_count, names)):
        return head_of(head).meaning in {"threads", "workload"} or (looks_sure and _names_rows(head))
    if any(map(thread_count, names)) and all(
        thread_count(name) or head_of(name).is_derived for name in names
    ):
        return True
    if looks_sure and (_names_of_rows(head, names) or all(map(repetition_number, names))):
        return True
    if head and not heads_workloads(head) and not counts_threads(head):
        return looks_sure and all(all(product_and_version(name)) for name in names)
    if not head and any(map(is_number, names)):
        return False
    return looks_sure or any(product_and_version(name)[1] for name in names)


def says_metric(head: str, titles: Iterable[str]) -> bool:
    """Return whether the head or a title says what the numbers of a table are."""
    return head.casefold() in _QUERY_HEADS or any(map(names_metric, titles))


def read_grid(table: Table, sent: Metric | None = None) -> Entries:
    """Return the runs of a table whose titles, or whose head ``query``, say what all of its numbers are.

    ``sent`` is what the sender says that they are; it settles it. Raise FormatError where nobody says it, and
    for every row and cell that cannot be understood.
    """
    table, unit = _without_units(table)
    _check(table)
    refuse_relative(table.titles)
    if unit and sent is None and not says_metric("", (text for _, text in table.titles)):
        # The time of a query.
        sent = _time_in({unit})
        if sent is None:
            raise FormatError(NOTHING_SAYS, table.line)
    metric, workload, warnings = _metric_and_workload(table, sent)
    columns = Columns(tuple(_columns(table, metric)), ())
    left_out = [column.name for column in columns.with_role(ColumnRole.LEFT_OUT)]
    warnings += [f"the column {name[:60]!r} is computed from others and was left out" for name in left_out]
    found = read_columns(table, columns)
    entries = tuple(
        replace(entry, run=replace(entry.run, workload=entry.run.workload or workload))
        for entry in found.entries
    )
    return Entries(entries, (*warnings, *found.warnings))


def _without_units(table: Table) -> tuple[Table, str]:
    """Return the table without a unit that stands behind all names over its columns, and the unit."""
    found = [_UNIT_BEHIND.fullmatch(name) for name in table.names[1:] if not head_of(name).is_derived]
    units = {one["unit"].casefold() if one else "" for one in found}
    if len(units) != 1 or not (unit := next(iter(units))) or names_metric(unit):
        return table, ""
    names = (one["name"] if (one := _UNIT_BEHIND.fullmatch(name)) else name for name in table.names[1:])
    return replace(table, names=(table.names[0], *names)), unit


def _time_in(units: Collection[str]) -> Metric | None:
    """Return the time of queries that figures with these units are; None where one is no unit of time."""
    if not units or not all(map(time_factor, units)):
        return None
    if _SECONDS.issuperset(units):
        return Metric("total_time")
    unit = next(iter(units)) if len(units) == 1 else "ms"
    return Metric("time", unit=unit, direction=LOWER, is_own=True, is_declared=True)


def _columns(table: Table, metric: Metric) -> Iterable[TableColumn]:
    head, *names = table.names
    counts = [thread_count(name) for name in names]
    are_counts = any(counts) and all(
        count is not None
        or head_of(name).is_derived
        or "%" in in_english(name)
        or _are_shares(table.cells_of(index))
        for index, (name, count) in enumerate(zip(names, counts, strict=True), start=1)
    )
    fact = _fact_of_rows(table, are_counts=are_counts)
    yield TableColumn(0, head, ColumnRole.FACT if fact else ColumnRole.TEXT, fact=fact)
    names_product = _names_of_rows(head, names) == ""
    # Behind workloads: where versions or thread counts are the rows, these are names of workloads.
    beside = [name for name in names if heads_workloads(head) and thread_count(name) is None]
    threads = next(filter(counts_threads, beside), None)
    settings = {name for name in beside if name != threads and names_setting(name)}
    values = [name for name in names if name != threads and name not in settings]
    statistics = [name for name in values if names_statistic(name)]
    # Beside what they sum up, none of them counts.
    level = next(filter(is_level, statistics), None) if statistics == values else None
    for index, (name, count) in enumerate(zip(names, counts, strict=True), start=1):
        column = TableColumn(index, name, ColumnRole.VALUE, metric=metric)
        is_derived = (head_of(name).is_derived and not product_and_version(name)[1]) or _is_ratio(name)
        if head_of(name).is_note:
            yield replace(column, role=ColumnRole.NOTE)
        elif name in statistics:
            yield column if name == level else replace(column, role=ColumnRole.LEFT_OUT)
        elif name == threads:
            yield replace(column, role=ColumnRole.FACT, fact="threads")
        elif name in settings:
            yield replace(column, role=ColumnRole.SETTING)
        elif is_derived or (are_counts and count is None):
            yield replace(column, role=ColumnRole.LEFT_OUT)
        elif are_counts and count is not None:
            yield replace(column, threads=whole_number(count, "the thread count", table.line))
        else:
            of = "" if len(names) == 1 and _TIMES.search(name) else name
            yield replace(column, of=of, names_product=names_product)


def _fact_of_rows(table: Table, *, are_counts: bool) -> str:
    """Return what the first column names; an empty text where it is a configuration.

    Beside thread counts it names products, or what its head says.
    """
    head, *names = table.names
    labels = [str(row.cells[0]) for row in table.rows]
    if _names_rows(head) and (are_counts or all(map(repetition_number, names))):
        return head_of(head).meaning or ""
    if not are_counts:
        has_counts = counts_threads(head) or all(thread_count(one) and not is_count(one) for one in labels)
        return _names_of_rows(head, names) or ("threads" if has_counts else "workload")
    if heads_workloads(head):
        return "workload"
    is_unknown = bool(head) and head_of(head).meaning is None and not head_of(head).is_database
    return "product" if not is_unknown or any(product_and_version(one)[1] for one in labels) else ""


def _names_rows(head: str) -> bool:
    return head_of(head).meaning in {"version", "product"}


def _names_of_rows(head: str, names: Sequence[str]) -> str:
    """Return ``version``, ``product`` or ``threads``, what the rows are, where workloads head the columns."""
    if not names or not all(_is_workload(name) or head_of(name).is_derived for name in names):
        return ""
    if _names_rows(head) or counts_threads(head):
        return head_of(head).meaning or ""
    return "" if head_of(head).meaning else "product"


def _is_workload(name: str) -> bool:
    said = said_by(name)
    return said.workload is not None and said.product is None and said.version is None


def _is_ratio(name: str) -> bool:
    """Return whether a name sets one version against another: ``8.4/8.0``."""
    parts = name.split("/")
    return len(parts) == 2 and all(product_and_version(part)[1] for part in parts)


def _are_shares(cells: Sequence[Cell]) -> bool:
    return all((figure := quantity(str(cell))) and figure.unit == "%" for cell in cells)


def _check(table: Table) -> None:
    """Raise FormatError for columns and rows without a name, and for those that are there twice."""
    head, *columns = table.names
    for index, column in enumerate(columns):
        if not column:
            raise FormatError(f"column {index + 2} has no name", table.line)
        if column in columns[:index]:
            raise FormatError(f"two columns are called {column[:80]!r}", table.line)
    titles = " ".join(text for _, text in table.titles).split()
    if all(map(is_count, columns)) and not any(map(counts_threads, (head, *titles))):
        raise FormatError(
            f"are {', '.join(columns[:3])} thread counts or versions? "
            "Write 'threads' before them, or the product into each version's name",
            table.line,
        )
    if not table.rows:
        raise FormatError("the table has no rows", table.line)
    for row in table.rows:
        if not row.cells[0]:
            raise FormatError("the row has no name", row.line)
    refuse_copies((row.line, row.cells) for row in table.rows)


def _metric_and_workload(table: Table, sent: Metric | None) -> tuple[Metric, str | None, list[str]]:
    """Return the metric that sender or titles name, the rest of the title as workload, and warnings."""
    texts, head = table.titles, table.names[0]
    found = [
        (line, text, mention)
        for line, text in texts
        for mention in title_mentions(in_english(text))
        if not (mention.lacks_unit and _is_sentence(text))
    ]
    if not found:
        metric = sent or table.metric or metric_named(head) or metric_of_cells(head, table.rows)
        are_numbered = all(_NUMBERED_QUERY.fullmatch(str(row.cells[0])) for row in table.rows)
        if metric is None and head.casefold() in _QUERY_HEADS and not (table.titles or are_numbered):
            metric = Metric("qps")
        if metric is None or (table.metric == metric == Metric("qps") and sent is None):
            refuse_ratios(table.rows, table.line)
        if metric is None:
            raise FormatError(NOTHING_SAYS, table.line)
        return metric, _name_in(texts, table.line), []
    line, text, mention = found[0]
    for other_line, _, other in found[1:]:
        if other.metric != mention.metric and sent is None:
            raise FormatError(
                f"the titles name both {mention.metric.name} and {other.metric.name}; "
                "name the one that it is in the field 'metric', or send one table for each metric",
                other_line,
            )
    others = [(number, text) for number, text in texts if number != line]
    is_above = line < table.line and not _is_sentence(text)
    own = _title_without(mention, in_english(text)) if is_above else None
    warnings = []
    if sent is not None and sent.name != mention.metric.name:
        named = f"the title on line {line} names {mention.metric.name}, the field 'metric' {sent.name}"
        warnings.append(f"{named}: the field counts")
    elif sent is None and mention.lacks_unit and not any(_units_of_cells(table.rows)):
        words = in_english(text)[mention.start : mention.end]
        told = f"line {line}: {words!r} has no unit and is taken as milliseconds; write '(ms)' behind it"
        warnings.append(told)
    return sent or mention.metric, own or _name_in(others, table.line), warnings


def _name_in(texts: Sequence[tuple[int, str]], before: int) -> str | None:
    """Return the one line above a table that can be a name."""
    above = [text for line, text in texts if line < before]
    is_name = len(above) == 1 and len(above[0].split()) <= _MAX_NAME_WORDS and not _is_sentence(above[0])
    return _workload(above[0].strip(" :*#")) if is_name else None


def _is_sentence(text: str) -> bool:
    return text.rstrip().endswith((".", "。"))


def _workload(name: str) -> str | None:
    """Return a title as the name of a workload; behind other words that of a known one alone."""
    said = said_by(name)
    if said.workload and not name.casefold().startswith(said.workload.casefold()):
        return said.workload
    return name if said.workload or said.rest else None


def _units_of_cells(rows: Iterable[TableRow]) -> set[str]:
    """Return the units behind figures, with an empty one where a figure has none."""
    cells = (cell for row in rows for cell in row.cells[1:] if isinstance(cell, str))
    return {figure.unit for cell in cells if (figure := quantity(cell))}


def metric_of_cells(head: str, rows: Iterable[TableRow]) -> Metric | None:
    """Return the metric that all cells with numbers name: ``17,109 QPS``, or of queries ``12.1 s``."""
    units = _units_of_cells(rows) - {*FACTORS, "%"}
    named = metric_named(next(iter(units))) if len(units) == 1 else None
    return named or (_time_in(units) if heads_workloads(head) else None)


def refuse_relative(titles: Iterable[tuple[int, str]]) -> None:
    for line, text in titles:
        if "relative to" in text.casefold():
            raise FormatError(RELATIVE, line)


def refuse_ratios(rows: Iterable[TableRow], line: int) -> None:
    """Raise FormatError where nothing says what the numbers are, and all are as small as ratios are."""
    numbers = _numbers(cell for row in rows for cell in row.cells[1:])
    if numbers and max(numbers) < _MIN_RATE:
        raise FormatError(
            f"no number reaches {_MIN_RATE}: are these relative figures? Upload the absolute ones, "
            "or write 'queries per second' above the table",
            line,
        )


def _numbers(cells: Iterable[Cell]) -> list[float]:
    return [float(text) for cell in cells if is_number(text := str(cell))]


def _title_without(mention: Mention, title: str) -> str | None:
    before = title[: mention.start].strip(" \t,:;-([")
    after = title[mention.end :].strip(" \t,:;-)]")
    return _workload(before or after)
