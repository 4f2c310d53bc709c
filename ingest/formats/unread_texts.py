"""Texts that are not read, by marks in their lines, with the sentence that says what to send instead."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ingest.formats.report import FormatError, NearMiss

EXAMPLE_HEAD = "'workload,threads,tps,latency_p95'"
"""The head of a table that is read."""


@dataclass(frozen=True, eq=False)
class IncompleteText:
    """A text that resembles a format and is none of it.

    Lines with ``marks`` tell, and at least ``fewest`` of them. ``sentence`` finishes "the file is nearest to
    sysbench, but ...". ``weight`` is how much one of its lines counts against those of other formats.
    """

    format: str
    marks: str
    sentence: str
    fewest: int = 1
    weight: int = 1

    @cached_property
    def _marks(self) -> re.Pattern[str]:
        return re.compile(self.marks)

    def near_miss(self, lines: Sequence[str]) -> NearMiss | None:
        """Return the near miss of lines with the marks, None where there are too few."""
        numbers = [number for number, line in enumerate(lines, start=1) if self._marks.search(line)]
        if len(numbers) < self.fewest:
            return None
        return NearMiss(self.sentence, numbers[0], len(numbers) * self.weight)


_LINES_OF_SYSBENCH = (
    r"\bsysbench [01]\.[0-9]|\b(?:SQL|General) [sS]tatistics\b|\bThreads fairness:"
    r"|\b(?:transactions|queries): +[0-9]+ +\([0-9.]+ per sec\.\)|\bevents per second: +[0-9]"
)
INCOMPLETE_TEXTS = (
    IncompleteText(
        "benchbase_json",
        r"^(?:Time \(seconds\),.*Throughput \(requests/second\),"
        r"|Transaction Type Index,.*Latency \(microseconds\))",
        "these are intervals or requests of one run; send its summary.json",
        weight=2,
    ),
    IncompleteText(
        "dtrace",
        r"^dtrace: |^CPU +ID +FUNCTION:NAME",
        "no distribution is in it; let the script print quantize() of the times, or each time as a number",
    ),
    IncompleteText(
        "go_tpc",
        r"\|\s*\[(?:Current|Summary)\]\s*\||\"Prefix\": ?\"\[(?:Current|Summary)\]",
        "its output is a table or JSON; run it without '--output'",
        weight=2,
    ),
    IncompleteText(
        "go_ycsb",
        r"\|\s*OPERATION\s*\|\s*TAKES.?S|\"Operation\": ?\"(?:READ|UPDATE|INSERT|TOTAL)\"",
        "its output is a table or JSON; run it with '-p outputstyle=plain'",
    ),
    IncompleteText(
        "hammerdb",
        r"(?i)\bNOPM\b|\bhammerdb",
        "a line such as 'TEST RESULT : System achieved 124500 NOPM from 287600 PostgreSQL TPM' is missing; "
        "send the log of HammerDB, or what its command line printed",
    ),
    IncompleteText(
        "insert_benchmark",
        r"^[\s|]*(?:(?:NA|-|[0-9.]{1,20})[\s,|]+){17,20}[^\s,|]*[A-Za-z][^\s,|]*[\s|]*$",
        "no line names the columns; write 'ips qps rps ... tag' above the figures",
    ),
    IncompleteText(
        "jmh_text",
        r"^(?!\s*[{\[\"]).*(?:\bJMH\b|\borg\.openjdk\.jmh\b|\b(?:thrpt|avgt)\b|\b[nuµm]?s/op\b)",
        "no line is the head of its table ('Benchmark  Mode  Cnt  Score  Error  Units') or names the "
        "benchmark of a result; send that table, all that JMH printed, or its JSON (-rf json): pictures, "
        "ratios and numbers without a benchmark are not read",
    ),
    IncompleteText(
        "mysqlslap",
        r"\b(?:mysqlslap|mariadb-slap)\b|(?:Minimum|Maximum) number of seconds to run all queries"
        r"|Number of clients running queries|Average number of queries per client",
        "the line 'Average number of seconds to run all queries: ... seconds' is missing; send the whole "
        "block 'Benchmark', or a line of --csv",
    ),
    IncompleteText(
        "pgbench",
        # Client, transaction, time, script, seconds since 1970, microseconds; or seconds, transactions, sums.
        r"^(?:[0-9]{1,6} [0-9]{1,12} [0-9]{1,12} [0-9]{1,4} )?[0-9]{10} [0-9]{1,12}(?: [0-9]{1,18})*\s*$",
        "this is its log of single transactions or of intervals (-l), which has no total; send what pgbench "
        "printed at its end",
    ),
    IncompleteText(
        "pgbench",
        r"\bpgbench\b|\b(?:latency (?:average|stddev)|tps|initial connection time) = [0-9]"
        r"|\bnumber of (?:clients|transactions \w+ processed): [0-9]",
        "the end of its report is missing, a line such as 'tps = 850.1 (without initial connection time)'; "
        "send all that pgbench printed",
    ),
    IncompleteText(
        "run_lines",
        r'^\s*\{\s*"[^{]*\}\s*$',
        "each line is an object of JSON; runs have a time in 'time' or 'started_at' in each, and a rate in "
        "'tps' or 'qps'",
        fewest=2,
    ),
    IncompleteText(
        "sysbench",
        rf'^\s*[{{\["].*(?:{_LINES_OF_SYSBENCH})',
        "its output stands within JSON; send what sysbench itself printed as a file of its own (Ansible "
        "and others keep it under 'stdout')",
    ),
    IncompleteText(
        "sysbench",
        rf"{_LINES_OF_SYSBENCH}|^ +(?:approx\. +)?[0-9]{{1,3}}(?:th|st|nd|rd)? percentile: +[0-9]"
        r"|^ +total time: +[0-9.]+s",
        "its report is missing, or only parts of it are there: no 'total number of events:' under "
        "'General statistics:'; send all that sysbench printed, from its banner on",
    ),
    # A call of it says less than anything else, also less than the lack of a table.
    IncompleteText(
        "sysbench",
        r"^(?>.*?\bsysbench\s)(?>.*?--).*\s(?:run|prepare)\b",
        "it only calls sysbench; send what the commands printed, from the banner of sysbench on",
        weight=0,
    ),
    IncompleteText(
        "tpcc_mysql",
        r"[0-9] TpmC\b|\bTpmC: *[0-9]",
        "its rates stand alone; send the whole output of tpcc_start, or a table 'workload,threads,nopm'",
    ),
    IncompleteText(
        "ycsb",
        r"\b(?:site|com\.yahoo)\.ycsb\b|\bworkloads/workload[a-f]\b|(?:Average|Percentile)Latency\([um]s\)"
        r"|^\[(?:READ|UPDATE|INSERT|SCAN|OVERALL)\]",
        "its report is missing, which begins with '[OVERALL], RunTime(ms), ...'; send what the client "
        "printed, or the file of the property 'exportfile'",
    ),
)

_FOREIGN_TOOLS: Mapping[str, str] = {
    "k6": r"^ *(?:[█■] TOTAL RESULTS|(?:checks_total|http_req_duration|iteration_duration)\.{3,}:)"
    r"|^running \([0-9hms.]+\), [0-9]+/[0-9]+ VUs, ",
    "fio": r"^ *fio-[0-9]+\.[0-9]+|^[\w -]{1,60}: \(g=[0-9]+\): rw="
    r"|^ *(?:READ|WRITE): bw=[0-9.]+[KMGT]i?B/s|^ +(?:read|write) ?: IOPS=",
    "db_bench of RocksDB or LevelDB": r"^ops_sec\tmb_sec\t|^[\w.]+ +: +[0-9.]+ micros/op\b",
    "ApacheBench (ab)": r"^This is ApacheBench, Version|^Concurrency Level: +[0-9]+$"
    r"|^Requests per second: +[0-9.]+ \[#/sec\]",
    "ghz": r"^ +Requests/sec:\t[0-9.]+$|^Response time histogram:$",
    "JMeter": r"^timeStamp,elapsed,label,responseCode|^summary [+=] +[0-9]+ in ",
    "Locust": r"^Type,Name,(?:Request Count|# requests),|^\"Type\",\"Name\",\"# requests\"",
    "Gatling": r"^(?:Simulation [\w.]+ completed in|> request count +[0-9]+ \(OK=)",
    "Go's testing package, and not as it prints it": r"\ballocs/op\b",
    "benchstat": r"^name +old [\w/]+ +new [\w/]+ +delta$|│[^│\n]* vs base +│$",
    "Google Benchmark": r"^Benchmark +Time +CPU +Iterations",
    "pytest-benchmark": r"^-+ benchmark(?: .*)?: [0-9]+ tests -+$",
    "Criterion.rs": r"^(?:\S.{0,200})? time: +\[[0-9.]+ [nuµm]?s [0-9.]+ [nuµm]?s [0-9.]+ [nuµm]?s\]$"
    r"|\bcriterion-table\b",
    "BenchmarkDotNet": r"^(?:// )?\* ?Summary ?\*$|^BenchmarkDotNet[ =]v?[0-9]"
    r"|^\|? *Method\b.{0,200}\| *Mean\b.{0,200}\| *(?:StdDev|Gen ?0|Allocated)\b",
    "Criterium": r"^Evaluation count : [0-9]+ in [0-9]+ samples of ",
    "hyperfine": r"^ +Time \(mean ± σ\): ",
    "cassandra-stress": r"^type, +total ops, +op/s, |^Op rate +: +[0-9,]+ op/s",
    "perf stat": r"^ Performance counter stats for ",
    "CockroachDB's workload tool": r"^_elapsed_+errors_+ops",
    "BenchmarkSQL": r"\bTerm-00, +Measured tpm",
    "TSBS": r"^loaded [0-9]+ (?:metrics|rows) in [0-9.]+sec with ",
    "swingbench": r"^Swing[bB]ench\b",
    "iperf": r"^\[ *ID\] Interval +Transfer +(?:Bitrate|Bandwidth)",
    "UnixBench": r"^System Benchmarks Index ",
    "dd": r"^[0-9]+ bytes .*copied, [0-9.e-]+ s(?:ec)?, [0-9.]+ [kMGT]?i?B/s$",
    "iozone": r"^\tIozone: Performance Test of File I/O",
    "stress-ng": r"^stress-ng: (?:info|metrc):",
}
_READ_AS_JSON: Mapping[str, str] = {
    "k6": "--summary-export=summary.json",
    "fio": "--output-format=json",
    "Google Benchmark": "--benchmark_format=json",
    "pytest-benchmark": "--benchmark-json=results.json",
    "hyperfine": "--export-json results.json",
}
"""Tools whose JSON is read, with the option that writes it."""
_TOOLS = {tool: re.compile(marks, re.MULTILINE) for tool, marks in _FOREIGN_TOOLS.items()}


def refusal_of_foreign_tool(head: str) -> FormatError | None:
    """Return the error for the output of a tool that is not read, None where no such tool shows itself.

    Where several do, the first in the text counts.
    """
    found = [(match.start(), tool) for tool, marks in _TOOLS.items() if (match := marks.search(head))]
    if not found:
        return None
    start, tool = min(found)
    line = head.count("\n", 0, start) + 1
    if json_option := _READ_AS_JSON.get(tool):
        return FormatError(
            f"this is what {tool} prints for people; send its JSON, which '{json_option}' writes", line
        )
    return FormatError(
        f"this looks like the output of {tool}, which benchdash does not read; write its figures as a "
        f"table, a line each, under a first line such as {EXAMPLE_HEAD}",
        line,
    )
