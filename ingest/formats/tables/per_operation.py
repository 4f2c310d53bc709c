"""The cost of an operation: figures of vmstat and iostat over the rate of operations, as scripts print them.

Either of one run, as two small tables without a name, or of many runs: blocks with the name of a workload
and a row for each build (``dbms``), and behind it the same once more, relative to the first row.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchdash.results.readings import HIGHER, LOWER, Reading
from ingest.formats.cells import is_missing, number
from ingest.formats.headings import product_and_version
from ingest.formats.outputs import Figure, bounded, missing_line_end
from ingest.formats.report import FormatError, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.formats.tables.column_blocks import named_build
from ingest.formats.tables.table import counted

_TITLE = "iostat, vmstat normalized by operation rate"
_BUILD, _RATE = "dbms", "o/s"
# By the column its metric and unit, what it is computed from, and how much larger the unit of that is. cpu/o
# is vmstat's user and system time, in per cent of all CPUs, over operations a second. How many CPUs there are
# is not said, so it cannot be made a time (cpu_per_op).
_COSTS = {
    "cpu/o": ("cpu_share_per_op", "% s/op", "cpu/s", 1),
    "cs/o": ("cs_per_op", "1/op", "cs/s", 1),
    "r/o": ("reads_per_op", "1/op", "r/s", 1),
    "rKB/o": ("read_kb_per_op", "kB/op", "rMB/s", 1024),
    "wKB/o": ("write_kb_per_op", "kB/op", "wMB/s", 1024),
}
_HEADS = frozenset({"samp", _BUILD, _RATE, "w/s", *_COSTS, *(source for _, _, source, _ in _COSTS.values())})
_TOOLS = {"iostat": ("r/o", "rKB/o", "wKB/o"), "vmstat": ("cpu/o", "cs/o")}

_FILE_NAME = re.compile(
    r"sb\.(?P<phase>prepare\.)?met\.(?P<test>\S+)\.range(?P<range>[0-9]{1,9})\.pk[0-9]{1,9}"
    r"(?:\.dop(?P<threads>[1-9][0-9]{0,5}))?"
)
_TWO_THREAD_COUNTS = re.compile(r"base1 (\S+) and base2 (?!\1$)\S+")


def recognise(head: bytes) -> bool:
    if not any(name.encode() in head for name in (_TITLE, *_COSTS)):
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
        found = [_run(block, build, cells) for build, cells in block.builds.items()]
        warnings += _warnings(block, found)
        for run in found:
            if run.key in runs:
                raise FormatError(f"{run.key[:80]!r} is measured a second time", block.line)
            runs[run.key] = run
    if not runs:
        raise FormatError("no line of figures stands under the names of columns", line=1)
    warnings += missing_line_end(source)
    return ParsedReport(tuple(map(named_build, runs.values())), warnings=bounded(warnings))


@dataclass(slots=True)
class _Block:
    """The figures of one workload, whose name stands on ``line``: the cells of each build by their columns.

    A cell is a text and its line. ``has_parts`` says whether the absolute figures stand under a line that
    calls them so; then relative ones follow, ``ratios`` lines of them, or None before they begin. Without
    builds there is one, called ``""``.
    """

    name: str
    line: int
    builds: dict[str, dict[str, tuple[str, int]]] = field(default_factory=dict)
    rows: int = 0
    has_parts: bool = False
    ratios: int | None = None

    def add(self, head: Sequence[str], words: Sequence[str], line: int) -> None:
        """Add a line of figures. Raise FormatError where it does not fit to its head, or was there before."""
        if len(words) != len(head):
            raise FormatError(f"{counted(len(words), 'cell')} under {counted(len(head), 'column')}", line)
        self.rows += 1
        cells = {name: (word, line) for name, word in zip(head, words, strict=True)}
        build, _ = cells.pop(_BUILD, ("", line))
        if "samp" in cells:
            tool = "iostat" if set(_TOOLS["vmstat"]).isdisjoint(head) else "vmstat"
            cells[f"{tool}_samples"] = cells.pop("samp")
        others = self.builds.setdefault(build, {})
        if again := next((name for name in cells if name in others), None):
            raise FormatError(f"a second {again}; the first stands on line {others[again][1]}", line)
        others.update(cells)


def _is_head(words: Sequence[str]) -> bool:
    return len(words) > 1 and _HEADS.issuperset(words) and not _COSTS.keys().isdisjoint(words)


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


def _run(block: _Block, build: str, cells: Mapping[str, tuple[str, int]]) -> ParsedRun:
    named = _FILE_NAME.fullmatch(block.name)
    figures = {
        head: Figure.of(number(text, line), text, line)
        for head, (text, line) in cells.items()
        if not is_missing(text)
    }
    readings = [
        Reading(metric, _most_exact(head, figures), unit, LOWER)
        for head, (metric, unit, _, _) in _COSTS.items()
        if head in figures
    ]
    readings += [Reading("ops_per_s", figures[_RATE].value, "1/s", HIGHER)] if _RATE in figures else []
    if not readings:
        raise FormatError("the line holds no figure", next(iter(cells.values()))[1])
    product, version = product_and_version(build) if build else (None, None)
    return ParsedRun(
        tuple(readings),
        key="/".join(part for part in (block.name, build) if part),
        column=build or None,
        product=product,
        version=version,
        workload=_workload(block.name),
        threads=int(named["threads"]) if named and named["threads"] else None,
        options={head: one.value for head, one in figures.items() if head not in {*_COSTS, _RATE}},
    )


def _workload(name: str) -> str | None:
    """Return ``point-query.warm range=100`` of ``sb.met.point-query.warm.range100.pk1.dop1``."""
    named = _FILE_NAME.fullmatch(name)
    return f"{named['phase'] or ''}{named['test']} range={named['range']}" if named else name or None


def _most_exact(head: str, figures: Mapping[str, Figure]) -> float:
    """Return a cost as printed, or computed anew where that says the same with more digits."""
    cost, (_, _, source, factor) = figures[head], _COSTS[head]
    if source not in figures or _RATE not in figures or not figures[_RATE].value:
        return cost.value
    operations = figures[_RATE].value
    computed = figures[source].value * factor / operations
    rounding = figures[source].rounding * factor / operations
    is_same = abs(computed - cost.value) <= cost.rounding + rounding
    return computed if is_same and rounding < cost.rounding else cost.value


def _warnings(block: _Block, runs: Sequence[ParsedRun]) -> Iterator[str]:
    where = f"line {block.line}: {block.name[:80]}"
    if block.name and not runs:
        yield f"{where} has no figures; left out"
    elif block.has_parts and (block.ratios is None or block.ratios < block.rows - 1):
        yield f"{where} breaks off; builds and workloads may be missing"
    if runs and (_workload(block.name) or "").startswith("scan"):
        yield f"{where} counts rows, in thousands or millions, as operations"
    for run in runs:
        metrics = {reading.metric for reading in run.readings}
        for tool, heads in _TOOLS.items():
            if missing := [head for head in heads if _COSTS[head][0] not in metrics]:
                of = f" of {run.key}" if run.key else ""
                yield f"no {', '.join(missing)}{of}: figures of {tool} are missing"
