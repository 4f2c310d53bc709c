"""pgbench, from PostgreSQL 8.3 on: progress lines, and the report at the end of a run.

    progress: 5.0 s, 1204.1 tps, lat 3.312 ms stddev 1.204, 0 failed
    transaction type: <builtin: select only>
    number of clients: 4
    tps = 1196.998500 (without initial connection time)

From version 14 on a banner stands before both. Of a report people keep the end alone, too. A file holds one
run, or several where a shell loop wrote them one after another.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from ingest.formats.outputs import missing
from ingest.formats.report import Fact, FormatError
from ingest.formats.run_values import RunValues
from ingest.formats.tool_spec import PrintedLine, ToolSpec

_LISTED = "statement latencies in milliseconds"
_LIST = re.compile(rf"(- )?{_LISTED}(?:, file ([0-9]{{1,4}}))?(| and failures|, failures and retries):")
# By the end of the heading: how the numbers of a statement are printed before its text.
_STATEMENTS = {
    "": re.compile(r"([0-9.]+|-?nan)()()\s+(\S.*)"),
    " and failures": re.compile(r"([0-9.]+|-?nan)\s+([0-9]+)()\s+(\S.*)"),
    ", failures and retries": re.compile(r"([0-9.]+|-?nan)\s+([0-9]+)\s+([0-9]+)\s+(\S.*)"),
}
_SCRIPT = re.compile(r"SQL script ([0-9]{1,4}): ?(.*)")
_SCRIPT_NAME = re.compile(r"script_([0-9]{1,4})")
_WHOLE = re.compile(r"([0-9]{1,15})(?:\.0)?")
_MAX_COMMAND_LENGTH = 20_000
_MAX_STATEMENT_LENGTH = 200
_MAX_STATEMENTS = 100
_CALL = "(a call)"

_BUILTIN = {
    "TPC-B (sort of)": "tpcb-like",
    "simple update": "simple-update",
    "Update only pgbench_accounts": "simple-update",
    "select only": "select-only",
    "SELECT only": "select-only",
}
_ENDS = {"tpcb-like": "END;", "simple-update": "END;", "select-only": "SELECT abalance"}
_CUSTOM, _SEVERAL = "Custom query", "multiple scripts"
# Another product that speaks PostgreSQL's protocol often says so: 11.2-YB-2024.2, 13.0.0.
_POSTGRESQL = re.compile(
    r"[0-9]\.[0-9]+(?:\.[0-9]+)?|[1-9][0-9]+\.[0-9]+|[0-9.]+(?:devel|(?:alpha|beta|rc)[0-9]+)"
)
_MIN_EPOCH = 1e8
# Three decimals are printed.
_ROUNDING_MS = 0.000505
# The targets of all scripts are 100 %, each of them rounded.
_MIN_TARGETS = 99.0
_COLUMNS = (
    *("time_s", "tps", "latency_avg", "latency_stddev", "failed", "schedule_lag_avg", "skipped", "retried"),
    "retries",
)
_TIMES = frozenset({"latency_avg", "latency_stddev", "schedule_lag_avg"})


def _texts(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers; those of a script and of a statement with the name of either."""
    script, statement, position = "", None, 0
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if statement and (found := statement.fullmatch(text)):
            # A command with a backslash is done by pgbench itself.
            if not found[4].startswith("\\"):
                position += 1
                if position <= _MAX_STATEMENTS + 1:
                    yield number, _statement(script, position, found)
            continue
        statement = None
        if text.startswith(("progress: ", "pgbench (")):
            yield number, text
        elif found := _LIST.fullmatch(text):
            script = f"script_{found[2]}." if found[2] else script if found[1] else ""
            statement, position = _STATEMENTS[found[3]], 0
            yield number, f"{script}{_LISTED}: 1"
        elif found := _SCRIPT.fullmatch(text):
            script = f"script_{int(found[1])}."
            yield number, f"SQL script script_{int(found[1])}: {found[2]}"
        elif text == "script statistics:":
            script = ""
        elif script and text.startswith("- "):
            yield number, script + text[2:]
        else:
            yield number, f"{_CALL} {text}" if _is_call(text) else text


