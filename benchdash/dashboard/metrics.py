"""Which metrics a page shows first."""

from collections.abc import Collection, Mapping
from typing import Final

# What a benchmark is run for, the most telling first.
_MAIN: Final = ("tps", "qps", "score", "events_per_s", "ops_per_s", "transferred_mib_per_s")
_RESPONSE_TIMES: Final = ("latency_avg", "latency_p95")


def main_metric(measured: Mapping[str, int]) -> str:
    """The main metric of what was chosen. ``measured`` says how often each metric was, and is not empty."""
    main = [metric for metric in _MAIN if metric in measured] or sorted(measured)
    most = max(measured[metric] for metric in main)
    return next(metric for metric in main if measured[metric] == most)


def shown_at_first(measured: Mapping[str, int]) -> list[str]:
    """The main metric, and response time on average and in the 95th percentile where they were measured."""
    main = main_metric(measured)
    return [main, *(metric for metric in _RESPONSE_TIMES if metric in measured and metric != main)]


def in_order(metrics: Collection[str]) -> list[str]:
    """Those that benchmarks are run for first, then response times, then the rest by name."""
    known = [*_MAIN, *_RESPONSE_TIMES]
    first = [metric for metric in known if metric in metrics]
    return [*first, *sorted(set(metrics) - set(first))]
