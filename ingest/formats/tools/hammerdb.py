"""HammerDB's TPROC-C: the output of its command line, its log, and what ``jobs`` lists of a result.

    Vuser 1:64 Active Virtual Users configured
    Vuser 1:TEST RESULT : System achieved 124500 NOPM from 287600 PostgreSQL TPM

A file holds one result, or several where a script went through numbers of virtual users.
"""

import re
from collections.abc import Iterator, Sequence

from ingest.formats.report import FormatError
from ingest.formats.run_values import RunValues
from ingest.formats.tool_spec import PrintedLine, ToolSpec

_WHOLE = "[0-9]{1,18}"
_NAME = r"[A-Za-z][\w. -]{0,40}"
_USER = re.compile(r"Vuser ([0-9]{1,7}):")
_PAIR = re.compile(r'"(\w{1,40})": "?([^",]{0,40})"?,?')
_ITEM = re.compile(r'"((?:[^"\\]|\\.){0,400})"')
_SETTING = re.compile(r"([a-z0-9_]{1,60}) {1,60}= (\S{1,60})")
_RESULTS = tuple(
    re.compile(f"TEST RESULT : System achieved {rates}")
    for rates in (
        rf"(?P<nopm>{_WHOLE}) (?:{_NAME} )?NOPM from (?P<tpm>{_WHOLE}) (?P<database>{_NAME}) TPM",
        rf"(?P<tpm>{_WHOLE}) (?P<database>{_NAME}) TPM at (?P<nopm>{_WHOLE}) NOPM",
    )
)
_BEGINS = re.compile(
    r"HammerDB |Hammerdb Log @ |Benchmark set to |Changed |Beginning rampup |Timing test period "
    r"|TEST RESULT : |[0-9]{1,7} Active Virtual Users |[0-9]{4}-[0-9]{2}-"
)
_PROFILE_OF_A_USER = re.compile(r"Hammerdb Time Profile Report @ .*|>>>>> VIRTUAL USER [0-9].*")
_SUMMARY = re.compile(r">>>>> SUMMARY OF [0-9]{1,7} ACTIVE VIRTUAL USERS.*|\{")
_RULE = re.compile(r"[+-]{10,}|\},?")
_TIMES = re.compile(r"(?:>>>>> PROC|CALLS|P99|calls|[a-z0-9]{1,9}_ms): .*|[A-Z]\w{0,40}: \{")
_NEVER_CALLED = re.compile(r"(?:CALLS|calls): 0(?:\s.*)?")
_COUNTER = re.compile(rf"{_WHOLE} {_NAME} tpm")
_NO_RESULT = "no 'TEST RESULT'"
_NO_TPROC_H = "TPROC-H is not read, only TPROC-C is"
_COMPLETE = "ALL VIRTUAL USERS COMPLETE"
# Texts that are put where a run begins, and where it is whole.
_BEGUN, _NEXT, _CLOSED = "(a run begins)", "(another result follows)", "(a run ends)"

_DRIVERS = ("", "pg_", "mysql_", "maria_", "mssqls_", "db2_")
# Options that tell one workload from another. Users, passwords, hosts and ports are left where they are.
_OPTIONS = {"count_ware": "option.warehouses"} | {
    name: f"option.{name}"
    for name in (
        *("rampup", "duration", "allwarehouse", "keyandthink", "storedprocs", "partition", "timeprofile"),
        *("async_scale", "async_client", "connect_pool", "total_iterations"),
    )
}
# Products with a driver of their own. MySQL's also reaches MariaDB and Percona, and PostgreSQL's many others.
_PRODUCTS = {"Oracle": "Oracle", "SQL Server": "SQL Server", "MariaDB": "MariaDB", "Db2": "Db2", "DB2": "Db2"}
_STATISTICS = ("min", "avg", "max", "p99", "p95", "p50")


