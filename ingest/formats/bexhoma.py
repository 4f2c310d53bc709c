"""Bexhoma: its report of YCSB, BenchBase and HammerDB on Kubernetes, in Markdown or at the end of its log.

    ### Execution
    #### Per Phase
    | DBMS        | experiment_run | threads | pod_count | [OVERALL].Throughput(ops/sec) | ...
    | Redis-1-1-1 |              1 |     128 |         1 |                      65499.04 | ...

Beside the results of a phase stand those of its single pods, of loading and of monitoring.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchdash.results.readings import LOWER, Reading, reading
from ingest.formats.cells import is_missing, number
from ingest.formats.outputs import MAX_THREADS, bounded, missing_line_end
from ingest.formats.report import Fact, FormatError, ParsedReport, ParsedRun
from ingest.formats.source import Source

_RECOGNISED = re.compile(rb"Experiment uses bexhoma version [0-9]", re.IGNORECASE)
_SUMMARY = re.compile(r"#+ Show Summary")
_HEADING = re.compile(r"(#+) (\S.*)")
_SECTIONS = frozenset({"execution", "benchmarking"})
_RULE = frozenset("|-: ")
# A table that has this tells of single pods.
_POD = "child"
_NAME, _PODS = "DBMS", "pod_count"
_THREADS = ("threads", "terminals", "vusers")
_RATES = {
    "[OVERALL].Throughput(ops/sec)": "ops_per_s",
    "Throughput (requests/second)": "ops_per_s",
    "Goodput (requests/second)": "tps",
    "NOPM": "nopm",
    "TPM": "tpm",
}
# By the metric, how much smaller its unit is, and the unit that is printed.
_LATENCIES: dict[str, tuple[str, float, str]] = {
    "Latency Distribution.95th Percentile Latency (microseconds)": ("latency_p95", 1e3, "us"),
    "Latency Distribution.Average Latency (microseconds)": ("latency_avg", 1e3, "us"),
    "P95 [ms]": ("latency_p95", 1, ""),
    "P99 [ms]": ("latency_p99", 1, ""),
}
_OF_OPERATION = re.compile(r"\[([A-Z][A-Z-]{1,30})\]\.([0-9]{1,2})thPercentileLatency\(us\)")
_SECONDS = {"time": 1.0, "[OVERALL].RunTime(ms)": 1000.0}
_ERRORS = ("num_errors", "exceptions", "errors")
_OPTIONS = ("target", _PODS)
_CODE = re.compile(r"\* Code: ([0-9]{1,20})")
_ALIGNED = re.compile(r"experiment_run +(?:vusers|terminals|threads) .*")
_SCALE = re.compile(r"(YCSB|Benchbase Workload \w+|HammerDB Workload) SF=([0-9]{1,9})\b.*")
_WORKLOAD = re.compile(r"\* Workload is '([A-Za-z])'\.?.*")
_IMAGE = re.compile(r"(?:\* )?(\S{1,100}) uses docker image \S{1,200}?:v?([0-9][\w.+-]{0,60})")
_PRODUCT = re.compile(r"([A-Za-z][A-Za-z0-9]{0,40}?)(?:-[A-Z]{2,8})?(?:-[0-9]+)+")


def recognise(head: bytes) -> bool:
    return _RECOGNISED.search(head) is not None


def parse(source: Source) -> ParsedReport:
    """Return a run for each line of the tables of a phase; keys begin with the number of its report.

    Raise FormatError where no such table has rates, and for cells that cannot be understood.
    """
    source.limits.check("cells", sum(line.count("|") for line in source.lines))
    runs: dict[str, ParsedRun] = {}
    warnings: list[str] = []
    tables = list(_tables(source.lines))
    has_several = len({table.report.number for table in tables}) > 1
    for table in tables:
        for line, cells in table.rows:
            key = f"{table.report.number}/{cells[_NAME]}/{cells.get('experiment_run', '1')}"
            if key in runs:
                raise FormatError(f"{key[:80]!r} is measured a second time", line)
            run, notes = _run(table, cells, line, key)
            # A connection in two reports of a document was set up in two ways.
            name = f"experiment {table.report.code or table.report.number}" if has_several else None
            runs[key] = replace(run, configuration=name)
            warnings += notes
    if not runs:
        raise FormatError(
            "no table under 'Execution' has a rate of YCSB, BenchBase or HammerDB; other tools that Bexhoma "
            "starts are not read",
            max(len(source.lines), 1),
        )
    if has_several:
        warnings.append("each report is taken for a configuration, called after its code")
    warnings += [
        f"line {line_number}: a table without bars; left out"
        for line_number, text in enumerate(source.lines, start=1)
        if _ALIGNED.fullmatch(text.strip())
    ]
    warnings.append("what its tables say of loading, of single pods and of monitoring was left out")
    warnings += missing_line_end(source)
    return ParsedReport(tuple(runs.values()), facts={"tool": "Bexhoma"}, warnings=bounded(warnings))


@dataclass(slots=True)
class _Report:
    """The words of a report about all of its runs. ``images`` are versions by the names of connections."""

    number: int
    workload: str = ""
    scale: str = ""
    code: str = ""
    images: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Table:
    report: _Report
    rows: tuple[tuple[int, dict[str, str]], ...]


def _tables(lines: Sequence[str]) -> Iterator[_Table]:
    """Yield the tables of phases that have a rate. Raise FormatError for rows that do not fit their heads."""
    report = _Report(1)
    section, head = "", list[str]()
    rows: list[tuple[int, dict[str, str]]] = []
    for line_number, line in enumerate([*lines, ""], start=1):
        text = line.strip()
        if text.startswith("|"):
            cells = [cell.strip() for cell in text.strip("|").split("|")]
            if not head:
                head = cells
            elif section in _SECTIONS and _is_of_phase(head) and not set(text) <= _RULE:
                rows.append((line_number, _row(head, cells, line_number)))
            continue
        if rows:
            yield _Table(report, tuple(rows))
        rows, head = [], []
        if _SUMMARY.fullmatch(text):
            report = _Report(report.number + bool(report.scale or report.images))
            section = ""
        elif (heading := _HEADING.fullmatch(text)) and len(heading[1]) <= 3:
            section = heading[2].casefold()
        elif scale := _SCALE.fullmatch(text):
            report.workload = _tool_of(scale[1])
            report.scale = scale[2]
        elif code := _CODE.fullmatch(text):
            report.code = code[1]
        elif letter := _WORKLOAD.fullmatch(text):
            report.workload = f"YCSB {letter[1].upper()}"
        elif image := _IMAGE.fullmatch(text):
            report.images[image[1]] = image[2]


def _tool_of(title: str) -> str:
    """Return the workload of a report's title: ``tpcc`` of ``Benchbase Workload tpcc``."""
    if title.startswith("Benchbase"):
        return title.rpartition(" ")[2]
    return "TPROC-C" if title.startswith("HammerDB") else title