def _statement(script: str, position: int, numbers: re.Match[str]) -> str:
    if position > _MAX_STATEMENTS:
        return f"(more than {_MAX_STATEMENTS} statements)"
    latency, failures, retries, text = numbers.groups()
    time = "" if latency.endswith("nan") else f"{latency} ms, "
    return f"{script}statement_{position}: {time}{failures or 0}, {retries or 0}: {text[:400]}"


def _is_call(text: str) -> bool:
    """Return whether the line calls pgbench, as ``set -x`` or a script prints it."""
    return (
        "pgbench " in text
        and len(text) <= _MAX_COMMAND_LENGTH
        and any(word.rpartition("/")[2] == "pgbench" for word in text.split())
    )


def _finish(run: RunValues) -> Iterator[str]:
    if run.counts.get("processed") == 0:
        raise FormatError("not one transaction was completed", run.last_line)
    if failure := run.texts.get("failure"):
        raise FormatError(f"pgbench failed: {failure}", run.last_line)
    run.rows[:] = _rows(run.rows)
    _take_version(run)
    if not run.value("tps"):
        return
    if lacking := _lacking(run):
        yield missing(lacking, run.last_line)
    run.readings = {"tps": run.readings["tps"]} | run.readings
    scripts, type_ = _scripts(run), run.texts.pop("workload", "")
    if type_ == _SEVERAL:
        _check_all_are_there(run, scripts)
    names = [_script_name(str(run.options.pop(script.rstrip("."), type_))) for script in scripts]
    run.texts["workload"] = _workload(names, [run.counts.get(f"{script}weight", 1) for script in scripts])
    run.is_closed = _is_whole(run, scripts, names)
    yield from _add_rates(run)
    _complete_options(run)


def _rows(rows: Sequence[dict[str, float | None]]) -> Iterator[dict[str, float | None]]:
    """Yield the intervals, seconds from the beginning; no response times where no transaction ended."""
    # Intervals of --progress-timestamp begin an interval before the first.
    times = [row["time_s"] or 0.0 for row in rows[:2]]
    start = 0.0 if not times or times[0] < _MIN_EPOCH else times[0] - (times[-1] - times[0])
    for number, row in enumerate(rows):
        if not row.get("tps"):
            row.update(dict.fromkeys(_TIMES.intersection(row)))
        if start:
            row["time_s"] = round((row["time_s"] or 0.0) - start, 3)
        # The first tells the order of all.
        yield row if number else {name: row[name] for name in _COLUMNS if name in row}


def _take_version(run: RunValues) -> None:
    tool_version = run.texts.get("tool_version", "")
    version = run.texts.pop("version", tool_version)
    if version:
        run.facts.setdefault("tool_version", tool_version)
        run.facts.setdefault("server_version", version)
    if _POSTGRESQL.fullmatch(version):
        run.texts |= {"product": "PostgreSQL", "version": version}


def _scripts(run: RunValues) -> Sequence[str]:
    """Return how the names of each script's values begin: empty where there is only one script."""
    names = (name.partition(".")[0] for name in (*run.options, *run.counts))
    numbers = {int(found[1]) for name in names if (found := _SCRIPT_NAME.fullmatch(name))}
    return [f"script_{number}." for number in sorted(numbers)] or [""]


def _check_all_are_there(run: RunValues, scripts: Sequence[str]) -> None:
    """Raise FormatError where one of several scripts is missing, and so a part of the workload's name.

    Their targets tell. Their transactions do not add up to all, for threads count them without a lock.
    """
    is_counted = all(f"{script}transactions" in run.counts for script in scripts)
    if not is_counted or sum(run.counts.get(f"{script}target", 0) for script in scripts) < _MIN_TARGETS:
        raise FormatError(
            "the report is not complete: the scripts up to this line are not all that were run", run.last_line
        )


