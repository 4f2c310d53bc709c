"""What is said of memory after an hour of load."""

import pytest

from benchmarks.performance.endurance import verdict


def samples(*largest):
    """Of two web processes each, of which these are the larger, and a worker that stays as it is."""
    return [{"web": [80.0, size], "worker": [200.0]} for size in largest]


@pytest.mark.parametrize(
    ("largest", "said"),
    [
        ([90, 110, 120, 120, 120, 121, 120, 120], "web: 121 MB at most (goal 200: met), flat (1.00 x)"),
        (
            [135, 150, 150, 165, 180, 195, 210, 240],
            "web: 240 MB at most (goal 200: missed), growing (1.43 x)",
        ),
        ([90, 100], "web: 100 MB at most (goal 200: met), too short a time to say whether it grows"),
    ],
)
def test_memory_is_flat_where_the_last_quarter_is_like_the_second(largest, said):
    assert verdict(samples(*largest)).splitlines()[0] == said


def test_workers_are_told_beside_web_processes():
    worker = verdict(samples(*[100.0] * 8)).splitlines()[1]
    assert worker == "worker: 200 MB at most (goal 300: met), flat (1.00 x)"