def _is_of_phase(head: Sequence[str]) -> bool:
    return head[0] == _NAME and _POD not in head and not _RATES.keys().isdisjoint(head)


def _row(head: Sequence[str], cells: Sequence[str], line: int) -> dict[str, str]:
    if len(cells) != len(head):
        raise FormatError(f"{len(cells)} cells under {len(head)} columns", line)
    return dict(zip(head, cells, strict=True))


def _run(table: _Table, cells: Mapping[str, str], line: int, key: str) -> tuple[ParsedRun, list[str]]:
    name = cells[_NAME]
    pods = number(cells[_PODS], line) if _PODS in cells else 1.0
    readings = list(_rates(cells, line))
    if not readings or not readings[0].value:
        raise FormatError(f"{name[:60]!r} has no rate", line)
    if pods <= 1:
        readings += _latencies(cells, line)
    notes = [
        f"line {line}: {cells[column][:40]} errors or exceptions of {name[:60]}"
        for column in _ERRORS
        if column in cells and number(cells[column], line)
    ]
    if pods > 1:
        notes.append(f"line {line}: response times of {pods:g} pods together are no percentiles; left out")
    options: dict[str, Fact] = {
        column: int(number(cells[column], line)) for column in _OPTIONS if column in cells
    }
    if table.report.scale:
        options["scale"] = int(table.report.scale)
    seconds = next(
        (number(cells[column], line) / factor for column, factor in _SECONDS.items() if column in cells), None
    )
    product = _PRODUCT.fullmatch(name)
    run = ParsedRun(
        tuple(readings),
        key=key,
        column=name,
        product=product[1] if product else None,
        version=_version(table.report, name),
        workload=table.report.workload or None,
        threads=_threads(cells, line),
        duration_s=seconds,
        options=options,
    )
    return run, notes


def _rates(cells: Mapping[str, str], line: int) -> Iterator[Reading]:
    for column, metric in _RATES.items():
        if column in cells and not is_missing(cells[column]):
            yield reading(metric, number(cells[column], line))


def _latencies(cells: Mapping[str, str], line: int) -> Iterator[Reading]:
    """Yield response times in ms; -1 stands for none."""
    for column, cell in cells.items():
        if is_missing(cell) or cell.startswith("-1"):
            continue
        if column in _LATENCIES:
            metric, factor, printed = _LATENCIES[column]
            yield reading(metric, number(cell, line) / factor)._replace(printed_unit=printed)
        elif of := _OF_OPERATION.fullmatch(column):
            metric = f"{of[1].lower()}.latency_p{int(of[2])}"
            yield Reading(metric, number(cell, line) / 1000, "ms", LOWER, printed_unit="us")


def _threads(cells: Mapping[str, str], line: int) -> int | None:
    found = next((cells[column] for column in _THREADS if column in cells), "")
    if is_missing(found):
        return None
    threads = number(found, line)
    if not threads.is_integer() or not 1 <= threads <= MAX_THREADS:
        raise FormatError(f"{found[:40]} is not a number of threads", line)
    return int(threads)


def _version(report: _Report, name: str) -> str | None:
    """Return the version of the image of a connection, or the one that all connections have."""
    versions = {version for connection, version in report.images.items() if connection.startswith(name)}
    versions = versions or set(report.images.values())
    return versions.pop() if len(versions) == 1 else None
