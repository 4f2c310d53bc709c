"""Times before the lines of vmstat and dstat, as scripts and ``ts`` put them, and what dool prints."""

from pathlib import Path

import pytest

from ingest.formats.companions import COMPANION_FORMATS, recognise
from ingest.formats.companions.sampling import moment, seconds_between
from ingest.formats.source import Source

FIXTURES = Path(__file__).parents[2] / "fixtures_companions"
VMSTAT = (FIXTURES / "vmstat/plain.txt").read_text().splitlines()
DSTAT = (FIXTURES / "dstat_console/default.txt").read_text().splitlines()
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


def test_a_time_before_each_line_of_dstat_is_that_of_the_sample():
    name, report = read([f"2026-11-20 15:00:{at:02d} {line}" for at, line in enumerate(DSTAT[1:])])
    assert name == "dstat_console"
    assert [row[0] for row in report.samples[0].rows] == [1, 2, 3]
    assert (
        dict(report.means[:1] and [(one.metric, one.value) for one in report.means])["write_mb_per_s"] == 39
    )


def test_a_machine_before_a_line_is_no_time_and_its_samples_are_left_out():
    _, report = read([*VMSTAT[:3], *(f"db-1 {line}" for line in VMSTAT[3:])])
    assert report.samples == ()
    assert "no sample of vmstat, and left out: line 4, 5, 6, 7" in report.warnings


@pytest.mark.parametrize(
    ("command", "megabytes"),
    [("dstat 1", 60), ("dool 1", 7.5), ("dool --bytes 1", 60), ("dool -cd --dstat", 60)],
)
def test_the_command_says_whether_disks_are_in_bits(command, megabytes):
    _, report = read([f"$ {command}", *DSTAT[2:]])
    first = dict(zip(report.samples[0].columns, report.samples[0].rows[0], strict=True))
    assert first["write_mb_per_s"] == megabytes
    assert report.warnings == ()


def test_heads_that_come_again_begin_no_other_recording():
    rows = DSTAT[5:6] * 12
    _, report = read([*DSTAT[:5], *rows, *DSTAT[2:4], *rows])
    assert len(report.samples[0].rows) == 24
    assert report.warnings == ()


def test_of_two_starts_the_last_is_read_with_a_warning():
    _, report = read([*DSTAT, *DSTAT])
    assert len(report.samples[0].rows) == 3
    assert report.warnings == ("dstat was started 2 times; the samples of the last time were read",)


def test_a_row_that_does_not_fit_its_heads_is_left_out_and_named():
    _, report = read(
        [*DSTAT, " 14  12  72   2   0| 1.5M", " 99  99  72   2   0|   0     0 |   0     0 |   0     0 |1 2"]
    )
    assert len(report.samples[0].rows) == 4
    assert report.warnings == ("no sample of dstat, and left out: line 9",)


def test_a_clock_may_pass_midnight_and_two_kinds_of_time_do_not_mix():
    assert seconds_between(moment("23:59:59"), moment("00:00:02")) == 3
    assert seconds_between(moment("2026-11-20 23:59:59"), moment("2026-11-21T00:00:02Z")) is None
    assert moment("8.0.45") is None
    assert moment("") is None