def _script_name(text: str) -> str:
    """Return a script as ``-b`` calls it, or the name of its file; nothing of one without a name."""
    name = text.removeprefix("<builtin: ").removesuffix(">") if text.startswith("<builtin: ") else text
    return "" if name in (_CUSTOM, _SEVERAL) else _BUILTIN.get(name) or PurePosixPath(name).name


def _workload(names: Sequence[str], weights: Sequence[float]) -> str:
    """Return the names of the scripts with their weights; up to 9.6 all weigh the same."""
    if not all(names):
        return ""
    if set(weights) == {1}:
        return " ".join(names)
    return " ".join(f"{name}@{weight:.0f}" for name, weight in zip(names, weights, strict=True))


def _is_whole(run: RunValues, scripts: Sequence[str], names: Sequence[str]) -> bool:
    """Return whether all statements are listed, and of the last script as much as of the first."""
    for script, name in zip(scripts, names, strict=True):
        texts = [str(text) for key, text in run.options.items() if key.startswith(f"{script}statement_")]
        if f"{script}lists" in run.counts and not (texts and texts[-1].startswith(_ENDS.get(name, ""))):
            return False
    first, last = (
        {name.removeprefix(script) for name in (*run.counts, *run.readings) if name.startswith(script)}
        for script in (scripts[0], scripts[-1])
    )
    if not run.counts.get(f"{scripts[-1]}transactions"):
        # The statements alone are listed for a script that was never run.
        first &= {"lists"}
    lost = [name for name in first - last if not name.startswith("statement_")]
    return scripts == [""] or (len(scripts) > 1 and not lost)


def _add_rates(run: RunValues) -> Iterator[str]:
    """Add what follows from the number of transactions; yield warnings of what contradicts it."""
    processed, line = run.counts.get("processed"), run.line_of("tps")
    if processed is None:
        return
    if (asked := run.counts.get("asked", 0)) > processed:
        yield f"{processed:.0f} of {asked:.0f} transactions were processed (above line {line})"
    run.duration_s = processed / run.value("tps")
    whole_seconds = processed / (run.value("tps_with_connecting") or run.value("tps"))
    duration = run.options.get("duration")
    lasted = whole_seconds + run.value("initial_connection_time") / 1000
    if isinstance(duration, int) and abs(lasted - duration) > 0.2 + 0.1 * duration:
        yield f"the printed rate is that of {lasted:.4g} s, but the duration is {duration} s (line {line})"
    if "latency_avg" in run.readings and "latency_stddev" not in run.readings:
        yield from _take_average(run, (whole_seconds, run.duration_s, duration))
    run.add("total_events", processed)
    for name, count in run.counts.items():
        operation, _, counted = name.rpartition(".")
        if counted in _RATES and (count or "statement_" not in operation):
            run.add(".".join(filter(None, (operation, _RATES[counted]))), count / run.duration_s)
    meant = processed + run.counts.get("failed", 0) + run.counts.get("skipped", 0)
    # Only since 11 pgbench prints what it takes the share of, and leaves the skipped ones out of it.
    shares = {"retried": meant, "skipped": meant, "late": processed if "late_of" in run.counts else meant}
    for counted, whole in shares.items():
        if counted in run.counts:
            run.add(f"{counted}_percent", 100 * run.counts[counted] / whole)


def _take_average(run: RunValues, lengths: Iterable[Fact]) -> Iterator[str]:
    """Take the average response time with more digits, where it rounds to what is printed.

    Unless it measures every transaction, and so prints a standard deviation, pgbench divides the time of all
    clients by the transactions, up to 9.6 the time that was asked for.
    """
    printed = run.value("latency_avg")
    ended = run.counts["processed"] + run.counts.get("failed", 0)
    for seconds in lengths:
        computed = 1000 * seconds * (run.threads or 0) / ended if isinstance(seconds, int | float) else 0.0
        if computed and abs(computed - printed) <= _ROUNDING_MS:
            run.add("latency_avg", computed)
            return
    if not printed:
        del run.readings["latency_avg"]
        yield (
            f"the average response time is printed as 0 (line {run.line_of('latency_avg')}) and is left out: "
            "up to 9.6 pgbench computes it from a duration, which a run of a number of transactions has not"
        )


