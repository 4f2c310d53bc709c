"""The lines that sysbench prints while it runs (``--report-interval``), in the shapes of its versions."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from benchdash.results.readings import percentile_metric
from ingest.formats.report import Intervals, ParsedRun

_THREADS = r"thds: <threads>"
_LOAD = r"tps: <tps> qps: <qps>"
_KINDS = r" ?\(r/w/o: <reads_per_s>/<writes_per_s>/<other_per_s>\)"
_LATENCY = r"lat \(ms,<rank>%\): <latency>"
_TROUBLE = r"err/s:? <errors_per_s> reconn/s:? <reconnects_per_s>"
_ORDERS = (
    r"no: <new_orders_per_s> pt: <payments_per_s> os: <order_statuses_per_s>"
    r" dl: <deliveries_per_s> sl: <stock_levels_per_s>"
)
_OLD_LOAD = r"threads: <threads>, tps: <tps>,"
_OLD_QUERIES = r"reads/s: <reads_per_s>, writes/s: <writes_per_s>"
_OLD_LATENCY = r"response time: <latency>ms \(<rank>%\)"
_OLD_TROUBLE = r"errors: <errors_per_s>, reconnects: +<reconnects_per_s>"
_WAY_TROUBLE = r"errors/s: <errors_per_s>,? reconnects/s: <reconnects_per_s>"
_FILES_READ = r"reads: <read_mib_per_s>"
_FILES_WRITTEN = r"writes: <written_mib_per_s>"
_FILES_SYNCED = r"fsyncs: <fsyncs_per_s>/s"
_BEHIND_THE_TIME = (
    f"{_THREADS} {_LOAD}{_KINDS} {_LATENCY} {_TROUBLE}",
    f"{_THREADS} {_LOAD} {_LATENCY} {_TROUBLE}",
    # sysbench-tpcc that counts its transactions by kind.
    f"{_THREADS} {_LOAD}{_KINDS} {_LATENCY} {_TROUBLE} {_ORDERS}",
    f"{_THREADS} eps: <events_per_s> {_LATENCY}",
    rf"{_FILES_READ} MiB/s {_FILES_WRITTEN} MiB/s {_FILES_SYNCED} latency \(ms,<rank>%\): <latency>",
    r"queue length: <queue_length>, concurrency: <concurrency>",
    # 0.5, whose MB are MiB, the 0.4.12.10 of then, and what came between 0.5 and 1.0.
    r"<transferred_mib_per_s> Mi?B/sec,?",
    f"{_OLD_LOAD} reads: <reads_per_s>, writes: <writes_per_s>, {_OLD_LATENCY}, {_OLD_TROUBLE}",
    f"{_OLD_LOAD} {_OLD_QUERIES},? {_OLD_LATENCY}",
    f"{_FILES_READ} MB/s {_FILES_WRITTEN} MB/s {_FILES_SYNCED} {_OLD_LATENCY}",
    rf"Intermediate results: <threads> threads, tps: <tps>, {_OLD_QUERIES},? {_OLD_LATENCY}",
    rf"threads: <threads> {_LOAD}{_KINDS} latency: <latency>ms \(<rank>%\) {_WAY_TROUBLE}",
)
# A line of the Lua function report_csv, which does not say the rank.
_CSV = (
    "<time_s>,<threads>,<tps>,<qps>,<reads_per_s>,<writes_per_s>,<other_per_s>,"
    "<latency>,<errors_per_s>,<reconnects_per_s>"
)

_PLACE = re.compile(r"<(\w+)>")
_WHOLE_NUMBERS = frozenset({"time_s", "threads", "queue_length", "concurrency"})
_TIMED = re.compile(r"\[ *[0-9]\S{0,20} *+s? *+\] ?")
_CHECKPOINT = "Checkpoint report:"

MAX_RANK = 100
PERCENTILE = "latency_pct"
"""The response time at the rank of ``--percentile``, where the JSON of a hook does not say it."""

Row = tuple[float | None, ...]


_MOST_OF_A_RUN, _ALIKE = 0.7, 1.5


class _Shape(NamedTuple):
    """Lines of one shape: the columns of their numbers, and how they are printed."""

    columns: tuple[str, ...]
    pattern: re.Pattern[str]


def _shape(text: str) -> _Shape:
    def number_of(place: re.Match[str]) -> str:
        if place[1] == "rank":
            return "([0-9]{1,3})"
        return "([0-9]{1,13}+)" if place[1] in _WHOLE_NUMBERS else r"([0-9]{1,13}+\.[0-9]{1,9}+)"

    return _Shape(tuple(_PLACE.findall(text)), re.compile(_PLACE.sub(number_of, text) + r"\s*"))


_SHAPES = (*(_shape(rf"\[ *<time_s> *s *\] ?{behind}") for behind in _BEHIND_THE_TIME), _shape(_CSV))


class IntervalLines:
    """The interval lines of one run. ``strange`` are the numbers of those that were not understood."""

    def __init__(self) -> None:
        self.strange: list[int] = []
        # Columns and figures of each line: the lines of one shape share their columns.
        self._lines: list[tuple[tuple[str, ...], tuple[float, ...]]] = []

    def __bool__(self) -> bool:
        return bool(self._lines)

    @property
    def rank(self) -> int:
        """The percentile of the response times, 0 where the lines do not say it or there are none."""
        ranks = (int(figures[columns.index("rank")]) for columns, figures in self._lines if "rank" in columns)
        return next(filter(_latency, ranks), 0)

    @property
    def threads(self) -> int | None:
        """The threads that were running, None where the lines do not say it."""
        counts = [
            figures[columns.index("threads")] for columns, figures in self._lines if "threads" in columns
        ]
        return int(max(counts)) if counts else None

    @property
    def last_time(self) -> float:
        """The second of the last interval, 0 before the first."""
        return self._lines[-1][1][0] if self._lines else 0.0

    @property
    def step(self) -> float:
        """How long an interval is, by the first two."""
        first, *more = (figures[0] for _, figures in self._lines[:2])
        return more[0] - first if more else first

    def add_figures(self, figures: Mapping[str, float]) -> None:
        """Take the figures of an interval by their columns, of which the first is the time."""
        self._lines.append((tuple(figures), tuple(figures.values())))

    def add(self, line: str, line_number: int) -> None:
        """Take a line. One that does not begin with a time is no interval line."""
        for columns, pattern in _SHAPES:
            if match := pattern.fullmatch(line):
                self._lines.append((columns, tuple(map(float, match.groups()))))
                return
        if _TIMED.match(line):
            self.strange.append(line_number)

    def table(self, rank: int) -> tuple[tuple[str, ...], tuple[Row, ...]]:
        """Return columns and rows. ``rank`` is that of the report, for lines that do not say theirs."""
        columns = tuple(dict.fromkeys(name for cells in self._rows(rank) for name in cells))
        return columns, tuple(tuple(map(cells.get, columns)) for cells in self._rows(rank))

    def _rows(self, rank: int) -> Iterator[dict[str, float]]:
        """Yield the rows by column, those of the queue joined to the ones of the same time before them.

        They have no latency where its rank is none.
        """
        before: dict[str, float] = {}
        for columns, figures in self._lines:
            cells = dict(zip(columns, figures, strict=True))
            metric = _latency(int(cells.pop("rank", rank)))
            names = {"latency": metric, PERCENTILE: metric or PERCENTILE}
            cells = {name: value for of, value in cells.items() if (name := names.get(of, of))}
            if "queue_length" in cells and before.get("time_s") == cells["time_s"]:
                before |= cells
                continue
            if before:
                yield before
            before = cells
        yield before


def is_checkpoint(line: str) -> bool:
    """Tell ``[ 2s ] Checkpoint report:`` from other lines."""
    return line.rstrip().endswith(_CHECKPOINT) and _TIMED.match(line) is not None


def _latency(rank: int) -> str:
    """Return the metric, empty where percentiles are off: the rank is 0 then, and the latency none."""
    return percentile_metric(rank) if 1 <= rank <= MAX_RANK else ""


def contradictions(run: ParsedRun, tables: Iterable[Intervals]) -> Iterator[str]:
    """Yield a warning where the rate of the report is not that of intervals that cover most of the run."""
    rates = {reading.metric: reading.value for reading in run.readings}
    metric = "tps" if "tps" in rates else "events_per_s"
    for table in tables:
        if rates.get(metric) and run.duration_s and {"time_s", metric} <= set(table.columns):
            columns = dict(zip(table.columns, zip(*table.rows, strict=True), strict=True))
            printed = [rate for rate in columns[metric] if rate is not None]
            mean = sum(printed) / len(printed) if printed else rates[metric]
            last = max(time or 0.0 for time in columns["time_s"])
            is_alike = 1 / _ALIKE < mean / rates[metric] < _ALIKE
            if last >= _MOST_OF_A_RUN * run.duration_s and not is_alike:
                yield (
                    f"the report says {rates[metric]:.2f} transactions a second and the intervals of the "
                    f"same run {mean:.2f} on average: one of them counts what the other leaves out, such as "
                    "a warm-up"
                )
