"""BenchBase's ``summary.json``, OLTPBench before it: rates of a run, and how its times are distributed."""

import re
from collections.abc import Iterator

from ingest.formats.json_spec import JsonSpec
from ingest.formats.outputs import MAX_THREADS
from ingest.formats.run_values import RunValues
from ingest.formats.tools.benchbase_log import complete_rates

_TIMES = "Latency Distribution"
_STATISTICS = {"min": "Minimum", "p50": "Median", "avg": "Average", "max": "Maximum"} | {
    f"p{percentile}": f"{percentile}th Percentile" for percentile in (25, 75, 90, 95, 99)
}

_NUMBERS = r"([0-9]++(?:\.[0-9]++)++)"
# A type such as MYSQL or POSTGRES is that of the driver, which servers of other products speak to as well.
_SAID = (
    ("MariaDB", re.compile(rf"(?:5\.5\.5-)?{_NUMBERS}-MariaDB\b.*")),
    ("TiDB", re.compile(rf".*-TiDB-v{_NUMBERS}.*")),
    ("YugabyteDB", re.compile(rf"PostgreSQL .*-YB-{_NUMBERS}.*")),
    ("CockroachDB", re.compile(rf"CockroachDB .*\bv{_NUMBERS}.*")),
    ("PostgreSQL", re.compile(r"PostgreSQL ([0-9]+(?:\.[0-9]+)*(?:(?:beta|rc|devel)[0-9]*)?)(?![-.\w]).*")),
    (None, re.compile(r"([0-9]+(?:\.[0-9]+)+(?:[-+~][\w.+~-]*)?)(?: .*)?")),
)


def server_of(text: str) -> tuple[str | None, str | None]:
    """Return ``PostgreSQL`` and ``16.4`` of ``PostgreSQL 16.4 (Debian ...)``; None for what is not said."""
    for product, pattern in _SAID:
        if said := pattern.fullmatch(text.strip()):
            return product, said[1]
    return None, None


def _finish(run: RunValues) -> Iterator[str]:
    run.texts["workload"] = str(run.options.pop("benchmark", ""))
    product, version = server_of(str(run.options.get("dbms_version", "")))
    if version:
        del run.options["dbms_version"]
        run.texts["version"] = version
    if product:
        run.texts["product"] = product
    run.options = {name: value for name, value in run.options.items() if value not in ("", "null")}
    terminals = run.options.pop("terminals", None)
    if isinstance(terminals, int) and 1 <= terminals <= MAX_THREADS:
        run.threads = terminals
    elif terminals is not None:
        yield f"terminals are {terminals!r}, which is no number; the sender says the threads"
    ended = run.counts.get("ended")
    if run.started_at is None and ended:
        if not run.duration_s:
            yield "when the run began is not said; the time at which it ended stands for it"
        run.take("started_at", f"{ended - 1000 * (run.duration_s or 0):.0f}", run.last_line, unit="ms")
    if not any(metric.startswith("latency_") for metric in run.readings):
        yield f"no '{_TIMES}': only the rates are read"
    complete_rates(run)


FORMAT = JsonSpec(
    tool="BenchBase",
    keys=(rf"Throughput \(requests/second\)|{_TIMES}",),
    failed=("Final State", "ERROR"),
    values={
        "option.benchmark": "Benchmark Type",
        "option.dbms_version": "DBMS Version",
        "option.dbms_type": "DBMS Type",
        "option.terminals": "terminals",
        "option.scalefactor": "scalefactor",
        "option.isolation": "isolation",
        "started_at:ms": "Start timestamp (milliseconds)",
        "count.ended": "Current Timestamp (milliseconds)",
        "duration_s:ns": "Elapsed Time (nanoseconds)",
        "ops_per_s": "Throughput (requests/second)",
        "tps": "Goodput (requests/second)",
        "total_events": "Measured Requests",
    }
    | {
        f"latency_{name}:us": f"{_TIMES}/{statistic} Latency (microseconds)"
        for name, statistic in _STATISTICS.items()
    },
    required={"ops_per_s": "no 'Throughput (requests/second)'"},
    finish=_finish,
)