def _lacking(run: RunValues) -> Sequence[str]:
    """Return what a report lacks of which people kept the end; the sender must say its threads.

    Raise FormatError where a report has a beginning and does not say them.
    """
    if run.threads is None:
        if "workload" in run.texts:
            raise FormatError(
                "the report is not complete: no 'number of clients' up to this line", run.last_line
            )
        run.lost = ("threads",)
    there = {
        "transaction type": "workload" in run.texts,
        "number of clients": run.threads is not None,
        "number of transactions actually processed": "processed" in run.counts,
    }
    return [name for name, is_there in there.items() if not is_there]


def _complete_options(run: RunValues) -> None:
    options = run.options
    for name, text in options.items():
        if "statement_" in name:
            # Masked before it is cut, with room for a secret at the end.
            options[name] = str(text)[:_MAX_STATEMENT_LENGTH]
        elif isinstance(text, str) and (whole := _WHOLE.fullmatch(text)):
            options[name] = int(whole[1])
    # Versions before 15 try once and say nothing of it.
    if options.get("max_tries") == 1:
        del options["max_tries"]
    if "schedule_lag_avg" not in run.readings:
        options.pop("rate", None)
    if "connect" in options:
        options["connect"] = True


_KINDS = ("serialization", "deadlock", "other")
_RATES = {
    "failed": "errors_per_s",
    **{kind: f"{kind}_failures_per_s" for kind in _KINDS},
    "retries": "retries_per_s",
    "transactions": "tps",
}
_SHARE = "[[ (...)]]"
_NOT_UNDERSTOOD = "this is not how pgbench prints it"

