"""mysqlslap and mariadb-slap: blocks of seconds for a batch of queries, or the same as lines of CSV.

A batch is all queries of all clients, connecting included. It is run as often as was asked for; the tool
prints the average, least and greatest of its times, cut to milliseconds.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchdash.results.readings import LOWER, Reading, reading
from ingest.formats.cells import number, whole_number
from ingest.formats.outputs import bounded, given_twice, in_order, quoted, whole_lines
from ingest.formats.places import told_apart
from ingest.formats.report import Fact, FormatError, ParsedReport, ParsedRun
from ingest.formats.source import Source

_AVERAGE = "Average number of seconds to run all queries"
_LEAST = "Minimum number of seconds to run all queries"
_GREATEST = "Maximum number of seconds to run all queries"
_CLIENTS = "Number of clients running queries"
_QUERIES = "Average number of queries per client"

_BLOCK = "Benchmark"
_ENGINE = re.compile(r"Running for engine (.{1,100})")
_NAMES = (_AVERAGE, _LEAST, _GREATEST, _CLIENTS, _QUERIES)
_FIELD = re.compile(rf"({'|'.join(_NAMES)}): ?(\S+?)(?: seconds)?")
# A line of CSV has no names over it: its load types and its three decimals tell it from any other.
_CSV_TEXT = (
    r"([^,\n]{0,100}),(mixed|update|write|key|read|query)"
    r",([0-9]+\.[0-9]{3}),([0-9]+\.[0-9]{3}),([0-9]+\.[0-9]{3}),([0-9]+),([0-9]+)"
)
_CSV = re.compile(_CSV_TEXT)
_MESSAGE = re.compile(r"(?:\S*/)?(?:mysqlslap|mariadb-slap)(?:\.exe)?: (.+)")
_HARMLESS = ("[Warning]", "[Note]", "Warning", "Deprecated program name")
_BEGINS = re.compile(
    rf"^[ \t]*{_AVERAGE}: ?[0-9.]+ seconds[ \t]*\r?$"
    rf"|^{_CSV_TEXT}$"
    r"|^(?:[^\s:]*/)?(?:mysqlslap|mariadb-slap)(?:\.exe)?: "
    r"(?:\[ERROR\]|Error when |Cannot |Could not |unknown |mysql_)".encode(),
    re.MULTILINE,
)

# Also printed for queries of one's own, so they name no workload.
_NO_LOAD_TYPE = frozenset({"mixed", "query"})
_PRINTED_TO_S = 0.001
_MAX_ROUNDING = 0.01
# Ten attempts to connect, a tenth of a second apart.
_GIVEN_UP_AFTER_S = (1.0, 1.05)


def recognise(head: bytes) -> bool:
    return _BEGINS.search(head) is not None


def parse(source: Source) -> ParsedReport:
    """Return a run for each block or line: for each engine and number of clients.

    Raise FormatError where the tool told of an error, for it prints seconds even if no client could connect.
    """
    lines, warnings = whole_lines(source)
    batches, notes = _batches(lines)
    measured = [batch for batch in batches if batch.average]
    if not measured:
        raise FormatError("every batch took less than 1 ms: nothing was measured", batches[0].line)
    source.limits.check("runs", len(measured))
    first_lines = [batch.line for batch in measured]
    told, of_places = told_apart([_run(batch) for batch in measured], first_lines, lines)
    runs = _distinct(told)
    warnings += [*of_places, *notes, *(note for batch in batches for note in _notes(batch))]
    return ParsedReport(runs, facts={"tool": "mysqlslap"}, warnings=bounded(warnings))


@dataclass(frozen=True, slots=True)
class _Batch:
    """What is said of one engine and number of clients. Times in seconds; ``line`` is that of the average."""

    line: int
    engine: str
    load_type: str
    average: float
    least: float
    greatest: float
    clients: int
    queries_per_client: int

    @property
    def queries(self) -> int:
        return self.clients * self.queries_per_client


def _batches(lines: Sequence[str]) -> tuple[list[_Batch], list[str]]:
    """Return the measured batches, and warnings. Raise FormatError for none, or where a client failed.

    Where the output went to a file, errors stand before all blocks of their run: only one behind all of them
    is of another run.
    """
    blocks: list[_Block] = []
    rows: list[_Batch] = []
    failed: FormatError | None = None
    for line_number, line in enumerate(lines, start=1):
        text = line.strip()
        if text == _BLOCK or (text.startswith(_AVERAGE) and not (blocks and blocks[-1].is_open)):
            blocks.append(_Block(line_number))
        if blocks and blocks[-1].add(text, line_number):
            if failed:
                raise failed
        elif row := _CSV.fullmatch(text):
            engine, load_type, *figures = row.groups()
            values = {name: (value, line_number) for name, value in zip(_NAMES, figures, strict=True)}
            rows.append(_batch(values, engine, load_type))
        elif (message := _MESSAGE.fullmatch(text)) and not message[1].startswith(_HARMLESS):
            failed = failed or FormatError(
                f"mysqlslap failed, and its times are no measurement: {quoted(text)}", line_number
            )
    if blocks and rows:
        raise FormatError("blocks and lines of CSV in one file; send one of the two", rows[0].line)
    if failed and (rows or not blocks or blocks[-1].is_open):
        raise failed
    if rows:
        return rows, []
    batches, notes = _complete(blocks, len(lines))
    if failed:
        notes.append(f"behind the last block: {failed.message} (line {failed.line})")
    return batches, notes


class _Block:
    """The lines of one block of a report."""

    def __init__(self, line: int) -> None:
        self.end = line
        self.engine = ""
        self.values: dict[str, tuple[str, int]] = {}

    @property
    def is_open(self) -> bool:
        """Return whether the times are still missing."""
        return _AVERAGE not in self.values

    def add(self, text: str, line: int) -> bool:
        """Return whether the line belongs to the block. Raise FormatError where it stands there twice."""
        if engine := _ENGINE.fullmatch(text):
            self.engine = engine[1]
        elif found := _FIELD.fullmatch(text):
            if found[1] in self.values:
                raise given_twice(f"'{found[1]}'", line)
            self.values[found[1]] = (found[2], line)
        else:
            return False
        self.end = line
        return True

    def batch(self) -> _Batch:
        """Raise FormatError where a line is missing or a figure is none."""
        for name in _NAMES:
            if name not in self.values:
                raise FormatError(f"the block is not complete: no '{name}' up to this line", self.end)
        return _batch(self.values, self.engine)


def _complete(blocks: Sequence[_Block], last_line: int) -> tuple[list[_Batch], list[str]]:
    """Return the blocks that are whole. Only the last one of several may be cut off."""
    if not blocks:
        raise FormatError("no block 'Benchmark' and no line of CSV; did mysqlslap finish?", last_line or 1)
    batches = [block.batch() for block in blocks[:-1]]
    try:
        return [*batches, blocks[-1].batch()], []
    except FormatError as error:
        if not batches:
            raise
        return batches, [f"the last block was left out: {error.message} (line {error.line})"]


def _batch(values: Mapping[str, tuple[str, int]], engine: str, load_type: str = "") -> _Batch:
    average, least, greatest = (number(*values[name]) for name in (_AVERAGE, _LEAST, _GREATEST))
    line = values[_AVERAGE][1]
    if not in_order(least, average, greatest):
        raise FormatError("the least, average and greatest time are not in this order", line)
    queries, queries_line = values[_QUERIES]
    return _Batch(
        line=line,
        engine=engine,
        load_type=load_type,
        average=average,
        least=least,
        greatest=greatest,
        clients=whole_number(values[_CLIENTS][0], "the number of clients", values[_CLIENTS][1]),
        queries_per_client=(
            whole_number(queries, "the number of queries", queries_line) if queries.strip("0") else 0
        ),
    )


def _run(batch: _Batch) -> ParsedRun:
    options: dict[str, Fact] = {"queries": batch.queries} if batch.queries else {}
    if batch.engine:
        options["engine"] = batch.engine
    return ParsedRun(
        readings=tuple(_readings(batch)),
        key="/".join(filter(None, [batch.engine, batch.load_type, f"{batch.clients} clients"])),
        column=batch.engine or None,
        configuration=batch.engine or None,
        workload=None if batch.load_type in _NO_LOAD_TYPE else batch.load_type or None,
        threads=batch.clients,
        duration_s=batch.average,
        options=options,
    )


def _readings(batch: _Batch) -> Iterator[Reading]:
    if batch.queries:
        yield reading("qps", batch.queries / batch.average)
    yield Reading("batch_seconds_avg", batch.average, "s", LOWER)
    yield Reading("batch_seconds_min", batch.least, "s", LOWER)
    yield Reading("batch_seconds_max", batch.greatest, "s", LOWER)


def _notes(batch: _Batch) -> Iterator[str]:
    """Yield the warnings that a reader of the run needs before trusting its figures."""
    if not batch.average:
        yield f"line {batch.line}: left out, the batch took less than 1 ms"
    elif not batch.queries:
        yield f"line {batch.line}: the number of queries is not said, so there are no queries per second"
    elif _PRINTED_TO_S / batch.average > _MAX_ROUNDING:
        per_cent = 100 * _PRINTED_TO_S / batch.average
        yield (
            f"line {batch.line}: {batch.average:.3f} s is printed to 1 ms, "
            f"so the queries per second are exact to {per_cent:.2g} % only; run more queries"
        )
    soonest, latest = _GIVEN_UP_AFTER_S
    if soonest <= batch.least and batch.greatest <= latest:
        yield (
            f"line {batch.line}: every batch took {batch.least:.3f} to {batch.greatest:.3f} s, which is how "
            "long mysqlslap tries to connect before it gives up; was there no error in what it printed?"
        )


def _distinct(runs: Sequence[ParsedRun]) -> tuple[ParsedRun, ...]:
    """Return the runs with unique keys. Those that nothing tells apart are numbered as repetitions."""
    if len(runs) == 1:
        return (replace(runs[0], key=""),)
    times = Counter(run.key for run in runs)
    seen: Counter[str] = Counter()
    distinct = []
    for run in runs:
        seen[run.key] += 1
        repetition = seen[run.key] if times[run.key] > 1 else None
        key = f"{run.key}/{repetition}" if repetition else run.key
        distinct.append(replace(run, key=key, repetition=repetition))
    return tuple(distinct)
