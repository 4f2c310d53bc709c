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
from ingest.formats.cells import is_missing, number, whole_number
from ingest.formats.outputs import bounded, missing_line_end
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
    rows = list(_rows(source.lines))
    has_several = len({report.number for report, _, _ in rows}) > 1
    runs: dict[str, ParsedRun] = {}
    warnings: list[str] = []
    for report, line, cells in rows:
        run, notes = _run(report, cells, line)
        if run.key in runs:
            raise FormatError(f"{run.key[:80]!r} is measured a second time", line)
        # A connection in two reports of a document was set up in two ways.
        name = f"experiment {report.code or report.number}" if has_several else None
        runs[run.key] = replace(run, configuration=name)
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


def _rows(lines: Sequence[str]) -> Iterator[tuple[_Report, int, dict[str, str]]]:
    """Yield the rows of tables of phases that have a rate. Raise FormatError where one does not fit."""
    report = _Report(1)
    section, head = "", list[str]()
    for line_number, line in enumerate(lines, start=1):
        text = line.strip()
        if text.startswith("|"):
            cells = [cell.strip() for cell in text.strip("|").split("|")]
            is_of_phase = head[:1] == [_NAME] and _POD not in head and not _RATES.keys().isdisjoint(head)
            if section in _SECTIONS and is_of_phase and not set(text) <= _RULE:
                if len(cells) != len(head):
                    raise FormatError(f"{len(cells)} cells under {len(head)} columns", line_number)
                yield report, line_number, dict(zip(head, cells, strict=True))
            head = head or cells
            continue
        head = []
        if _SUMMARY.fullmatch(text):
            report = _Report(report.number + bool(report.scale or report.images))
            section = ""
        elif (heading := _HEADING.fullmatch(text)) and len(heading[1]) <= 3:
            section = heading[2].casefold()
        elif scale := _SCALE.fullmatch(text):
            # ``Benchbase Workload tpcc`` is tpcc.
            title = scale[1].removeprefix("Benchbase Workload ")
            report.workload = "TPROC-C" if title.startswith("HammerDB") else title
            report.scale = scale[2]
        elif code := _CODE.fullmatch(text):
            report.code = code[1]
        elif letter := _WORKLOAD.fullmatch(text):
            report.workload = f"YCSB {letter[1].upper()}"
        elif image := _IMAGE.fullmatch(text):
            report.images[image[1]] = image[2]


def _run(report: _Report, cells: Mapping[str, str], line: int) -> tuple[ParsedRun, list[str]]:
    name = cells[_NAME]
    numbers = {
        column: number(cells[column], line) for column in (*_ERRORS, *_OPTIONS, *_SECONDS) if column in cells
    }
    readings = [
        reading(metric, number(cells[column], line))
        for column, metric in _RATES.items()
        if column in cells and not is_missing(cells[column])
    ]
    if not readings or not readings[0].value:
        raise FormatError(f"{name[:60]!r} has no rate", line)
    notes = [
        f"line {line}: {cells[column][:40]} errors or exceptions of {name[:60]}"
        for column in _ERRORS
        if numbers.get(column)
    ]
    pods = numbers.get(_PODS, 1)
    if pods > 1:
        notes.append(f"line {line}: response times of {pods:g} pods together are no percentiles; left out")
    else:
        readings += _latencies(cells, line)
    options: dict[str, Fact] = {column: int(numbers[column]) for column in _OPTIONS if column in numbers}
    if report.scale:
        options["scale"] = int(report.scale)
    threads = next((cells[column] for column in _THREADS if column in cells), "")
    product = _PRODUCT.fullmatch(name)
    run = ParsedRun(
        tuple(readings),
        key=f"{report.number}/{name}/{cells.get('experiment_run', '1')}",
        column=name,
        product=product[1] if product else None,
        version=_version(report, name),
        workload=report.workload or None,
        threads=None if is_missing(threads) else whole_number(threads, "the number of threads", line),
        duration_s=next(
            (numbers[column] / factor for column, factor in _SECONDS.items() if column in numbers), None
        ),
        options=options,
    )
    return run, notes


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


def _version(report: _Report, name: str) -> str | None:
    """Return the version of the image of a connection, or the one that all connections have."""
    versions = {version for connection, version in report.images.items() if connection.startswith(name)}
    versions = versions or set(report.images.values())
    return versions.pop() if len(versions) == 1 else None
