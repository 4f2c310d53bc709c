"""pgbench, from PostgreSQL 8.3 on: progress lines and the report at the end of a run.

A file holds one run, or several where a shell loop wrote them one after another.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from ingest.formats.cells import is_number
from ingest.formats.entries import shortened
from ingest.formats.pgbench_output import (
    FILLED,
    PROCESSED,
    TYPE,
    Output,
    Report,
    Script,
    quoted,
    sort_lines,
)
from ingest.formats.pgbench_readings import (
    MILLISECONDS,
    MOST_STATEMENTS,
    RECONNECTING,
    SECONDS,
    Totals,
    average_latency,
    readings,
    script_prefix,
    sql_statements,
    totals,
)
from ingest.formats.report import Fact, FormatError, Intervals, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.masking import mask_text

_BEGINS = re.compile(
    rb"^(?:transaction type: [^\n]*\nscaling factor: [0-9]"
    rb"|progress: [0-9.]+ s, \S+ tps, lat \S+ ms"
    rb"|pgbench \([^\n]*\)|pgbench: (?:error|fatal): "
    rb"|[0-9]+ (?:of [0-9]+ tuples \([0-9]+%\) done|tuples done\.))",
    re.MULTILINE,
)

_BUILTIN = {
    "TPC-B (sort of)": "tpcb-like",
    "simple update": "simple-update",
    "Update only pgbench_accounts": "simple-update",
    "select only": "select-only",
    "SELECT only": "select-only",
}
_BUILTIN_ENDS = {"tpcb-like": "END;", "simple-update": "END;", "select-only": "SELECT abalance"}
_UNNAMED = frozenset({"Custom query", "multiple scripts"})

_OPTIONS = {
    "scale": "scaling factor",
    "partition_method": "partition method",
    "partitions": "partitions",
    "query_mode": "query mode",
    "jobs": "number of threads",
    "max_tries": "maximum number of tries",
    "transactions_per_client": "number of transactions per client",
    "duration": "duration",
}
_RATE = re.compile(r"(?<!\S)(?:-R|--rate)[ =]?([0-9]+(?:\.[0-9]+)?)(?!\S)")

# What speaks PostgreSQL's protocol and is another product often says so: 11.2-YB-2024.2, 13.0.0.
_POSTGRESQL = re.compile(
    r"[0-9]\.[0-9]+(?:\.[0-9]+)?|[1-9][0-9]+\.[0-9]+|[0-9.]+(?:devel|(?:alpha|beta|rc)[0-9]+)"
)
_EARLIEST_EPOCH = 1e8
_LONGEST_STATEMENT = 200


def recognise(head: bytes) -> bool:
    return _BEGINS.search(head) is not None


def parse(source: Source) -> ParsedReport:
    """Read every run of the file; where there are several, their keys are ``1``, ``2``, ...

    Raises FormatError where no run is complete. Of several runs an incomplete one is left out with a warning.
    """
    lines, warnings = source.lines, []
    if not source.ends_with_newline:
        warnings.append(
            f"line {len(lines)}, the last one, has no line end and was not read: the file may be cut off"
        )
        lines = lines[:-1]
    outputs = sort_lines(lines)
    if not outputs:
        raise _nothing_measured(lines)
    runs: list[ParsedRun] = []
    intervals: list[Intervals] = []
    errors: list[FormatError] = []
    for position, output in enumerate(outputs, start=1):
        alone = len(outputs) == 1
        try:
            run, notes = _run(output, key="" if alone else str(position))
        except FormatError as error:
            errors.append(error)
            notes = [f"left out: {error.message} (line {error.line})"]
        else:
            runs.append(run)
            intervals += _intervals(output, run.key)
        warnings += notes if alone else [f"run {position}: {note}" for note in notes]
    if not runs:
        raise errors[0]
    return ParsedReport(tuple(runs), tuple(intervals), _facts(outputs), shortened(warnings))


def _nothing_measured(lines: Sequence[str]) -> FormatError:
    if any(FILLED.fullmatch(line) for line in lines):
        return FormatError("no test was run: pgbench -i only filled the tables", len(lines))
    return FormatError("no run of pgbench: neither progress nor a report", len(lines) or 1)


def _run(output: Output, key: str) -> tuple[ParsedRun, list[str]]:
    """The run of one output and what is to be known about it.

    Raises FormatError where the run failed or its report is missing, not complete or impossible.
    """
    report = _final_report(output)
    found = totals(report)
    product, version = _server(output)
    run = ParsedRun(
        readings=readings(report, found),
        key=key,
        product=product,
        version=version,
        workload=_workload(report),
        threads=found.clients,
        duration_s=found.seconds,
        options=_options(output, report),
    )
    return run, list(_notes(output, report, found))


def _final_report(output: Output) -> Report:
    if output.failures:
        words = "; ".join(dict.fromkeys(quoted(text) for text, _ in output.failures[:3]))
        raise FormatError(f"pgbench failed: {words}", output.failures[0][1])
    if output.error:
        raise output.error
    if output.report is None:
        raise FormatError(
            "no final report: pgbench was stopped, or the file is cut off after this line", output.last_line
        )
    return output.report


def _server(output: Output) -> tuple[str | None, str | None]:
    """Product and version, where the banner names a version as PostgreSQL writes it."""
    if _POSTGRESQL.fullmatch(output.server_version):
        return "PostgreSQL", output.server_version
    return None, None


def _workload(report: Report) -> str | None:
    """The script by the name that pgbench's ``-b`` has for it, or that of its file; several with weights."""
    if len(report.scripts) <= 1:
        return _script_name(report.statistics.text(TYPE)[0])
    scripts = [script for _, script in sorted(report.scripts.items())]
    names = [name for script in scripts if (name := _script_name(script.name))]
    weights = [_weight(script) for script in scripts]
    if len(names) < len(scripts):
        return None
    if set(weights) == {"1"}:
        return " ".join(names)
    return " ".join(f"{name}@{weight}" for name, weight in zip(names, weights, strict=True))


