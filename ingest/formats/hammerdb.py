"""HammerDB's TPROC-C: the output of its command line, its log, and what ``jobs ... result`` lists.

    Vuser 1:64 Active Virtual Users configured
    Vuser 1:TEST RESULT : System achieved 124500 NOPM from 287600 PostgreSQL TPM

A file holds one result, or several where a script went through numbers of virtual users.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from benchdash.results.readings import LOWER, Reading, percentile_metric, reading
from ingest.formats.outputs import (
    MAX_THREADS,
    Read,
    bounded,
    in_order,
    measured,
    option,
    quoted,
    read_runs,
    whole_lines,
)
from ingest.formats.report import Fact, FormatError, Intervals, ParsedReport, ParsedRun
from ingest.formats.source import Source

_RECOGNISED = re.compile(
    rb'^[ \t]*"?(?:(?:hammerdb>)?Vuser [0-9]{1,7}:|TEST RESULT : System achieved |HammerDB (?:CLI )?v[0-9]'
    rb"|Hammerdb (?:Log|Time Profile Report) @ |>>>>> (?:SUMMARY OF [0-9]{1,7} ACTIVE|PROC: [A-Z]))"
    rb'|"TEST RESULT : System achieved [0-9]',
    re.MULTILINE,
)

_TEXT_OF_LIST = re.compile(r'"((?:[^"\\]|\\.){0,400})"')
_USER = re.compile(r"Vuser ([0-9]{1,7}):(.*)")
_RESULT = re.compile(
    r"TEST RESULT : System achieved (?:"
    r"(?P<nopm>\S{1,40}) (?:[A-Z][\w -]{1,20} )?NOPM from (?P<tpm>\S{1,40})"
    r" (?P<database>[A-Za-z][\w. -]{0,40}) TPM"
    r"|(?P<old_tpm>\S{1,40}) (?P<old_database>[A-Za-z][\w. -]{0,40}) TPM at (?P<old_nopm>\S{1,40}) NOPM)"
)
_RESULT_BEGINS = "TEST RESULT : "
_ACTIVE_USERS = re.compile(r"([0-9]{1,7}) Active Virtual Users configured")
_RAMP_UP = re.compile(r"Beginning rampup time of ([0-9]{1,6}) minutes")
_DURATION = re.compile(r"Timing test period of ([0-9]{1,6}) in minutes")
_WAREHOUSES = re.compile(r".{0,200}?\bWarehouses = ([0-9]{1,9})\b.*")
_DATABASE_VERSION = re.compile(r"DBVersion:\s?([0-9][\w.+~-]{0,60})")
_COUNTER = re.compile(r"(\S{1,40}) ([A-Za-z][\w. -]{0,40}) tpm")
_TOOL_VERSION = re.compile(r"HammerDB (?:CLI |Web Service )?v([0-9][\w.]{0,20})")
_BENCHMARK = re.compile(r"Benchmark set to (TP(?:RO)?C-[CH])\b.*")
_JOB_TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2})")
_QUERIES = re.compile(r"(?:Completed [0-9]+ query set\(s\) in |Geometric mean of query times ).*")

_CHANGED = re.compile(r"Changed tpcc:([a-z0-9_]{1,60}) from \S{1,60} to (\S{1,60}) for .*")
_SETTING = re.compile(r"([a-z0-9_]{1,60}) {1,60}= (\S{1,60})")
# What tells one workload from another. Users, passwords, hosts and ports are left where they are.
_WAREHOUSE_COUNT = "count_ware"
_OPTIONS = frozenset(
    {
        *(_WAREHOUSE_COUNT, "rampup", "duration", "allwarehouse", "keyandthink", "storedprocs", "partition"),
        *("timeprofile", "async_scale", "async_client", "connect_pool", "total_iterations"),
    }
)

_SUMMARY = re.compile(r">>>>> SUMMARY OF ([0-9]{1,7}) ACTIVE VIRTUAL USERS\b.*")
_PROFILE_BEGINS = re.compile(r"Hammerdb Time Profile Report @ .*|>>>>> VIRTUAL USER [0-9]{1,7} .*|\{")
_CREATED = re.compile(r"Vuser [0-9]{1,7} created\b.*")
_PROCEDURE = re.compile(r">>>>> PROC: ([A-Za-z]\w{0,40})")
_TIMES = re.compile(r"\b(CALLS|MIN|AVG|MAX|TOTAL|P[0-9]{1,2}|SD|RATIO): ?([^\s:]{1,40}?)(?:ms|%)?(?=\s|$)")
_RULE = re.compile(r"[+-]{10,}")
_TIMING = re.compile(
    r'"([A-Z]\w{0,40})": \{'
    r'|"(calls|min_ms|avg_ms|max_ms|p[0-9]{1,2}_ms)": (?:"([^"]{0,40})"|([^",}\s]{1,40}))'
    r"|\}"
)
_ALWAYS_TIMED = ("CALLS", "MIN", "AVG", "MAX", "P99", "P95", "P50")

# Products with a driver of their own. MySQL's also reaches MariaDB and Percona, and PostgreSQL's many others.
_PRODUCTS = {"Oracle": "Oracle", "SQL Server": "SQL Server", "MariaDB": "MariaDB", "Db2": "Db2", "DB2": "Db2"}

_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?")
_WHOLE_NUMBER = re.compile(r"[0-9]{1,18}")
_ALL_COMPLETE = "ALL VIRTUAL USERS COMPLETE"
_FAILED = "FINISHED FAILED"
_NO_TPROC_H = "TPROC-H is not read, only TPROC-C is"


def recognise(head: bytes) -> bool:
    return _RECOGNISED.search(head) is not None


def parse(source: Source) -> ParsedReport:
    """Read every result of the file; where there are several, their keys are ``1``, ``2``, ...

    Raise FormatError where no run has a result. Of several runs one without is left out with a warning.
    """
    lines, warnings = whole_lines(source)
    reader = _Reader()
    reader.read(lines)
    outputs = reader.outputs()
    if not outputs:
        if reader.queries:
            raise FormatError(_NO_TPROC_H, reader.queries)
        raise FormatError(
            "no 'TEST RESULT': no test was run, only a schema was built or a script loaded", len(source.lines)
        )
    runs, intervals, notes = read_runs(outputs, _run, lines)
    facts: dict[str, Fact] = {"tool": "HammerDB"}
    if reader.tool_version:
        facts["tool_version"] = reader.tool_version
    return ParsedReport(runs, intervals, facts, bounded(warnings + notes))


def _number(text: str, line: int) -> float:
    """Raise FormatError for anything but a plain decimal number that could have been measured."""
    return measured(text, line, "is not a number that HammerDB measures")


# --- lines ------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Profile:
    """Times of each procedure, summed up over the virtual users: its names and texts as printed.

    ``users`` is None where the profile does not say how many it sums up. ``ends`` says whether it was closed.
    """

    line: int
    users: int | None = None
    procedures: dict[str, dict[str, tuple[str, int]]] = field(default_factory=dict)
    ends: bool = False


@dataclass(slots=True)
class _Output:
    """What HammerDB printed of one run of its virtual users."""

    line: int
    last_line: int
    users: tuple[str, int] | None = None
    result: tuple[re.Match[str], int] | None = None
    strange_result: tuple[str, int] | None = None
    duration_min: int | None = None
    benchmark: str = ""
    version: str = ""
    job_time: str = ""
    options: dict[str, Fact] = field(default_factory=dict)
    counters: list[tuple[str, int]] = field(default_factory=list)
    profile: _Profile | None = None
    failed: list[tuple[str, int]] = field(default_factory=list)
    failed_later: int = 0
    created: bool = False
    running: set[str] = field(default_factory=set)
    has_completed: bool = False


class _Reader:
    """Sorts the lines of a file into the runs of virtual users."""

    def __init__(self) -> None:
        self.tool_version = ""
        self.queries = 0
        self._all: list[_Output] = []
        self._benchmark = ""
        self._options: dict[str, Fact] = {}
        self._profile: _Profile | None = None
        self._procedure: dict[str, tuple[str, int]] | None = None
        self._sums_up = False

    def read(self, lines: Iterable[str]) -> None:
        for number, line in enumerate(lines, start=1):
            text = line.strip().removeprefix("hammerdb>")
            if _PROFILE_BEGINS.fullmatch(text):
                self._begin_profile(number)
            elif text.startswith((">>>>>", "+-", "CALLS:", "P99:", "P95:")):
                self._read_profile(text, number)
            elif '"' in text:
                self._read_timing(text, number)
                for found in _TEXT_OF_LIST.findall(text):
                    self._sort(found, number)
            else:
                self._read_timing(text, number)
                self._sort(text, number)

    def outputs(self) -> list[_Output]:
        """Return the runs that were begun, and profiles that stand alone."""
        return [
            output
            for output in self._all
            if output.result
            or output.strange_result
            or output.created
            or output.running
            or output.users
            or (output.profile and output.profile.procedures)
        ]

    @property
    def _last(self) -> _Output | None:
        return self._all[-1] if self._all else None

    def _output(self, line: int) -> _Output:
        """Return the run at hand; a new one after a result."""
        if not self._all or self._all[-1].result:
            self._begin(line)
        self._all[-1].last_line = line
        return self._all[-1]

    def _begin(self, line: int) -> None:
        self._all.append(_Output(line, line, benchmark=self._benchmark, options=dict(self._options)))

    def _sort(self, text: str, line: int) -> None:
        user = _USER.fullmatch(text)
        message = user[2].strip() if user else text
        if result := _RESULT.fullmatch(message):
            self._output(line).result = (result, line)
        elif message.startswith(_RESULT_BEGINS):
            self._output(line).strange_result = (message, line)
        elif message == _FAILED or text.startswith("Error in Virtual User "):
            self._fail(user[1] if user else "", line)
        elif text == _ALL_COMPLETE:
            if self._last:
                self._last.has_completed = True
        elif _CREATED.fullmatch(text):
            if self._last and self._last.result:
                self._output(line).created = True
        elif user and message == "RUNNING":
            # One that runs again is of another run, even if the first run had no result.
            if self._last and user[1] in self._last.running:
                self._begin(line)
            self._output(line).running.add(user[1])
        elif match := _TOOL_VERSION.fullmatch(text):
            self.tool_version = self.tool_version or match[1]
        elif match := _BENCHMARK.fullmatch(message):
            self._benchmark = match[1]
        elif match := _CHANGED.fullmatch(text) or _SETTING.fullmatch(text):
            self._set_option(match[1], match[2])
        elif _QUERIES.fullmatch(message):
            self.queries = self.queries or line
        else:
            self._sort_of_run(user[1] if user else "", message, line)

    def _sort_of_run(self, user: str, message: str, line: int) -> None:
        if match := _ACTIVE_USERS.fullmatch(message):
            self._output(line).users = (match[1], line)
        elif match := _RAMP_UP.fullmatch(message):
            self._output(line).options["rampup"] = int(match[1])
        elif match := _DURATION.fullmatch(message):
            output = self._output(line)
            output.options["duration"] = output.duration_min = int(match[1])
        elif user and (match := _WAREHOUSES.fullmatch(message)):
            self._output(line).options["warehouses"] = int(match[1])
        elif match := _DATABASE_VERSION.fullmatch(message):
            self._output(line).version = match[1]
        elif match := _JOB_TIME.fullmatch(message):
            self._output(line).job_time = match[1]
        elif (match := _COUNTER.fullmatch(message)) and not (self._last and self._last.result):
            self._output(line).counters.append((match[1], line))

    def _fail(self, user: str, line: int) -> None:
        """Note a virtual user that failed; before the result it makes the result one of fewer users."""
        output = self._last
        if output and output.result:
            output.failed_later = output.failed_later or line
        elif user:
            self._output(line).failed.append((user, line))

    def _set_option(self, name: str, value: str) -> None:
        """Note an option: ``pg_count_ware`` is the same as Oracle's ``count_ware``."""
        known = next((part for part in (name, name.partition("_")[2]) if part in _OPTIONS), None)
        if known:
            named = "warehouses" if known == _WAREHOUSE_COUNT else known
            self._options[named] = option(value)
            if self._last and not self._last.result:
                self._last.options[named] = option(value)

    def _begin_profile(self, line: int) -> None:
        """Begin a profile; before its summary stand the times of each virtual user, or a bracket of JSON."""
        if self._profile is None:
            # It stands beside the run whose result is before it, or on its own where there is none.
            if self._last is None or (self._last.profile and self._last.profile.procedures):
                self._all.append(_Output(line, line))
            self._profile = self._all[-1].profile = _Profile(line)
        self._procedure, self._sums_up = None, False

    def _read_profile(self, text: str, line: int) -> None:
        if match := _SUMMARY.fullmatch(text):
            self._begin_profile(line)
            if self._profile:
                self._profile.users = int(match[1])
            self._sums_up = True
        elif match := _PROCEDURE.fullmatch(text):
            if self._profile and self._sums_up:
                self._procedure = self._profile.procedures.setdefault(match[1].upper(), {})
        elif _RULE.match(text):
            if self._sums_up:
                self._end_profile()
        elif self._procedure is not None:
            for name, value in _TIMES.findall(text):
                self._procedure.setdefault(name, (value, line))

    def _read_timing(self, text: str, line: int) -> None:
        """Read the times as ``jobs ... timing`` prints them, in JSON."""
        for match in _TIMING.finditer(text):
            procedure, name, quoted, bare = match.groups()
            if procedure and self._profile:
                self._procedure = self._profile.procedures.setdefault(procedure, {})
            elif name and self._procedure is not None:
                self._procedure.setdefault(name.removesuffix("_ms").upper(), (quoted or bare or "", line))
            elif match[0] == "}" and self._procedure is not None:
                self._procedure = None
            elif match[0] == "}":
                self._end_profile()

    def _end_profile(self) -> None:
        if self._profile:
            self._profile.ends = True
        self._profile = self._procedure = None
        self._sums_up = False


