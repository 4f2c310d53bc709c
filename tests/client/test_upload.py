"""``benchdash upload``: the client, a program of its own, against a live server."""

from pathlib import Path

import pytest

from ingest.models import Upload

SYSBENCH = Path(__file__).parents[1] / "ingest/fixtures/sysbench/oltp_read_only-histogram.txt"
SAID = [
    "--product",
    "MariaDB",
    "--version",
    "10.11.19",
    "--hardware",
    "bench-03",
    "--workload",
    "oltp_read_only",
]

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_file_is_sent_with_what_it_cannot_say(benchdash):
    ended = benchdash("upload", SYSBENCH, *SAID)
    assert (ended.returncode, ended.stdout.count("\n")) == (0, 1)
    assert "imported" in ended.stdout
    assert Upload.objects.get().state == Upload.State.IMPORTED


def test_what_the_server_refuses_is_said_and_is_an_error(benchdash):
    ended = benchdash("upload", SYSBENCH)
    assert ended.returncode == 3
    assert "version: " in ended.stderr


def test_no_command_at_all_is_an_error_that_shows_the_usage(benchdash):
    ended = benchdash()
    assert ended.returncode == 3
    assert "usage: benchdash" in ended.stderr
