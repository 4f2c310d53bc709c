"""Runs that shared one server start."""

import pytest

from benchdash.results.sessions import session_means, session_of, sessions_of


def test_the_first_tag_of_a_session_names_it():
    assert session_of(["nightly", "session:a", "session:b"]) == "session:a"
    assert session_of(["nightly", "sessions"]) is None


def test_a_run_without_one_is_a_session_of_its_own():
    assert sessions_of([(7, ["session:a"]), (8, []), (9, ["session:a"])]) == (
        "session:a",
        "run 8",
        "session:a",
    )


def test_where_no_run_names_one_none_is_known():
    assert sessions_of([(7, ["nightly"]), (8, [])]) == ()


def test_the_mean_of_a_session_is_geometric():
    assert session_means([1.0, 5.0, 100.0], "aba") == [pytest.approx(10), pytest.approx(5)]
