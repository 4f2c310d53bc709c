"""The table of the performance suite, and what it says of goals."""

from dataclasses import asdict

import pytest

from benchmarks.performance import goals
from benchmarks.performance.goals import Machine, verdict
from benchmarks.performance.report import BARE_READ, BARE_VIEW, Figures, table

QUIET = Machine(cpu=1, time=1)


ROW = {"rate": 50.0, "p95": 5.0, "p99": 6.0, "bytes": 2000, "packed": 1000, "statements": 3}


def row(cpu, *, goal=goals.ANSWER, points=0):
    return {**ROW, "goal": asdict(goal), "points": points, "cpu": cpu, "cold": {"cpu": 2 * cpu}, "p50": 1.3}


def upload(cpu, *, goal):
    more = {"readings": 100, "per_reading": cpu / 100, "analysis_per_reading": 0.1, "seen_s": 3.0}
    return {**row(cpu, goal=goal), **more}


def figures(name="10 thousand", *, bare=1.0, **rows):
    return Figures(
        size=name,
        measurements=10_000,
        bytes_per_measurement=134.0,
        bytes_of_database=2**25,
        bytes_beside={"runs": 2**21, "raw files": 2**20},
        insert={"cpu": 0.5, "elapsed": 1.0},
        copied={"cpu": 0.001, "elapsed": 0.002},
        memory_mb={"before": {"web": 90.0, "worker": 100.0}, "after": {"web": 120.0, "worker": 360.0}},
        rows={BARE_VIEW: row(bare), BARE_READ: row(2.0), **rows},
    )


def cells(text, name):
    """Of the last row of that name, by their columns."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    head = []
    for line in lines:
        if line[0] in ("request", "upload"):
            head = line
        elif line[0] == name:
            found = dict(zip(head, line, strict=True))
    return found


def test_a_history_stands_beside_a_bare_read_of_as_many_points():
    found = cells(table([figures(history=row(6.0, points=1500))]), "history")
    assert (found["limit, CPU ms"], found["to the limit"]) == ("3.0", "2.0")


def test_everything_else_stands_beside_a_bare_view():
    found = cells(table([figures(bare=1.5, page=row(6.0))]), "page")
    assert (found["limit, CPU ms"], found["to the limit"]) == ("1.5", "4.0")


def test_an_upload_stands_beside_an_insert_and_a_copy_of_its_readings():
    found = cells(table([figures(file=upload(6.0, goal=goals.BATCH))]), "file")
    assert (found["limit, CPU ms"], found["to the limit"], found["reached"]) == ("0.60", "10.0", "met")


def test_growth_is_that_of_the_ratio_to_the_bare_view():
    small, large = figures(page=row(6.0)), figures("10 million", bare=2.0, page=row(18.0))
    found = cells(table([small, large]), "page")
    assert (found["growth"], found["reached"]) == ("1.50", "met")


@pytest.mark.parametrize(
    ("goal", "figures_of_row", "said"),
    [
        (goals.HISTORY, {"cpu": 12, "p95": 600}, "met"),
        (goals.HISTORY, {"cpu": 18, "p95": 50}, "missed: CPU 1.50 x"),
        (goals.HISTORY, {"cpu": 24, "p95": 1200}, "missed: CPU 2.00 x, p95 2.00 x"),
        (goals.BATCH, {"per_reading": 0.1, "seen_s": 15}, "missed: seconds 1.50 x"),
    ],
)
def test_a_verdict_says_by_how_much_which_limit_is_missed(goal, figures_of_row, said):
    assert verdict(goal, figures_of_row, QUIET) == said


def test_limits_in_milliseconds_are_longer_where_the_bare_view_takes_longer():
    busy = Machine.of({"cpu": 2.0, "p50": 3.9})
    assert verdict(goals.HISTORY, {"cpu": 24, "p95": 1800}, busy) == "met"
    assert Machine.of({"cpu": 0.5, "p50": 0.5}) == QUIET


def test_the_head_says_what_is_kept_and_how_large_processes_became():
    text = table([figures()])
    assert "134 bytes a measurement with its indexes (at most 200: met)" in text
    assert "runs 2, raw files 1; the whole database 32" in text
    assert "web 120 MB (at most 200: met), worker 360 MB (at most 300: missed, 1.2 x)" in text
