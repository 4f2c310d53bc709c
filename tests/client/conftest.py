"""The client as CI has it: a program of its own, the address of a server and a token in its environment."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchdash.accounts.models import Scope
from benchdash.client import benchdash as client
from tests.builders import make_project, make_token

CLIENT = Path(client.__file__)
ROOT = Path(__file__).parents[2]
# What is set where the tests themselves run in CI.
OF_CI = ("CI", "ACTIONS_", "GITHUB_", "GITLAB_", "JENKINS_", "BUILDBOT_", "RUNNER_")


class Client:
    """Runs the client against a server, with a token of ``project`` that uploads, and a spool of its own."""

    def __init__(self, url, project, spool):
        self.project, self.spool = project, spool
        token = make_token(project, Scope.UPLOAD)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(OF_CI)},
            "BENCHDASH_SPOOL": str(spool),
            "BENCHDASH_URL": url,
            "BENCHDASH_TOKEN": token,
            "PYTHONPATH": str(ROOT),
        }

    def __call__(self, *arguments, python=sys.executable, stdin=None, folder=None, **environment):
        return subprocess.run(
            [python, str(CLIENT), *map(str, arguments)],
            env={**self.environment, **environment},
            cwd=folder,
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )

    def begin(self, *arguments):
        """Start it with a group of its own, to which nobody's Ctrl-C comes."""
        return subprocess.Popen(
            [sys.executable, str(CLIENT), *map(str, arguments)],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


@pytest.fixture
def benchdash(live_server, tmp_path):
    return Client(live_server.url, make_project("nightly"), tmp_path / "spool")


@pytest.fixture
def workload(tmp_path):
    """``workload(100.2, 99.7)`` is the line of a command that prints a report of 100.2, then of 99.7."""

    def workload(*figures):
        path = tmp_path / f"figures-{len(list(tmp_path.iterdir()))}"
        path.write_text("".join(f"{figure}\n" for figure in figures))
        return f"{sys.executable} -m tests.client.workload {path}"

    return workload