def _weight(script: Script) -> str:
    """What is printed as ``weight: 3 (targets 75.0% of total)``; in 9.6 and before all weigh the same."""
    return script.statistics.values.get("weight", ("1", 0))[0].partition(" ")[0]


def _script_name(text: str) -> str | None:
    name = text.removeprefix("<builtin: ").removesuffix(">") if text.startswith("<builtin: ") else text
    if name in _UNNAMED:
        return None
    return _BUILTIN.get(name) or PurePosixPath(name).name or None


def _options(output: Output, report: Report) -> dict[str, Fact]:
    values = report.statistics.values
    options: dict[str, Fact] = {
        option: _option(values[name][0].removesuffix(" s"))
        for option, name in _OPTIONS.items()
        if name in values
    }
    # Versions before 15 try once and say nothing of it.
    if options.get("max_tries") == 1:
        del options["max_tries"]
    if report.latency_limit:
        options["latency_limit"] = _option(report.latency_limit)
    if "rate limit schedule lag" in values and (rate := _RATE.search(output.command)):
        options["rate"] = _option(rate[1])
    if RECONNECTING in report.tps:
        options["connect"] = True
    return options | _statement_texts(report)


def _option(text: str) -> Fact:
    """A whole number as such. A fraction stays a text: it was told to the tool, not measured by it."""
    whole = text.removesuffix(".0")
    return int(whole) if re.fullmatch(r"[0-9]{1,15}", whole) else mask_text(text[:100])


def _statement_texts(report: Report) -> dict[str, Fact]:
    return {
        f"{script_prefix(report, script_number)}statement_{position}": _shortened_statement(statement.text)
        for script_number, script in sorted(report.scripts.items())
        for position, statement in sql_statements(script)
    }