# --- runs -------------------------------------------------------------------------------------------------


def _run(output: _Output, key: str) -> Read:
    """Raise FormatError where there is no result, where users failed, and for impossible figures."""
    notes: list[str] = []
    _refuse_failures(output)
    readings: list[Reading] = []
    database = ""
    if output.result:
        rates, database, notes = _result(*output.result)
        readings += rates
    if output.profile:
        readings += _times(output.profile)
    if not readings:
        raise FormatError("the time profile holds no times", output.line)
    version, mariadb, _ = output.version.partition("-MariaDB")
    run = ParsedRun(
        readings=tuple(readings),
        key=key,
        product="MariaDB" if mariadb else _PRODUCTS.get(database),
        version=version or None,
        workload=output.benchmark or "TPROC-C",
        threads=_threads(output),
        started_at=_time(output.job_time),
        duration_s=None if output.duration_min is None else 60.0 * output.duration_min,
        options=output.options | ({"database": database} if database else {}),
    )
    return run, _table(output, key), [*notes, *_notes(output)]


def _refuse_failures(output: _Output) -> None:
    if output.benchmark.endswith("-H"):
        raise FormatError(_NO_TPROC_H, output.line)
    if output.failed:
        users = len({user for user, _ in output.failed})
        raise FormatError(
            f"{users} virtual users failed: a result is not one of all that were configured",
            output.failed[0][1],
        )
    stands_alone = output.profile and not (output.created or output.running or output.users)
    if output.strange_result and not output.result:
        text, line = output.strange_result
        raise FormatError(
            f"{quoted(text)} is not how HammerDB writes its result, which is 'System achieved 124500 NOPM "
            "from 287600 PostgreSQL TPM'; was it written by hand?",
            line,
        )
    if not output.result and not stands_alone:
        raise FormatError(
            "no 'TEST RESULT': HammerDB was stopped, or the file is cut off after this line", output.last_line
        )


