"""Answers as plain text."""

from benchdash.answers.text import text_of


def test_what_is_single_stands_on_a_line_and_what_is_not_known_nowhere():
    answer = {
        "metric": "tps",
        "base": {"version": "10.6.1", "n": 3, "low": None},
        "note": "",
        "is_open": True,
    }
    assert text_of(answer) == "metric: tps\nbase: version 10.6.1, n 3\nis_open: yes"


def test_a_list_of_objects_is_a_table_that_says_once_what_is_the_same_in_all():
    rows = [{"of": {"name": name}, "unit": "ms", "p": None, "tags": ["a", "b"]} for name in ("x", "y")]
    assert text_of({"total": 2, "rows": rows}) == (
        "total: 2\n\nrows (all: unit ms, tags a; b):\n| of.name |\n| --- |\n| x |\n| y |"
    )


def test_objects_with_tables_of_their_own_stand_below_each_other():
    answer = {"places": [{"name": "box", "rows": [{"n": 1}]}, {"name": "den", "rows": []}]}
    table = "places 1 rows:\n| n |\n| --- |\n| 1 |"
    assert text_of(answer).strip() == f"places 1\nname: box\n\n{table}\n\nplaces 2\nname: den"


def test_names_stay_in_their_cells_and_what_is_nearly_certain_is_not_certain():
    text = text_of({"rows": [{"name": "a | b\n# c", "confidence": 0.999999999, "value": 24029300.0}]})
    assert text.splitlines()[-1] == "| a \\| b # c | 0.999999999 | 24029300 |"
