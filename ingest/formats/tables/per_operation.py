"""The cost of an operation: figures of vmstat and iostat over the rate of operations, as scripts print them.

Either of one run, as two small tables without a name, or of many runs: blocks with the name of a workload
and a row for each build (``dbms``), and behind it the same once more, relative to the first row.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from benchdash.results.readings import HIGHER, LOWER, Reading
from ingest.formats.cells import is_missing, number
from ingest.formats.outputs import PrintedNumber, bounded, missing_line_end
from ingest.formats.report import FormatError, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.formats.tables.sections import BuildSection, sections, with_build

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


def recognise(head: bytes) -> bool:
    if not any(name.encode() in head for name in (_TITLE, *_COSTS)):
        return False
    lines = head.decode("utf-8", "replace").splitlines()
    return any(line.strip() == _TITLE or _is_head(line.split()) for line in lines)


def parse(source: Source) -> ParsedReport:
    """Return a run for each build of a section, or the one run of two tables without a name.

    Raise FormatError with the line that cannot be understood.
    """
    source.limits.check("cells", sum(len(line.split()) for line in source.lines))
    runs: dict[str, ParsedRun] = {}
    warnings: list[str] = []
    lines = ["" if line.strip() == _TITLE else line for line in source.lines]
    for section in sections(lines, _is_head):
        found = [_run(section, build, cells) for build, cells in _builds(section).items()]
        warnings += _warnings(section, found)
        for run in found:
            if run.key in runs:
                raise FormatError(f"{run.key[:80]!r} is measured a second time", section.line)
            runs[run.key] = run
    if not runs:
        raise FormatError("no line of figures stands under the names of columns", line=1)
    warnings += missing_line_end(source)
    return ParsedReport(tuple(runs.values()), warnings=bounded(warnings))


def _is_head(words: Sequence[str]) -> bool:
    return len(words) > 1 and _HEADS.issuperset(words) and not _COSTS.keys().isdisjoint(words)


def _builds(section: BuildSection) -> Mapping[str, dict[str, PrintedNumber | None]]:
    """Return the figures of each build by their columns; a build without a name is called ``""``.

    Raise FormatError for a figure that cannot be understood, or was there before.
    """
    builds: defaultdict[str, dict[str, PrintedNumber | None]] = defaultdict(dict)
    for line, cells in section.rows:
        tool = "iostat" if set(_TOOLS["vmstat"]).isdisjoint(cells) else "vmstat"
        figures = builds[cells.get(_BUILD, "")]
        for name, cell in sorted(cells.items(), key=lambda named: named[0] == "samp"):
            column = f"{tool}_samples" if name == "samp" else name
            if column in figures:
                raise FormatError(f"a second {column}", line)
            if name != _BUILD:
                figures[column] = (
                    None if is_missing(cell) else PrintedNumber.of(number(cell, line), cell, line)
                )
    return builds


def _run(section: BuildSection, build: str, cells: Mapping[str, PrintedNumber | None]) -> ParsedRun:
    named = _FILE_NAME.fullmatch(section.title)
    figures = {head: figure for head, figure in cells.items() if figure}
    readings = [
        Reading(metric, _most_exact(head, figures), unit, LOWER)
        for head, (metric, unit, _, _) in _COSTS.items()
        if head in figures
    ]
    readings += [Reading("ops_per_s", figures[_RATE].value, "1/s", HIGHER)] if _RATE in figures else []
    if not readings:
        raise FormatError("the line holds no figure", section.rows[0][0])
    run = ParsedRun(
        tuple(readings),
        key="/".join(part for part in (section.title, build) if part),
        workload=_workload(section.title),
        threads=int(named["threads"]) if named and named["threads"] else None,
        options={head: one.value for head, one in figures.items() if head not in {*_COSTS, _RATE}},
    )
    return with_build(run, build)


def _workload(name: str) -> str | None:
    """Return ``point-query.warm range=100`` of ``sb.met.point-query.warm.range100.pk1.dop1``."""
    named = _FILE_NAME.fullmatch(name)
    return f"{named['phase'] or ''}{named['test']} range={named['range']}" if named else name or None


def _most_exact(head: str, figures: Mapping[str, PrintedNumber]) -> float:
    """Return a cost as printed, or computed anew where that says the same with more digits."""
    cost, (_, _, source, factor) = figures[head], _COSTS[head]
    if source not in figures or _RATE not in figures or not figures[_RATE].value:
        return cost.value
    operations = figures[_RATE].value
    computed = figures[source].value * factor / operations
    rounding = figures[source].rounding * factor / operations
    is_same = abs(computed - cost.value) <= cost.rounding + rounding
    return computed if is_same and rounding < cost.rounding else cost.value


def _warnings(section: BuildSection, runs: Sequence[ParsedRun]) -> Iterator[str]:
    where = f"line {section.line}: {section.title[:80]}"
    if section.title and not runs:
        yield f"{where} has no figures; left out"
    elif section.has_parts and len(section.ratios) < len(section.rows) - 1:
        yield f"{where} breaks off; builds and workloads may be missing"
    if runs and (_workload(section.title) or "").startswith("scan"):
        yield f"{where} counts rows, in thousands or millions, as operations"
    for run in runs:
        metrics = {reading.metric for reading in run.readings}
        for tool, heads in _TOOLS.items():
            if missing := [head for head in heads if _COSTS[head][0] not in metrics]:
                of = f" of {run.key}" if run.key else ""
                yield f"no {', '.join(missing)}{of}: figures of {tool} are missing"
