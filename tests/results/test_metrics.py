"""Which metrics say most, and what each is about."""

import pytest

from benchdash.results.metrics import FAMILIES, family, telling


def test_costs_per_operation_stand_beside_throughput_and_response_times():
    measured = dict.fromkeys(
        (
            "cs_per_op",
            "tps",
            "qps",
            "mutex_spins_per_op",
            "client_cpu_per_op",
            "latency_p95",
            "server_cpu_per_op",
        ),
        1,
    )
    assert telling(measured) == [
        "tps",
        "latency_p95",
        "server_cpu_per_op",
        "cs_per_op",
        "mutex_spins_per_op",
    ]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("tps", "Throughput"),
        ("reads_per_s", "Throughput"),
        ("latency_p99", "Response time"),
        ("read.latency_avg", "Response time"),
        ("write_kb_per_op", "Cost per operation"),
        ("errors_per_s", "Errors"),
        ("context_switches_per_s", "Machine"),
        ("gc.alloc.rate.norm", "Other"),
    ],
)
def test_every_metric_has_a_family(metric, expected):
    assert family(metric) == expected
    assert expected in FAMILIES
