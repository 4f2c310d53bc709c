"""The tables of a document, each under its headings, and the runs that they tell of together."""

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ingest.formats.cells import is_quantity
from ingest.formats.documents import BlockKind, DocumentBlock, document_blocks, plain_text
from ingest.formats.headings import said_by, said_by_all
from ingest.formats.outputs import bounded
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.tables.entries import RunEntry, distinct_runs, identity, join_metrics
from ingest.formats.tables.grids import read_grid, refuse_relative, says_metric
from ingest.formats.tables.layouts import (
    column_block,
    drawn_table,
    find_in_text,
    fitted,
    holds_results,
    is_footer,
    is_statement,
    times_statistics,
)
from ingest.formats.tables.reading import Entries, read_rows, with_said
from ingest.formats.tables.table import (
    Table,
    title_fact,
    transposed,
    without_summaries,
)
from ingest.formats.tables.vocabulary import (
    Metric,
    in_english,
    is_of_another_format,
    is_transposed,
    names_metric,
    tell_runs,
    title_mentions,
)

# A table that is not drawn begins within so many lines of text; prose is not looked through for more.
_MAX_LINES_OF_TEXT = 60
_MAX_TITLES = 10
_MEASURED = re.compile(
    r"[qt]ps|ops|/s\b|/op\b|latency|throughput|p9[059]|[0-9]\s?[muµ]s\b|recall|\btime\b", re.IGNORECASE
)
_MAX_TITLE_WORDS = 25
_MAX_NAME_WORDS = 10


def blocks_within(blocks: Iterable[DocumentBlock]) -> Iterator[DocumentBlock]:
    """Yield the blocks of a document, of a fence with a document in it those within it."""
    for block in blocks:
        within = list(document_blocks(block.lines)) if block.kind is BlockKind.CODE else []
        if not any(one.kind is BlockKind.TABLE for one in within):
            yield block
            continue
        for one in within:
            yield replace(one, line=block.line - 1 + one.line, headings=(*block.headings, *one.headings))


def first_table(
    blocks: Iterable[DocumentBlock], lines: Sequence[str], *, is_sure: bool = False
) -> Table | None:
    """Return the first table of results; of names and numbers, whatever they are, where ``is_sure``.

    Raise FormatError where its rows do not fit.
    """
    return next(_tables(list(blocks_within(blocks)), lines, is_sure=is_sure), None)


def unread_tables(
    blocks: Iterable[DocumentBlock], lines: Sequence[str], read: Container[int] = ()
) -> Iterator[Table]:
    """Yield the drawn tables of figures that were not read, since nothing says what their numbers are."""
    for block in blocks_within(blocks):
        if block.kind is BlockKind.TABLE and block.line not in read:
            drawn = drawn_table(block, lines)
            texts = [
                [str(row.cells[at]) for row in drawn.rows if at < len(row.cells)]
                for at in range(len(drawn.names))
            ]
            figures = [
                [drawn.names[at], *cells] for at, cells in enumerate(texts) if all(map(is_quantity, cells))
            ]
            labels = texts[:1] if len(figures) == len(drawn.names) - 1 else []
            words = " ".join(word for column in [*labels, *figures] for word in column)
            if _MEASURED.search(words) and not is_of_another_format(drawn.names):
                yield drawn


def _unparted_tables(blocks: Iterable[DocumentBlock], read: Container[int]) -> Iterator[int]:
    """Yield the lines that name metrics over rows of figures between blanks, none of which was read."""
    for block in blocks:
        if block.kind is not BlockKind.TABLE:
            rows = map(_ends_in_figures, block.lines)
            for line, ends_in_figures in enumerate(pairwise([*rows, False]), start=block.line):
                head = block.lines[line - block.line - 1] if line > block.line else ""
                is_head = not _ends_in_figures(head) and names_metric(head)
                if all(ends_in_figures) and line not in read and is_head:
                    yield line - 1


def _ends_in_figures(text: str) -> bool:
    return len(words := text.split()) > 1 and all(map(is_quantity, words[-2:]))


