"""pgbench, from PostgreSQL 8.3 on: progress lines and the report at the end of a run.

A file holds one run, or several where a shell loop wrote them one after another.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from benchdash.results.readings import HIGHER, LOWER, Reading, reading
from ingest.formats.cells import is_number, whole_number
from ingest.formats.outputs import Figure, Read, bounded, missing_line_end, quoted, read_runs, whole_lines
from ingest.formats.pgbench.output import (
    FILLED,
    PROCESSED,
    TYPE,
    PgbenchOutput,
    PgbenchReport,
    Script,
    Statement,
    Statistics,
    ends_report,
    sort_lines,
)
from ingest.formats.report import Fact, FormatError, Intervals, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.masking import mask_text

_BEGINS = re.compile(
    rb"^(?:transaction type: [^\n]*\nscaling factor: [0-9]"
    rb"|progress: [0-9.]+ s, \S+ tps, lat \S+ ms"
    rb"|[ \t]*tps = [0-9.]+ \((?:without|including|excluding) [a-z ]{1,60}\)"
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

# Another product that speaks PostgreSQL's protocol often says so: 11.2-YB-2024.2, 13.0.0.
_POSTGRESQL = re.compile(
    r"[0-9]\.[0-9]+(?:\.[0-9]+)?|[1-9][0-9]+\.[0-9]+|[0-9.]+(?:devel|(?:alpha|beta|rc)[0-9]+)"
)
_MIN_EPOCH = 1e8
_MAX_STATEMENT_LENGTH = 200

_RECONNECTING = "including reconnection times"
_WITHOUT_CONNECTING = (
    "without initial connection time",
    "without initial connection establishing",
    "excluding connections establishing",
)
_WITH_CONNECTING = "including connections establishing"

_MILLISECONDS = r"(\S+) ms(?: \(including failures\))?"
_SECONDS = r"(\S+) s"
_OF_ALL = r"(\S+?)(?:/\S+)?"
_TARGET = r"[0-9]+ \(targets (\S+)% of total\)"
# The targets of all scripts are 100 %, each of them rounded.
_MIN_TARGETS = 99.0
_COUNT_AND_SHARE = r"([0-9]+)(?:/[0-9]+)?(?: \(\S+ ?%\))?"
_LAG = {"schedule_lag_avg": r"avg (\S+) \(max \S+\) ms", "schedule_lag_max": r"avg \S+ \(max (\S+)\) ms"}

_MAX_STATEMENTS = 100


def recognise(head: bytes) -> bool:
    return _BEGINS.search(head) is not None


def parse(source: Source) -> ParsedReport:
    """Read every run of the file; where there are several, their keys are ``1``, ``2``, ...

    Raise FormatError where no run is complete. Of several runs an incomplete one is left out with a warning.
    """
    lines, warnings = _whole_lines(source)
    outputs = sort_lines(lines)
    if not outputs and any(FILLED.fullmatch(line) for line in lines):
        raise FormatError("no test was run: pgbench -i only filled the tables", len(lines))
    if not outputs:
        raise FormatError("no run of pgbench: neither progress nor a report", len(lines) or 1)
    runs, intervals, notes = read_runs(outputs, _run, lines, blame=0)
    if len([run for run in runs if run.lost]) > 1:
        raise FormatError(
            f"of {len(runs)} reports only the ends are there, and no 'number of clients' tells them apart; "
            "keep all that pgbench printed",
            outputs[0].last_line,
        )
    return ParsedReport(runs, intervals, _facts(outputs), bounded(warnings + notes))


def _whole_lines(source: Source) -> tuple[Sequence[str], list[str]]:
    """Return the lines that are whole; the last one may be, without its end too."""
    if not source.ends_with_newline and ends_report(source.lines[-1]):
        return source.lines, missing_line_end(source)
    return whole_lines(source)


@dataclass(frozen=True, slots=True)
class _Totals:
    """The words of a complete report about the run as a whole.

    Of a report whose beginning is missing, the number of clients and of transactions may be None.

    ``tps`` is without the time for connecting, unless every transaction connects; ``with_connecting``, the
    rate over the whole time, is printed up to version 13 only.
    """

    clients: int | None
    processed: Figure | None
    tps: Figure
    with_connecting: Figure | None

    @property
    def seconds(self) -> float | None:
        """The time that ``tps`` was counted over."""
        return self.processed.value / self.tps.value if self.processed else None

    @property
    def whole_seconds(self) -> float | None:
        rate = self.with_connecting or self.tps
        return self.processed.value / rate.value if self.processed else None


def _run(output: PgbenchOutput, key: str) -> Read:
    """Return the run of one output, its progress, and warnings.

    Raise FormatError where the run failed or its report is missing, not complete or impossible.
    """
    report = _final_report(output)
    found = _totals(report)
    is_postgresql = _POSTGRESQL.fullmatch(output.server_version) is not None
    run = ParsedRun(
        readings=tuple(_readings(report, found)),
        key=key,
        product="PostgreSQL" if is_postgresql else None,
        version=output.server_version if is_postgresql else None,
        workload=_workload(report),
        threads=found.clients,
        duration_s=found.seconds,
        options=_options(output, report),
        lost=() if found.clients else ("threads",),
    )
    return run, _intervals(output, key), list(_notes(output, report, found))


def _final_report(output: PgbenchOutput) -> PgbenchReport:
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


def _workload(report: PgbenchReport) -> str | None:
    """Return the script as ``-b`` calls it, or the name of its file; several with their weights."""
    if len(report.scripts) <= 1:
        return _script_name(_type(report))
    scripts = [script for _, script in sorted(report.scripts.items())]
    names = [name for script in scripts if (name := _script_name(script.name))]
    # ``3`` of ``weight: 3 (targets 75.0% of total)``; up to 9.6 all weigh the same.
    weights = [script.statistics.values.get("weight", ("1", 0))[0].partition(" ")[0] for script in scripts]
    if len(names) < len(scripts):
        return None
    if set(weights) == {"1"}:
        return " ".join(names)
    return " ".join(f"{name}@{weight}" for name, weight in zip(names, weights, strict=True))


def _type(report: PgbenchReport) -> str:
    """Return the type of the transactions, empty where the beginning of the report is missing."""
    return (
        report.statistics.values.get(TYPE, ("", 0))[0]
        if report.begins_at
        else report.statistics.text(TYPE)[0]
    )


def _script_name(text: str) -> str | None:
    name = text.removeprefix("<builtin: ").removesuffix(">") if text.startswith("<builtin: ") else text
    if name in _UNNAMED:
        return None
    return _BUILTIN.get(name) or PurePosixPath(name).name or None


def _options(output: PgbenchOutput, report: PgbenchReport) -> dict[str, Fact]:
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
    if _RECONNECTING in report.tps:
        options["connect"] = True
    return options | _statement_texts(report)


def _option(text: str) -> Fact:
    """Return a whole number as such. A fraction stays a text: it was told to the tool, not measured by it."""
    whole = text.removesuffix(".0")
    return int(whole) if re.fullmatch(r"[0-9]{1,15}", whole) else mask_text(text[:100])


def _statement_texts(report: PgbenchReport) -> dict[str, Fact]:
    # Masked before it is cut, with room for a secret at the end.
    return {
        f"{_script_prefix(report, script_number)}statement_{position}": mask_text(
            statement.text[: 2 * _MAX_STATEMENT_LENGTH]
        )[:_MAX_STATEMENT_LENGTH]
        for script_number, script in sorted(report.scripts.items())
        for position, statement in _sql_statements(script)
    }


def _notes(output: PgbenchOutput, report: PgbenchReport, found: _Totals) -> Iterator[str]:
    """Yield the warnings that a reader of the run needs before trusting its figures."""
    statistics = report.statistics
    processed = found.processed
    if report.begins_at:
        names = (TYPE, "number of clients", PROCESSED)
        lost = ", ".join(f"'{name}'" for name in names if name not in statistics.values)
        yield f"the beginning of the report is missing before line {report.begins_at}: no {lost}"
    _, _, asked = statistics.values.get(PROCESSED, ("", 0))[0].partition("/")
    if processed and is_number(asked) and float(asked) > processed.value:
        yield f"{processed.value:.0f} of {asked[:20]} transactions were processed (line {processed.line})"
    printed = statistics.maybe("latency average", _MILLISECONDS)
    if printed and _average_latency(statistics, found) is None:
        yield (
            f"the average response time is printed as 0 (line {printed.line}) and was left out: up to 9.6 "
            "pgbench computes it from a duration, which a run with a number of transactions does not have"
        )
    connecting = statistics.maybe("initial connection time", _MILLISECONDS)
    seconds = (found.whole_seconds or 0.0) + (connecting.value / 1000 if connecting else 0)
    duration = statistics.maybe("duration", _SECONDS)
    if duration and processed and abs(seconds - duration.value) > 0.2 + 0.1 * duration.value:
        yield (
            f"the printed rate is that of {seconds:.4g} s, "
            f"but the duration is {duration.value:.4g} s (line {duration.line})"
        )
    if missing := _missing_end(report):
        yield f"the end of the report is missing after line {report.end}: {missing}"
    for script_number, script in sorted(report.scripts.items()):
        if len(_sql_statements(script)) == _MAX_STATEMENTS:
            yield f"of the statements of script {script_number} no more than {_MAX_STATEMENTS} were read"
    if output.strange_ticks:
        yield (
            f"{len(output.strange_ticks)} progress lines were not understood, "
            f"the first in line {output.strange_ticks[0]}"
        )


def _missing_end(report: PgbenchReport) -> str | None:
    """Return the end that a report lacks, where other parts of it tell of figures or statements."""
    scripts = [script for _, script in sorted(report.scripts.items())]
    if report.has_files and len(scripts) == 1:
        return "the statements of the other files"
    for script in scripts:
        name = _script_name(script.name or _type(report)) or ""
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


def _intervals(output: PgbenchOutput, key: str) -> Iterator[Intervals]:
    """Yield the progress lines, with the columns that this pgbench prints."""
    if output.ticks:
        # Intervals of --progress-timestamp begin an interval before the first.
        times = [row[0] for row in output.ticks[:2] if row[0] is not None]
        start = 0.0 if times[0] < _MIN_EPOCH else times[0] - (times[-1] - times[0])
        rows = ((round((row[0] or 0.0) - start, 3), *row[1:]) if start else row for row in output.ticks)
        yield Intervals(key, "pgbench", output.columns, tuple(rows))


def _facts(outputs: Sequence[PgbenchOutput]) -> dict[str, Fact]:
    facts: dict[str, Fact] = {"tool": "pgbench"}
    for name in ("tool_version", "server_version"):
        if value := next((getattr(output, name) for output in outputs if getattr(output, name)), ""):
            facts[name] = value
    if commands := [mask_text(output.command) for output in outputs if output.command]:
        facts["command"] = "\n".join(commands)
    return facts


# --- readings -----------------------------------------------------------------------------------------


def _totals(report: PgbenchReport) -> _Totals:
    """Raise FormatError where the report is not complete, or nothing was measured."""
    processed = report.statistics.maybe(PROCESSED, _OF_ALL)
    if processed is None and not report.begins_at:
        report.statistics.text(PROCESSED)
    if processed and not processed.value:
        raise FormatError("not one transaction was completed", processed.line)
    if strange := report.tps.keys() - {*_WITHOUT_CONNECTING, _RECONNECTING, _WITH_CONNECTING}:
        name = min(strange)
        raise FormatError(f"tps ({name}) is nothing that pgbench counts", report.tps[name].line)
    rates = [report.tps[name] for name in (*_WITHOUT_CONNECTING, _RECONNECTING) if name in report.tps]
    if not rates:
        raise FormatError("the report is not complete: no 'tps' up to this line", report.statistics.end)
    for rate in report.tps.values():
        if not rate.value:
            raise FormatError("the rate is 0, which contradicts the number of transactions", rate.line)
    if processed and _type(report) == "multiple scripts":
        _check_scripts(report)
    return _Totals(
        clients=_clients(report),
        processed=processed,
        tps=rates[0],
        with_connecting=report.tps.get(_WITH_CONNECTING),
    )


def _clients(report: PgbenchReport) -> int | None:
    """Return the number of clients. Raise FormatError where a whole report does not say it."""
    if report.begins_at and "number of clients" not in report.statistics.values:
        return None
    text, line = report.statistics.text("number of clients")
    return whole_number(text, "the number of clients", line)


def _check_scripts(report: PgbenchReport) -> None:
    """Raise FormatError where one of several scripts is missing, and so a part of the workload's name.

    Their targets tell. Their transactions do not add up to all, for threads count them without a lock.
    """
    found = [script.statistics for script in report.scripts.values()]
    targets = [
        target.value
        for one in found
        if "transactions" in one.values and (target := one.maybe("weight", _TARGET))
    ]
    if len(targets) < len(found) or sum(targets) < _MIN_TARGETS:
        raise FormatError(
            "the report is not complete: the scripts up to this line are not all that were run", report.end
        )


def _readings(report: PgbenchReport, found: _Totals) -> Iterator[Reading]:
    """Yield the readings of a report. Raise FormatError for a figure that is none."""
    statistics = report.statistics
    yield reading("tps", found.tps.value)
    if found.with_connecting:
        yield Reading("tps_with_connecting", found.with_connecting.value, "1/s", HIGHER)
    if (average := _average_latency(statistics, found)) is not None:
        yield reading("latency_avg", average)
    yield from _times(statistics)
    if found.processed and found.seconds:
        yield from _failures(statistics, found.processed, found.seconds)
        yield reading("total_events", found.processed.value)
        yield from _script_readings(report, found.seconds)


def _average_latency(statistics: Statistics, found: _Totals) -> float | None:
    """Return the average response time in ms; None where none is printed, or a 0 that is no measurement.

    Unless it measures every transaction, and so prints a standard deviation, pgbench divides the time of all
    clients by the transactions, up to 9.6 the time that was asked for. The same from figures with more digits
    is taken where it rounds to what is printed.
    """
    printed = statistics.maybe("latency average", _MILLISECONDS)
    if printed is None or "latency stddev" in statistics.values:
        return printed.value if printed else None
    if found.processed is None or found.clients is None:
        return printed.value or None
    failed = statistics.maybe("number of failed transactions", _COUNT_AND_SHARE)
    ended = found.processed.value + (failed.value if failed else 0)
    duration = statistics.maybe("duration", _SECONDS)
    known = (found.whole_seconds, found.seconds, duration.value if duration else None)
    for seconds in filter(None, known):
        computed = 1000 * seconds * found.clients / ended
        if abs(computed - printed.value) <= printed.rounding * 1.01:
            return computed
    return printed.value or None


def _times(statistics: Statistics) -> Iterator[Reading]:
    """Yield times in ms that are printed as they were measured."""
    if stddev := statistics.maybe("latency stddev", _MILLISECONDS):
        yield reading("latency_stddev", stddev.value)
    for metric, pattern in _LAG.items():
        if lag := statistics.maybe("rate limit schedule lag", pattern):
            yield Reading(metric, lag.value, "ms", LOWER)
    for name in ("initial connection time", "average connection time"):
        if time := statistics.maybe(name, _MILLISECONDS):
            yield Reading(name.replace(" ", "_"), time.value, "ms", LOWER)


def _failures(statistics: Statistics, processed: Figure, seconds: float) -> Iterator[Reading]:
    """Yield failures per second, and in per cent of all transactions that were meant to run."""
    failed = statistics.maybe("number of failed transactions", _COUNT_AND_SHARE)
    skipped = statistics.maybe("number of transactions skipped", _COUNT_AND_SHARE)
    if failed:
        yield reading("errors_per_s", failed.value / seconds)
    for kind in ("serialization", "deadlock", "other"):
        if failures := statistics.maybe(f"number of {kind} failures", _COUNT_AND_SHARE):
            yield Reading(f"{kind}_failures_per_s", failures.value / seconds, "1/s", LOWER)
    if retries := statistics.maybe("total number of retries"):
        yield Reading("retries_per_s", retries.value / seconds, "1/s", LOWER)
    meant = processed.value + sum(figure.value for figure in (failed, skipped) if figure)
    if retried := statistics.maybe("number of transactions retried", _COUNT_AND_SHARE):
        yield Reading("retried_percent", 100 * retried.value / meant, "%", LOWER)
    if skipped:
        yield Reading("skipped_percent", 100 * skipped.value / meant, "%", LOWER)
    if late := statistics.maybe("late", _COUNT_AND_SHARE):
        # Only since 11 pgbench prints what it takes the share of, and leaves the skipped ones out of it.
        whole = processed.value if "/" in statistics.text("late")[0] else meant
        yield Reading("late_percent", 100 * late.value / whole, "%", LOWER)


def _script_readings(report: PgbenchReport, seconds: float) -> Iterator[Reading]:
    for script_number, script in sorted(report.scripts.items()):
        prefix = _script_prefix(report, script_number)
        if prefix:
            yield from _shares(script, prefix, seconds)
        for position, statement in _sql_statements(script):
            name = f"{prefix}statement_{position}"
            if statement.latency:
                yield Reading(f"{name}.latency_avg", statement.latency.value, "ms", LOWER)
            if statement.failures:
                yield Reading(f"{name}.errors_per_s", statement.failures / seconds, "1/s", LOWER)
            if statement.retries:
                yield Reading(f"{name}.retries_per_s", statement.retries / seconds, "1/s", LOWER)


def _shares(script: Script, prefix: str, seconds: float) -> Iterator[Reading]:
    """Yield the share that one of several scripts has of the whole."""
    statistics = script.statistics
    done = statistics.maybe(PROCESSED, r"(\S+)(?: \(tps = \S+\))?") or statistics.maybe("transactions")
    if done:
        yield Reading(f"{prefix}tps", done.value / seconds, "1/s", HIGHER)
    if failed := statistics.maybe("number of failed transactions", _COUNT_AND_SHARE):
        yield Reading(f"{prefix}errors_per_s", failed.value / seconds, "1/s", LOWER)
    for name, metric in (("latency average", "latency_avg"), ("latency stddev", "latency_stddev")):
        if time := statistics.maybe(name, _MILLISECONDS):
            yield Reading(f"{prefix}{metric}", time.value, "ms", LOWER)


def _script_prefix(report: PgbenchReport, script_number: int) -> str:
    """Return the prefix of a script's metrics, empty where there is only one script."""
    return f"script_{script_number}." if len(report.scripts) > 1 else ""


def _sql_statements(script: Script) -> list[tuple[int, Statement]]:
    """Return the statements with their numbers. What begins with a backslash is done by pgbench itself."""
    statements = [statement for statement in script.statements if not statement.text.startswith("\\")]
    return list(enumerate(statements[:_MAX_STATEMENTS], start=1))
