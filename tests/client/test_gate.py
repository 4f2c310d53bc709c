"""``benchdash run`` and ``benchdash gate``: measure, upload, wait, gate, as CI does it, against a live server."""

import json
import os
import subprocess
import sys
from pathlib import Path
import pytest

from benchdash.accounts.models import Scope
from benchdash.client import benchdash as client
from tests.builders import make_project, make_token

CLIENT = Path(client.__file__)
pytestmark = pytest.mark.django_db(transaction=True)
SAID = ["--product", "MariaDB", "--version", "11.8.1", "--branch", "main", "--hardware", "bench-03", "--workload", "oltp_read_only"]
OF = ["--product", "MariaDB", "--branch", "main"]

@pytest.fixture
def benchdash(live_server, worker):
    token = make_token(make_project("nightly"), Scope.UPLOAD)
    environment = {**os.environ, "BENCHDASH_URL": live_server.url, "BENCHDASH_TOKEN": token, "PYTHONPATH": "."}

    def run(*arguments, **environs):
        return subprocess.run(
            [sys.executable, str(CLIENT), *map(str, arguments)],
            env={**environment, **environs},
            capture_output=True,
            text=True,
            check=False,
        )
    return run


def test_x(benchdash, tmp_path):
    def values(name, *figures):
        (tmp_path / name).write_text("\n".join(map(str, figures)) + "\n")
        return f"{sys.executable} -m tests.client.workload {tmp_path / name}"
    base, test = "a"*40, "b"*40
    def show(e):
        print(e.returncode, e.stdout[-1500:], e.stderr)
    w = values("one", 100.17)
    show(benchdash("run", *SAID, "--commit", base, "--", *w.split()))
    w = values("two", 95.22)
    show(benchdash("run", *SAID, "--commit", test, "--", *w.split()))
    show(benchdash("gate", *OF, "--commit", test, "--base", base))
    A = values("A", 101.37, 100.61, 99.23, 99.54, 102, 103, 99, 98)
    B = values("B", 95.41, 94.12, 93.3, 93.71, 96, 97, 93, 92)
    more = f"{sys.executable} {CLIENT} run {' '.join(SAID)} --commit {test} --base '{A}' --base-commit {base} -- {B}"
    show(benchdash("gate", *OF, "--commit", test, "--base", base, "--run-more", more, "--json", tmp_path / "x.json"))
    print((tmp_path / "x.json").read_text())
    show(benchdash("gate", *OF, "--commit", "c"*40))
    show(benchdash("gate", *OF, "--commit", test, "--base", "d"*40))
    assert 0