FORMAT = ToolSpec(
    tool="pgbench",
    recognised_by=r"^(?:transaction type: [^\n]*\nscaling factor: [0-9]"
    r"|progress: [0-9.]+ s, \S+ tps, lat \S+ ms"
    r"|[ \t]*tps = [0-9.]+ \((?:without|including|excluding) [a-z ]{1,60}\)"
    r"|pgbench \([^\n]*\)|pgbench: (?:error|fatal): "
    r"|[0-9]+ (?:of [0-9]+ tuples \([0-9]+%\) done|tuples done\.))",
    texts=_texts,
    lines=(
        PrintedLine(
            "progress: {count.time_s} s, {tps} tps, lat {latency_avg:ms} ms[[ stddev {latency_stddev:ms}]]"
            "[[, {count.failed} failed]][[, lag {schedule_lag_avg} ms]][[, {count.skipped} skipped]]"
            "[[, {count.retried} retried, {count.retries} retries]]",
            interval=True,
        ),
        PrintedLine("progress: {_} s, ...", warning=_NOT_UNDERSTOOD),
        PrintedLine("{operation}: [[{latency_avg:ms} ms, ]]{count.failed}, {count.retries}: {option}"),
        PrintedLine(f"{_CALL} {{command}}", begins_run=True),
        PrintedLine(
            "pgbench ({tool_version}[[ (...)]][[, server {version}[[ (...)]]]])",
            before_figures=True,
            once_a_run=True,
            owes_figures=True,
        ),
        PrintedLine("starting vacuum...", before_figures=True, once_a_run=True),
        PrintedLine("transaction type: {workload}", before_figures=True, once_a_run=True, owes_figures=True),
        # With one of these a report begins whose beginning nobody kept.
        *(
            PrintedLine(line, before_figures=True, owes_figures=True)
            for line in (
                "scaling factor: {option.scale}",
                "query mode: {option.query_mode}",
                "number of clients: {threads}",
                "number of transactions per client: {option.transactions_per_client}",
                "number of transactions actually processed: {count.processed}[[/{count.asked}]]",
                f"number of failed transactions: {{count.failed}}{_SHARE}",
            )
        ),
        PrintedLine("partition method: {option.partition_method}"),
        PrintedLine("partitions: {option.partitions}"),
        PrintedLine("number of threads: {option.jobs}"),
        PrintedLine("maximum number of tries: {option.max_tries}"),
        PrintedLine("duration: {option.duration} s"),
        *(PrintedLine(f"number of {kind} failures: {{count.{kind}}}{_SHARE}") for kind in _KINDS),
        PrintedLine(f"number of transactions retried: {{count.retried}}{_SHARE}"),
        PrintedLine(f"number of transactions skipped: {{count.skipped}}{_SHARE}"),
        PrintedLine("total number of retries: {count.retries}"),
        PrintedLine(
            "number of transactions above the {option.latency_limit} ms latency limit: "
            f"{{count.late}}[[/{{count.late_of}}]]{_SHARE}"
        ),
        PrintedLine("latency average[[:]][[ =]] {latency_avg}[[ (including failures)]]", once_a_run=True),
        PrintedLine("latency stddev[[:]][[ =]] {latency_stddev}"),
        PrintedLine("rate limit schedule lag: avg {schedule_lag_avg} (max {schedule_lag_max}) ms"),
        PrintedLine("initial connection time = {initial_connection_time}"),
        PrintedLine("average connection time = {average_connection_time}"),
        PrintedLine("tps = {tps} (without initial connection time)"),
        PrintedLine("tps = {tps} (without initial connection establishing)"),
        PrintedLine("tps = {tps} (excluding connections establishing)"),
        PrintedLine("tps = {tps_with_connecting} (including connections establishing)"),
        PrintedLine("tps = {tps} (including {option.connect} times)"),
        PrintedLine("SQL script {operation}: {option}"),
        PrintedLine(f"[[{{operation}}.]]{_LISTED}: {{count.lists}}"),
        PrintedLine("{operation}.weight: {count.weight} (targets {count.target}% of total)"),
        PrintedLine("{operation}.{count.transactions} transactions (...% of total...)"),
        PrintedLine(
            "{operation}.number of transactions actually processed: {count.transactions}[[ (tps = {_})]]"
        ),
        PrintedLine(f"{{operation}}.number of failed transactions: {{count.failed}}{_SHARE}"),
        PrintedLine("{operation}.latency average = {latency_avg}"),
        PrintedLine("{operation}.latency stddev = {latency_stddev}"),
        PrintedLine(f"(more than {_MAX_STATEMENTS} statements)", warning="no more of a script are read"),
        PrintedLine("[[pgbench: {_} ]]{failure}; the above results are incomplete..."),
        *(
            PrintedLine(f"{line}...", failure="pgbench failed", before_figures=True)
            for line in (
                *("pgbench: error: ", "pgbench: fatal: "),
                *(
                    f"[[pgbench: ]]{client} {{_}} [[script {{_}} ]]aborted in "
                    for client in ("client", "Client")
                ),
            )
        ),
        *(
            PrintedLine(f"{begin}...", warning=_NOT_UNDERSTOOD)
            for begin in ("tps = ", "latency average", "latency stddev", "number of transactions ")
        ),
    ),
    names={"-R": "option.rate", "--rate": "option.rate"},
    own={
        "tps_with_connecting": "1/s, higher",
        **{f"schedule_lag_{what}": "ms, lower" for what in ("avg", "max")},
        **{f"{what}_connection_time": "ms, lower" for what in ("initial", "average")},
        **{f"{kind}_failures_per_s": "1/s, lower" for kind in _KINDS},
        "retries_per_s": "1/s, lower",
        **{f"{what}_percent": "%, lower" for what in ("retried", "skipped", "late")},
    },
    required={"tps": "no final report with 'tps = ... (without ...)'; pgbench -i prints none"},
    finish=_finish,
    closing=r"tps = \S+ \([a-z ]{1,60}\)",
)
