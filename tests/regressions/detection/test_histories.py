"""Measured series with answers confirmed by eye; a new file in ``histories/`` is found by itself."""

import json
from pathlib import Path

import pytest

from benchdash.regressions.detection.joint import find_joint_shifts
from benchdash.regressions.detection.shifts import find_shifts

HISTORIES = Path(__file__).parents[1] / "histories"


def read(path):
    return json.loads(path.read_text())


def histories():
    return [pytest.param(read(path), id=path.stem) for path in sorted(HISTORIES.glob("*.json"))]


def confirmed(history, upto=None):
    """(index, change, workloads) of what is confirmed in the first positions of the history."""
    table = {(line["workload"], line["metric"]): line["values"][:upto] for line in history["lines"]}
    directions = {(line["workload"], line["metric"]): line["direction"] for line in history["lines"]}
    found = [shift for shift in find_joint_shifts(table, directions) if shift.state == "confirmed"]
    return [
        {
            "index": shift.index,
            "change": "worse" if shift.worse else "better",
            "workloads": sorted({workload for workload, _ in shift.members}),
        }
        for shift in found
    ]


@pytest.mark.parametrize("history", histories())
def test_a_recorded_history_gives_the_answer_confirmed_by_eye(history):
    assert confirmed(history) == history["answer"]


@pytest.mark.parametrize("history", histories())
def test_nothing_is_confirmed_on_the_way_to_the_first_change(history):
    first = history["answer"][0]["index"] if history["answer"] else len(history["lines"][0]["values"])
    assert [confirmed(history, upto) for upto in range(first + 1)] == [[]] * (first + 1)


@pytest.mark.parametrize("history", [h for h in histories() if len(h.values[0]["lines"]) == 1])
def test_a_single_recorded_series_gives_the_same_answer_alone(history):
    shifts = find_shifts(history["lines"][0]["values"])
    found = [shift.index for shift in shifts if shift.state == "confirmed"]
    assert found == [answer["index"] for answer in history["answer"]]
