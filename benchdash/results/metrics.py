"""The order and the families of metrics."""

import re
from collections.abc import Collection, Mapping
from typing import Final

# The metrics that benchmarks are run for, the most telling first.
_MAIN: Final = ("tps", "qps", "score", "events_per_s", "ops_per_s", "transferred_mib_per_s")
# The first one that a run has counts its operations.
_COUNT_OPERATIONS: Final = ("qps", "tps", "events_per_s", "ops_per_s")
_RESPONSE_TIMES: Final = ("latency_avg", "latency_p95")
FIRST: Final = (*_MAIN, *_RESPONSE_TIMES)
# The costs of an operation, the dearest first.
_COSTS: Final = (
    "server_cpu_per_op",
    "cpu_per_op",
    "cpu_share_per_op",
    "cs_per_op",
    "read_kb_per_op",
    "reads_per_op",
    "write_kb_per_op",
)
# It moves with the machine of the client, not with the server.
_COST_OF_THE_CLIENT: Final = "client_cpu_per_op"
_ERRORS: Final = re.compile(
    r"(.*\.)?(errors|reconnects|retries|.*_failures)(_per_s)?|(retried|skipped|late)_percent"
)
_FAMILIES: Final = (
    ("Errors", _ERRORS),
    ("Cost per operation", re.compile(r".*_per_op")),
    (
        "Machine",
        re.compile(
            r"(cpu_(user|system|wait|idle|steal)|context_switches_per_s|interrupts_per_s|run_queue"
            r"|(read|write)_mb_per_s)"
        ),
    ),
    ("Response time", re.compile(r"(.*\.)?(latency_.*|schedule_lag_.*|batch_seconds_.*)")),
    (
        "Throughput",
        re.compile(
            r"(.*\.)?(tps|qps|score|nopm|tpm"
            r"|(events|reads|writes|other|fsyncs|ops|(transferred|read|written)_mib)_per_s)"
        ),
    ),
)
FAMILIES: Final = ("Throughput", "Response time", "Cost per operation", "Errors", "Machine", "Other")


def main_metric(measured: Mapping[str, int]) -> str:
    """Return the main metric: a throughput, else a response time, else the one measured most.

    ``measured`` says how often each metric was measured, and is not empty.
    """
    throughput, times = (
        [metric for metric in some if metric in measured] for some in (_MAIN, _RESPONSE_TIMES)
    )
    main = throughput or times or sorted(measured)
    most = max(measured[metric] for metric in main)
    return next(metric for metric in main if measured[metric] == most)


def shown_at_first(measured: Mapping[str, int]) -> list[str]:
    """Return the main metric, and average and 95th percentile of the response time where measured."""
    main = main_metric(measured)
    return [main, *(metric for metric in _RESPONSE_TIMES if metric in measured and metric != main)]


def in_order(metrics: Collection[str]) -> list[str]:
    """Sort metrics: those that benchmarks are run for, then response times, then the rest by name."""
    first = [metric for metric in FIRST if metric in metrics]
    return [*first, *sorted(set(metrics) - set(first))]


def telling(measured: Mapping[str, int]) -> list[str]:
    """Return the metrics that say most about a difference: throughput, response times, and costs."""
    others = sorted(metric for metric in measured if metric.endswith("_per_op") and metric not in _COSTS)
    costs = [*_COSTS, *others]
    found = [metric for metric in costs if metric in measured and metric != _COST_OF_THE_CLIENT]
    first = shown_at_first(measured)
    return [*first, *(metric for metric in found if metric not in first)]


def operations_per_s(values: Mapping[str, float]) -> float:
    """Return how many operations a run did per second, by its values by metric; 0 where that is not known."""
    return max(next((values[metric] for metric in _COUNT_OPERATIONS if metric in values), 0.0), 0.0)


def family(metric: str) -> str:
    """Return one of FAMILIES."""
    return next((name for name, pattern in _FAMILIES if pattern.fullmatch(metric)), "Other")


def is_speed(metric: str) -> bool:
    """Tell whether a metric says how fast something is, so that worse is slower."""
    return family(metric) in {"Throughput", "Response time"}
