"""Tools whose output benchdash does not read, so that a refusal can name them."""

import re
from collections.abc import Mapping

from ingest.formats.report import FormatError

EXAMPLE_HEAD = "'workload,threads,tps,latency_p95'"
"""The head of a table that is read."""

# What only this tool prints, on a line of its own or as a part of one.
_MARKS: Mapping[str, str] = {
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
_TOOLS = {tool: re.compile(marks, re.MULTILINE) for tool, marks in _MARKS.items()}


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
