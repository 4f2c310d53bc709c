"""The figures of a pgbench report, each from where it is printed with most digits."""

from collections.abc import Iterator
from dataclasses import dataclass

from benchdash.results.readings import HIGHER, LOWER, Reading, reading
from ingest.formats.cells import whole_number
from ingest.formats.pgbench_output import PROCESSED, TYPE, Figure, Report, Script, Statement, Statistics
from ingest.formats.report import FormatError

RECONNECTING = "including reconnection times"
_WITHOUT_CONNECTING = (
    "without initial connection time",
    "without initial connection establishing",
    "excluding connections establishing",
)
_WITH_CONNECTING = "including connections establishing"

MILLISECONDS = r"(\S+) ms(?: \(including failures\))?"
SECONDS = r"(\S+) s"
OF_ALL = r"(\S+?)(?:/\S+)?"
_COUNT_AND_SHARE = r"([0-9]+)(?:/[0-9]+)?(?: \(\S+ ?%\))?"
_LAG = {"schedule_lag_avg": r"avg (\S+) \(max \S+\) ms", "schedule_lag_max": r"avg \S+ \(max (\S+)\) ms"}

MOST_STATEMENTS = 100


@dataclass(frozen=True, slots=True)
class Totals:
    """What a complete report says of the run as a whole.

    ``tps`` is without the time for connecting, unless every transaction connects; ``with_connecting``, the
    rate over the whole time, is printed up to version 13 only.
    """

    clients: int
    processed: Figure
    tps: Figure
    with_connecting: Figure | None

    @property
    def seconds(self) -> float:
        """The time that ``tps`` was counted over."""
        return self.processed.value / self.tps.value

    @property
    def whole_seconds(self) -> float:
        rate = self.with_connecting or self.tps
        return self.processed.value / rate.value


def totals(report: Report) -> Totals:
    """Raises FormatError where the report is not complete, or nothing was measured."""
    processed = report.statistics.figure(PROCESSED, OF_ALL)
    if not processed.value:
        raise FormatError("not one transaction was completed", processed.line)
    clients, line = report.statistics.text("number of clients")
    if strange := report.tps.keys() - {*_WITHOUT_CONNECTING, RECONNECTING, _WITH_CONNECTING}:
        name = min(strange)
        raise FormatError(f"tps ({name}) is nothing that pgbench counts", report.tps[name].line)
    rates = [report.tps[name] for name in (*_WITHOUT_CONNECTING, RECONNECTING) if name in report.tps]
    if not rates:
        raise FormatError("the report is not complete: no 'tps' up to this line", report.statistics.end)
    for rate in report.tps.values():
        if not rate.value:
            raise FormatError("the rate is 0, which contradicts the number of transactions", rate.line)
    if report.statistics.text(TYPE)[0] == "multiple scripts":
        _check_scripts(report, processed)
    return Totals(
        clients=whole_number(clients, "the number of clients", line),
        processed=processed,
        tps=rates[0],
        with_connecting=report.tps.get(_WITH_CONNECTING),
    )


def _check_scripts(report: Report, processed: Figure) -> None:
    """Raise FormatError where one of several scripts is missing, and so a part of the workload's name."""
    counts = [script.statistics.maybe("transactions") for script in report.scripts.values()]
    if sum(count.value for count in counts if count) < processed.value:
        raise FormatError(
            "the report is not complete: the scripts up to this line do not account for all transactions",
            report.end,
        )


def readings(report: Report, found: Totals) -> tuple[Reading, ...]:
    """Raises FormatError for a figure that is none."""
    statistics = report.statistics
    average = average_latency(statistics, found)
    return (
        reading("tps", found.tps.value),
        *(
            [Reading("tps_with_connecting", found.with_connecting.value, "1/s", HIGHER)]
            if found.with_connecting
            else []
        ),
        *([] if average is None else [reading("latency_avg", average)]),
        *_times(statistics),
        *_failures(statistics, found),
        reading("total_events", found.processed.value),
        *_script_readings(report, found.seconds),
    )


def average_latency(statistics: Statistics, found: Totals) -> float | None:
    """The average response time in ms; None where none is printed, or a 0 that is no measurement.

    Unless it measures every transaction, and so prints a standard deviation, pgbench divides the time of all
    clients by the transactions, up to 9.6 the time that was asked for. The same from figures with more digits
    is taken where it rounds to what is printed.
    """
    printed = statistics.maybe("latency average", MILLISECONDS)
    if printed is None or "latency stddev" in statistics.values:
        return printed.value if printed else None
    failed = statistics.maybe("number of failed transactions", _COUNT_AND_SHARE)
    ended = found.processed.value + (failed.value if failed else 0)
    duration = statistics.maybe("duration", SECONDS)
    for seconds in (found.whole_seconds, found.seconds, *([duration.value] if duration else [])):
        computed = 1000 * seconds * found.clients / ended
        if abs(computed - printed.value) <= printed.rounding * 1.01:
            return computed
    return printed.value or None


