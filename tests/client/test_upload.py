"""``benchdash upload``: the client, a program of its own, against a live server."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchdash.accounts.models import Scope
from benchdash.client import benchdash as client
from ingest.models import Upload
from tests.builders import make_project, make_token

CLIENT = Path(client.__file__)
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


@pytest.fixture
def run(live_server):
    """Run the client with a token that uploads."""
    token = make_token(make_project("nightly"), Scope.UPLOAD)
    environment = {**os.environ, "BENCHDASH_URL": live_server.url, "BENCHDASH_TOKEN": token}

    def run(*arguments, **environs):
        return subprocess.run(
            [sys.executable, str(CLIENT), *map(str, arguments)],
            env={**environment, **environs},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_a_file_is_sent_with_what_it_cannot_say(run):
    ended = run("upload", SYSBENCH, *SAID)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "imported" in ended.stdout
    assert Upload.objects.get().state == Upload.State.IMPORTED


def test_what_the_server_refuses_is_said_and_is_an_error(run):
    ended = run("upload", SYSBENCH)
    assert ended.returncode == 3
    assert "version: " in ended.stdout


def test_no_command_at_all_is_an_error_that_shows_the_usage(run):
    ended = run()
    assert ended.returncode == 3
    assert "usage: benchdash" in ended.stderr