class _Texts:
    """The texts of the lines, without who says them and what single users were timed at."""

    def __init__(self) -> None:
        self.is_created = self.is_running = self.has_result = self.is_complete = False
        # The state of a profile of times: whether it is open, of all users together, and within a procedure.
        self.in_profile = self.in_summary = self.in_procedure = False
        self.is_called = True

    def of(self, lines: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield texts with the numbers of their lines, and one where a run is whole."""
        number = 0
        for number, line in enumerate(lines, start=1):
            for user, text in _texts_of_line(line.strip()):
                # The first virtual user begins a run, and watches the others.
                runs = user == "1" and text == "RUNNING"
                is_created = text.startswith("Vuser 1 created")
                begins = is_created or (runs and (self.is_running or not self.is_created))
                if begins or (self.has_result and _BEGINS.match(text)):
                    yield from self._end(number)
                    yield number, _BEGUN if begins else _NEXT
                self.is_created = self.is_created or is_created
                self.is_running = self.is_running or runs
                yield from ((number, part) for part in self._kept(text))
        yield from self._end(number)

    def _end(self, number: int) -> Iterator[tuple[int, str]]:
        if (self.is_complete or not (self.is_running or self.is_created)) and not self.in_profile:
            yield number, _CLOSED
        self.is_created = self.is_running = self.has_result = self.is_complete = self.in_profile = False

    def _kept(self, text: str) -> Sequence[str]:
        if _PROFILE_OF_A_USER.fullmatch(text):
            self.in_profile, self.in_summary = True, False
        elif _SUMMARY.fullmatch(text):
            self.in_profile = self.in_summary = True
        elif self.in_summary and _RULE.fullmatch(text):
            self.in_profile = self.in_summary = self.in_procedure
            self.in_procedure = False
        elif _TIMES.fullmatch(text):
            return self._times(text)
        elif result := next(filter(None, (pattern.fullmatch(text) for pattern in _RESULTS)), None):
            self.has_result = True
            text = "TEST RESULT : {nopm} NOPM {tpm} {database} TPM".format(**result.groupdict())
        elif self.has_result and _COUNTER.fullmatch(text):
            return ()
        self.is_complete = self.is_complete or text == _COMPLETE
        return (text,)

    def _times(self, text: str) -> Sequence[str]:
        """Return times of all users together, of a procedure that was called."""
        if text.startswith(">>>>> PROC") or text.endswith("{"):
            self.in_procedure, self.is_called = text.endswith("{"), True
        self.is_called = self.is_called and _NEVER_CALLED.fullmatch(text) is None
        return (text,) if self.in_summary and self.is_called else ()


def _texts_of_line(line: str) -> Iterator[tuple[str, str]]:
    """Yield each text of a line with the number of the virtual user who says it."""
    if pair := _PAIR.fullmatch(line):
        yield "", f"{pair[1]}: {pair[2]}"
        return
    for item in _ITEM.findall(line) if '"' in line else [line]:
        text = item.removeprefix("hammerdb>")
        user = _USER.match(text)
        if user:
            text = text[user.end() :].strip()
        elif setting := _SETTING.fullmatch(text):
            text = f"Changed tpcc:{setting[1]} from - to {setting[2]} for -"
        yield user[1] if user else "", text


def _texts(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    return _Texts().of(lines)


def _finish(run: RunValues) -> Iterator[str]:
    if "nopm" not in run.readings and not any("." in metric for metric in run.readings):
        raise FormatError(
            f"{_NO_RESULT}: HammerDB was stopped, or the file is cut off after this line", run.last_line
        )
    if "nopm" in run.readings and not run.value("nopm"):
        raise FormatError("0 NOPM: not one order was placed", run.last_line)
    if run.texts.get("workload", "").endswith("-H"):
        raise FormatError(_NO_TPROC_H, run.line)
    version, mariadb, _ = run.texts.get("version", "").partition("-MariaDB")
    product = "MariaDB" if mariadb else _PRODUCTS.get(str(run.options.get("database")))
    run.texts |= {"version": version, "product": product or ""}
    if run.duration_s:
        run.options["duration"] = round(run.duration_s / 60)
    run.rows[:] = [{"reading": float(at), "tpm": row["tpm"]} for at, row in enumerate(run.rows, start=1)]
    if "tpm" in run.readings and not run.value("tpm"):
        del run.readings["tpm"]
        yield f"0 TPM was not measured and is left out (line {run.last_line})"
    if "nopm" in run.readings and run.threads is None:
        yield "how many virtual users were active is missing: its sender says it"


FORMAT = ToolSpec(
    tool="HammerDB",
    recognised_by=r'^[ \t]*"?(?:(?:hammerdb>)?Vuser [0-9]{1,7}:|TEST RESULT : System achieved '
    r"|HammerDB (?:CLI )?v[0-9]|Hammerdb (?:Log|Time Profile Report) @ "
    r'|>>>>> (?:SUMMARY OF [0-9]{1,7} ACTIVE|PROC: [A-Z]))|"TEST RESULT : System achieved [0-9]',
    texts=_texts,
    lines=(
        PrintedLine("HammerDB CLI v{fact.tool_version}", heads_runs=True),
        PrintedLine("HammerDB v{fact.tool_version}", heads_runs=True),
        PrintedLine("Benchmark set to {workload} for {_}", heads_runs=True),
        PrintedLine("Changed tpcc:{name} from {_} to {value} for...", heads_runs=True),
        PrintedLine(_BEGUN, begins_run=True, owes_figures=True),
        PrintedLine(_NEXT, begins_run=True),
        PrintedLine("DBVersion:{version}"),
        PrintedLine("Beginning rampup time of {option.rampup} minutes"),
        PrintedLine("Timing test period of {duration_s:min} in minutes"),
        PrintedLine("...Warehouses = {option.warehouses} ({_} out of {_})"),
        PrintedLine("{count.tpm} ... tpm", interval=True),
        PrintedLine("{started_at}"),
        PrintedLine("{threads} Active Virtual Users configured", once_a_run=True),
        PrintedLine("TEST RESULT : {nopm} NOPM {tpm} {option.database} TPM", once_a_run=True),
        PrintedLine("TEST RESULT : ...", failure="this is not how HammerDB writes its result"),
        PrintedLine("FINISHED FAILED", failure="a virtual user failed"),
        PrintedLine("Error in Virtual User ...", failure="a virtual user failed"),
        PrintedLine("Completed {_} query set(s) in...", failure=_NO_TPROC_H),
        PrintedLine(">>>>> SUMMARY OF {threads} ACTIVE VIRTUAL USERS...", once_a_run=True),
        PrintedLine(">>>>> PROC: {operation}"),
        PrintedLine("{operation}: {"),
        PrintedLine("CALLS: {_} MIN: {latency_min} AVG: {latency_avg} MAX: {latency_max}..."),
        PrintedLine("P99: {latency_p99} P95: {latency_p95} P50: {latency_p50}..."),
        *(PrintedLine(f"{name}_ms: {{latency_{name}:ms}}") for name in _STATISTICS),
    ),
    names={f"{driver}{name}": place for driver in _DRIVERS for name, place in _OPTIONS.items()},
    required={},
    finish=_finish,
    workload="TPROC-C",
    closing=re.escape(_CLOSED),
)
