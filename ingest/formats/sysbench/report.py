"""What a report of sysbench says: the readings of one run, in all their digits."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter

from benchdash.results.readings import Reading, percentile_metric, reading
from ingest.formats.outputs import MAX_THREADS, Figure, in_order
from ingest.formats.report import FormatError
from ingest.formats.sysbench.lines import (
    CPU,
    FAIRNESS,
    FILE_COUNTS,
    FILES,
    GENERAL,
    LATENCY,
    MEMORY,
    SQL,
    THROUGHPUT,
    ReportBlock,
    SysbenchOutput,
)
from ingest.formats.sysbench.numbers import figure, milliseconds, number, seconds_in_ms

_COUNT_AND_RATE = re.compile(r"(\S+) +\((\S+) per sec\.\)")
_OPERATIONS_AND_RATE = re.compile(r"(\S+)\s+\(\s*(\S+) (?:per second|ops/sec)\)")
_TRANSFERRED = re.compile(r"(\S+) Mi?B transferred \((\S+) Mi?B/sec\)")
_IO_RATES = re.compile(r"IOPS=(\S+) (\S+) MiB/s\b.*")
_IO_COUNTS = re.compile(r"(\S+) (?:Read|reads), (\S+) (?:Write|writes), (\S+) Other = \S+ Total")
_IO_SIZES = re.compile(r"Read (\S+) +Written (\S+) +Total transferred .*")
_MIB = {"b": 2.0**-20, "K": 2.0**-10, "M": 1.0, "G": 2.0**10, "T": 2.0**20}
_PERCENTILE = re.compile(r"(?:approx\. +)?([0-9]{1,3})(?:st|nd|rd|th)? percentile")
_OPERATIONS = "operations"
_SPREAD = re.compile(r"(\S[^\s/]*+)/(\S+)")
_SUM_OF_OLD = "total time taken by event execution"
_FAIRNESS = {
    "fairness_events_stddev": "events (avg/stddev)",
    "fairness_time_stddev": "execution time (avg/stddev)",
}

# The total time and the time that sysbench divides by are taken up to 2 ms apart, mostly less than one.
_CLOCK_SLACK_S = 1e-3


@dataclass(frozen=True, slots=True)
class Totals:
    """What a report says of the run as a whole; fileio of 1.1 says nothing. ``rate`` is events per second."""

    elapsed: Figure | None = None
    events: Figure | None = None
    rate: Figure | None = None


@dataclass(frozen=True, slots=True)
class Clock:
    """How fast ``count`` things happened, to a relative error: what turns other counts into rates."""

    count: float
    per_second: float
    error: float

    @property
    def seconds(self) -> float:
        return self.count / self.per_second

    def rate(self, count: float) -> float:
        return self.per_second if count == self.count else count * self.per_second / self.count


LONGEST_COUNTED_MS = 100_000
"""The end of the histogram of response times: a percentile there may be anything above."""


class SysbenchReport:
    """The report of a run, or of what was left of it after a checkpoint.

    Making one raises FormatError where it is not complete, and so do its readings where a figure is none.
    """

    def __init__(self, output: SysbenchOutput, block: ReportBlock) -> None:
        self.output = output
        self.block = block
        self.totals = _totals(output, block)
        self.percentiles = _percentiles(block)
        self._rated = _rated(block)
        self.clock = self._clock()

    @property
    def covers_less_than_its_time(self) -> bool:
        """Whether the counts are of a part of the total time, as they are after a checkpoint since 1.0."""
        return bool(self.output.checkpoints) and not self.output.version.startswith("0.")

    @property
    def is_complete(self) -> bool:
        """Whether the last lines are there: those of fairness, which fileio of 1.1 does not print."""
        return self.totals.elapsed is None or self.block.has(FAIRNESS, _FAIRNESS["fairness_time_stddev"])

    @property
    def test(self) -> str | None:
        """The test, where the report makes it certain. Of SQL, threads and mutex 1.0 does not say it."""
        output, block = self.output, self.block
        if output.test:
            return output.test
        if block.has(CPU) or "cpu_max_prime" in output.header:
            return "cpu"
        if block.has(MEMORY):
            return "memory"
        if block.has(FILES) or block.has(FILE_COUNTS) or block.has(THROUGHPUT, "read"):
            return "fileio"
        return None

    @property
    def threads(self) -> int | None:
        """The number of threads that follows from the events of all and of each; None where several would."""
        name, events = _FAIRNESS["fairness_events_stddev"], self.totals.events
        if not events or not self.block.has(FAIRNESS, name):
            return None
        spread, line = self.block.match(FAIRNESS, name, _SPREAD)
        average = figure(spread[1], line)
        if not average.value:
            return None
        nearest = round(events.value / average.value)
        fitting = [
            threads
            for threads in range(max(nearest - 1, 1), nearest + 2)
            if abs(events.value / threads - average.value) <= 1.01 * average.rounding
        ]
        return fitting[0] if len(fitting) == 1 and fitting[0] <= MAX_THREADS else None

    def readings(self) -> Iterator[Reading]:
        block, totals = self.block, self.totals
        if block.has(SQL):
            yield from self._sql_rates()
        if block.has(MEMORY):
            yield reading("ops_per_s", self._rate(_OPERATIONS))
            if block.has(MEMORY, "transferred"):
                _, transferred = block.figures(MEMORY, "transferred", _TRANSFERRED)
                yield reading("transferred_mib_per_s", transferred.value)
        if block.has(FILES):
            for metric in ("reads", "writes", "fsyncs"):
                yield reading(f"{metric}_per_s", block.number(FILES, f"{metric}/s"))
            for direction in ("read", "written"):
                yield reading(f"{direction}_mib_per_s", block.number(THROUGHPUT, f"{direction}, MiB/s"))
        if block.has(FILE_COUNTS):
            yield from self._counted_file_rates()
        if block.has(THROUGHPUT, "read"):
            yield from _file_rates(block)
        if totals.events and self.clock:
            yield reading("events_per_s", self.clock.rate(totals.events.value))
        yield from self._latencies()
        if totals.elapsed:
            yield reading("total_time", totals.elapsed.value)
        if totals.events:
            yield reading("total_events", totals.events.value)
        for metric, name in _FAIRNESS.items():
            if block.has(FAIRNESS, name):
                spread, line = block.match(FAIRNESS, name, _SPREAD)
                yield reading(metric, number(spread[2], line))

    def _clock(self) -> Clock | None:
        """Return the least rounded figure of the report about its time.

        sysbench divides every count by one time, which it does not print: the total time is a little off,
        and has four decimals only. A count over its own rate mostly gives that time in more digits; where
        hardly a thing happens in a second, the total time does.
        """
        totals, elapsed = self.totals, self.totals.elapsed
        pairs = list(self._rated.values())
        if totals.events and totals.rate:
            pairs.append((totals.events, totals.rate))
        clocks = [
            (rate.rounding / rate.value, count.value, rate.value)
            for count, rate in pairs
            if count.value and rate.value
        ]
        if elapsed and elapsed.value and not self.covers_less_than_its_time:
            clocks.append(((elapsed.rounding + _CLOCK_SLACK_S) / elapsed.value, elapsed.value, 1.0))
        if not clocks:
            return None
        error, count, per_second = min(clocks, key=itemgetter(0))
        return Clock(count, per_second, error)

    def _rate(self, name: str) -> float:
        """Return the rate of a count in all its digits, or as printed where the two contradict each other."""
        count, printed = self._rated.get(name) or self.block.figures(SQL, name, _COUNT_AND_RATE)
        if self.clock is None:
            return printed.value
        computed = self.clock.rate(count.value)
        margin = 1.01 * (printed.rounding + computed * self.clock.error)
        return computed if abs(computed - printed.value) <= margin else printed.value

    def _sql_rates(self) -> Iterator[Reading]:
        block, clock = self.block, self.clock
        reads, writes, other, total = (
            block.number(SQL, name) for name in ("read", "write", "other", "total")
        )
        if reads + writes + other != total:
            raise FormatError(
                "the queries performed do not add up to their total", block.text(SQL, "read")[1]
            )
        if clock is None:
            raise FormatError("neither a time nor a rate: nothing was measured", block.text(SQL, "read")[1])
        yield reading("tps", self._rate("transactions"))
        is_old = "read/write requests" in self._rated
        yield reading("qps", clock.rate(total) if is_old else self._rate("queries"))
        yield reading("reads_per_s", clock.rate(reads))
        yield reading("writes_per_s", clock.rate(writes))
        yield reading("other_per_s", clock.rate(other))
        if "deadlocks" in self._rated:
            yield reading("errors_per_s", self._rate("deadlocks"))
        else:
            yield reading("errors_per_s", self._rate("ignored errors"))
            yield reading("reconnects_per_s", self._rate("reconnects"))

    def _counted_file_rates(self) -> Iterator[Reading]:
        """Yield the rates of fileio in 0.4 and 0.5: ``6008 Read, 3997 Write, 12800 Other = 22805 Total``."""
        counts, line = self.block.match(FILE_COUNTS, "operations", _IO_COUNTS)
        sizes, line_of_sizes = self.block.match(FILE_COUNTS, "transferred", _IO_SIZES)
        if self.clock is None:
            raise FormatError("neither a time nor a rate: nothing was measured", line)
        numbers = [number(count, line) for count in counts.groups()]
        for metric, count in zip(("reads", "writes", "fsyncs"), numbers, strict=True):
            yield reading(f"{metric}_per_s", self.clock.rate(count))
        for direction, count, printed in zip(("read", "written"), numbers, sizes.groups(), strict=False):
            mib = self._mib(count, printed, line_of_sizes)
            yield reading(f"{direction}_mib_per_s", self.clock.rate(mib))

    def _mib(self, blocks: float, printed: str, line: int) -> float:
        """Return the MiB of so many blocks: the printed size has only five digits."""
        size = _size(printed, line)
        computed = blocks * _size(*self.output.header.get("file_block_size", ("0b", line)))
        return computed if abs(computed - size) <= 1e-4 * size else size

    def _latencies(self) -> Iterator[Reading]:
        block = self.block
        least, average, most = (milliseconds(*block.text(LATENCY, name)) for name in ("min", "avg", "max"))
        if not in_order(least, average, most):
            raise FormatError(
                "the least, average and highest latency are not in this order", block.text(LATENCY, "avg")[1]
            )
        yield reading("latency_min", least)
        yield reading("latency_avg", average)
        yield reading("latency_max", most)
        for rank, (text, line) in self.percentiles.items():
            if rank <= 100 and (value := milliseconds(text, line)) < LONGEST_COUNTED_MS:
                yield reading(percentile_metric(rank), value)
        if block.has(GENERAL, _SUM_OF_OLD):
            text, line = block.text(GENERAL, _SUM_OF_OLD)
            yield reading("latency_sum", seconds_in_ms(text.removesuffix("s"), line))
        else:
            yield reading("latency_sum", block.number(LATENCY, "sum"))


def _totals(output: SysbenchOutput, block: ReportBlock) -> Totals:
    """Raise FormatError where they are missing, or nothing was done."""
    if block.has(GENERAL) or output.version.startswith(("0.", "1.0")):
        totals = Totals(
            elapsed=block.figure(GENERAL, "total time", unit="s"),
            events=block.figure(GENERAL, "total number of events"),
            rate=block.figure(CPU, "events per second") if block.has(CPU) else None,
        )
    elif block.has(THROUGHPUT, "read"):
        return Totals()
    else:
        totals = Totals(
            elapsed=block.figure(THROUGHPUT, "time elapsed", unit="s"),
            events=block.figure(THROUGHPUT, "total number of events"),
            rate=block.figure(THROUGHPUT, "events/s (eps)"),
        )
    if totals.events and not totals.events.value:
        raise FormatError("not one event was completed", totals.events.line)
    return totals


def _rated(block: ReportBlock) -> dict[str, tuple[Figure, Figure]]:
    """Return every count that is printed with its rate, by name."""
    rated = {
        name: block.figures(SQL, name, _COUNT_AND_RATE)
        for name, (text, _) in block.values.get(SQL, {}).items()
        if text.endswith(")")
    }
    if block.has(MEMORY):
        rated[_OPERATIONS] = block.figures(MEMORY, "operations", _OPERATIONS_AND_RATE)
    return rated


def _percentiles(block: ReportBlock) -> dict[int, tuple[str, int]]:
    """Return the printed percentiles. Raise FormatError where there is no line for them."""
    found = {
        int(match[1]): value
        for name, value in block.values.get(LATENCY, {}).items()
        if name.endswith("percentile") and (match := _PERCENTILE.fullmatch(name))
    }
    if not found and block.has(LATENCY, "percentile stats"):
        text, line = block.text(LATENCY, "percentile stats")
        if text != "disabled":
            raise FormatError("the percentile is not understood", line)
    elif not found:
        block.text(LATENCY, "95th percentile")
    return found


def _file_rates(block: ReportBlock) -> Iterator[Reading]:
    """Yield the rates of fileio in 1.1: ``read:  IOPS=9645.73 150.71 MiB/s (158.03 MB/s)``."""
    for name, metric in (("read", "read"), ("write", "written")):
        operations, transferred = block.figures(THROUGHPUT, name, _IO_RATES)
        yield reading(f"{name}s_per_s", operations.value)
        yield reading(f"{metric}_mib_per_s", transferred.value)
    text, line = block.text(THROUGHPUT, "fsync")
    yield reading("fsyncs_per_s", number(text.removeprefix("IOPS="), line))


def _size(text: str, line: int) -> float:
    """Return ``93.875Mb`` and ``16Kb`` in MiB."""
    unit = text.rstrip("b")[-1:]
    return number(text.rstrip("b").rstrip("KMGT"), line) * _MIB.get(unit, _MIB["b"])
