"""Huge files take little memory: they are read a part at a time, or refused with the limit that they pass."""

import re
import subprocess
import sys

import pytest

from tests.ingest.formats.real_files import FIXTURES

MB = 1_000_000
FLOOR = 300 * MB
BANNER = (FIXTURES / "sysbench" / "oltp_read_write-nightly.txt").read_bytes()
JMH = (FIXTURES / "jmh_json" / "average-time.json").read_bytes()

# In a process of its own, because a process keeps what it was given once.
READ = """
import re, sys
from pathlib import Path
from ingest import formats
from ingest.formats.report import FormatError
from ingest.formats.source import Source

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

before = peak()
try:
    name, report = formats.parse(Source(Path(sys.argv[1]).read_bytes()))
    said = f"{name}: {len(report.runs)} runs"
except FormatError as error:
    said = error.message
print(peak() - before, said)
"""


def read_apart(path):
    """The memory that reading the file takes, and what comes of it."""
    command = [sys.executable, "-c", READ, str(path)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    taken, _, said = output.strip().partition(" ")
    return int(taken), said


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "huge"

    def write(*parts):
        with path.open("wb") as file:
            file.writelines(parts)
        return path

    yield write
    # pytest keeps its folders.
    path.unlink()


def within_json(filling):
    """The JSON of JMH with something more in its first list of numbers."""
    place = JMH.index(b"]")
    return JMH[:place], filling, JMH[place:]


# Made when they are needed: together they would take more than a gigabyte.
HUGE = {
    "a log of 100 MB around a run": (
        lambda: (BANNER, (b"ref const PRIMARY " * 50 + b"\n") * (100 * MB // 901)),
        "sysbench: 1 runs",
    ),
    "a log of 100 MB with a time and colours on each line": (
        lambda: (
            b"".join(b"2026-11-20T15:31:13.123Z %b\n" % line for line in BANNER.splitlines()),
            (b"2026-11-20T15:31:13.123Z \x1b[36m" + b"ref const PRIMARY " * 49 + b"\n") * (100 * MB // 914),
        ),
        "sysbench: 1 runs",
    ),
    "runs": (lambda: (BANNER * (100 * MB // len(BANNER)),), "RESULT_MAX_LINES"),
    "no result": (
        lambda: (b"nothing that a tool printed\n" * (100 * MB // 28),),
        "not a result file that benchdash knows",
    ),
    "one line": (lambda: (b"x" * (100 * MB),), "RESULT_LINE_MAX_BYTES"),
    "one line in a run": (lambda: (BANNER, b"x y " * (25 * MB)), "RESULT_LINE_MAX_BYTES"),
    "values of JSON": (lambda: within_json(b",1.5" * (10 * MB)), "RESULT_JSON_MAX_VALUES"),
    "bytes of JSON": (lambda: within_json((b" " * 99 + b"\n") * MB), "RESULT_JSON_MAX_BYTES"),
    "line ends": (lambda: (b"\n" * (100 * MB),), "the file is empty"),
    "UTF-16": (
        lambda: (b"\xff\xfe", "x\n".encode("utf-16-le") * (25 * MB)),
        "not a result file that benchdash knows",
    ),
}


@pytest.mark.parametrize("name", HUGE)
def test_a_huge_file_takes_at_most_three_times_its_size(written, name):
    parts, said = HUGE[name]
    path = written(*parts())
    taken, outcome = read_apart(path)
    assert re.search(said, outcome)
    assert taken < max(3 * path.stat().st_size, FLOOR)
