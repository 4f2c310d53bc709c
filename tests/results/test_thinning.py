from benchdash.results.thinning import thinned


def test_few_values_stay_as_they_are():
    assert thinned([5, 1, 3], 3) == [0, 1, 2]
    assert thinned([], 2) == []


def test_the_ends_and_the_extremes_stay():
    values = [10, 11, 10, 99, 10, 11, 10, 1, 10, 11, 10, 11]
    kept = thinned(values, 6)
    assert {0, 3, 7, 11} <= set(kept)
    assert len(kept) <= 6


def test_every_stretch_keeps_its_smallest_and_its_largest():
    assert thinned([5, 9, 6, 1, 6, 6, 8, 6, 2, 5], 6) == [0, 1, 3, 6, 8, 9]


def test_what_must_stay_stays_even_beyond_the_limit():
    assert thinned(range(100), 4, keep=[10, 11, 50, 51]) == [0, 10, 11, 50, 51, 99]
