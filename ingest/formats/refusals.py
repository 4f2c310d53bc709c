"""Puts into words why no format recognises a file: what it is nearest to, what is missing, what to do."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ingest.budget import check_budget
from ingest.formats.report import FormatError, NearMiss
from ingest.formats.tables import qps_table

_EXAMPLE_HEAD = "'workload,threads,tps,latency_p95'"
_JSON_SHAPES = (
    "read are the JSON of JMH (-rf json), YCSB, {}, and a list of results such as "
    '[{{"workload": "oltp_read_only", "version": "10.11.19", "threads": 4, "tps": 730.96}}]'
)
_MAX_KEYS = 8
_KEY = re.compile(r'"([^"\\\n]{1,60})"\s*:')
_JSON = re.compile(r"\s*(?:\{\s*(?:[\"}]|$)|\[\s*(?:[\[{\"\]]|-?[0-9.]+\s*,|$)|\")")
_MARKUP = re.compile(r"<(?:!doctype|html|\?xml|t[rd])\b|\{\\rtf", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class IncompleteText:
    """A text that resembles a format and is none of it, by marks in its lines.

    ``sentence`` finishes "the file is nearest to sysbench, but ...". ``weight`` is how much one of its lines
    counts against those of other formats.
    """

    format: str
    marks: str
    sentence: str
    weight: int = 1

    @cached_property
    def _marks(self) -> re.Pattern[str]:
        return re.compile(self.marks)

    def near_miss(self, lines: Sequence[str]) -> NearMiss | None:
        """Return the near miss of lines with the marks, None where there are none."""
        numbers = [number for number, line in enumerate(lines, start=1) if self._marks.search(line)]
        return NearMiss(self.sentence, numbers[0], len(numbers) * self.weight) if numbers else None


_LINES_OF_SYSBENCH = (
    r"\bsysbench [01]\.[0-9]|\b(?:SQL|General) [sS]tatistics\b|\bThreads fairness:"
    r"|\b(?:transactions|queries): +[0-9]+ +\([0-9.]+ per sec\.\)|\bevents per second: +[0-9]"
)
_INCOMPLETE_TEXTS = (
    IncompleteText(
        "dtrace",
        r"^dtrace: |^CPU +ID +FUNCTION:NAME",
        "no distribution is in it; let the script print quantize() of the times",
    ),
    IncompleteText(
        "hammerdb",
        r"(?i)\bNOPM\b|\bhammerdb",
        "a line such as 'TEST RESULT : System achieved 124500 NOPM from 287600 PostgreSQL TPM' is missing; "
        "send the log of HammerDB, or what its command line printed",
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
        r"\bpgbench\b|\b(?:latency (?:average|stddev)|tps|initial connection time) = [0-9]"
        r"|\bnumber of (?:clients|transactions \w+ processed): [0-9]",
        "the end of its report is missing, a line such as 'tps = 850.1 (without initial connection time)'; "
        "send all that pgbench printed",
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
        "ycsb",
        r"\b(?:site|com\.yahoo)\.ycsb\b|\bworkloads/workload[a-f]\b|(?:Average|Percentile)Latency\([um]s\)"
        r"|^\[(?:READ|UPDATE|INSERT|SCAN|OVERALL)\]",
        "its report is missing, which begins with '[OVERALL], RunTime(ms), ...'; send what the client "
        "printed, or the file of the property 'exportfile'",
    ),
    # JSON of these tools is read, and no other mark says more.
    *(
        IncompleteText(
            tool,
            marks,
            f"it is what the tool prints for people; send its JSON, which '{option}' writes",
            weight=1000,
        )
        for tool, marks, option in (
            (
                "k6",
                r"^ *[█■] TOTAL RESULTS|^ *(?:checks_total|http_req_duration|iteration_duration)\.{3,}:",
                "--summary-export=summary.json",
            ),
            (
                "fio",
                r"^ *fio-[0-9]+\.[0-9]+|^[\w -]{1,60}: \(g=[0-9]+\): rw=|^ +(?:read|write) ?: IOPS=",
                "--output-format=json",
            ),
            ("google_benchmark", r"^Benchmark +Time +CPU +Iterations", "--benchmark_format=json"),
            (
                "pytest_benchmark",
                r"^-+ benchmark(?: .*)?: [0-9]+ tests -+$",
                "--benchmark-json=results.json",
            ),
            ("hyperfine", r"^ +Time \(mean ± σ\): ", "--export-json results.json"),
        )
    ),
)


def refusal(source_head: bytes, json_tools: Sequence[str]) -> FormatError:
    """Return the error for a file that none of the formats recognises.

    The nearest format is the one with most marks. ``json_tools`` are those of which JSON is read.
    """
    head = source_head.decode("utf-8", "replace")
    lines = head.removesuffix("\n").split("\n")
    if nearest := _nearest(lines):
        name, miss = nearest
        return FormatError(f"the file is nearest to {name}, but {miss.message}", miss.line)
    if _JSON.match(head):
        return _refusal_of_json(head, json_tools)
    if found := _MARKUP.search(head):
        return FormatError(
            "a web page or another document, not a result file; send the text of its results or tables",
            head.count("\n", 0, found.start()) + 1,
        )
    return _refusal_of_text(lines)


def _nearest(lines: Sequence[str]) -> tuple[str, NearMiss] | None:
    misses = []
    for text in _INCOMPLETE_TEXTS:
        check_budget()
        if miss := text.near_miss(lines):
            misses.append((text.format, miss))
    if miss := qps_table.near_miss(lines):
        misses.append(("qps_table", miss))
    return max(misses, key=lambda pair: pair[1].marks, default=None)


def _refusal_of_json(head: str, json_tools: Sequence[str]) -> FormatError:
    try:
        value: object = json.loads(head)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, str):
        return FormatError("the JSON is one text in quotes; send what is in the text as a file of its own", 1)
    keys = list(dict.fromkeys(value if isinstance(value, dict) else _KEY.findall(head)))[:_MAX_KEYS]
    found = f"its keys are {', '.join(map(repr, keys))}" if keys else "it has no keys"
    shapes = _JSON_SHAPES.format(", ".join(json_tools))
    return FormatError(f"JSON of a shape that benchdash does not read: {found}; {shapes}", 1)


def _refusal_of_text(lines: Sequence[str]) -> FormatError:
    line = next((number for number, line in enumerate(lines, start=1) if line.strip()), 1)
    first = lines[line - 1].strip()
    return FormatError(
        f"not a result file that benchdash knows: it begins with {first[:80]!r}. Send all that sysbench, "
        "pgbench, JMH, YCSB, HammerDB or another tool printed, from its first line on, or a table whose "
        f"first line names its columns, such as {_EXAMPLE_HEAD}",
        line,
    )
