"""The chips of the filter line."""

from benchdash.dashboard import filters

OPTIONS = [("a", "bench-a"), ("b", "bench-b"), ("c", "bench-c")]


def test_a_chip_says_what_is_chosen():
    assert filters.one_of("hardware", "Hardware", OPTIONS, "b").summary == "bench-b"
    assert filters.some_of("hardware", "Hardware", OPTIONS, ["a", "b"]).summary == "bench-a, bench-b"
    assert filters.some_of("hardware", "Hardware", OPTIONS, ["a", "b", "c"]).summary == "bench-a and 2 more"


def test_a_chip_says_what_holds_while_nothing_is_chosen():
    assert filters.one_of("hardware", "Hardware", OPTIONS, None, empty="newest").summary == "newest"
    assert filters.some_of("hardware", "Hardware", OPTIONS, []).summary == "all"


def test_what_is_not_offered_cannot_be_chosen():
    assert filters.one_of("hardware", "Hardware", OPTIONS, "gone").chosen == []
