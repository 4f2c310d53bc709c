"""The JSON of sysbench's Lua hooks: of ``sysbench.report_json``, or of a script with the fields of a hook.

    [
      {
        "time":    1,
        "threads": 4,
        "tps": 730.96,
        "qps": {
          "total": 11702.40,

``report_intermediate`` prints such an object every few seconds, ``report_cumulative`` one at the end, in
which no thread is running any more. The whole is mostly no JSON: one list after another, without a bracket,
or with a comma behind the last object. Therefore the objects are found one by one, and their members too.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise

from benchdash.results.readings import LOWER, Reading, percentile_metric, reading
from ingest.formats.outputs import MAX_THREADS, measured, quoted
from ingest.formats.report import FormatError, Intervals

PERCENTILE = "latency_pct"
"""The response time at the rank of ``--percentile``, which the JSON does not say."""

PERCENTILE_UNSAID = (
    f"the JSON does not say which percentile '{PERCENTILE}' is: that of --percentile, which is 95 unless it "
    "was set"
)

_COUNTED = {name: f"{name}_per_s" for name in ("reads", "writes", "other", "errors", "reconnects")}
_RATES = ("tps", "qps", *_COUNTED.values())
_LATENCIES = ("latency_min", "latency_avg", "latency_max", PERCENTILE, "latency_sum")
_COLUMNS = ("time_s", "threads", *_RATES, *_LATENCIES)
_REPORT_JSON = _COUNTED | {
    "time": "time_s",
    "threads": "threads",
    "tps": "tps",
    "total": "qps",
    "latency": PERCENTILE,
}
_FIELDS_OF_A_HOOK = {"time_interval", "time_total", "threads_running", "events", *_COUNTED, *_LATENCIES}

_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,12})?")
# A decimal comma belongs to its number, which then is none.
_MEMBER = re.compile(r'"(\w{1,40})"\s*+:\s*+("[^"\n]{0,80}"|[^\s",{}\[\]]++(?:,[0-9]++)?+)')
_TOKEN = re.compile(
    r"(?P<object>\{[^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+\})|(?P<unfinished>\{)"
    r"|(?P<opened>\[)(?=\s*+(?:\{|\Z))|(?P<closed>\])(?=[ \t,]*+$)"
    r"|^[ \t]*+(?:Number of threads: (?P<header>[0-9]{1,7})[ \t]*+$|FATAL: (?P<fatal>.*)"
    r"|(?P<report>(?:SQL statistics|General statistics|Latency \(ms\)|Throughput):)[ \t]*+$)",
    re.MULTILINE,
)
_MAY_HOLD_A_TOKEN = re.compile(r'.*?\{|\s*+[}\]",]|\s*+(?:\[\s*+$|[NFSGLT][a-zA-Z (]{4,18}[:)])')


def hold_a_report(head: bytes) -> bool:
    """Return whether the beginning of a file has an object of either kind."""
    text = head.decode("utf-8", "replace")
    return any(token["object"] and _members(token["object"]) for token in _TOKEN.finditer(text))


def _members(text: str) -> Sequence[tuple[str, str]]:
    """Return names and values of an object, nothing for one that is not of sysbench."""
    members = _MEMBER.findall(text)
    names = {name for name, _ in members}
    is_report_json = names >= _REPORT_JSON.keys()
    return members if is_report_json or names >= _FIELDS_OF_A_HOOK else ()


def _figures(text: str, line: int) -> dict[str, float]:
    """Return the figures of an object by column, with the ``events`` of a hook; nothing for any other object.

    Raise FormatError for a number that sysbench cannot have measured.
    """
    numbers: dict[str, float] = {}
    for name, value in _members(text):
        if name in numbers:
            raise FormatError(f"the key {name!r} is given twice in one object", line)
        if name in _REPORT_JSON or name in _FIELDS_OF_A_HOOK:
            problem = f"as {name} is not a number that sysbench measures"
            numbers[name] = measured(value.strip('"'), line, problem, pattern=_NUMBER)
    if not numbers:
        return {}
    if numbers.keys() >= _FIELDS_OF_A_HOOK:
        figures = _figures_of_a_hook(numbers, line)
    else:
        figures = {column: numbers[name] for name, column in _REPORT_JSON.items()}
    if not figures["threads"].is_integer() or figures["threads"] > MAX_THREADS:
        raise FormatError(f"{figures['threads']:g} is not a number of threads", line)
    if not figures[PERCENTILE]:
        del figures[PERCENTILE]
    return figures


def _figures_of_a_hook(numbers: Mapping[str, float], line: int) -> dict[str, float]:
    """Return the figures of a script that prints the fields of a hook: counts, and times in seconds."""
    seconds = numbers["time_interval"]
    if not seconds:
        raise FormatError("time_interval is 0: nothing was measured", line)
    return {
        "time_s": numbers["time_total"],
        "threads": numbers["threads_running"],
        "tps": numbers["events"] / seconds,
        "qps": (numbers["reads"] + numbers["writes"] + numbers["other"]) / seconds,
        **{rate: numbers[name] / seconds for name, rate in _COUNTED.items()},
        # With every digit: 0.000821649 s are 0.821649 ms.
        **{name: float(Decimal(repr(numbers[name])).scaleb(3)) for name in _LATENCIES},
        "events": numbers["events"],
    }


@dataclass(slots=True)
class HookRun:
    """The reports that hooks printed of one run, which begins in ``line``.

    ``ticks`` are the figures of each interval by column: tuples, for there may be very many. ``opened`` is
    the line of a list that is not closed, 0 if it is. ``text_report`` is that in which sysbench's own report
    begins, 0 if there is none. Where sysbench's own output stands around the reports, ``percentile`` is the
    rank of their response times, and ``test`` the test.
    """

    line: int = 1
    header_threads: int | None = None
    ticks: list[tuple[float | None, ...]] = field(default_factory=list)
    final: Mapping[str, float] = field(default_factory=dict)
    last_report: int = 0
    last_line: int = 0
    opened: int = 0
    unfinished: int = 0
    text_report: int = 0
    fatal: tuple[str, int] | None = None
    error: FormatError | None = None
    percentile: int | None = None
    test: str | None = None

    def check(self) -> None:
        """Raise FormatError where the run failed or was stopped, and where its figures are impossible."""
        if self.fatal and not self.final:
            raise FormatError(f"sysbench failed: {quoted(self.fatal[0])}", self.fatal[1])
        if self.error:
            raise self.error
        if not self.final and (self.text_report or self.opened):
            raise FormatError(
                "no final report in JSON up to this line: sysbench was stopped, or the file is cut off; send "
                "the whole output with its banner",
                self.text_report or self.last_line,
            )
        if not self.has_reports:
            raise FormatError(
                "the report that begins here is not complete", self.unfinished or self.last_line
            )
        if not self.rates["tps"]:
            raise FormatError("not one event was completed", self.last_report)

    def readings(self) -> Iterator[Reading]:
        """Yield the figures of the final report, or the means of the intervals where there is none."""
        rates = self.rates if self.runs_queries else {"events_per_s": self.rates["tps"]}
        yield from (reading(metric, value) for metric, value in rates.items())
        for metric in filter(self.final.__contains__, _LATENCIES):
            yield Reading(
                self._percentile_metric if metric == PERCENTILE else metric, self.final[metric], "ms", LOWER
            )
        if "events" in self.final:
            yield reading("total_time", self.final["time_s"])
            yield reading("total_events", self.final["events"])

    def intervals(self, key: str) -> list[Intervals]:
        """Return a table of the reports before the final one, if there are any."""
        left_out = () if self.runs_queries else _RATES[1:]
        names = {"tps": "tps" if self.runs_queries else "events_per_s", PERCENTILE: self._percentile_metric}
        columns = {
            names.get(name, name): values
            for name, values in zip(_COLUMNS, zip(*self.ticks, strict=True), strict=False)
            if name not in left_out and any(value is not None for value in values)
        }
        rows = tuple(zip(*columns.values(), strict=True))
        return [Intervals(key, "sysbench", tuple(columns), rows)] if rows else []

    def notes(self) -> Iterator[str]:
        """Yield the warnings that a reader of the run needs before trusting its figures."""
        if not self.final:
            yield (
                f"no final report is there: the rates are the means of {len(self.ticks)} intervals up to "
                f"second {self.last_time:g}, and the response time of the whole run is not known"
            )
        elif self.ticks and self.final["time_s"] - self.last_time > self._step:
            yield (
                f"nothing is reported between seconds {self.last_time:g} and {self.final['time_s']:g}; after "
                "--report-checkpoints the final report covers only the rest of the run"
            )
        if self.unfinished:
            yield f"the report that begins in line {self.unfinished} is not complete and was not read"
        if self.opened:
            yield f"the list that is opened in line {self.opened} is not closed: the file may be cut off"

    @property
    def threads(self) -> int | None:
        """The threads that were running: at the end none is."""
        return self.header_threads or (int(max(self._column("threads"))) if self.ticks else None)

    @property
    def duration_s(self) -> float:
        return self.final["time_s"] if self.final else self.last_time

    @property
    def runs_queries(self) -> bool:
        return bool(self.final.get("qps")) or any(self._column("qps"))

    @property
    def has_reports(self) -> bool:
        return bool(self.ticks or self.final)

    @property
    def has_begun(self) -> bool:
        return bool(self.has_reports or self.fatal or self.error or self.opened or self.unfinished)

    @property
    def last_time(self) -> float:
        """The second of the last interval."""
        return self.ticks[-1][0] or 0.0

    @property
    def rates(self) -> Mapping[str, float]:
        """The rates of the final report, else of all intervals together, each weighted by its length."""
        if self.final:
            return {rate: self.final[rate] for rate in _RATES}
        ends = self._column("time_s")
        # The first interval is no longer than the second.
        lengths = [min(ends[0], self._step), *(end - start for start, end in pairwise(ends))]
        if not (seconds := sum(lengths)):
            raise FormatError("the reports cover no time", self.last_report)
        return {rate: math.fsum(map(float.__mul__, self._column(rate), lengths)) / seconds for rate in _RATES}

    def add(self, figures: Mapping[str, float], line: int) -> None:
        """Add the report of an interval, or the final one."""
        self.last_report = line
        if not figures["threads"]:
            self.final = figures
        elif self.ticks and figures["time_s"] <= self.last_time:
            self.error = self.error or FormatError(
                f"a report for second {figures['time_s']:g} follows one for second {self.last_time:g}: are "
                "these two runs, two processes, or checkpoints among the intervals? Send each run as a file "
                "of its own",
                line,
            )
        else:
            self.ticks.append(tuple(map(figures.get, _COLUMNS)))

    def begins_another(self, kind: str, figures: Mapping[str, float] | None, *, in_new_list: bool) -> bool:
        """Return whether a token, with the figures of a report, is of the run behind this one."""
        if self.final:
            return kind in {"opened", "object", "unfinished", "header"}
        if figures and self.ticks and figures["time_s"] < self.last_time:
            return in_new_list or not figures["threads"]
        return kind == "header" and self.has_begun

    @property
    def _percentile_metric(self) -> str:
        return percentile_metric(self.percentile) if self.percentile else PERCENTILE

    @property
    def _step(self) -> float:
        first, *more = (tick[0] or 0.0 for tick in self.ticks[:2])
        return more[0] - first if more else first

    def _column(self, name: str) -> list[float]:
        index = _COLUMNS.index(name)
        return [tick[index] or 0.0 for tick in self.ticks]


def hook_runs(lines: Iterable[str], *, first_line: int = 1) -> list[HookRun]:
    """Return the runs in their order: a new one begins after a final report, and where time goes back.

    ``first_line`` is the number of the first of these lines.
    """
    text = "\n".join(line if _MAY_HOLD_A_TOKEN.match(line) else "" for line in lines)
    runs = [HookRun(first_line)]
    line, position, opened = first_line, 0, 0
    for token in _TOKEN.finditer(text):
        line += text.count("\n", position, token.start())
        position = token.start()
        kind = token.lastgroup or ""
        figures: Mapping[str, float] | None = None
        error: FormatError | None = None
        try:
            figures = _figures(token["object"] or "", line)
        except FormatError as refused:
            error = refused
        if runs[-1].begins_another(kind, figures, in_new_list=bool(opened)):
            runs[-1].opened = 0 if opened else runs[-1].opened
            runs.append(HookRun(opened or line, opened=opened))
        run = runs[-1]
        match kind:
            case "object":
                if figures:
                    run.add(figures, line)
                run.error = run.error or error
            case "unfinished":
                run.unfinished = run.unfinished or line
            case "opened" | "closed":
                run.opened = line if kind == "opened" else 0
            case "header":
                run.header_threads = int(token["header"])
            case "fatal":
                run.fatal = run.fatal or (token["fatal"], line)
            case "report":
                run.text_report = run.text_report or line
        opened = line if kind == "opened" else 0
        if kind != "unfinished" or run.unfinished == line:
            run.last_line = line + token[0].count("\n")
    return [run for run in runs if run.has_begun]