def _result(match: re.Match[str], line: int) -> tuple[list[Reading], str, list[str]]:
    """Return the two rates, the database whose driver was used, and warnings."""
    nopm, tpm = (
        measured(text, line, "is not a whole number, as HammerDB prints rates", pattern=_WHOLE_NUMBER)
        for text in (match["nopm"] or match["old_nopm"], match["tpm"] or match["old_tpm"])
    )
    if not nopm:
        raise FormatError("0 NOPM: not one order was placed", line)
    database = match["database"] or match["old_database"]
    if not tpm:
        return [reading("nopm", nopm)], database, [f"0 TPM was not measured and is left out (line {line})"]
    return [reading("nopm", nopm), reading("tpm", tpm)], database, []


def _times(profile: _Profile) -> Iterator[Reading]:
    for procedure, times in profile.procedures.items():
        if "CALLS" in times and not _number(*times["CALLS"]):
            continue
        figures = {metric: _number(*figure) for name, figure in times.items() if (metric := _statistic(name))}
        ordered = [figures[name] for name in ("latency_min", "latency_avg", "latency_max") if name in figures]
        if not in_order(*ordered):
            raise FormatError(
                f"the least, average and highest time of {procedure} are not in this order",
                times["AVG"][1] if "AVG" in times else profile.line,
            )
        for metric, value in figures.items():
            yield Reading(f"{procedure.lower()}.{metric}", value, "ms", LOWER)


