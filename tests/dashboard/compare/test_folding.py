"""The line that stands for what shows no change."""

import pytest

from benchdash.dashboard.compare.folding import fold_of
from benchdash.regressions.detection.compare import Comparison


def unsettled(more):
    return Comparison(ratio=1.1, low=0.9, high=1.3, p=0.4, verdict="unknown", basis="runs", more_runs=more)


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (["same", "same"], "2 rows without a change"),
        (["unknown"], "1 row: not enough to tell"),
        (["unknown", "unknown"], "2 rows: not enough to tell"),
        (["same", "unknown", "unknown"], "3 rows: 1 no difference, 2 not enough to tell"),
        (["same", ""], "2 rows: 1 no difference, 1 on one side only"),
        (["", ""], "2 rows: 2 on one side only"),
    ],
)
def test_it_says_how_many_rows_it_holds_and_what_of_them_is_known(verdicts, words):
    assert fold_of(verdicts, [], what="row", are_all=False).words == words


def test_where_nothing_is_told_it_says_what_would_be_enough():
    verdicts = ["unknown", "unknown"]

    def enough(*more):
        return fold_of(verdicts, list(map(unsettled, more)), what="row", are_all=True).enough

    first = "2 more sessions of each would settle"
    assert enough(2, 9) == f"{first} the first of these, 9 more all that can be said of."
    assert enough(2, 2) == f"{first} these."
    assert enough(None, None).startswith("3 sessions of each, measured at different times, would tell")
    assert fold_of(["same", "unknown"], [unsettled(2)], what="row", are_all=True).enough == ""
    assert fold_of(verdicts, [unsettled(2)], what="row", are_all=False).enough == ""
