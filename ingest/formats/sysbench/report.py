"""The readings of one report of sysbench, in all their digits."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter

from benchdash.results.readings import LOWER, Reading, percentile_metric, reading
from ingest.formats.outputs import MAX_THREADS, PrintedNumber, in_order
from ingest.formats.report import FormatError
from ingest.formats.sysbench.hooks import figures_of
from ingest.formats.sysbench.interval_lines import MAX_RANK, PERCENTILE
from ingest.formats.sysbench.lines import (
    CPU,
    EVENTS_OF_EACH,
    FAIRNESS,
    FILES,
    GENERAL,
    LATENCY,
    OPERATIONS,
    SQL,
    THROUGHPUT,
    TIME_OF_EACH,
    TRANSFERRED,
    SysbenchOutput,
)
from ingest.formats.sysbench.report_block import ReportBlock, figure, number

_COUNT_AND_RATE = re.compile(r"(\S+)\s+\(\s*(\S+) (?:per sec\.|per second|ops/sec)\)")
_TRANSFERRED = re.compile(r"(\S+) Mi?B transferred \((\S+) Mi?B/sec\)")
_IO_RATES = re.compile(r"IOPS=(\S+) (\S+) MiB/s\b.*")
_IO_COUNTS = re.compile(r"(\S+) (?:Read|reads), (\S+) (?:Write|writes), (\S+) Other = \S+ Total")
_IO_SIZES = re.compile(r"Read (\S+) +Written (\S+) +Total transferred .*")
_MIB = {"b": 2.0**-20, "K": 2.0**-10, "M": 1.0, "G": 2.0**10, "T": 2.0**20}
_PERCENTILE = re.compile(r"(?:approx\. +)?([0-9]{1,3})(?:st|nd|rd|th)? percentile")
_SPREAD = re.compile(r"(\S[^\s/]*+)/(\S+)")
_SUM_OF_OLD = "total time taken by event execution"
_FILE_FIGURES = {
    "reads_per_s": "reads/s",
    "writes_per_s": "writes/s",
    "fsyncs_per_s": "fsyncs/s",
    "read_mib_per_s": "read, MiB/s",
    "written_mib_per_s": "written, MiB/s",
}
_FAIRNESS = {"fairness_events_stddev": EVENTS_OF_EACH, "fairness_time_stddev": TIME_OF_EACH}

# The total time and the time that sysbench divides by are taken up to 2 ms apart, mostly less than one.
_CLOCK_SLACK_S = 1e-3

_LONGEST_COUNTED_MS = 100_000
"""The end of the histogram of response times: a percentile there may be anything above."""


@dataclass(frozen=True, slots=True)
class Clock:
    """How fast ``count`` things happened, to a relative error: the way from other counts to their rates."""

    count: float
    per_second: float
    error: float

    def rate(self, count: float) -> float:
        return self.per_second if count == self.count else count * self.per_second / self.count


class SysbenchReport:
    """The report of a run, or of what was left of it after a checkpoint.

    ``elapsed``, ``events`` and ``event_rate`` are its totals, None where it has none, as fileio of 1.1.
    Making one raises FormatError where it is not complete, and so do its readings where a figure is none.
    """

    def __init__(self, output: SysbenchOutput, block: ReportBlock) -> None:
        self.output = output
        self.block = block
        self._headings = block.headings
        self.runs_queries = SQL in block.headings
        # Since 1.0, after a checkpoint.
        self.covers_less_than_its_time = bool(output.checkpoints) and not output.version.startswith("0.")
        self.elapsed: PrintedNumber | None = None
        self.events: PrintedNumber | None = None
        self.event_rate: PrintedNumber | None = None
        self._is_of_files_in_1_1 = (
            THROUGHPUT in block.headings and not self.runs_queries and "read" in block.values
        )
        self._read_totals()
        self.duration_s = self.elapsed.value if self.elapsed else None
        # In ms, with their lines.
        self.percentiles = self._percentiles()
        # The rank of the first percentile, 0 where none was measured.
        self.percentile = next(iter(self.percentiles), 0)
        self._rated = {
            name: block.figures(name, _COUNT_AND_RATE)
            for name, (text, _) in block.values.items()
            if text.endswith(")") and (SQL in self._headings or name == OPERATIONS)
        }
        self.clock = self._clock()

    @property
    def test(self) -> str | None:
        """The test, where the report makes it certain. Of SQL, threads and mutex 1.0 does not say it."""
        tests = {
            self.output.test: bool(self.output.test),
            "cpu": CPU in self._headings or "cpu_max_prime" in self.output.header,
            "memory": OPERATIONS in self._rated,
            "fileio": not self._headings.isdisjoint({FILES, OPERATIONS}) or self._is_of_files_in_1_1,
        }
        return next((test for test, is_certain in tests.items() if is_certain), None)

    @property
    def threads_of_events(self) -> int | None:
        """The number of threads that follows from the events of all and of each; None where several would."""
        if not self.events or EVENTS_OF_EACH not in self.block.values:
            return None
        spread, line = self.block.match(EVENTS_OF_EACH, _SPREAD)
        average = figure(spread[1], line)
        if not average.value:
            return None
        nearest = round(self.events.value / average.value)
        fitting = [
            threads
            for threads in range(max(nearest - 1, 1), nearest + 2)
            if abs(self.events.value / threads - average.value) <= 1.01 * average.rounding
        ]
        return fitting[0] if len(fitting) == 1 and fitting[0] <= MAX_THREADS else None

    def readings(self) -> Iterator[Reading]:
        block = self.block
        if self.runs_queries:
            yield from self._sql_rates()
        if OPERATIONS in self._rated:
            yield reading("ops_per_s", self._rate(OPERATIONS))
            if TRANSFERRED in block.values:
                _, transferred = block.figures(TRANSFERRED, _TRANSFERRED)
                yield reading("transferred_mib_per_s", transferred.value)
        elif OPERATIONS in self._headings:
            yield from self._counted_file_rates()
        if FILES in self._headings:
            yield from (reading(metric, block.figure(name).value) for metric, name in _FILE_FIGURES.items())
        if self._is_of_files_in_1_1:
            yield from self._file_rates()
        if self.events and self.clock:
            yield reading("events_per_s", self.clock.rate(self.events.value))
        yield from self._latencies()
        if self.elapsed:
            yield reading("total_time", self.elapsed.value)
        if self.events:
            yield reading("total_events", self.events.value)
        for metric, name in _FAIRNESS.items():
            if name in block.values:
                spread, line = block.match(name, _SPREAD)
                yield reading(metric, number(spread[2], line))

    def notes(self) -> Iterator[str]:
        """Yield the warnings that a reader of the report needs before trusting its figures."""
        block, clock, elapsed = self.block, self.clock, self.elapsed
        if self.output.checkpoints:
            rest = "; total_time alone covers all of it" if self.covers_less_than_its_time else ""
            yield f"{self.output.checkpoint_note}{rest}"
        elif elapsed and clock:
            seconds = clock.count / clock.per_second
            if abs(seconds - elapsed.value) > 0.1 + 0.01 * seconds:
                yield (
                    f"the printed rates are those of {seconds:.4g} s, "
                    f"but the total time is {elapsed.value:.4g} s (line {elapsed.line})"
                )
        if not self.output.version and self._headings <= {GENERAL, LATENCY, FAIRNESS}:
            yield (
                f"the report in line {block.line} has only general statistics: if it was one of queries, "
                "files or memory, its first part is missing"
            )
        # fileio of 1.1 does not print the lines of fairness.
        if elapsed and TIME_OF_EACH not in block.values:
            yield f"the end of the report is missing after line {block.end}: '{FAIRNESS}:' is not complete"
        for rank, (time, line) in self.percentiles.items():
            if rank > MAX_RANK or time >= _LONGEST_COUNTED_MS:
                yield (
                    f"percentile {rank} was left out (line {line}): sysbench has none above 100, and counts "
                    "response times up to 100 s"
                )

    def _read_totals(self) -> None:
        """Raise FormatError where they are missing, or nothing was done."""
        block = self.block
        if GENERAL in self._headings or self.output.version.startswith(("0.", "1.0")):
            elapsed, rate = "total time", "events per second" if CPU in self._headings else ""
        elif self._is_of_files_in_1_1:
            return
        else:
            elapsed, rate = "time elapsed", "events/s (eps)"
        self.elapsed = block.figure(elapsed)
        self.events = block.figure("total number of events")
        self.event_rate = block.figure(rate) if rate else None
        if not self.events.value:
            raise FormatError("not one event was completed", self.events.line)

    def _percentiles(self) -> dict[int, tuple[float, int]]:
        """Return the printed percentiles. Raise FormatError where there is no line for them."""
        percentiles = {
            int(match[1]): (_milliseconds(text, line), line)
            for name, (text, line) in self.block.values.items()
            if name.endswith("percentile") and (match := _PERCENTILE.fullmatch(name))
        }
        if not percentiles and self.block.values.get("percentile stats", ("", 0))[0] != "disabled":
            self.block.text("95th percentile")
        return percentiles

    def _clock(self) -> Clock | None:
        """Return the least rounded figure of the report about its time.

        sysbench divides every count by one time, which it does not print: the total time is a little off,
        and has four decimals only. A count over its own rate mostly gives that time in more digits; where
        hardly a thing happens in a second, the total time does.
        """
        pairs = list(self._rated.values())
        if self.events and self.event_rate:
            pairs.append((self.events, self.event_rate))
        clocks = [
            (rate.rounding / rate.value, count.value, rate.value)
            for count, rate in pairs
            if count.value and rate.value
        ]
        elapsed = self.elapsed
        if elapsed and elapsed.value and not self.covers_less_than_its_time:
            clocks.append(((elapsed.rounding + _CLOCK_SLACK_S) / elapsed.value, elapsed.value, 1.0))
        if not clocks:
            return None
        error, count, per_second = min(clocks, key=itemgetter(0))
        return Clock(count, per_second, error)

    def _rate(self, name: str) -> float:
        """Return the rate of a count in all its digits, or as printed where the two contradict each other."""
        count, printed = self._rated.get(name) or self.block.figures(name, _COUNT_AND_RATE)
        if self.clock is None:
            return printed.value
        computed = self.clock.rate(count.value)
        margin = 1.01 * (printed.rounding + computed * self.clock.error)
        return computed if abs(computed - printed.value) <= margin else printed.value

    def _clock_of(self, name: str) -> Clock:
        if self.clock is None:
            raise FormatError("neither a time nor a rate: nothing was measured", self.block.text(name)[1])
        return self.clock

    def _sql_rates(self) -> Iterator[Reading]:
        block = self.block
        reads, writes, other, total = (
            block.figure(name).value for name in ("read", "write", "other", "total")
        )
        if reads + writes + other != total:
            raise FormatError("the queries performed do not add up to their total", block.text("read")[1])
        clock = self._clock_of("read")
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
        counts, line = self.block.match(OPERATIONS, _IO_COUNTS)
        sizes, line_of_sizes = self.block.match(TRANSFERRED, _IO_SIZES)
        clock = self._clock_of(OPERATIONS)
        numbers = [number(count, line) for count in counts.groups()]
        block_size = _mib(*self.output.header.get("file_block_size", ("0b", line)))
        for metric, count in zip(("reads", "writes", "fsyncs"), numbers, strict=True):
            yield reading(f"{metric}_per_s", clock.rate(count))
        for direction, count, printed in zip(("read", "written"), numbers, sizes.groups(), strict=False):
            # The printed size has only five digits.
            size, computed = _mib(printed, line_of_sizes), count * block_size
            mib = computed if abs(computed - size) <= 1e-4 * size else size
            yield reading(f"{direction}_mib_per_s", clock.rate(mib))

    def _file_rates(self) -> Iterator[Reading]:
        """Yield the rates of fileio in 1.1: ``read:  IOPS=9645.73 150.71 MiB/s (158.03 MB/s)``."""
        for name, metric in (("read", "read"), ("write", "written")):
            operations, transferred = self.block.figures(name, _IO_RATES)
            yield reading(f"{name}s_per_s", operations.value)
            yield reading(f"{metric}_mib_per_s", transferred.value)
        text, line = self.block.text("fsync")
        yield reading("fsyncs_per_s", number(text.removeprefix("IOPS="), line))

    def _latencies(self) -> Iterator[Reading]:
        block = self.block
        times = {name: _milliseconds(*block.text(name)) for name in ("min", "avg", "max")}
        if not in_order(*times.values()):
            raise FormatError(
                "the least, average and highest latency are not in this order", block.text("avg")[1]
            )
        yield from (reading(f"latency_{name}", time) for name, time in times.items())
        for rank, (time, _) in self.percentiles.items():
            if rank <= MAX_RANK and time < _LONGEST_COUNTED_MS:
                yield reading(percentile_metric(rank), time)
        if _SUM_OF_OLD in block.values:
            text, line = block.text(_SUM_OF_OLD)
            yield reading("latency_sum", _milliseconds(f"{text.removesuffix('s')}s", line))
        else:
            yield reading("latency_sum", block.figure("sum").value)


class HookReport:
    """The report that a hook printed of a run: its rates, and one response time.

    ``percentile`` is the rank of that, None where nobody says it. Making one raises FormatError for a figure
    that was not measured.
    """

    threads_of_events: int | None = None

    def __init__(self, output: SysbenchOutput, block: ReportBlock, percentile: int | None) -> None:
        self._figures = figures_of(block)
        self.runs_queries = "tps" in self._figures
        if self._figures.get("tps") == 0:
            raise FormatError("not one event was completed", block.line)
        self.output = output
        self.percentile = percentile
        self.test = output.test or None
        self.duration_s = self._figures["time_s"]

    def readings(self) -> Iterator[Reading]:
        for metric, value in self._figures.items():
            if metric not in ("time_s", "threads", PERCENTILE):
                yield reading(metric, value)
        if PERCENTILE in self._figures:
            metric = percentile_metric(self.percentile) if self.percentile else PERCENTILE
            yield Reading(metric, self._figures[PERCENTILE], "ms", LOWER)

    def notes(self) -> Iterator[str]:
        """Yield the warnings that a reader of the report needs before trusting its figures."""
        intervals = self.output.interval_lines
        if self.output.checkpoints:
            yield self.output.checkpoint_note
        elif intervals and self.duration_s - intervals.last_time > intervals.step:
            yield (
                f"nothing is reported between seconds {intervals.last_time:g} and {self.duration_s:g}; after "
                "--report-checkpoints the final report covers only the rest of the run"
            )
        if PERCENTILE in self._figures and not self.percentile:
            yield (
                f"the JSON does not say which percentile '{PERCENTILE}' is: that of --percentile, which is "
                "95 unless it was set"
            )


def _milliseconds(text: str, line: int) -> float:
    """Return a time in ms: ``12.34`` and ``12.34ms`` are milliseconds, ``0.0123s`` is seconds."""
    if text.endswith("s") and not text.endswith("ms"):
        number(text[:-1], line)
        # The decimal point is moved in the text: 0.0123 * 1000 is not 12.3.
        return float(f"{text[:-1]}e3")
    return number(text.removesuffix("ms"), line)


def _mib(text: str, line: int) -> float:
    """Return ``93.875Mb`` and ``16Kb`` in MiB."""
    unit = text.rstrip("b")[-1:]
    return number(text.rstrip("b").rstrip("KMGT"), line) * _MIB.get(unit, _MIB["b"])
