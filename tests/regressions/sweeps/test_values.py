"""The values of a setting: which are the same, their order, and where they lie."""

import pytest

from benchdash.regressions.sweeps.values import as_numbers, in_order, positions, same_text

MIB = 2**20


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("128M", "134217728"),
        ("128M", "128m"),
        ("1G", "1024M"),
        ("ON", "on"),
        ("1GB", "1024MB"),
        ("1s", "1000ms"),
    ],
)
def test_the_same_value_may_be_written_in_several_ways(left, right):
    assert same_text(left) == same_text(right)


@pytest.mark.parametrize(
    ("left", "right"), [("128M", "128"), ("ON", "1"), ("16384", "16384kB"), ("1G", "1Gig")]
)
def test_what_is_not_certainly_the_same_stays_apart(left, right):
    assert same_text(left) != same_text(right)


def test_sizes_are_bytes_and_times_are_seconds():
    assert as_numbers(["8M", "1g", "16384"]) == [8 * MIB, 1024 * MIB, 16384]
    assert as_numbers(["16kB", "8MB"]) == [16 * 1024, 8 * MIB]
    assert as_numbers(["500ms", "2min", "0"]) == [0.5, 120, 0]
    assert as_numbers(["10 %", "75%"]) == [10, 75]


@pytest.mark.parametrize(
    "values",
    [["fsync", "8M"], ["8MB", "10s"], ["8MB", "1024"], ["1.2.3"], ["ON", "1"], ["8X"], ["²"], [""], []],
)
def test_what_are_no_numbers_of_one_kind_are_texts(values):
    assert as_numbers(values) is None


def test_sizes_stand_by_size_and_names_by_the_numbers_in_them():
    assert in_order(["512M", "8M", None, "1G", "64M"]) == [None, "8M", "64M", "512M", "1G"]
    assert in_order(["disk10", "Disk2", "disk1"]) == ["disk1", "Disk2", "disk10"]
    assert in_order(["16", "0", "2"]) == ["0", "2", "16"]


@pytest.mark.parametrize(
    ("values", "places", "spacing"),
    [
        (["1", "2", "4"], [1, 2, 4], "linear"),
        (["8M", "64M"], [8 * MIB, 64 * MIB], "log"),
        (["0", "1", "2", "16"], [0, 1, 2, 3], "even"),
        (["0", "1", "2"], [0, 1, 2], "linear"),
        ([None, "1", "16"], [0, 1, 2], "even"),
        (["fsync", "O_DIRECT"], [0, 1], "even"),
        (["1024kB", "1MB"], [0, 1], "even"),
    ],
)
def test_numbers_lie_where_they_are_if_all_have_a_place(values, places, spacing):
    assert positions(values) == (places, spacing)
