"""The stability of a run: stalls, spread and worst interval of what its tool printed meanwhile."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from statistics import fmean, median, stdev
from typing import Final, Protocol

from django.conf import settings

from benchdash.accounts.models import Project
from benchdash.results.readings import Reading, reading

TIME: Final = "time_s"
# The same of a tool beside a run, where it is known when both began: seconds since the run did.
RUN_TIME: Final = "run_s"
# The first one that a table has, and that is not 0 throughout, is the throughput of its intervals.
THROUGHPUT: Final = (
    *("tps", "qps", "events_per_s", "ops_per_s", "reads_per_s", "writes_per_s", "tpm"),
    *("transferred_mib_per_s", "read_mib_per_s", "written_mib_per_s"),
)
# Names that senders and tools give the seconds before the measurement.
_WARMUP: Final = ("warmup_s", "warmup-time", "warmup_time")
_TOLERANCE: Final = 1e-6
_SECONDS_PER_MINUTE: Final = 60

Rows = Sequence[Sequence[float | None]]


class _Samples(Protocol):
    """Interval samples, as they are recorded or stored."""

    @property
    def columns(self) -> Sequence[str]: ...

    @property
    def rows(self) -> Rows: ...


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule for a stall: throughput under ``below`` of the median for at least ``min_s`` seconds.

    Fewer than ``fewest`` intervals are not judged. ``warmup_s`` are left out where nobody says how long the
    run warmed up.
    """

    below: float = 0.5
    min_s: float = 1.0
    fewest: int = 10
    warmup_s: float = 0.0


DEFAULT_RULE: Final = Rule()
# The keys of a project's options.
STALL_BELOW: Final = "stall_below"
STALL_MIN_S: Final = "stall_min_s"
STALL_WARMUP_S: Final = "stall_warmup_s"


def stall_rule(project: Project) -> Rule:
    """Return the rule for stalls of a project: its own options, else the settings."""
    options = project.options
    return Rule(
        below=options.get(STALL_BELOW, settings.STALL_BELOW),
        min_s=options.get(STALL_MIN_S, settings.STALL_MIN_S),
        fewest=settings.STALL_FEWEST_INTERVALS,
        warmup_s=options.get(STALL_WARMUP_S, settings.STALL_WARMUP_S),
    )


@dataclass(frozen=True, slots=True)
class Interval:
    """A rate from ``start`` to ``end``, in seconds since the run began."""

    start: float
    end: float
    value: float

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Stall:
    """Intervals that follow each other. ``lowest`` and ``mean`` are throughputs."""

    start: float
    end: float
    lowest: float
    mean: float

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclass(frozen=True)
class Stability:
    """The intervals of a run after its warm-up, and the stalls among them.

    ``median`` is that of the intervals in which anything was done: a run that stood still for most of its
    time has stalls too.
    """

    metric: str
    warmup_s: float
    intervals: Sequence[Interval]
    median: float
    limit: float
    stalls: Sequence[Stall]

    @cached_property
    def seconds(self) -> float:
        return sum(one.seconds for one in self.intervals)

    @property
    def stalled_s(self) -> float:
        return sum(stall.seconds for stall in self.stalls)

    @property
    def stalls_per_min(self) -> float:
        return len(self.stalls) / self.seconds * _SECONDS_PER_MINUTE

    @property
    def stalled_percent(self) -> float:
        return self.stalled_s / self.seconds * 100

    @property
    def variation(self) -> float:
        """The standard deviation of the intervals in per cent of their mean."""
        values = [one.value for one in self.intervals]
        return stdev(values) / fmean(values) * 100

    @property
    def worst(self) -> float:
        return min(one.value for one in self.intervals)

    def readings(self) -> list[Reading]:
        return [
            reading("stalls_per_min", self.stalls_per_min),
            reading("stalled_percent", self.stalled_percent),
            reading(f"{self.metric}_variation", self.variation),
            reading(f"{self.metric}_worst", self.worst),
        ]


