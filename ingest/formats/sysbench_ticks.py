"""The lines that sysbench prints while it runs (``--report-interval``), in the shapes of its versions."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from benchdash.results.readings import percentile_metric
from ingest.formats.sysbench_numbers import number

_THREADS = r"thds: <threads>"
_LOAD = r"tps: <tps> qps: <qps>"
_KINDS = r"\(r/w/o: <reads_per_s>/<writes_per_s>/<other_per_s>\)"
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
    f"{_THREADS} {_LOAD} {_KINDS} {_LATENCY} {_TROUBLE}",
    f"{_THREADS} {_LOAD} {_LATENCY} {_TROUBLE}",
    # sysbench-tpcc that counts its transactions by kind.
    f"{_THREADS} {_LOAD} {_KINDS} {_LATENCY} {_TROUBLE} {_ORDERS}",
    f"{_THREADS} eps: <events_per_s> {_LATENCY}",
    rf"{_FILES_READ} MiB/s {_FILES_WRITTEN} MiB/s {_FILES_SYNCED} latency \(ms,<rank>%\): <latency>",
    r"queue length: <queue_length>, concurrency: <concurrency>",
    # 0.5, whose MB are MiB, the 0.4.12.10 of then, and what came between 0.5 and 1.0.
    r"<transferred_mib_per_s> Mi?B/sec,?",
    f"{_OLD_LOAD} reads: <reads_per_s>, writes: <writes_per_s>, {_OLD_LATENCY}, {_OLD_TROUBLE}",
    f"{_OLD_LOAD} {_OLD_QUERIES}, {_OLD_LATENCY}",
    f"{_FILES_READ} MB/s {_FILES_WRITTEN} MB/s {_FILES_SYNCED} {_OLD_LATENCY}",
    rf"Intermediate results: <threads> threads, tps: <tps>, {_OLD_QUERIES},? {_OLD_LATENCY}",
    rf"threads: <threads> {_LOAD} {_KINDS} latency: <latency>ms \(<rank>%\) {_WAY_TROUBLE}",
)
_SHAPES = tuple(rf"\[ *<time_s> *s *\] {behind}" for behind in _BEHIND_THE_TIME)
# What the Lua function report_csv prints; it does not say the rank.
_CSV = (
    "<time_s>,<threads>,<tps>,<qps>,<reads_per_s>,<writes_per_s>,<other_per_s>,"
    "<latency>,<errors_per_s>,<reconnects_per_s>"
)

_PLACE = re.compile(r"<(\w+)>")
_WHOLE = "[0-9]{1,13}+"
_DECIMAL = r"[0-9]{1,13}+\.[0-9]{1,9}+"
_WHOLE_NUMBERS = frozenset({"time_s", "threads", "queue_length", "concurrency"})
_UNSAID = -1
_NO_RANK = 101
_RANK_UNSAID = "latency"
_TIMED = re.compile(r"\[ *[0-9]\S{0,20} *s? *\] ")
_CHECKPOINT = "Checkpoint report:"
_CHECKPOINT_AT = re.compile(rf"\[ *[0-9]\S{{0,20}} *s? *\] +{_CHECKPOINT}\s*")
# 0.5 subtracts a larger count from a smaller one after a checkpoint.
_BELOW_ZERO = re.compile(r"1844[0-9]{16}(?:\.[0-9]+)?")
_NOTHING = re.compile(r"(?!)")
# --rate has two shapes; more in one run is nothing that sysbench does.
_MOST_SHAPES = 4

Row = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class _Shape:
    """Lines of one shape and rank: every group of ``pattern`` is a number, that of its column."""

    pattern: re.Pattern[str]
    columns: tuple[str, ...]
    rank: int


class Ticks:
    """The interval lines of one run. ``strange`` are the numbers of those that were not understood."""

    def __init__(self) -> None:
        self.strange: list[int] = []
        self._shapes: list[_Shape] = []
        # The lines in order, with one list for those that follow each other in one shape.
        self._stretches: list[tuple[_Shape, list[tuple[float, ...]]]] = []
        self._rows: list[tuple[float, ...]] = []
        self._match: Callable[[str], re.Match[str] | None] = _NOTHING.fullmatch

    def __bool__(self) -> bool:
        return bool(self._stretches)

    @property
    def rank(self) -> int:
        """The percentile of the response times, 0 where the lines do not say it or there are none."""
        return next((shape.rank for shape, _ in self._stretches if _latency(shape.rank)), 0)

    def add(self, line: str) -> bool:
        """Whether this is a line like the one before it; then it is taken."""
        if match := self._match(line):
            self._rows.append(tuple(map(float, match.groups())))
            return True
        return False

    def add_other(self, line: str, line_number: int) -> None:
        """Take a line of another shape.

        What does not begin with a time is no interval line. Raises FormatError where a figure is none.
        """
        shape = next((shape for shape in self._shapes if shape.pattern.fullmatch(line)), None)
        if shape is None and (shape := _shape_of(line, line_number)):
            self._shapes = [shape, *self._shapes][:_MOST_SHAPES]
        if shape and shape.pattern.fullmatch(line):
            self._begin(shape)
            self.add(line)
        elif _TIMED.match(line):
            self.strange.append(line_number)

    def add_csv(self, line: str) -> None:
        """Take the line if it is one of report_csv."""
        shape = _shape(_CSV, _UNSAID)
        if shape.pattern.fullmatch(line):
            self._begin(shape)
            self.add(line)

    def _begin(self, shape: _Shape) -> None:
        self._rows = []
        self._stretches.append((shape, self._rows))
        self._match = shape.pattern.fullmatch

    def table(self, rank: int) -> tuple[tuple[str, ...], tuple[Row, ...]]:
        """Columns and rows. ``rank`` is the percentile of the report, for lines that do not say theirs."""
        if len(self._stretches) == 1 and _RANK_UNSAID not in self._stretches[0][0].columns:
            shape, rows = self._stretches[0]
            return shape.columns, tuple(rows)
        columns = dict.fromkeys(column for shape, _ in self._stretches for column in shape.columns)
        names = {column: _latency(rank) if column == _RANK_UNSAID else column for column in columns}
        kept = [column for column in columns if names[column]]
        return tuple(names[column] for column in kept), tuple(
            tuple(map(cells.get, kept)) for cells in self._cells()
        )

    def _cells(self) -> Iterator[dict[str, float]]:
        """The rows by column, those of the queue joined to the ones of the same time before them."""
        before: dict[str, float] = {}
        for shape, rows in self._stretches:
            for values in rows:
                cells = dict(zip(shape.columns, values, strict=True))
                if "queue_length" in cells and before.get("time_s") == cells["time_s"]:
                    before |= cells
                    continue
                if before:
                    yield before
                before = cells
        yield before


def is_checkpoint(line: str) -> bool:
    """``[ 2s ] Checkpoint report:``"""
    return _CHECKPOINT in line and _CHECKPOINT_AT.fullmatch(line) is not None


def _latency(rank: int) -> str:
    """The metric, empty where the rank is none: with percentiles off it is 0, and the latency no latency."""
    return percentile_metric(rank) if 1 <= rank <= 100 else ""


def _shape_of(line: str, line_number: int) -> _Shape | None:
    """How to read this line and those like it; None where no sysbench is known to print it.

    Raises FormatError where a figure in it is none.
    """
    for written in _SHAPES:
        if match := _with_any_rank(written).fullmatch(line):
            rank = int(match.groupdict().get("rank", _UNSAID))
            return _shape(written, rank if rank <= 100 else _NO_RANK)
    for written in _SHAPES:
        if match := _with_any_text(written).fullmatch(line):
            _check(match.groups(), line_number)
    return None


def _check(figures: Sequence[str], line_number: int) -> None:
    if not any(map(_BELOW_ZERO.fullmatch, figures)):
        for figure in figures:
            number(figure, line_number)


@cache
def _with_any_rank(written: str) -> re.Pattern[str]:
    return _compiled(written, lambda name: "(?P<rank>[0-9]{1,3})" if name == "rank" else _number(name))


@cache
def _with_any_text(written: str) -> re.Pattern[str]:
    """Lines of a shape, whatever stands in the place of its figures."""
    return _compiled(written, lambda name: "[0-9]{1,3}" if name == "rank" else r"([^\s/]+?)")


@cache
def _shape(written: str, rank: int) -> _Shape:
    """The shape for one rank, ``_UNSAID`` or ``_NO_RANK``."""
    names = {"rank": "", "latency": _RANK_UNSAID if rank == _UNSAID else _latency(rank)}

    def group(name: str) -> str:
        if name == "rank":
            return "[0-9]{3}" if rank == _NO_RANK else str(rank)
        return f"({_number(name)})" if names.get(name, name) else _number(name)

    columns = [names.get(name, name) for name in _PLACE.findall(written)]
    return _Shape(_compiled(written, group), tuple(filter(None, columns)), rank)


def _number(name: str) -> str:
    return _WHOLE if name in _WHOLE_NUMBERS else _DECIMAL


def _compiled(written: str, group: Callable[[str], str]) -> re.Pattern[str]:
    """The pattern of whole lines, with a group for each named figure."""
    return re.compile(_PLACE.sub(lambda place: group(place[1]), written) + r"\s*")