def _statistic(name: str) -> str:
    """Return ``latency_p95`` for ``P95``; empty for what is no time of one call."""
    if name in {"MIN", "AVG", "MAX"}:
        return f"latency_{name.lower()}"
    return percentile_metric(int(name[1:])) if name[:1] == "P" and name[1:].isdecimal() else ""


def _threads(output: _Output) -> int | None:
    if output.users is None:
        return output.profile.users if output.profile and not output.result else None
    text, line = output.users
    if not 1 <= int(text) <= MAX_THREADS:
        raise FormatError(f"{text} is not a number of virtual users", line)
    return int(text)


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None


def _notes(output: _Output) -> Iterator[str]:
    """Yield the warnings that a reader of the run needs before trusting its figures."""
    if output.result and output.users is None:
        yield f"how many virtual users were active is missing before the result in line {output.result[1]}"
    if output.result and output.running and not output.has_completed:
        yield (
            f"'{_ALL_COMPLETE}' is missing after the result in line {output.result[1]}: "
            "did a virtual user hang, or is the file cut off?"
        )
    if output.failed_later:
        yield f"a virtual user failed after the result (line {output.failed_later})"
    if output.profile:
        yield from _notes_on_profile(output.profile)


def _notes_on_profile(profile: _Profile) -> Iterator[str]:
    for procedure, times in profile.procedures.items():
        if lacking := [name for name in _ALWAYS_TIMED if name not in times]:
            yield f"the times of {procedure} are not complete: no {', '.join(lacking)}"
    if not profile.ends:
        yield f"the time profile that begins in line {profile.line} does not end: is the file cut off?"


def _table(output: _Output, key: str) -> Iterator[Intervals]:
    """Yield the transaction counter, which does not say at what times it counted."""
    rows = tuple(
        (float(position), _number(text, line))
        for position, (text, line) in enumerate(output.counters, start=1)
        if _NUMBER.fullmatch(text)
    )
    if rows:
        yield Intervals(key, "transaction counter", ("reading", "tpm"), rows)