def stability_of_run(
    tables: Iterable[_Samples], *, said: Mapping[str, object], duration_s: float | None, rule: Rule
) -> Stability | None:
    """Judge how steady a run was, by the first of its tables that tells.

    ``said`` is what is known of the run: options of its tool and of its sender (see ``warmup_seconds``).
    """
    for table in tables:
        metric = throughput_metric(table)
        found = intervals(table, metric) if metric else []
        if metric and found:
            warmup_s = warmup_seconds(said, found[-1].end, duration_s, default=rule.warmup_s)
            if steadiness := stability(metric, found, warmup_s=warmup_s, rule=rule):
                return steadiness
    return None


def stability(
    metric: str, printed: Sequence[Interval], *, warmup_s: float = 0.0, rule: Rule = DEFAULT_RULE
) -> Stability | None:
    """Judge the intervals after the warm-up; None for too few, or for a run that did nothing."""
    found = [one for one in printed if one.start >= warmup_s - _TOLERANCE or not warmup_s]
    busy = [one.value for one in found if one.value > 0]
    if len(found) < max(rule.fewest, 2) or not busy:
        return None
    usual = median(busy)
    limit = usual * rule.below
    return Stability(metric, warmup_s, found, usual, limit, _stalls(found, limit, rule.min_s))


def throughput_metric(table: _Samples) -> str | None:
    printed = [metric for metric in THROUGHPUT if metric in table.columns]
    at = {metric: table.columns.index(metric) for metric in printed}
    told = (metric for metric in printed if any(row[at[metric]] for row in table.rows))
    return next(told, printed[0] if printed else None)


def intervals(table: _Samples, metric: str) -> list[Interval]:
    """Return the intervals that a tool printed the ends of; none where it printed no times.

    Left out are rows without a number, rows that do not go on in time, such as the rest of a second that YCSB
    prints when it ends, and a last one shorter than half of the others.
    """
    if TIME not in table.columns:
        return []
    time, value = table.columns.index(TIME), table.columns.index(metric)
    printed = [(at, row[value]) for row in table.rows if (at := row[time]) is not None]
    usual = _usual_step([at for at, _ in printed])
    found: list[Interval] = []
    before = max(0.0, printed[0][0] - usual) if printed else 0.0
    for at, one in printed:
        if at <= before:
            continue
        if one is not None:
            found.append(Interval(before, at, one))
        before = at
    if found and found[-1].seconds < usual / 2:
        found.pop()
    return found


def warmup_seconds(
    said: Mapping[str, object], intervals_end: float | None, duration_s: float | None, *, default: float = 0.0
) -> float:
    """Return the seconds at the beginning of the intervals that were warm-up.

    ``warmup_s`` of the sender counts as it is. Of a tool's own option the intervals may or may not have been
    printed meanwhile: it counts where they end later than the measured ``duration_s`` by half of it.
    """
    name = next((name for name in _WARMUP if _is_seconds(said.get(name))), None)
    if name is None:
        return default
    seconds = float(said[name])  # type: ignore[arg-type] # a number, by the line above
    if name == _WARMUP[0]:
        return seconds
    is_printed = (
        intervals_end is not None and duration_s is not None and intervals_end > duration_s + seconds / 2
    )
    return seconds if is_printed else 0.0


def _stalls(found: Sequence[Interval], limit: float, min_s: float) -> list[Stall]:
    stalls = []
    for is_low, stretch in groupby(found, key=lambda one: one.value < limit):
        own = list(stretch)
        if is_low and sum(one.seconds for one in own) >= min_s - _TOLERANCE:
            stalls.append(_stall(own))
    return stalls


def _stall(own: Sequence[Interval]) -> Stall:
    seconds = sum(one.seconds for one in own)
    mean = sum(one.value * one.seconds for one in own) / seconds
    return Stall(own[0].start, own[-1].end, min(one.value for one in own), mean)


def _usual_step(times: Sequence[float]) -> float:
    steps = [later - earlier for earlier, later in pairwise(times) if later > earlier]
    return median(steps) if steps else 0.0


def _is_seconds(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
