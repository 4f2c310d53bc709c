"""The table of what was sampled during a run."""

from benchdash.dashboard.sample_rows import sample_rows


def test_a_cell_shows_a_number_and_holds_the_exact_value():
    assert sample_rows([[1, 15343.6], [2, None]]) == (
        '<tr><td class="number" data-value="1">1.000</td>'
        '<td class="number" data-value="15343.6">15,344</td></tr>'
        '<tr><td class="number" data-value="2">2.000</td><td class="number">–</td></tr>'
    )


def test_no_rows_are_nothing():
    assert sample_rows([]) == ""
