"""Bexhoma beyond the fixtures: what does not fit, what is left out, which image a connection has."""

from pathlib import Path

import pytest

from ingest.formats import bexhoma, parse
from ingest.formats.report import FormatError
from ingest.formats.source import Source

FIXTURES = Path(__file__).parents[1] / "fixtures/bexhoma"
LOG = (FIXTURES / "benchbase.log").read_text()
REPORTS = (FIXTURES / "two-reports.md").read_text()


def read(text):
    return bexhoma.parse(Source(text.encode()))


def test_it_is_bexhoma_alone_though_its_tables_would_do():
    assert parse(Source(LOG.encode()))[0] == "bexhoma"
    assert parse(Source(REPORTS.encode()))[0] == "bexhoma"


@pytest.mark.parametrize(
    ("was", "becomes", "reason"),
    [
        (
            "8796.05 |                     8655.10",
            "8.796,05 |                     8655.10",
            "'8.796,05' is not",
        ),
        (
            "8796.05 |                     8655.10",
            "0.00 |                     8655.10",
            "'MySQL-1-1-1' has no rate",
        ),
        (
            "|         160 |    16384 |           1 |",
            "|         160 |    16384 |",
            "12 cells under 13 columns",
        ),
        (
            "|         160 |    16384 |           1 |",
            "|         1.5 |    16384 |           1 |",
            "the number of threads is 1.5",
        ),
        (
            "| MySQL-1-1-2 | MySQL-1-1-2 |",
            "| MySQL-1-1-1 | MySQL-1-1-2 |",
            "'1/MySQL-1-1-1/1' is measured a second",
        ),
    ],
)
def test_a_line_that_cannot_be_trusted_is_refused(was, becomes, reason):
    before, _, phase = LOG.partition("#### Per Phase")
    with pytest.raises(FormatError) as refused:
        read(f"{before}#### Per Phase{phase.replace(was, becomes)}")
    assert refused.value.message.startswith(reason)


def test_a_table_without_bars_is_left_out_with_its_line():
    text = (
        LOG
        + "             experiment_run  vusers  client  pod_count      NOPM\nCitus-1-1  1  16  1  1  46558\n"
    )
    line = LOG.count("\n") + 1
    assert f"line {line}: a table without bars; left out" in read(text).warnings


def test_connections_of_two_images_have_the_version_of_their_own():
    text = LOG.replace("## Show Summary", "## Show Summary\n* MySQL-1-1-2-1 uses docker image mysql:9.1.0", 1)
    assert [run.version for run in read(text).runs] == ["8.4.0", "9.1.0"]


def test_of_two_versions_of_one_connection_none_is_taken():
    text = LOG.replace("mysql:8.4.0", "mysql:8.4.0\n* MySQL-1-1-1-2 uses docker image mysql:9.1.0")
    assert read(text).runs[0].version is None
