"""Workloads told by the ratio of reads, writes and other statements."""

import re
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
    queries = reads + writes + other
    for old, new in (
        (r"(read: +)\d+", rf"\g<1>{reads}"),
        (r"(write: +)\d+", rf"\g<1>{writes}"),
        (r"(other: +)\d+", rf"\g<1>{other}"),
        (r"(total: +)\d+", rf"\g<1>{queries}"),
        (r"(transactions: +).*", r"\g<1>1000   (497.98 per sec.)"),
        (r"(queries: +)\d+.*", rf"\g<1>{queries}  ({queries / 2.0081:.2f} per sec.)"),
        (r"(total number of events: +)\d+", r"\g<1>1000"),
    ):
        text = re.sub(old, new, text)
    return text.encode()