def read_document(lines: Sequence[str], sent: Metric | None) -> ParsedReport | None:
    """Return the runs of all tables, or None where there is no table of results.

    Raise FormatError for a table that cannot be understood. Of several that people wrote, such a one is left
    out with a warning.
    """
    blocks = list(blocks_within(document_blocks(lines)))
    tables = column_block(lines) or list(_tables(blocks, lines, is_sure=sent is not None))
    if not tables:
        return None
    is_one = len({table.line for table in tables}) == 1
    read: list[tuple[Table, Entries]] = []
    refused: list[FormatError] = []
    left_out: list[str] = []
    for table in tables:
        try:
            names_metric = not is_one and says_metric("", (text for _, text in table.titles))
            read.append((table, _read(table, None if names_metric else sent)))
        except FormatError as error:
            if not table.is_published:
                raise
            refused.append(error)
            left_out.append(f"line {error.line or table.line}: the table was left out: {error.message}")
    if not read:
        raise refused[0]
    entries, of_headings = _under_headings(read)
    told = dict.fromkeys(warning for table, one in read for warning in (*one.warnings, *table.warnings))
    unread = [
        f"line {table.line}: the table under {', '.join(map(repr, table.names[:3]))} was not read: "
        "nothing says what its numbers are"
        for table in unread_tables(blocks, lines, {table.line for table in tables})
    ]
    unread += [
        f"line {line}: the table under {lines[line - 1].strip()[:80]!r} was not read: nothing parts its "
        "columns; write '|' or a tab between its cells"
        for line in _unparted_tables(blocks, {one for table in tables for one in table.lines})
    ]
    return ParsedReport(
        distinct_runs(entries if is_one else join_metrics(entries)),
        facts=title_fact(tables[0].titles) if is_one else {},
        warnings=(*of_headings, *bounded(list(told)), *bounded(left_out), *bounded(unread)),
    )


def _read(table: Table, sent: Metric | None) -> Entries:
    left_out: Sequence[str] = ()
    if is_transposed(table.names, [row.cells[0] for row in table.rows]):
        table = transposed(table)
    else:
        table, left_out = without_summaries(table)
    if tell_runs(table.names, may_name_rows=True) or times_statistics(table.names, table.rows):
        refuse_relative(table.titles)
        found = read_rows(table)
    else:
        found = read_grid(table, sent)
    told = list(left_out)
    if table.metric:
        found = replace(found, entries=tuple(map(_with_build, found.entries)))
        names = {reading.metric for entry in found.entries for reading in entry.run.readings}
        if table.metric.unit and table.metric.name in names:
            told += [
                f"line {row.line}: {str(row.cells[0])[:80]} counts rows, in thousands or millions; "
                f"kept as {table.metric.name}"
                for row in table.rows
            ]
    return replace(found, warnings=(*found.warnings, *bounded(told)))


def _with_build(entry: RunEntry) -> RunEntry:
    """Return the entry with a column's name that has no version taken for one: ``x.my8044_rel.c8r32``.

    Which product it is of, its sender says.
    """
    run = entry.run
    return entry if run.version else replace(entry, run=replace(run, product=None, version=run.column))


def _names(table: Table) -> list[str]:
    """Return the texts above a table that may be names, the innermost first, without the metric in them."""
    above = [text for line, text in table.titles if line < table.line]
    texts = dict.fromkeys([*reversed(above), *table.headings])
    return [_without_metric(text) for text in texts if len(text.split()) <= _MAX_TITLE_WORDS]


def _without_metric(text: str) -> str:
    english = in_english(text)
    found = title_mentions(english)
    if not found:
        return text
    for mention in reversed(found):
        english = f"{english[: mention.start]} {english[mention.end :]}"
    return english.strip(" ,:;-()")


def _under_headings(read: Sequence[tuple[Table, Entries]]) -> tuple[list[RunEntry], list[str]]:
    """Return the entries of all tables, told apart by what the tables stand under, and what warns of it.

    A heading that names no workload, product, version, thread count or setting names the configuration, where
    it tells tables apart. Tables that are alike in all of that are numbered.
    """
    texts = [_names(table) for table, _ in read]
    common = set(texts[0]).intersection(*texts[1:])
    said = [
        replace(said_by_all(names), rest=_configuration(text for text in names if text not in common))
        for names in texts
    ]
    tells_apart = len({one.rest for one in said}) > 1
    entries: list[RunEntry] = []
    warnings: list[str] = []
    seen: defaultdict[object, int] = defaultdict(int)
    for (table, found), words in zip(read, said, strict=True):
        named = words if tells_apart else replace(words, rest="")
        if named.rest:
            warnings.append(f"line {table.line}: the heading {named.rest!r} is taken for a configuration")
        # A heading over columns of which one is a product speaks of that: "NewDB is faster than MySQL".
        columns_name_products = any(entry.run.product for entry in found.entries)
        unnamed = replace(named, product=None, version=None) if columns_name_products else named
        own = [
            replace(entry, run=with_said(entry.run, named if entry.run.product else unnamed))
            for entry in found.entries
        ]
        keys = {(identity(entry.run), reading.metric) for entry in own for reading in entry.run.readings}
        number = 1 + max((seen[key] for key in keys), default=0)
        seen.update(dict.fromkeys(keys, number))
        if number > 1:
            warnings.append(
                f"line {table.line}: nothing tells this table from one above it; its configuration is called "
                f"'table {number}': write a heading over each that says what was measured"
            )
            own = [_numbered(entry, number) for entry in own]
        entries += own
    return entries, list(bounded(warnings))


