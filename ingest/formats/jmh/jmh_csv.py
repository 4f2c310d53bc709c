"""JMH's CSV and SCSV, as ``-rf csv`` and ``-rf scsv`` write them: a line for each result, primary or not."""

from collections.abc import Sequence
from dataclasses import dataclass

from ingest.formats.cells import separated_cells
from ingest.formats.jmh.cell_columns import CSV_HEAD
from ingest.formats.jmh.results import MODES, NOT_APPLICABLE, report_of
from ingest.formats.jmh.table import (
    BenchmarkEntries,
    ScoreRow,
    decimal,
    is_count,
    is_decimal,
    printed_score,
    warnings_of,
)
from ingest.formats.outputs import MAX_THREADS
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.source import Source
from ingest.masking import mask_text

_COLUMNS = 7
_PARAMETER = "Param: "
_PROBLEM = "the line cannot be split into cells:"


def recognise(head: bytes) -> bool:
    first = head.lstrip().partition(b"\n")[0].partition(b"\r")[0]
    return CSV_HEAD.fullmatch(first.decode("utf-8", "replace")) is not None


def parse(source: Source) -> ParsedReport:
    """Return one run for each benchmark with its parameters and mode.

    Raise FormatError, with the line, for lines that JMH does not write and where nothing was measured.
    """
    rows, warnings = _rows(source)
    entries = BenchmarkEntries()
    having = {(row.benchmark, name) for _, row in rows for name, value in row.params.items() if value}
    for line, row in rows:
        # The cell of a parameter that a benchmark does not have is empty.
        params = {
            name: value if (row.benchmark, name) in having else NOT_APPLICABLE
            for name, value in row.params.items()
        }
        entries.add(line, row._replace(params=params))
    results = [result for entry in entries if (result := entry.result)]
    if not results:
        if entries:
            raise FormatError(
                f"{entries[0].workload} was not measured: {entries[0].problem}", entries[0].line
            )
        raise FormatError("no line with a result; did JMH finish?", len(source.lines))
    return report_of(results, [*warnings, *warnings_of(entries)])


@dataclass(frozen=True, slots=True)
class _Head:
    """What the first line says: the sign between cells, and the names of the parameters."""

    separator: str
    params: tuple[str, ...]

    @property
    def width(self) -> int:
        return _COLUMNS + len(self.params)


def _rows(source: Source) -> tuple[list[tuple[int, ScoreRow]], list[str]]:
    """Return the rows with their lines, and a warning where the last one may be cut."""
    number = next(number for number, line in enumerate(source.lines) if line.strip())
    head = _head(source.lines[number], number + 1)
    source.limits.check("cells", len(source.lines) * head.width)
    lines = [*source.lines]
    warnings = []
    if source.data.endswith(b"\r") and b"\n" in source.data:
        warnings.append(f"line {len(lines)}: the file ends within a line end; it may be cut off")
    if not source.ends_with_newline and len(lines) > number + 1:
        # A last cell in quotes is all there.
        if head.params or not lines[-1].endswith('"'):
            lines.pop()
            warnings.append(f"line {len(lines) + 1}, the last one, has no line end and was left out")
        else:
            warnings.append(f"line {len(lines)}, the last one, has no line end: the file may break off there")
    rows: list[tuple[int, ScoreRow]] = []
    for line, cells in separated_cells(lines[number + 1 :], head.separator, number + 2, _PROBLEM):
        text = head.separator.join(cells)
        if CSV_HEAD.fullmatch(text):
            # Another file was put behind this one.
            head = _head(text, line)
        else:
            rows.append((line, _row(cells, head, line)))
    return rows, warnings


def _head(text: str, line: int) -> _Head:
    found = CSV_HEAD.fullmatch(text)
    if not found:
        raise FormatError("the first line does not name the columns of JMH's CSV", line)
    ((_, cells),) = separated_cells([text], found["separator"], line, _PROBLEM)
    names = cells[_COLUMNS:]
    if not all(name.startswith(_PARAMETER) for name in names) or len(set(names)) < len(names):
        raise FormatError("the columns after 'Unit' are not the parameters of benchmarks", line)
    return _Head(found["separator"], tuple(name.removeprefix(_PARAMETER) for name in names))


def _row(cells: Sequence[str], head: _Head, line: int) -> ScoreRow:
    if len(cells) != head.width:
        raise FormatError(f"{len(cells)} cells, where the first line has {head.width}", line)
    name, mode, threads, samples, score, error, unit, *values = map(str.strip, cells)
    benchmark, _, label = name.partition(":")
    if not benchmark:
        raise FormatError("the name of the benchmark is missing", line)
    if mode not in MODES:
        raise FormatError(f"{mask_text(mode[:40])!r} is not a mode of JMH", line)
    if not is_count(threads) or not 1 <= int(threads) <= MAX_THREADS:
        raise FormatError(f"{mask_text(threads[:40])!r} is not a number of threads", line)
    for text in (samples, score, error):
        if not is_decimal(text):
            raise FormatError(f"{mask_text(text[:40])!r} is not a number that JMH prints", line)
    if not unit:
        raise FormatError("the unit is missing", line)
    printed = printed_score(decimal(score), decimal(error), unit)
    if printed is None:
        raise FormatError("the number is too large", line)
    return ScoreRow(
        benchmark, label, dict(zip(head.params, values, strict=True)), mode, int(threads), printed
    )
