"""What the tools that watch a machine print besides what is wanted, and what is no number."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats.companions import COMPANION_FORMATS, recognise
from ingest.formats.companions.sampling import whole_devices
from ingest.formats.report import FormatError
from ingest.formats.source import Source
from tests.ingest.formats.companions.test_fixtures import CASES

VMSTAT = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
SINCE_START = " 9  0      0      1      1      1    0    0     9     9    9    9  9  9 82  0  0\n"


def vmstat_row(run_queue=1, user=50, **more):
    values = {"r": run_queue, "b": 0, "swpd": 0, "free": 1, "buff": 1, "cache": 1, "si": 0, "so": 0}
    values |= {"bi": 0, "bo": 0, "in": 1000, "cs": 2000, "us": user, "sy": 10, "id": 40, "wa": 0, "st": 0}
    return " ".join(str(value) for value in (values | more).values()) + "\n"


def parse(name, text):
    return COMPANION_FORMATS[name].parse(Source(text.encode()))


def means(report):
    return {mean.metric: mean.value for mean in report.means}


def test_the_line_since_the_machine_started_is_no_sample():
    report = parse("vmstat", VMSTAT + SINCE_START + vmstat_row(2) + vmstat_row(4))
    assert means(report)["run_queue"] == 3
    assert len(report.samples[0].rows) == 2


def test_a_heading_soon_after_another_is_a_second_start_whose_first_line_is_no_sample_either():
    once = VMSTAT + SINCE_START + vmstat_row(2)
    report = parse("vmstat", once + VMSTAT + SINCE_START + vmstat_row(6))
    assert means(report)["run_queue"] == 6
    assert report.warnings == ("vmstat was started 2 times; the samples of the last time were read",)


def test_a_heading_after_a_screen_of_lines_belongs_to_the_same_start():
    report = parse("vmstat", VMSTAT + SINCE_START + vmstat_row() * 20 + VMSTAT + vmstat_row() * 5)
    assert (len(report.samples[0].rows), report.warnings) == (25, ())


def test_what_is_swapped_and_cached_is_no_throughput():
    assert means(parse("vmstat", VMSTAT + SINCE_START + vmstat_row(si=99, so=99)))["read_mb_per_s"] == 0


def test_blocks_are_kilobytes_whatever_the_unit_of_memory():
    report = parse("vmstat", VMSTAT + SINCE_START + vmstat_row(bi=2048, bo=512))
    assert (means(report)["read_mb_per_s"], means(report)["write_mb_per_s"]) == (2, 0.5)


@pytest.mark.parametrize("word", ["nan", "-nan", "inf", "-1", "1e999", "9" * 5000, "٣", "", "x"])
def test_a_line_with_what_is_no_number_is_left_out_and_named(word):
    report = parse("vmstat", VMSTAT + SINCE_START + vmstat_row() + vmstat_row(cs=word) + vmstat_row())
    assert len(report.samples[0].rows) == 2
    assert report.warnings == ("no sample of vmstat, and left out: line 4",)


def test_more_than_all_of_the_cpus_is_no_sample():
    report = parse("vmstat", VMSTAT + SINCE_START + vmstat_row(user=250) + vmstat_row())
    assert means(report)["cpu_user"] == 50
    assert report.warnings == ("no sample of vmstat, and left out: line 3",)


def test_line_ends_of_windows_change_nothing():
    text = VMSTAT + SINCE_START + vmstat_row(7)
    assert parse("vmstat", text.replace("\n", "\r\n")) == parse("vmstat", text)


def test_a_device_that_iostat_leaves_out_of_a_report_did_nothing():
    heading = "Device            r/s     rkB/s     w/s     wkB/s  %util\n"
    busy, idle = f"{heading}sda 1.0 1024.0 1.0 2048.0 5.0\n\n", f"{heading}\n"
    assert means(parse("iostat", busy + busy + idle))["read_mb_per_s"] == 0.5


def test_times_go_on_after_midnight():
    heading = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n 1.0 0.0 1.0 0.0 0.0 98.0\n\n"
    clocks = ("23:59:58", "23:59:59", "00:00:00", "00:00:01")
    text = "".join(f"2026-11-20T{clock}+0000\n{heading}" for clock in clocks)
    assert [row[0] for row in parse("iostat", text).samples[0].rows] == [1, 2, 3]


def test_cores_are_counted_by_their_sockets():
    paragraphs = [
        f"processor\t: {at}\nvendor_id\t: X\nphysical id\t: {at % 2}\nsiblings\t: 4\ncore id\t: {at // 4}\n\n"
        for at in range(8)
    ]
    hardware = parse("cpuinfo", "".join(paragraphs)).hardware
    assert hardware == {"cpu_vendor": "X", "cpus": 8, "sockets": 2, "cores": 4, "threads_per_core": 2}


@pytest.mark.parametrize(
    ("names", "whole"),
    [
        (["sda", "sda1", "sda2", "dm-0"], ["sda"]),
        (["nvme0n1", "nvme0n1p1", "nvme1n1", "md0"], ["nvme0n1", "nvme1n1"]),
        (["vda", "loop0", "zram0", "sr0"], ["vda"]),
        (["mapper-data", "loop0"], ["mapper-data"]),
        ([], []),
    ],
)
def test_what_lies_on_a_disk_is_not_counted_beside_it(names, whole):
    assert whole_devices(names) == whole


def test_the_banner_of_sysstat_is_not_uname():
    assert recognise(Source(b"Linux 6.1.0 (bench-01) \t11/20/26 \t_x86_64_\t(2 CPU)\n")) is None


def test_no_name_of_a_host_leaves_a_companion():
    for path in CASES:
        try:
            report = COMPANION_FORMATS[path.parent.name].parse(Source(path.read_bytes()))
        except FormatError:
            continue
        assert "bench-0" not in str(report).lower(), path


@given(
    path=st.sampled_from(CASES),
    seed=st.integers(0, 2**32),
    words=st.lists(
        st.sampled_from(["nan", "-1", "1e999", "9" * 400, "\u0663", "\t", ",", ":", "(", '"', "\n"])
    ),
)
def test_a_damaged_companion_gives_a_report_or_a_reason(path, seed, words):
    text = path.read_text()
    chance = random.Random(seed)
    for word in words:
        start = chance.randrange(len(text))
        text = text[:start] + word + text[start + chance.randrange(12) :]
    for format_ in COMPANION_FORMATS.values():
        format_.recognise(text.encode()[:65536])
    try:
        report = COMPANION_FORMATS[path.parent.name].parse(Source(text.encode()))
    except FormatError:
        return
    for table in report.samples:
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert len(set(table.columns)) == len(table.columns)
        assert all(len(column) <= 100 for column in table.columns)
    assert all(0 <= mean.value < 1e15 for mean in report.means)
