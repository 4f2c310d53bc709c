"""The cost of an operation: figures of vmstat and iostat over the rate of operations, as scripts print them.

Either of one run, as two small tables without a name, or of many runs: blocks with the name of a workload
and a row for each build (``dbms``), and behind it the same once more, relative to the first row.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchdash.results.readings import HIGHER, LOWER, Direction, Reading
from ingest.formats.cells import decimals, is_missing, number
from ingest.formats.headings import product_and_version
from ingest.formats.outputs import bounded
from ingest.formats.report import FormatError, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.formats.tables.column_blocks import named_build
from ingest.formats.tables.table import counted

_TITLE = "iostat, vmstat normalized by operation rate"
_BUILD = "dbms"
# cpu/o is vmstat's user and system time, in per cent of all CPUs, over operations a second. How many CPUs
# there are is not said, so it cannot be made a time (cpu_per_op).
_METRICS: dict[str, tuple[str, str, Direction]] = {
    "cpu/o": ("cpu_share_per_op", "% s/op", LOWER),
    "cs/o": ("cs_per_op", "1/op", LOWER),
    "r/o": ("reads_per_op", "1/op", LOWER),
    "rKB/o": ("read_kb_per_op", "kB/op", LOWER),
    "wKB/o": ("write_kb_per_op", "kB/op", LOWER),
    "o/s": ("ops_per_s", "1/s", HIGHER),
}
# The source of a cost, and how much larger the unit of that is.
_COMPUTED_FROM = {
    "cpu/o": ("cpu/s", 1),
    "cs/o": ("cs/s", 1),
    "r/o": ("r/s", 1),
    "rKB/o": ("rMB/s", 1024),
    "wKB/o": ("wMB/s", 1024),
}
_RATES = frozenset({"r/s", "rMB/s", "w/s", "wMB/s", "cs/s", "cpu/s"})
_HEADS = frozenset({"samp", _BUILD, *_METRICS, *_RATES})
_TOOLS = {"iostat": frozenset({"r/o", "rKB/o", "wKB/o"}), "vmstat": frozenset({"cs/o", "cpu/o"})}

_FILE_NAME = re.compile(
    r"sb\.(?P<phase>prepare\.)?met\.(?P<test>\S+)\.range(?P<range>[0-9]{1,9})\.pk[0-9]{1,9}"
    r"(?:\.dop(?P<threads>[1-9][0-9]{0,5}))?"
)
_TWO_THREAD_COUNTS = re.compile(r"base1 (\S+) and base2 (?!\1$)\S+")


def recognise(head: bytes) -> bool:
    if not any(name.encode() in head for name in (_TITLE, *_COMPUTED_FROM)):
        return False
    lines = head.decode("utf-8", "replace").splitlines()
    return any(line.strip() == _TITLE or _is_head(line.split()) for line in lines)


def parse(source: Source) -> ParsedReport:
    """Return a run for each row of a block, or the one run of two tables without a name.

    Raise FormatError with the line that cannot be understood.
    """
    source.limits.check("cells", sum(len(line.split()) for line in source.lines))
    runs: dict[str, ParsedRun] = {}
    warnings: list[str] = []
    for block in _blocks(source.lines):
        found = [_run(block, build, figures) for build, figures in block.builds.items()]
        warnings += _warnings(block, found)
        for run in found:
            if run.key in runs:
                raise FormatError(f"{run.key[:80]!r} is measured a second time", block.line)
            runs[run.key] = run
    if not runs:
        raise FormatError("no line of figures stands under the names of columns", line=1)
    if not source.ends_with_newline:
        warnings.append("the last line has no line end; if the file was cut off, its last figure was too")
    return ParsedReport(tuple(map(named_build, runs.values())), warnings=bounded(warnings))


@dataclass(slots=True)
class _Block:
    """The figures of one workload, whose name stands on ``line``: the cells of each build by their columns.

    ``has_parts`` says whether the absolute figures stand under a line that calls them so; then relative ones
    follow, ``ratios`` lines of them, or None before they begin. Without builds there is one, called ``""``.
    """

    name: str
    line: int
    builds: dict[str, dict[str, "_Cell"]] = field(default_factory=dict)
    rows: int = 0
    has_parts: bool = False
    ratios: int | None = None

    @property
    def is_cut(self) -> bool:
        return self.has_parts and (self.ratios is None or self.ratios < self.rows - 1)

    def add(self, head: Sequence[str], words: Sequence[str], line: int) -> None:
        """Add a line of figures. Raise FormatError where it does not fit to its head, or was there before."""
        if len(words) != len(head):
            raise FormatError(f"{counted(len(words), 'cell')} under {counted(len(head), 'column')}", line)
        self.rows += 1
        cells = {name: _Cell(word, line) for name, word in zip(head, words, strict=True)}
        build = cells.pop(_BUILD, _Cell("", line)).text
        if "samp" in cells:
            tool = "vmstat" if _TOOLS["vmstat"].intersection(head) else "iostat"
            cells[f"{tool}_samples"] = cells.pop("samp")
        figures = self.builds.setdefault(build, {})
        if again := next((name for name in cells if name in figures), None):
            raise FormatError(f"a second {again}; the first stands on line {figures[again].line}", line)
        figures.update(cells)


def _is_head(words: Sequence[str]) -> bool:
    return len(words) > 1 and _HEADS.issuperset(words) and not _COMPUTED_FROM.keys().isdisjoint(words)


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    block = _Block("", 1)
    head: Sequence[str] = ()
    in_ratios = False
    for line, text in enumerate(lines, start=1):
        words = text.split()
        if not words or words == _TITLE.split():
            head, in_ratios = (), False
        elif words[0] == "---":
            head, in_ratios = (), words[1:2] == ["relative"]
            block.has_parts = True
            block.ratios = 0 if in_ratios else None
        elif in_ratios and block.ratios is not None and len(words) > 1:
            block.ratios += 1
        elif _is_head(words):
            head = words
        elif head:
            block.add(head, words, line)
        elif _TWO_THREAD_COUNTS.fullmatch(" ".join(words)):
            raise FormatError("the rows were measured at two thread counts; send them one by one", line)
        elif words[0] != "base1":
            yield block
            block = _Block(" ".join(words), line)
    yield block


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    line: int

    @property
    def value(self) -> float:
        return number(self.text, self.line)

    @property
    def rounding(self) -> float:
        """Half of the last digit that is printed."""
        return 0.5 * 10.0 ** -decimals(self.text)


def _run(block: _Block, build: str, figures: Mapping[str, _Cell]) -> ParsedRun:
    named = _FILE_NAME.fullmatch(block.name)
    threads = named["threads"] if named else None
    readings = tuple(
        Reading(metric, _most_exact(head, figures), unit, direction)
        for head, (metric, unit, direction) in _METRICS.items()
        if head in figures and not is_missing(figures[head].text)
    )
    if not readings:
        raise FormatError("the line holds no figure", next(iter(figures.values())).line)
    product, version = product_and_version(build) if build else (None, None)
    return ParsedRun(
        readings,
        key="/".join(part for part in (block.name, build) if part),
        column=build or None,
        product=product,
        version=version,
        workload=_workload(block.name),
        threads=int(threads) if threads else None,
        options={
            head: cell.value
            for head, cell in figures.items()
            if head not in _METRICS and not is_missing(cell.text)
        },
    )


def _workload(name: str) -> str | None:
    """Return ``point-query.warm range=100`` of ``sb.met.point-query.warm.range100.pk1.dop1``."""
    named = _FILE_NAME.fullmatch(name)
    if not named:
        return name or None
    return f"{named['phase'] or ''}{named['test']} range={named['range']}"


def _most_exact(head: str, figures: Mapping[str, _Cell]) -> float:
    """Return a figure as printed, or computed anew where that says the same with more digits."""
    cell, printed = figures[head], figures[head].value
    source, factor = _COMPUTED_FROM.get(head, ("", 1))
    if any(name not in figures or is_missing(figures[name].text) for name in (source, "o/s")):
        return printed
    operations = figures["o/s"].value
    if not operations:
        return printed
    computed = figures[source].value * factor / operations
    rounding = figures[source].rounding * factor / operations
    is_same = abs(computed - printed) <= cell.rounding + rounding
    return computed if is_same and rounding < cell.rounding else printed


def _warnings(block: _Block, runs: Sequence[ParsedRun]) -> Iterator[str]:
    where = f"line {block.line}: {block.name[:80]}"
    if block.name and not runs:
        yield f"{where} has no figures; left out"
    elif block.is_cut:
        yield f"{where} breaks off; builds and workloads may be missing"
    if runs and (_workload(block.name) or "").startswith("scan"):
        yield f"{where} counts rows, in thousands or millions, as operations"
    for run in runs:
        found = {reading.metric for reading in run.readings}
        for tool, heads in _TOOLS.items():
            if missing := [head for head in sorted(heads) if _METRICS[head][0] not in found]:
                of = f" of {run.key}" if run.key else ""
                yield f"no {', '.join(missing)}{of}: figures of {tool} are missing"
