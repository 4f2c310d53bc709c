"""Runs of one workload in several places of a document are told apart by what stands above them."""

import pytest

from ingest.formats import parse
from ingest.formats.source import Source

REPORT = """transaction type: <builtin: select only>
scaling factor: 1
query mode: simple
number of clients: {clients}
number of threads: 1
duration: 10 s
number of transactions actually processed: {count}
latency average = 0.5 ms
tps = {tps} (without initial connection time)
"""


def report(count, clients=4):
    return REPORT.format(count=count, clients=clients, tps=count / 10)


def fenced(count, clients=4):
    return f"```\n{report(count, clients)}```\n"


def told(text):
    """The configuration and version that the places of a document give its runs, and its first warning."""
    parsed = parse(Source(text.encode()))[1]
    first = parsed.warnings[0] if parsed.warnings else ""
    return [run.heading or run.version or "" for run in parsed.runs], first


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"## Default\n{fenced(100)}## Tuned\n{fenced(200)}", ["Default", "Tuned"]),
        (
            f"Before the change:\n{fenced(100)}After the change:\n{fenced(200)}",
            ["Before the change", "After the change"],
        ),
        (
            f"with huge pages:\n{report(100)}\n\nwithout them:\n{report(200)}",
            ["with huge pages", "without them"],
        ),
        (f"# A\n## ext4\n{fenced(100)}{fenced(110)}# B\n## ext4\n{fenced(200)}", ["A", "A", "B"]),
        (f"## 16.4\n{fenced(100)}## 17.2\n{fenced(200)}", ["16.4", "17.2"]),
    ],
)
def test_what_stands_above_runs_of_one_workload_names_their_configuration_or_version(text, names):
    found, warning = told(text)
    assert found == names
    assert "run in several places of the document" in warning


def test_headings_that_are_workloads_or_thread_counts_say_what_the_runs_lack():
    end = "\n".join(report(100).splitlines()[-2:]) + "\n"
    parsed = parse(Source(f"## 4 threads\n```\n{end}```\n## 8 threads\n```\n{end}```\n".encode()))[1]
    assert [(run.threads, run.lost, run.heading) for run in parsed.runs] == [(4, (), ""), (8, (), "")]
    custom = fenced(100).replace("<builtin: select only>", "Custom query")
    parsed = parse(Source(f"## read-only\n{custom}## write-only\n{custom}".encode()))[1]
    assert [(run.workload, run.heading) for run in parsed.runs] == [("read-only", ""), ("write-only", "")]


@pytest.mark.parametrize(
    "text",
    [
        f"## Run 1\n{fenced(100)}## Run 2\n{fenced(200)}",
        f"## 2026-11-20 10:00\n{fenced(100)}## 2026-11-20 11:00\n{fenced(200)}",
        f"## Results\n{fenced(100)}{fenced(200)}",
        f"{report(100)}{report(200)}",
        f"## Few\n{fenced(100, clients=1)}## Many\n{fenced(200, clients=64)}",
    ],
)
def test_repetitions_and_runs_that_differ_anyway_have_no_configuration(text):
    assert told(text) == (["", ""], "")
