"""Which metrics analysis looks at: those that a change would move first, and counts of events."""

import re
from dataclasses import dataclass
from functools import lru_cache

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
UNWATCHED_METRICS = rf"^((statement|script)_[0-9]+\..*|(.*\.)?({'|'.join(_UNWATCHED)}))$"
"""A pattern that PostgreSQL and Python read alike."""

_IS_UNWATCHED = re.compile(UNWATCHED_METRICS)


@lru_cache(maxsize=4096)
def is_watched(metric: str) -> bool:
    """Tell whether a change of this metric is looked for."""
    return _IS_UNWATCHED.match(metric) is None


@dataclass(frozen=True, slots=True)
class Counted:
    """Events whose rate is stored: ``noun`` names them, ``per_s`` is the unit of the rate in seconds.

    A change of the rate by less than ``smallest``, in events per second, does not matter.
    """

    noun: str
    per_s: float
    smallest: float


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


def counted(metric: str) -> Counted | None:
    """Return what a metric counts; None where it counts no events."""
    return _COUNTED.get(metric)