def _shortened_statement(text: str) -> str:
    return mask_text(text[: 2 * _LONGEST_STATEMENT])[:_LONGEST_STATEMENT]


def _notes(output: Output, report: Report, found: Totals) -> Iterator[str]:
    """What the reader of a run must know before trusting its figures."""
    statistics = report.statistics
    processed = found.processed
    _, _, asked = statistics.text(PROCESSED)[0].partition("/")
    if is_number(asked) and float(asked) > processed.value:
        yield f"{processed.value:.0f} of {asked[:20]} transactions were processed (line {processed.line})"
    printed = statistics.maybe("latency average", MILLISECONDS)
    if printed and average_latency(statistics, found) is None:
        yield (
            f"the average response time is printed as 0 (line {printed.line}) and was left out: up to 9.6 "
            "pgbench computes it from a duration, which a run with a number of transactions does not have"
        )
    connecting = statistics.maybe("initial connection time", MILLISECONDS)
    seconds = found.whole_seconds + (connecting.value / 1000 if connecting else 0)
    duration = statistics.maybe("duration", SECONDS)
    if duration and abs(seconds - duration.value) > 0.2 + 0.1 * duration.value:
        yield (
            f"the printed rate is that of {seconds:.4g} s, "
            f"but the duration is {duration.value:.4g} s (line {duration.line})"
        )
    if missing := _missing_end(report):
        yield f"the end of the report is missing after line {report.end}: {missing}"
    for script_number, script in sorted(report.scripts.items()):
        if len(sql_statements(script)) == MOST_STATEMENTS:
            yield f"of the statements of script {script_number} no more than {MOST_STATEMENTS} were read"
    if output.strange_ticks:
        yield (
            f"{len(output.strange_ticks)} progress lines were not understood, "
            f"the first in line {output.strange_ticks[0]}"
        )


def _missing_end(report: Report) -> str | None:
    """What the report lacks at its end, as far as anything in it tells: figures of a script, statements."""
    scripts = [script for _, script in sorted(report.scripts.items())]
    if report.has_files and len(scripts) == 1:
        return "the statements of the other files"
    for script in scripts:
        name = _script_name(script.name or report.statistics.text(TYPE)[0]) or ""
        end = _BUILTIN_ENDS.get(name, "")
        last = script.statements[-1].text if script.statements else ""
        if script.statements_end and not (last and last.startswith(end)):
            return f"the statements of {name} end with '{end}'" if end else "no statement is listed"
    if len(scripts) > 1 and not scripts[-1].statements_end:
        if scripts[0].statements_end:
            return "the last script has no statement latencies"
        count = scripts[-1].statistics.maybe("transactions")
        if (
            count
            and count.value
            and scripts[0].statistics.values.keys() > scripts[-1].statistics.values.keys()
        ):
            return "less is said of the last script than of the first"
    return None


def _intervals(output: Output, key: str) -> Iterator[Intervals]:
    """The progress lines, with the columns that this pgbench prints."""
    if output.ticks:
        start = _start(output.ticks)
        rows = ((round((row[0] or 0.0) - start, 3), *row[1:]) if start else row for row in output.ticks)
        yield Intervals(key, "pgbench", output.columns, tuple(rows))


def _start(ticks: Sequence[tuple[float | None, ...]]) -> float:
    """What is to be taken from the times: 0, or one interval before the first of ``--progress-timestamp``."""
    times = [row[0] for row in ticks[:2] if row[0] is not None]
    return 0.0 if times[0] < _EARLIEST_EPOCH else times[0] - (times[-1] - times[0])


def _facts(outputs: Sequence[Output]) -> dict[str, Fact]:
    facts: dict[str, Fact] = {"tool": "pgbench"}
    for name in ("tool_version", "server_version"):
        if value := next((getattr(output, name) for output in outputs if getattr(output, name)), ""):
            facts[name] = value
    if commands := [mask_text(output.command) for output in outputs if output.command]:
        facts["command"] = "\n".join(commands)
    return facts
