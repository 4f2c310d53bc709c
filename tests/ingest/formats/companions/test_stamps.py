"""Times before the lines of vmstat, as scripts and ``ts`` put them."""

from pathlib import Path

import pytest

from ingest.formats.companions import COMPANION_FORMATS, recognise
from ingest.formats.companions.sampling import moment, seconds_between
from ingest.formats.source import Source

FIXTURES = Path(__file__).parents[2] / "fixtures_companions"
VMSTAT = (FIXTURES / "vmstat/plain.txt").read_text().splitlines()
STAMPS = [
    "2026-11-20 15:00:{:02d}",
    "[2026-11-20 15:00:{:02d}]",
    "2026-11-20T15:00:{:02d}Z",
    "2026-11-20T15:00:{:02d}.250+00:00",
    "2026-11-20 15:00:{:02d},123",
    "15:00:{:02d}",
    "17321148{:02d}",
    "Nov 20 15:00:{:02d}",
    "Fri Nov 20 15:00:{:02d} UTC 2026",
]


def read(lines):
    source = Source("".join(f"{line}\n" for line in lines).encode())
    name = recognise(source)
    return name, COMPANION_FORMATS[name].parse(source)


@pytest.mark.parametrize("first", [0, 2], ids=["each line", "rows alone"])
@pytest.mark.parametrize("stamp", STAMPS)
def test_a_time_before_a_line_of_vmstat_is_that_of_the_sample(stamp, first):
    name, report = read(
        [f"{stamp.format(at)} {line}" if at >= first else line for at, line in enumerate(VMSTAT)]
    )
    _, plain = read(VMSTAT)
    assert name == "vmstat"
    assert report.samples[0].columns[0] == "time_s"
    assert [row[0] for row in report.samples[0].rows] == [1, 2, 3, 4]
    assert [row[1:] for row in report.samples[0].rows] == [row[1:] for row in plain.samples[0].rows]
    assert report.means == plain.means
    assert int(report.began_s) == 15 * 3600 + 2


def test_a_clock_may_pass_midnight_and_two_kinds_of_time_do_not_mix():
    assert seconds_between(moment("23:59:59"), moment("00:00:02")) == 3
    assert seconds_between(moment("2026-11-20 23:59:59"), moment("2026-11-21T00:00:02Z")) is None
    assert moment("8.0.45") is None
    assert moment("") is None