def _times(statistics: Statistics) -> Iterator[Reading]:
    """Times in ms that are printed as they were measured."""
    if stddev := statistics.maybe("latency stddev", MILLISECONDS):
        yield reading("latency_stddev", stddev.value)
    for metric, pattern in _LAG.items():
        if lag := statistics.maybe("rate limit schedule lag", pattern):
            yield Reading(metric, lag.value, "ms", LOWER)
    for name in ("initial connection time", "average connection time"):
        if time := statistics.maybe(name, MILLISECONDS):
            yield Reading(name.replace(" ", "_"), time.value, "ms", LOWER)


def _failures(statistics: Statistics, found: Totals) -> Iterator[Reading]:
    """What went wrong: per second, and in per cent of all transactions that were meant to run."""
    failed = statistics.maybe("number of failed transactions", _COUNT_AND_SHARE)
    skipped = statistics.maybe("number of transactions skipped", _COUNT_AND_SHARE)
    if failed:
        yield reading("errors_per_s", failed.value / found.seconds)
    for kind in ("serialization", "deadlock", "other"):
        if failures := statistics.maybe(f"number of {kind} failures", _COUNT_AND_SHARE):
            yield Reading(f"{kind}_failures_per_s", failures.value / found.seconds, "1/s", LOWER)
    if retries := statistics.maybe("total number of retries"):
        yield Reading("retries_per_s", retries.value / found.seconds, "1/s", LOWER)
    meant = found.processed.value + sum(figure.value for figure in (failed, skipped) if figure)
    if retried := statistics.maybe("number of transactions retried", _COUNT_AND_SHARE):
        yield Reading("retried_percent", 100 * retried.value / meant, "%", LOWER)
    if skipped:
        yield Reading("skipped_percent", 100 * skipped.value / meant, "%", LOWER)
    if late := statistics.maybe("late", _COUNT_AND_SHARE):
        # Only since 11 pgbench prints what it takes the share of, and leaves the skipped ones out of it.
        whole = found.processed.value if "/" in statistics.text("late")[0] else meant
        yield Reading("late_percent", 100 * late.value / whole, "%", LOWER)


def _script_readings(report: Report, seconds: float) -> Iterator[Reading]:
    for script_number, script in sorted(report.scripts.items()):
        prefix = script_prefix(report, script_number)
        if prefix:
            yield from _shares(script, prefix, seconds)
        for position, statement in sql_statements(script):
            name = f"{prefix}statement_{position}"
            if statement.latency:
                yield Reading(f"{name}.latency_avg", statement.latency.value, "ms", LOWER)
            if statement.failures:
                yield Reading(f"{name}.errors_per_s", statement.failures / seconds, "1/s", LOWER)
            if statement.retries:
                yield Reading(f"{name}.retries_per_s", statement.retries / seconds, "1/s", LOWER)


def _shares(script: Script, prefix: str, seconds: float) -> Iterator[Reading]:
    """What one of several scripts had of the whole."""
    statistics = script.statistics
    done = statistics.maybe(PROCESSED, r"(\S+)(?: \(tps = \S+\))?") or statistics.maybe("transactions")
    if done:
        yield Reading(f"{prefix}tps", done.value / seconds, "1/s", HIGHER)
    if failed := statistics.maybe("number of failed transactions", _COUNT_AND_SHARE):
        yield Reading(f"{prefix}errors_per_s", failed.value / seconds, "1/s", LOWER)
    for name, metric in (("latency average", "latency_avg"), ("latency stddev", "latency_stddev")):
        if time := statistics.maybe(name, MILLISECONDS):
            yield Reading(f"{prefix}{metric}", time.value, "ms", LOWER)


def script_prefix(report: Report, script_number: int) -> str:
    """What stands before the names of a script's figures: nothing where there is only one script."""
    return f"script_{script_number}." if len(report.scripts) > 1 else ""


def sql_statements(script: Script) -> list[tuple[int, Statement]]:
    """The statements with their numbers. What begins with a backslash is done by pgbench itself."""
    statements = [statement for statement in script.statements if not statement.text.startswith("\\")]
    return list(enumerate(statements[:MOST_STATEMENTS], start=1))
