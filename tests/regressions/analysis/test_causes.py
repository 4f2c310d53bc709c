"""What was switched, in words."""

import pytest

from benchdash.regressions.analysis.causes import in_words
from benchdash.regressions.queries import Difference


@pytest.mark.parametrize(
    ("switched", "words"),
    [
        ([], ""),
        ([("slow_query_log", None, "ON")], "slow_query_log was switched on"),
        ([("slow_query_log", "OFF", "ON")], "slow_query_log was switched on"),
        ([("performance_schema", "ON", "OFF")], "performance_schema was switched off"),
        # Without the setting the server does what its default says, and nobody said what that is.
        ([("performance_schema", None, "OFF")], "performance_schema was set to OFF"),
        ([("performance_schema", "ON", None)], "performance_schema was no longer set to ON"),
        ([("pool", "512M", "12M")], "pool went from 512M to 12M"),
        (
            [("kernel", "6.1", "6.5"), ("log", None, "ON")],
            "log was switched on and kernel went from 6.1 to 6.5",
        ),
        (
            [("a", "1", "2"), ("b", "1", "2"), ("c", "1", "2"), ("d", "1", "2")],
            "a went from 1 to 2, b went from 1 to 2 and 2 more things changed",
        ),
    ],
)
def test_switches_are_told_in_a_sentence(switched, words):
    assert in_words([Difference(*one) for one in switched]) == words


def test_a_long_value_is_shortened():
    assert len(in_words([Difference("sql_mode", "x" * 500, "y" * 500)])) < 120
