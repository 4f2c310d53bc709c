"""sysbench's Lua hooks: the JSON of ``sysbench.report_json``, and of scripts that print what a hook is given.

    [
      {
        "time":    1,
        "threads": 4,
        "tps": 730.96,
        "qps": {
          "total": 11702.40,

``report_intermediate`` prints such an object every few seconds, ``report_cumulative`` one at the end, in
which no thread is running any more. What is printed is mostly no JSON as a whole: one list after another,
without a bracket, or with a comma behind the last object. So the objects are found one by one.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise

from benchdash.results.readings import LOWER, Reading, reading
from ingest.formats import sysbench
from ingest.formats.report import FormatError, Intervals, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.masking import mask_text

_OBJECT = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
_LONGEST_OBJECT = 4000
_SPARE_COMMA = re.compile(r",(\s*[}\]])")

_OF_REPORT_JSON = frozenset({"time", "threads", "tps", "qps", "latency", "errors", "reconnects"})
_QUERIES = frozenset({"total", "reads", "writes", "other"})
_OF_A_HOOK = frozenset(
    {
        *("time_interval", "time_total", "threads_running", "events", "reads", "writes", "other", "errors"),
        *("reconnects", "latency_min", "latency_avg", "latency_max", "latency_pct", "latency_sum"),
    }
)

_HEADER_THREADS = re.compile(r"Number of threads: ([0-9]{1,7})")
_REPORT_IN_TEXT = frozenset({"SQL statistics:", "General statistics:", "Latency (ms):", "Throughput:"})
_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,12})?")
# Where nothing was measured sysbench prints 18446744073709.55 ms.
_LARGEST = 1e13
_MOST_THREADS = 1_000_000
_MOST_WARNINGS = 20
_DOUBTFUL = 0.1

PERCENTILE = "latency_pct"
"""The response time at the rank of ``--percentile``, which the JSON does not say."""


def recognise(head: bytes) -> bool:
    if b"{" not in head or sysbench.recognise(head):
        return False
    lines = head.decode("utf-8", "replace").splitlines()
    return any(
        _keys_are_sysbenchs(_loose_keys(piece.text)) for piece in _pieces(lines) if piece.kind == "object"
    )


def parse(source: Source) -> ParsedReport:
    """Read every run of the file; where there are several, their keys are ``1``, ``2``, ...

    Raises FormatError where nothing can be said of a run.
    """
    lines, warnings = _whole_lines(source)
    outputs = _outputs(lines)
    if not outputs:
        raise FormatError("no report of sysbench that is complete", line=len(source.lines))
    alone = len(outputs) == 1
    runs: list[ParsedRun] = []
    intervals: list[Intervals] = []
    for position, output in enumerate(outputs, start=1):
        key = "" if alone else str(position)
        try:
            run, notes = _run(output, key)
        except FormatError as error:
            if position == len(outputs) and not runs:
                raise
            notes = [f"left out: {error.message} (line {error.line})"]
        else:
            runs.append(run)
            intervals += _table(output, key)
        warnings += notes if alone else [f"run {position}: {note}" for note in notes]
    if any(one.metric == PERCENTILE for run in runs for one in run.readings):
        warnings.append(
            f"the JSON does not say which percentile '{PERCENTILE}' is: that of --percentile, which is 95 "
            "unless it was set"
        )
    return ParsedReport(tuple(runs), tuple(intervals), {"tool": "sysbench"}, _bounded(warnings))


def _whole_lines(source: Source) -> tuple[Sequence[str], list[str]]:
    """All lines, for an object ends with its bracket; a warning where the last one has no end."""
    lines = source.lines
    if source.ends_with_newline:
        return lines, []
    return lines, [f"line {len(lines)}, the last one, has no line end: the file may be cut off"]


def _bounded(warnings: Sequence[str]) -> tuple[str, ...]:
    unread = len(warnings) - _MOST_WARNINGS
    more = (f"{unread} more warnings like these",) if unread > 0 else ()
    return tuple(warnings[:_MOST_WARNINGS]) + more


# --- objects ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Piece:
    """An ``object``, one that is ``unfinished``, a bracket of a list (``[``, ``]``), or ``text``."""

    kind: str
    text: str
    line: int


def _pieces(lines: Iterable[str]) -> Iterator[_Piece]:
    """What stands in the file, in its order."""
    buffer, first, number = "", 1, 0
    for number, line in enumerate(lines, start=1):
        if buffer and line.lstrip().startswith("{"):
            yield _Piece("unfinished", "", first)
            buffer = ""
        if not buffer:
            first = number
            if "{" not in line:
                yield from _outside(line, number)
                continue
        buffer += line + "\n"
        if "}" not in line and len(buffer) <= _LONGEST_OBJECT:
            continue
        end = 0
        while (start := buffer.find("{", end)) >= 0 and (match := _OBJECT.match(buffer, start)):
            yield from _outside(buffer[end:start], first)
            first += buffer.count("\n", end, start)
            yield _Piece("object", match[0], first)
            first += match[0].count("\n")
            end = match.end()
        stop = start if start >= 0 else len(buffer)
        yield from _outside(buffer[end:stop], first)
        first += buffer.count("\n", end, stop)
        buffer = buffer[stop:]
        if len(buffer) > _LONGEST_OBJECT:
            yield _Piece("unfinished", "", first)
            buffer = ""
    if buffer:
        yield _Piece("unfinished", "", first)


def _outside(text: str, line: int) -> Iterator[_Piece]:
    """What stands between objects: brackets and commas, or the lines of something else."""
    bare = text.strip(" \t\n,")
    if bare and not bare.strip("[], \t\n"):
        yield from (_Piece(sign, "", line) for sign in bare if sign in "[]")
    elif bare:
        yield _Piece("text", bare, line)


class _KeyTwiceError(ValueError):
    """One of the two values would be lost."""


def _loose_object(text: str) -> Mapping[str, object]:
    """An object with its numbers as text. Raises _KeyTwiceError; an empty one for what is none."""
    try:
        value = json.loads(
            _SPARE_COMMA.sub(r"\1", text), parse_int=str, parse_float=str, object_pairs_hook=_members
        )
    except _KeyTwiceError:
        raise
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _members(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise _KeyTwiceError(next(name for name in names if names.count(name) > 1))
    return members


def _loose_keys(text: str) -> Mapping[str, object]:
    try:
        return _loose_object(text)
    except _KeyTwiceError:
        return {}


def _keys_are_sysbenchs(value: Mapping[str, object]) -> bool:
    queries = value.get("qps")
    is_report_json = (
        value.keys() >= _OF_REPORT_JSON and isinstance(queries, dict) and queries.keys() >= _QUERIES
    )
    return is_report_json or value.keys() >= _OF_A_HOOK


@dataclass(frozen=True, slots=True)
class _Report:
    """One object: when it was printed, in seconds since the start, and what happened in a second.

    ``latencies`` are in ms. ``events`` is their number, where the object says it.
    """

    line: int
    time: float
    threads: float
    rates: Mapping[str, float]
    latencies: Mapping[str, float]
    events: float | None = None

    @property
    def is_final(self) -> bool:
        return self.threads == 0


def _report(text: str, line: int) -> _Report | None:
    """Raises FormatError for an object of sysbench with a number that is none; None for any other object."""
    try:
        value = _loose_object(re.sub(r":\s*([+-]?(?:nan|inf)\w{0,8})", r': "\1"', text, flags=re.IGNORECASE))
    except _KeyTwiceError as twice:
        raise FormatError(f"the key {str(twice)[:80]!r} is given twice in one object", line) from None
    if not _keys_are_sysbenchs(value):
        return None
    numbers = _Numbers(value, line)
    report = _of_a_hook(numbers) if value.keys() >= _OF_A_HOOK else _of_report_json(numbers)
    if not report.threads.is_integer() or report.threads > _MOST_THREADS:
        raise FormatError(f"{report.threads:g} is not a number of threads", line)
    return report


@dataclass(frozen=True, slots=True)
class _Numbers:
    value: Mapping[str, object]
    line: int

    def __getitem__(self, name: str) -> float:
        text = self.value[name]
        if not isinstance(text, str) or _NUMBER.fullmatch(text) is None or float(text) > _LARGEST:
            shown = mask_text(str(text)[:40])
            raise FormatError(f"{name} is {shown!r}, which is not a number that sysbench measures", self.line)
        return float(text)

    def milliseconds(self, name: str) -> float:
        """A time that is given in seconds, with every digit: 0.000821649 s are 0.821649 ms."""
        return float(Decimal(repr(self[name])).scaleb(3))

    def of(self, name: str) -> "_Numbers":
        inner = self.value[name]
        return _Numbers(inner if isinstance(inner, dict) else {}, self.line)


def _of_report_json(numbers: _Numbers) -> _Report:
    queries = numbers.of("qps")
    rates = {
        "tps": numbers["tps"],
        "qps": queries["total"],
        "reads_per_s": queries["reads"],
        "writes_per_s": queries["writes"],
        "other_per_s": queries["other"],
        "errors_per_s": numbers["errors"],
        "reconnects_per_s": numbers["reconnects"],
    }
    latencies = {PERCENTILE: numbers["latency"]} if numbers["latency"] else {}
    return _Report(numbers.line, numbers["time"], numbers["threads"], rates, latencies)


def _of_a_hook(numbers: _Numbers) -> _Report:
    """A script that prints the fields that sysbench hands to a hook: counts, and times in seconds."""
    seconds = numbers["time_interval"]
    if not seconds:
        raise FormatError("time_interval is 0: nothing was measured", numbers.line)
    queries = numbers["reads"] + numbers["writes"] + numbers["other"]
    rates = {
        "tps": numbers["events"] / seconds,
        "qps": queries / seconds,
        **{
            f"{name}_per_s": numbers[name] / seconds
            for name in ("reads", "writes", "other", "errors", "reconnects")
        },
    }
    latencies = {
        name: numbers.milliseconds(name)
        for name in ("latency_min", "latency_avg", "latency_max", PERCENTILE, "latency_sum")
        if numbers[name] or name != PERCENTILE
    }
    return _Report(
        numbers.line,
        numbers["time_total"],
        numbers["threads_running"],
        rates,
        latencies,
        events=numbers["events"],
    )


# --- runs -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Output:
    """What the hooks of one run printed. ``opened`` is the line of a list that is not closed, 0 if it is."""

    header_threads: int | None = None
    ticks: list[_Report] = field(default_factory=list)
    final: _Report | None = None
    last_line: int = 0
    opened: int = 0
    unfinished: int = 0
    text_report: int = 0
    fatal: tuple[str, int] | None = None
    error: FormatError | None = None

    @property
    def has_begun(self) -> bool:
        return bool(self.reports or self.fatal or self.error or self.opened or self.unfinished)

    @property
    def opened_again(self) -> int:
        """The line of a list that was opened after the last report, 0 if none was."""
        return self.opened if self.ticks and self.opened > self.ticks[-1].line else 0

    @property
    def reports(self) -> list[_Report]:
        return [*self.ticks, self.final] if self.final else self.ticks

    @property
    def runs_queries(self) -> bool:
        return any(report.rates["qps"] for report in self.reports)


def _outputs(lines: Sequence[str]) -> list[_Output]:
    """The runs in the order of the file: a new one begins after a final report, and where time goes back."""
    outputs = [_Output()]
    for piece in _pieces(lines):
        report, error = None, None
        if piece.kind == "object":
            try:
                report = _report(piece.text, piece.line)
            except FormatError as bad:
                error = bad
        if _begins_another(outputs[-1], piece, report):
            outputs.append(_Output(opened=outputs[-1].opened_again))
            outputs[-2].opened -= outputs[-1].opened
        output = outputs[-1]
        _sort(output, piece)
        if report:
            _add(output, report)
        output.error = output.error or error
        output.last_line = piece.line + piece.text.count("\n")
    return [output for output in outputs if output.has_begun]


def _begins_another(output: _Output, piece: _Piece, report: _Report | None) -> bool:
    if output.final:
        return (
            piece.kind in {"[", "object", "unfinished"} or _HEADER_THREADS.fullmatch(piece.text) is not None
        )
    if report and output.ticks and report.time < output.ticks[-1].time:
        return report.is_final or bool(output.opened_again)
    return output.has_begun and piece.kind == "text" and _HEADER_THREADS.fullmatch(piece.text) is not None


def _sort(output: _Output, piece: _Piece) -> None:
    match piece.kind:
        case "[":
            output.opened = piece.line
        case "]":
            output.opened = 0
        case "unfinished":
            output.unfinished = piece.line
        case "text":
            _sort_text(output, piece)


def _sort_text(output: _Output, piece: _Piece) -> None:
    if header := _HEADER_THREADS.fullmatch(piece.text):
        output.header_threads = int(header[1])
    elif piece.text.startswith("FATAL: "):
        output.fatal = output.fatal or (piece.text.removeprefix("FATAL: "), piece.line)
    elif piece.text in _REPORT_IN_TEXT:
        output.text_report = output.text_report or piece.line


def _add(output: _Output, report: _Report) -> None:
    before = output.ticks[-1] if output.ticks else None
    if report.is_final:
        output.final = report
    elif before and report.time <= before.time:
        output.error = output.error or FormatError(
            f"a report for second {report.time:g} follows one for second {before.time:g}: are these two "
            "runs, two processes, or checkpoints among the intervals? Send each run as a file of its own",
            report.line,
        )
    else:
        output.ticks.append(report)


def _run(output: _Output, key: str) -> tuple[ParsedRun, list[str]]:
    """Raises FormatError where the run failed or was stopped, and where its figures are impossible."""
    _refuse_failures(output)
    rates = output.final.rates if output.final else _mean_rates(output.ticks)
    last = output.reports[-1]
    if not rates["tps"]:
        raise FormatError("not one event was completed", last.line)
    run = ParsedRun(
        readings=tuple(_readings(output, rates)),
        key=key,
        threads=_threads(output),
        duration_s=last.time,
    )
    return run, list(_notes(output))


def _refuse_failures(output: _Output) -> None:
    if output.fatal and not output.final:
        raise FormatError(f"sysbench failed: {mask_text(output.fatal[0][:160])!r}", output.fatal[1])
    if output.error:
        raise output.error
    if output.final:
        return
    if output.text_report:
        raise FormatError(
            "the final report is text, and sysbench's banner before it is missing; send the whole output",
            output.text_report,
        )
    if output.opened:
        raise FormatError(
            "no final report, and the list is not closed: sysbench was stopped, or the file is cut off after "
            "this line",
            output.last_line,
        )
    if not output.ticks:
        raise FormatError(
            "the report that begins here is not complete", output.unfinished or output.last_line
        )


def _readings(output: _Output, rates: Mapping[str, float]) -> Iterator[Reading]:
    if output.runs_queries:
        yield from (reading(metric, value) for metric, value in rates.items())
    else:
        yield reading("events_per_s", rates["tps"])
    if final := output.final:
        for metric, value in final.latencies.items():
            yield Reading(metric, value, "ms", LOWER)
        if final.events is not None:
            yield reading("total_time", final.time)
            yield reading("total_events", final.events)


def _mean_rates(ticks: Sequence[_Report]) -> dict[str, float]:
    """The rates of all intervals together, each weighted by its length."""
    lengths = _lengths(ticks)
    seconds = sum(lengths)
    if not seconds:
        raise FormatError("the reports cover no time", ticks[-1].line)
    return {
        metric: math.fsum(tick.rates[metric] * length for tick, length in zip(ticks, lengths, strict=True))
        / seconds
        for metric in ticks[0].rates
    }


def _lengths(ticks: Sequence[_Report]) -> list[float]:
    """The seconds of each interval; the first is no longer than the second, where the file begins later."""
    ends = [tick.time for tick in ticks]
    return [min(ends[0], _step(ticks)), *(end - start for start, end in pairwise(ends))]


def _step(ticks: Sequence[_Report]) -> float:
    return ticks[1].time - ticks[0].time if len(ticks) > 1 else ticks[0].time


def _threads(output: _Output) -> int | None:
    """Those that were running: at the end none is."""
    if output.header_threads:
        return output.header_threads
    return int(max(tick.threads for tick in output.ticks)) if output.ticks else None


def _notes(output: _Output) -> Iterator[str]:
    """What the reader of a run must know before trusting its figures."""
    if not output.final:
        yield (
            f"no final report is there: the rates are the means of {len(output.ticks)} intervals up to "
            f"second {output.ticks[-1].time:g}, and the response time of the whole run is not known"
        )
    if output.final and output.ticks:
        yield from _doubts(output.final, output.ticks)
    if output.unfinished:
        yield f"the report that begins in line {output.unfinished} is not complete and was not read"
    if output.opened:
        yield f"the list that is opened in line {output.opened} is not closed: the file may be cut off"


def _doubts(final: _Report, ticks: Sequence[_Report]) -> Iterator[str]:
    """Whether the final report is one of the whole run: after --report-checkpoints it is not."""
    rest = "after --report-checkpoints the final report covers only the rest of the run"
    mean, total = _mean_rates(ticks)["tps"], final.rates["tps"]
    if final.time - ticks[-1].time > _step(ticks):
        yield f"nothing is reported between seconds {ticks[-1].time:g} and {final.time:g}; {rest}"
    elif abs(mean - total) > _DOUBTFUL * max(mean, total):
        yield f"the final report says {total:g} events a second, the intervals {mean:g}; {rest}"


def _table(output: _Output, key: str) -> list[Intervals]:
    if not output.ticks:
        return []
    rates = list(output.ticks[0].rates) if output.runs_queries else ["tps"]
    latencies = list(dict.fromkeys(name for tick in output.ticks for name in tick.latencies))
    names = rates if output.runs_queries else ["events_per_s"]
    rows = tuple(
        (tick.time, tick.threads, *(tick.rates[name] for name in rates), *map(tick.latencies.get, latencies))
        for tick in output.ticks
    )
    return [Intervals(key, "sysbench", ("time_s", "threads", *names, *latencies), rows)]
