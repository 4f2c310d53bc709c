"""The table of the samples of a run."""

import re

from django.template.loader import render_to_string


def body_of_table(rows):
    page = render_to_string(
        "dashboard/_run_intervals.html",
        {"interval": {"rows": rows, "total": len(rows), "source": "sysbench"}, "run": {"pk": 1}},
    )
    return re.sub(r">\s+<", "><", re.search("<tbody>(.*)</tbody>", page, re.DOTALL)[1]).strip()


def test_a_cell_shows_a_number_and_holds_the_exact_value():
    assert body_of_table([[1, 15343.6], [2, None]]) == (
        '<tr><td class="number" data-value="1">1.000</td>'
        '<td class="number" data-value="15343.6">15,344</td></tr>'
        '<tr><td class="number" data-value="2">2.000</td><td class="number">–</td></tr>'
    )


def test_no_rows_are_nothing():
    assert body_of_table([]) == ""
