"""When the tools that sample a machine began, by the time of day that they printed."""

from pathlib import Path

import pytest

from ingest.formats.companions import COMPANION_FORMATS
from ingest.formats.source import Source

FIXTURES = Path(__file__).parents[2] / "fixtures_companions"


def began(path):
    name = Path(path).parent.name
    return COMPANION_FORMATS[name].parse(Source((FIXTURES / path).read_bytes(), path)).began_s


def at(hour, minute, second):
    return hour * 3600 + minute * 60 + second


@pytest.mark.parametrize(
    ("path", "clock"),
    [
        ("vmstat/time-stamps.txt", at(19, 54, 56)),
        ("iostat/time-am-pm.txt", at(20, 14, 41)),
        ("iostat/time-iso.txt", at(19, 54, 56)),
        ("mpstat/am-pm.txt", at(20, 14, 41)),
        ("pmrep/metrics.csv", at(19, 57, 29)),
        ("dstat/epoch.csv", pytest.approx(at(19, 56, 8) + 0.110)),
    ],
)
def test_the_first_time_that_a_tool_prints_is_when_it_began(path, clock):
    assert began(path) == clock


@pytest.mark.parametrize("path", ["vmstat/plain.txt", "iostat/short.txt", "dstat/default.csv"])
def test_without_a_time_nobody_knows(path):
    assert began(path) is None
