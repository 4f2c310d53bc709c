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


def test_of_a_vmstat_started_soon_again_the_last_samples_are_read():
    heading = "r b swpd free buff cache si so bi bo in cs us sy id wa st"
    row = "{} 0 0 1 1 1 0 0 0 0 1000 2000 50 10 40 0 0"
    # The first line of each start is the average since the machine started.
    lines = [heading, row.format(9), row.format(2), heading, row.format(9), row.format(6)]
    report = COMPANION_FORMATS["vmstat"].parse(Source("".join(f"{line}\n" for line in lines).encode()))
    (samples,) = report.samples
    assert [values[samples.columns.index("run_queue")] for values in samples.rows] == [6]
    assert report.warnings == ("vmstat was started 2 times; the samples of the last time were read",)


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