def _configuration(texts: Iterable[str]) -> str:
    """Return the words of the innermost heading that names something else; a sentence names nothing."""
    names = (
        text for text in texts if len(text.split()) <= _MAX_NAME_WORDS and not text.endswith((".", "。"))
    )
    return next((rest for text in names if (rest := said_by(text).rest)), "")


def _numbered(entry: RunEntry, number: int) -> RunEntry:
    parts = [part for part in (entry.run.configuration, f"table {number}") if part]
    return replace(entry, run=replace(entry.run, configuration=", ".join(parts)))


# --- where the tables are ---------------------------------------------------------------------------------


def _tables(blocks: Sequence[DocumentBlock], lines: Sequence[str], *, is_sure: bool) -> Iterator[Table]:
    """Yield the tables of results, with the text around each; ``is_sure`` as in find_in_text."""
    for place, block in enumerate(blocks):
        if block.kind is not BlockKind.TABLE:
            yield from _tables_in_text(block, lines, is_sure=is_sure)
            continue
        drawn = drawn_table(block, lines)
        titles = _titles(blocks, place, lines)
        if holds_results(drawn.names, drawn.rows, [text for _, text in titles], is_sure=is_sure):
            yield replace(fitted(drawn), titles=tuple(titles), headings=tuple(reversed(block.headings)))


def _titles(blocks: Sequence[DocumentBlock], place: int, lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return the lines that may be titles of a drawn table.

    They are all text but code where it is the only one of a file, and else its innermost heading and its
    caption.
    """
    if sum(block.kind is BlockKind.TABLE for block in blocks) == 1:
        others = (block for block in blocks if block.kind is BlockKind.TEXT)
        return [title for block in others for title in _texts(block.lines, block.line)]
    block = blocks[place]
    titles = []
    for text in (*block.headings[-1:], *filter(_may_be_title, block.caption)):
        above = (
            number
            for number in range(block.line - 1, 0, -1)
            if text[:40] in plain_text(lines[number - 1].strip("# "))
        )
        titles.append((next(above, block.line), text))
    return titles


def _tables_in_text(block: DocumentBlock, lines: Sequence[str], *, is_sure: bool) -> Iterator[Table]:
    """Yield the tables of a block of text or code that are not drawn."""
    index = text_from = block.line - 1
    within = lines[: index + len(block.lines)]
    tables: list[tuple[Table, int, int]] = []
    while index < min(len(within), text_from + _MAX_LINES_OF_TEXT):
        if layout := find_in_text(within, index, is_sure=is_sure):
            table, stop = layout.table(within)
            tables.append((table, text_from, stop))
            index = text_from = stop
        else:
            index += 1
    for table, above, stop in tables:
        titles = _texts(within[above : table.line - 1], above + 1)[-_MAX_TITLES:]
        if len(tables) == 1:
            titles += _texts(within[stop:], stop + 1)[-_MAX_TITLES:]
        yield replace(table, titles=tuple(titles), headings=tuple(reversed(block.headings)))


def _texts(lines: Sequence[str], first: int) -> list[tuple[int, str]]:
    """Return the lines that may be titles, with their numbers."""
    return [
        (number, title)
        for number, line in enumerate(lines, start=first)
        if (text := line.strip()) and (title := plain_text(text.lstrip("# "))) and _may_be_title(text)
    ]


def _may_be_title(text: str) -> bool:
    is_short = len(text.split()) <= _MAX_TITLE_WORDS
    return is_short and not (is_footer(text) or is_statement(text) or text.startswith("+-"))
