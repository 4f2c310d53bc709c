"""What sysbench's Lua hooks print: the JSON of ``sysbench.report_json``, or of a script with its fields.

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
import operator
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import Any

from benchdash.results.readings import LOWER, Reading, reading
from ingest.formats.outputs import MAX_THREADS
from ingest.formats.report import FormatError, Intervals
from ingest.masking import mask_text

_OBJECT = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
_MAX_OBJECT_LENGTH = 4000
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
_MAX_NUMBER = 1e13
_COUNTED = ("reads", "writes", "other", "errors", "reconnects")
_RATES = ("tps", "qps", *(f"{name}_per_s" for name in _COUNTED))
_DOUBTFUL = 0.1

PERCENTILE = "latency_pct"
"""The response time at the rank of ``--percentile``, which the JSON does not say."""

_LATENCIES = ("latency_min", "latency_avg", "latency_max", PERCENTILE, "latency_sum")

PERCENTILE_UNSAID = (
    f"the JSON does not say which percentile '{PERCENTILE}' is: that of --percentile, which is 95 unless it "
    "was set"
)


def hold_a_report(head: bytes) -> bool:
    """Return whether the beginning of a file has an object of either kind."""
    lines = head.decode("utf-8", "replace").splitlines()
    return any(
        _keys_are_sysbenchs(_loose_keys(piece.text)) for piece in _pieces(lines) if piece.kind == "object"
    )


# --- objects ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Piece:
    """An ``object``, one that is ``unfinished``, a bracket of a list (``[``, ``]``), or ``text``."""

    kind: str
    text: str
    line: int


def _pieces(lines: Iterable[str], first: int = 1) -> Iterator[_Piece]:
    """Yield the pieces of lines, of which the first one has this number."""
    buffer = ""
    for number, line in enumerate(lines, start=first):
        if buffer and line.lstrip().startswith("{"):
            yield _Piece("unfinished", "", first)
            buffer = ""
        if not buffer:
            first = number
            if "{" not in line:
                yield from _outside(line, number)
                continue
        buffer += line + "\n"
        if "}" not in line and len(buffer) <= _MAX_OBJECT_LENGTH:
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
        if len(buffer) > _MAX_OBJECT_LENGTH:
            yield _Piece("unfinished", "", first)
            buffer = ""
    if buffer:
        yield _Piece("unfinished", "", first)


def _outside(text: str, line: int) -> Iterator[_Piece]:
    """Yield what stands between objects: brackets, or the lines of something else."""
    bare = text.strip(" \t\n,")
    if bare and not bare.strip("[], \t\n"):
        yield from (_Piece(sign, "", line) for sign in bare if sign in "[]")
    elif bare:
        yield _Piece("text", bare, line)


class _KeyTwiceError(ValueError):
    """One of the two values would be lost."""


def _loose_object(text: str) -> Mapping[str, object]:
    """Return an object with its numbers as text, an empty one for any other text. Raise _KeyTwiceError."""
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
    names = [name for name, _ in pairs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise _KeyTwiceError(twice)
    return dict(pairs)


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
    """One object: the second in which it was printed, the threads, rates, and response times in ms."""

    line: int
    figures: Mapping[str, float]

    @property
    def time(self) -> float:
        return self.figures["time"]

    @property
    def rates(self) -> Mapping[str, float]:
        return {name: self.figures[name] for name in _RATES}

    @property
    def is_final(self) -> bool:
        return self.figures["threads"] == 0


def _report(text: str, line: int) -> _Report | None:
    """Return the report of an object of sysbench, None for any other. Raise FormatError for bad numbers."""
    try:
        value = _loose_object(re.sub(r":\s*([+-]?(?:nan|inf)\w{0,8})", r': "\1"', text, flags=re.IGNORECASE))
    except _KeyTwiceError as twice:
        raise FormatError(f"the key {str(twice)[:80]!r} is given twice in one object", line) from None
    if not _keys_are_sysbenchs(value):
        return None
    figures = (_of_a_hook if value.keys() >= _OF_A_HOOK else _of_report_json)(value, line)
    threads = figures["threads"]
    if not threads.is_integer() or threads > MAX_THREADS:
        raise FormatError(f"{threads:g} is not a number of threads", line)
    return _Report(line, figures)


def _numbers(members: Mapping[str, object], names: Iterable[str], line: int) -> dict[str, float]:
    """Return the numbers of these names. Raise FormatError for one that sysbench cannot have measured."""
    numbers = {}
    for name in names:
        text = members[name]
        if not isinstance(text, str) or _NUMBER.fullmatch(text) is None or float(text) > _MAX_NUMBER:
            shown = mask_text(str(text)[:40])
            raise FormatError(f"{name} is {shown!r}, which is not a number that sysbench measures", line)
        numbers[name] = float(text)
    return numbers


def _of_report_json(value: Mapping[str, Any], line: int) -> dict[str, float]:
    names = ("tps", "total", "reads", "writes", "other", "errors", "reconnects", "latency", "time", "threads")
    numbers = _numbers({**value, **{name: value["qps"][name] for name in _QUERIES}}, names, line)
    figures = {name: numbers[name] for name in ("time", "threads", "tps")}
    figures |= {"qps": numbers["total"], **{f"{name}_per_s": numbers[name] for name in _COUNTED}}
    return figures | ({PERCENTILE: numbers["latency"]} if numbers["latency"] else {})


def _of_a_hook(value: Mapping[str, Any], line: int) -> dict[str, float]:
    """Return the figures of a script that prints the fields of a hook: counts, and times in seconds."""
    names = ("time_interval", *_COUNTED, "events", *_LATENCIES, "time_total", "threads_running")
    numbers = _numbers(value, names, line)
    seconds = numbers["time_interval"]
    if not seconds:
        raise FormatError("time_interval is 0: nothing was measured", line)
    return {
        "time": numbers["time_total"],
        "threads": numbers["threads_running"],
        "tps": numbers["events"] / seconds,
        "qps": (numbers["reads"] + numbers["writes"] + numbers["other"]) / seconds,
        **{f"{name}_per_s": numbers[name] / seconds for name in _COUNTED},
        # With every digit: 0.000821649 s are 0.821649 ms.
        **{
            name: float(Decimal(repr(numbers[name])).scaleb(3))
            for name in _LATENCIES
            if numbers[name] or name != PERCENTILE
        },
        "events": numbers["events"],
    }


class _Ticks:
    """Reports one after another, of which only the numbers are kept: there may be very many.

    ``last_line`` is that of the last one. A response time that was not measured is NaN in its column.
    """

    def __init__(self) -> None:
        self.last_line = 0
        self._columns = {name: array("d") for name in ("time", "threads", *_RATES, *_LATENCIES)}

    def __len__(self) -> int:
        return len(self._columns["time"])

    def append(self, report: _Report) -> None:
        for name, column in self._columns.items():
            column.append(report.figures.get(name, math.nan))
        self.last_line = report.line

    def column(self, name: str) -> Sequence[float]:
        return self._columns[name]

    @property
    def last_time(self) -> float:
        return self._columns["time"][-1]


# --- runs -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class HookRun:
    """What the hooks of one run printed. ``opened`` is the line of a list that is not closed, 0 if it is.

    ``line`` is its first. ``text_report`` is that in which sysbench's own report begins, 0 if there is none.
    """

    line: int = 1
    header_threads: int | None = None
    ticks: _Ticks = field(default_factory=_Ticks)
    final: _Report | None = None
    last_line: int = 0
    opened: int = 0
    unfinished: int = 0
    text_report: int = 0
    fatal: tuple[str, int] | None = None
    error: FormatError | None = None

    def check(self) -> None:
        """Raise FormatError where the run failed or was stopped, and where its figures are impossible."""
        _refuse_failures(self)
        if not self._rates()["tps"]:
            last_line = self.final.line if self.final else self.ticks.last_line
            raise FormatError("not one event was completed", last_line)

    def readings(self, percentile: str = PERCENTILE) -> Iterator[Reading]:
        """Yield the figures of the final report, or the means of the intervals where there is none.

        ``percentile`` is the metric of its response time, where its rank is known.
        """
        rates = self._rates()
        if self.runs_queries:
            yield from (reading(metric, value) for metric, value in rates.items())
        else:
            yield reading("events_per_s", rates["tps"])
        if final := self.final:
            for metric in filter(final.figures.__contains__, _LATENCIES):
                value = final.figures[metric]
                yield Reading(percentile if metric == PERCENTILE else metric, value, "ms", LOWER)
            if "events" in final.figures:
                yield reading("total_time", final.time)
                yield reading("total_events", final.figures["events"])

    def intervals(self, key: str, percentile: str = PERCENTILE) -> list[Intervals]:
        """Return a table of the reports before the final one, if there are any."""
        if not self.ticks:
            return []
        measured = [name for name in _LATENCIES if not all(map(math.isnan, self.ticks.column(name)))]
        columns = {
            "time_s": "time",
            "threads": "threads",
            **({name: name for name in _RATES} if self.runs_queries else {"events_per_s": "tps"}),
            **{percentile if name == PERCENTILE else name: name for name in measured},
        }
        values = zip(*map(self.ticks.column, columns.values()), strict=True)
        rows = tuple(tuple(None if math.isnan(value) else value for value in row) for row in values)
        return [Intervals(key, "sysbench", tuple(columns), rows)]

    def notes(self) -> Iterator[str]:
        """Yield the warnings that a reader of the run needs before trusting its figures."""
        if not self.final:
            yield (
                f"no final report is there: the rates are the means of {len(self.ticks)} intervals up to "
                f"second {self.ticks.last_time:g}, and the response time of the whole run is not known"
            )
        if self.final and self.ticks:
            yield from _doubts(self.final, self.ticks)
        if self.unfinished:
            yield f"the report that begins in line {self.unfinished} is not complete and was not read"
        if self.opened:
            yield f"the list that is opened in line {self.opened} is not closed: the file may be cut off"

    @property
    def threads(self) -> int | None:
        """Those that were running: at the end none is."""
        if self.header_threads:
            return self.header_threads
        return int(max(self.ticks.column("threads"))) if self.ticks else None

    @property
    def duration_s(self) -> float:
        return self.final.time if self.final else self.ticks.last_time

    @property
    def runs_queries(self) -> bool:
        return bool(self.final and self.final.figures["qps"]) or any(self.ticks.column("qps"))

    @property
    def has_reports(self) -> bool:
        return bool(self.ticks or self.final)

    @property
    def has_begun(self) -> bool:
        return bool(self.has_reports or self.fatal or self.error or self.opened or self.unfinished)

    @property
    def opened_again(self) -> int:
        """The line of a list that was opened after the last report, 0 if none was."""
        return self.opened if self.ticks and self.opened > self.ticks.last_line else 0

    def _rates(self) -> Mapping[str, float]:
        return self.final.rates if self.final else _mean_rates(self.ticks)


def hook_runs(lines: Iterable[str], *, first_line: int = 1) -> list[HookRun]:
    """Return the runs in their order: a new one begins after a final report, and where time goes back.

    ``first_line`` is the number of the first of these lines.
    """
    runs = [HookRun(first_line)]
    for piece in _pieces(lines, first_line):
        report, error = None, None
        if piece.kind == "object":
            try:
                report = _report(piece.text, piece.line)
            except FormatError as bad:
                error = bad
        if _begins_another(runs[-1], piece, report):
            runs.append(HookRun(piece.line, opened=runs[-1].opened_again))
            runs[-2].opened -= runs[-1].opened
        run = runs[-1]
        _sort(run, piece)
        if report:
            _add(run, report)
        run.error = run.error or error
        run.last_line = piece.line + piece.text.count("\n")
    return [run for run in runs if run.has_begun]


def _begins_another(run: HookRun, piece: _Piece, report: _Report | None) -> bool:
    if run.final:
        return (
            piece.kind in {"[", "object", "unfinished"} or _HEADER_THREADS.fullmatch(piece.text) is not None
        )
    if report and run.ticks and report.time < run.ticks.last_time:
        return report.is_final or bool(run.opened_again)
    return run.has_begun and piece.kind == "text" and _HEADER_THREADS.fullmatch(piece.text) is not None


def _sort(run: HookRun, piece: _Piece) -> None:
    match piece.kind:
        case "[":
            run.opened = piece.line
        case "]":
            run.opened = 0
        case "unfinished":
            run.unfinished = piece.line
        case "text" if header := _HEADER_THREADS.fullmatch(piece.text):
            run.header_threads = int(header[1])
        case "text" if piece.text.startswith("FATAL: "):
            run.fatal = run.fatal or (piece.text.removeprefix("FATAL: "), piece.line)
        case "text" if piece.text in _REPORT_IN_TEXT:
            run.text_report = run.text_report or piece.line


def _add(run: HookRun, report: _Report) -> None:
    if report.is_final:
        run.final = report
    elif run.ticks and report.time <= run.ticks.last_time:
        run.error = run.error or FormatError(
            f"a report for second {report.time:g} follows one for second {run.ticks.last_time:g}: are these "
            "two runs, two processes, or checkpoints among the intervals? Send each run as a file of its own",
            report.line,
        )
    else:
        run.ticks.append(report)


def _refuse_failures(run: HookRun) -> None:
    if run.fatal and not run.final:
        raise FormatError(f"sysbench failed: {mask_text(run.fatal[0][:160])!r}", run.fatal[1])
    if run.error:
        raise run.error
    if run.final:
        return
    if run.text_report:
        raise FormatError(
            "the final report is text, and sysbench's banner before it is missing; send the whole output",
            run.text_report,
        )
    if run.opened:
        raise FormatError(
            "no final report, and the list is not closed: sysbench was stopped, or the file is cut off after "
            "this line",
            run.last_line,
        )
    if not run.ticks:
        raise FormatError("the report that begins here is not complete", run.unfinished or run.last_line)


def _mean_rates(ticks: _Ticks) -> dict[str, float]:
    """Return the rates of all intervals together, each weighted by its length."""
    ends = ticks.column("time")
    # The first interval is no longer than the second.
    lengths = [min(ends[0], _step(ticks)), *(end - start for start, end in pairwise(ends))]
    seconds = sum(lengths)
    if not seconds:
        raise FormatError("the reports cover no time", ticks.last_line)
    return {
        metric: math.fsum(map(operator.mul, ticks.column(metric), lengths)) / seconds for metric in _RATES
    }


def _step(ticks: _Ticks) -> float:
    first, *more = ticks.column("time")[:2]
    return more[0] - first if more else first


def _doubts(final: _Report, ticks: _Ticks) -> Iterator[str]:
    """Yield doubts that the final report covers the whole run: after --report-checkpoints it does not."""
    rest = "after --report-checkpoints the final report covers only the rest of the run"
    mean, total = _mean_rates(ticks)["tps"], final.figures["tps"]
    if final.time - ticks.last_time > _step(ticks):
        yield f"nothing is reported between seconds {ticks.last_time:g} and {final.time:g}; {rest}"
    elif abs(mean - total) > _DOUBTFUL * max(mean, total):
        yield f"the final report says {total:g} events a second, the intervals {mean:g}; {rest}"
