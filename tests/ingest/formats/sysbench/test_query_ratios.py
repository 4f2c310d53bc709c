"""Workloads told by the ratio of reads, writes and other statements."""

from pathlib import Path

import pytest

from ingest.formats import parse
from ingest.formats.source import Source
from ingest.formats.sysbench.query_ratios import likely_workloads

NIGHTS = Path(__file__).parents[4] / "ingest/samples/watch/nightly/mariadb-10.11.19"


@pytest.mark.parametrize(
    ("workload", "likely"),
    [
        ("oltp_read_only", ("oltp_read_only",)),
        ("oltp_read_write", ("oltp_read_write",)),
        ("oltp_point_select", ("oltp_point_select", "select_random_points", "select_random_ranges")),
    ],
)
def test_measured_reports_point_to_their_workload(workload, likely):
    for path in sorted(NIGHTS.glob(f"*/{workload}.txt")):
        assert likely_workloads(runs_of(path.read_bytes())) == likely, path


@pytest.mark.parametrize(
    ("statements", "likely"),
    [
        ((0, 4000, 2000), ("oltp_write_only",)),
        # Deletes that found no row.
        ((0, 3985, 2015), ("oltp_write_only",)),
        ((0, 1000, 0), ("oltp_update_index", "oltp_update_non_index", "oltp_insert")),
        ((10_000, 0, 2000), ()),
        ((14_000, 4500, 2000), ()),
        ((0, 0, 0), ()),
    ],
)
def test_only_a_usual_ratio_points_to_a_workload(statements, likely):
    assert likely_workloads(runs_of(report(*statements))) == likely


def runs_of(data):
    return parse(Source(data))[1].runs


def report(reads, writes, other):
    """A measured report as if it counted these statements in 1000 transactions."""
    text = (NIGHTS / "000/oltp_read_write.txt").read_text()
    kept, found = [], {"read:": reads, "write:": writes, "other:": other, "total:": reads + writes + other}
    for line in text.splitlines():
        name = line.split()[:1]
        if name and name[0] in found:
            line = f"        {name[0]:32} {found[name[0]]}"
        elif name == ["transactions:"]:
            line = "    transactions:                        1000   (497.98 per sec.)"
        elif name == ["queries:"]:
            queries = reads + writes + other
            line = f"    queries:                             {queries}  ({queries / 2.0081:.2f} per sec.)"
        kept.append(line.replace("849", "1000") if "number of events" in line else line)
    return "\n".join(kept).encode() + b"\n"
