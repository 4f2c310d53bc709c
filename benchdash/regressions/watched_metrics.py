"""Which metrics analysis looks at, and which change of them matters.

By default those that a change would move first, counts of events, and a project's own metrics whose direction
is known. A project may say it otherwise for each metric (``benchdash.results.metric_corrections``).
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from django.db.models import Q

from benchdash.regressions.detection.noise import Floats
from benchdash.results.models import ProjectMetric, Run, Series
from benchdash.results.readings import UNKNOWN
from benchdash.results.stability import THROUGHPUT

# These follow from other metrics of the same run, describe the machine, or hang on a single event; they are
# drawn and not watched. So are those of an operation (``read.latency_max``), and all of single statements and
# scripts.
_UNWATCHED = (
    "latency_(min|max|sum|stddev)",
    "total_(time|events)",
    "fairness_(events|time)_stddev",
    "(reads|writes|other|events|errors|reconnects)_per_s",
    "tps_with_connecting",
    "(initial|average)_connection_time",
    "(serialization_failures|deadlock_failures|other_failures|retries)_per_s",
    "(retried|skipped|late)_percent",
    "schedule_lag_(avg|max)",
    "batch_seconds_(min|max)",
    "cpu_(user|system|wait|idle|steal)",
    "(context_switches|interrupts)_per_s",
    "run_queue",
    "client_cpu_per_op",
    "(read|write)_mb_per_s",
    "(read|write)_kb_per_op",
    "reads_per_op",
    r"gc\.(count|time)",
    "stalls_per_min",
    "stalled_percent",
    # The peak is one of the throughputs that are watched, and the knee follows the scale-up.
    "curve_(peak|knee_threads)",
    f"({'|'.join(THROUGHPUT)})_(worst|variation)",
)
# A pattern that PostgreSQL and Python read alike.
_UNWATCHED_PATTERN = rf"^((statement|script)_[0-9]+\..*|(.*\.)?({'|'.join(_UNWATCHED)}))$"
_IS_UNWATCHED = re.compile(_UNWATCHED_PATTERN)


@lru_cache(maxsize=4096)
def _is_watched_by_default(metric: str) -> bool:
    return _IS_UNWATCHED.match(metric) is None


@dataclass(frozen=True, slots=True)
class Counted:
    """Events whose rate is stored: ``noun`` names them, ``per_s`` is the unit of the rate in seconds.

    A change of the rate by less than ``smallest``, in events per second, does not matter.
    """

    noun: str
    per_s: float
    smallest: float

    def events(self, rates: Floats, seconds: Floats) -> Floats:
        """Return how many there were. A tool may print a little less than nothing where it subtracts."""
        return np.asarray(np.maximum(rates, 0) * seconds / self.per_s)


_MINUTE = 60
# Half a stall a minute is a stall in most runs; three errors a minute are no slip of the client.
_COUNTED = {
    "stalls_per_min": Counted("stalls", _MINUTE, 0.5 / _MINUTE),
    "errors_per_s": Counted("errors", 1, 3 / _MINUTE),
    "reconnects_per_s": Counted("reconnects", 1, 1 / _MINUTE),
    "timeouts_per_s": Counted("timeouts", 1, 1 / _MINUTE),
    "serialization_failures_per_s": Counted("serialization failures", 1, 3 / _MINUTE),
    "deadlock_failures_per_s": Counted("deadlocks", 1, 3 / _MINUTE),
    "other_failures_per_s": Counted("failures", 1, 3 / _MINUTE),
}


def run_lengths(run_ids: Iterable[int]) -> dict[int, float]:
    """Return the seconds of each run that says how long it took. Others count as one unit of their metric."""
    runs = Run.objects.filter(pk__in=set(run_ids), duration_s__gt=0)
    return {pk: seconds for pk, seconds in runs.values_list("pk", "duration_s") if seconds}


def counted(metric: str) -> Counted | None:
    """Return what a metric counts; None where it counts no events."""
    return _COUNTED.get(metric)


@dataclass(frozen=True, slots=True)
class SmallestChange:
    """The smallest change of a metric that matters: a share, a difference in its unit, or both."""

    relative: float | None = None
    absolute: float | None = None

    def is_reached(self, before: float, after: float, *, change: float) -> bool:
        """Tell whether a change between two levels matters; ``change`` is it as a share of the speed."""
        return (self.relative is None or abs(change) >= self.relative) and (
            # Binary fractions make 0.95 - 0.94 a little less than 0.01.
            self.absolute is None or abs(after - before) >= self.absolute * (1 - 1e-9)
        )


@dataclass(frozen=True, slots=True)
class MetricRules:
    """The words of a project about metrics, by their names; others have their defaults."""

    said: Mapping[str, ProjectMetric] = field(default_factory=dict)

    def is_watched(self, metric: str) -> bool:
        """Tell whether a change of this metric is looked for; never where nobody has said its direction."""
        one = self.said.get(metric)
        if one and one.is_own and one.direction == UNKNOWN:
            return False
        if one and one.watched is not None:
            return one.watched
        return bool(one and one.is_own) or _is_watched_by_default(metric)

    def direction_of(self, metric: str) -> str:
        """Return the direction of one of the project's own metrics, unknown for any other."""
        one = self.said.get(metric)
        return one.direction if one else UNKNOWN

    def watches(self, series: Series) -> bool:
        """Tell whether a change of this series is looked for."""
        return series.has_direction and self.is_watched(series.metric)

    def counted(self, metric: str) -> Counted | None:
        """Return what a metric counts; None where it counts no events or is not watched by the project."""
        one = self.said.get(metric)
        return None if one and one.watched is False else counted(metric)

    def is_looked_at(self, metric: str) -> bool:
        return self.is_watched(metric) or self.counted(metric) is not None

    def smallest_change(self, metric: str) -> SmallestChange | None:
        """Return the change that matters; None where the rule of the project says it."""
        one = self.said.get(metric)
        if one is None or one.smallest_change is one.smallest_change_absolute is None:
            return None
        return SmallestChange(one.smallest_change, one.smallest_change_absolute)

    def unwatched(self) -> Q:
        """Return a condition for the series that are not watched."""
        yes, no = self._said_to_be(watched=True), self._said_to_be(watched=False)
        by_default = ~Q(metric__in=yes) & Q(metric__regex=_UNWATCHED_PATTERN)
        return Q(direction=UNKNOWN) | Q(metric__in=no) | by_default

    def _said_to_be(self, *, watched: bool) -> Collection[str]:
        return [name for name in self.said if self.is_watched(name) is watched]


def rules_of(project_id: int) -> MetricRules:
    """Read what a project says of metrics; one statement."""
    return MetricRules({one.name: one for one in ProjectMetric.objects.filter(project=project_id)})
