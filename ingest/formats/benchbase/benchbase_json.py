"""BenchBase's ``summary.json``: the rates of a run, and how its response times are distributed.

{"Benchmark Type": "tpcc", "scalefactor": "10", "terminals": "16", "Throughput (requests/second)": 410.2,
 "Goodput (requests/second)": 408.5, "Latency Distribution": {"95th Percentile Latency (microseconds)": ...
"""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from benchdash.results.readings import Reading, reading
from ingest.formats.benchbase.rates import rate_readings
from ingest.formats.benchbase.servers import product_and_version
from ingest.formats.json_source import line_of, load
from ingest.formats.outputs import MAX_THREADS, in_order, option
from ingest.formats.report import Fact, FormatError, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.masking import mask_text

_THROUGHPUT, _GOODPUT = "Throughput (requests/second)", "Goodput (requests/second)"
_TIMES = "Latency Distribution"
_RECOGNISED = re.compile(rb'\A\s*\{[\s\S]*"(?:Throughput \(requests/second\)|Latency Distribution)"\s*:')
_TIME = re.compile(r"(?:(Minimum|Median|Average|Maximum)|([0-9]{1,2})th Percentile) Latency \(microseconds\)")
_STATISTICS = {"Minimum": "min", "Median": "p50", "Average": "avg", "Maximum": "max"}
_OPTIONS = ("scalefactor", "isolation")
_EARLIEST_MS, _LATEST_MS = 946_684_800_000, 4_102_444_800_000


def recognise(head: bytes) -> bool:
    return _RECOGNISED.match(head) is not None


def parse(source: Source) -> ParsedReport:
    """Read the one run of a summary.

    Raise FormatError, with the line, for broken JSON, figures that were not measured, and a run that failed.
    """
    summary = load(source)
    if not isinstance(summary, dict):
        raise FormatError("a summary of BenchBase is one JSON object", line=1)
    return _Summary(source, summary).report()


class _Summary:
    """The fields of a summary, and how they are read."""

    def __init__(self, source: Source, fields: Mapping[str, object]) -> None:
        self._source = source
        self._fields = fields
        self._warnings: list[str] = []

    def report(self) -> ParsedReport:
        if (state := self._text("Final State")) == "ERROR":
            raise FormatError("the run ended with an error", self._line("Final State"))
        threads = self._threads()
        product, version = product_and_version(self._text("DBMS Version"))
        started_at, seconds = self._times()
        options: dict[str, Fact] = {
            name: option(text) for name in _OPTIONS if (text := self._text(name)) not in ("", "null")
        }
        if version is None and (text := self._text("DBMS Version")):
            options["dbms_version"] = mask_text(text[:200])
        if kind := self._text("DBMS Type"):
            options["dbms_type"] = mask_text(kind[:100])
        run = ParsedRun(
            readings=(*self._rates(seconds), *self._latencies()),
            product=product,
            version=version,
            workload=self._text("Benchmark Type")[:200] or None,
            threads=threads,
            started_at=started_at,
            duration_s=seconds,
            options=options,
        )
        facts: dict[str, Fact] = {"tool": "BenchBase"}
        if state:
            facts["final_state"] = state
        return ParsedReport((run,), facts=facts, warnings=tuple(self._warnings))

    def _line(self, *path: str) -> int | None:
        return line_of(self._source, *path)

    def _text(self, name: str) -> str:
        value = self._fields.get(name)
        return "" if value is None else str(value).strip()

    def _number(self, value: object, *path: str) -> float:
        """Raise FormatError for what is no number, or a negative one."""
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
            or value < 0
        ):
            raise FormatError(
                f"{path[-1]!r} is {str(value)[:40]!r}, which was not measured", self._line(*path)
            )
        return float(value)

    def _rates(self, seconds: float | None) -> Iterator[Reading]:
        if _THROUGHPUT not in self._fields:
            raise FormatError(f"no {_THROUGHPUT!r}: a summary of BenchBase has it", line=1)
        goodput = self._fields.get(_GOODPUT)
        requests = self._fields.get("Measured Requests")
        yield from rate_readings(
            self._number(self._fields[_THROUGHPUT], _THROUGHPUT),
            None if goodput is None else self._number(goodput, _GOODPUT),
            requests=None if requests is None else int(self._number(requests, "Measured Requests")),
            seconds=seconds,
            line=self._line(_THROUGHPUT),
        )

    def _latencies(self) -> Iterator[Reading]:
        """Yield the response times in ms."""
        times = self._fields.get(_TIMES)
        if not isinstance(times, dict):
            self._warnings.append(f"no {_TIMES!r}: only the rates are read")
            return
        found: dict[str, float] = {}
        for name, value in times.items():
            if said := _TIME.fullmatch(name):
                metric = f"latency_{_STATISTICS[said[1]] if said[1] else f'p{int(said[2])}'}"
                found[metric] = self._number(value, _TIMES, name) / 1000
            else:
                self._warnings.append(f"{name[:80]!r} is no response time of BenchBase's; left out")
        percentiles = sorted(name for name in found if name.startswith("latency_p"))
        rising = [name for name in ("latency_min", *percentiles, "latency_max") if name in found]
        if not in_order(*(found[name] for name in rising)):
            raise FormatError("the response times do not rise with their percentiles", self._line(_TIMES))
        for metric in sorted(found):
            yield reading(metric, found[metric])._replace(printed_unit="us")

    def _threads(self) -> int | None:
        """Return the number of terminals."""
        text = self._text("terminals")
        if text.isascii() and text.isdigit() and 1 <= int(text[:10]) <= MAX_THREADS:
            return int(text)
        if text:
            self._warnings.append(
                f"terminals are {text[:40]!r}, which is no number; the sender says the threads"
            )
        return None

    def _times(self) -> tuple[datetime | None, float | None]:
        """Return when the run began, and how many seconds were measured."""
        elapsed = self._fields.get("Elapsed Time (nanoseconds)")
        seconds = None if elapsed is None else self._number(elapsed, "Elapsed Time (nanoseconds)") / 1e9
        started = self._milliseconds("Start timestamp (milliseconds)")
        ended = self._milliseconds("Current Timestamp (milliseconds)")
        if started is None and ended is not None and seconds is not None:
            started = ended - 1000 * seconds
        elif started is None and ended is not None:
            self._warnings.append("when the run began is not said; the time at which it ended stands for it")
            started = ended
        began = None if started is None else datetime.fromtimestamp(started / 1000, UTC)
        return began, seconds

    def _milliseconds(self, name: str) -> float | None:
        value = self._fields.get(name)
        if value is None:
            return None
        number = self._number(value, name)
        if not _EARLIEST_MS <= number <= _LATEST_MS:
            raise FormatError(f"{name!r} is no time in milliseconds: {number:g}", self._line(name))
        return number
