"""``benchdash gate``: measure, upload, wait and gate as CI does it, against a live server and its worker."""

import json
from datetime import timedelta
from xml.etree import ElementTree as ET

import pytest
from django.utils import timezone

from tests.builders import make_series
from tests.client.conftest import CLIENT

pytestmark = pytest.mark.django_db(transaction=True)

NIGHTS = [100.0, 101.0, 99.0, 100.0, 101.0, 99.0, 100.0, 101.0, 99.0, 100.0]
BASE = f"{len(NIGHTS):040x}"
FASTER, SLOWER, UNCLEAR, UNMEASURED = (digit * 40 for digit in "abcd")
PLACE = ("--product", "MariaDB", "--branch", "main")
SAID = (*PLACE, "--hardware", "box", "--workload", "oltp_read_only", "--version", "unknown")


def test_a_commit_passes_another_fails_and_more_sessions_settle_a_third(
    benchdash, workload, worker, tmp_path
):
    start = timezone.now() - timedelta(days=len(NIGHTS))
    make_series(NIGHTS, project=benchdash.project, branch="main", start=start)
    for commit, figure in ((UNCLEAR, 98.21), (FASTER, 131.73), (SLOWER, 71.94)):
        measured = benchdash("run", *SAID, "--commit", commit, "--", *workload(figure).split())
        assert (measured.returncode, measured.stderr) == (0, "")

    def gate(commit, *more):
        return benchdash("gate", *PLACE, "--commit", commit, "--base", BASE, *more)

    passed = gate(FASTER)
    assert (passed.returncode, passed.stderr) == (0, "")
    assert "better" in passed.stdout

    texts = {form: tmp_path / f"gate.{form}" for form in ("json", "markdown", "junit")}
    failed = gate(SLOWER, *(word for form, path in texts.items() for word in (f"--{form}", path)))
    assert failed.returncode == 1
    assert "\nFail: " in failed.stdout
    assert max(len(line) for line in failed.stdout.splitlines() if "://" not in line) <= 100
    assert json.loads(texts["json"].read_text())["verdict"] == "fail"
    assert ET.parse(texts["junit"]).getroot().findall(".//failure")
    assert texts["markdown"].read_text().startswith("**Fail: ")

    open_still = gate(UNCLEAR)
    assert open_still.returncode == 2
    assert "1 more session of each would settle it" in open_still.stdout
    assert "The row lost" in open_still.stdout
    assert gate(UNCLEAR, "--unknown-is", "fail").returncode == 1

    base, test = workload(99.41, 100.63, 99.87, 100.22), workload(97.81, 97.32, 97.05, 97.59)
    both = f"--commit {UNCLEAR} --base '{base}' --base-commit {BASE} -- {test}"
    settled = gate(UNCLEAR, "--run-more", f"python3 {CLIENT} run {' '.join(SAID)} {both}")
    assert settled.returncode == 1, settled.stdout + settled.stderr
    assert "session 1 of 4 at most" in settled.stderr
    assert gate(UNCLEAR, "--run-more", "exit 7").returncode == 1  # there is nothing more to measure

    assert gate(UNMEASURED).returncode == 3
