"""The chips of the filter line."""

from django.template.loader import render_to_string

from benchdash.dashboard.shell import filters

OPTIONS = [("a", "bench-a"), ("b", "bench-b"), ("c", "bench-c")]


def shown(chip):
    return render_to_string("dashboard/_filters.html", {"filters": [chip]})


def test_a_chip_says_what_is_chosen():
    assert filters.one_of("hardware", "Hardware", OPTIONS, "b").summary == "bench-b"
    assert filters.some_of("hardware", "Hardware", OPTIONS, ["a", "b"]).summary == "bench-a, bench-b"
    assert filters.some_of("hardware", "Hardware", OPTIONS, ["a", "b", "c"]).summary == "bench-a and 2 more"


def test_a_chip_says_what_holds_while_nothing_is_chosen():
    assert filters.one_of("hardware", "Hardware", OPTIONS, None, empty="newest").summary == "newest"
    assert filters.some_of("hardware", "Hardware", OPTIONS, []).summary == "all"


def test_what_is_not_offered_cannot_be_chosen():
    assert filters.one_of("hardware", "Hardware", OPTIONS, "gone").chosen == []


def test_each_choice_is_a_button_or_a_box_that_keeps_its_place():
    one, several = filters.one_of("v", "Version", OPTIONS, "b"), filters.some_of("v", "V", OPTIONS, ["b"])
    assert '<input type="radio" name="v" id="filter-v-2" value="b" checked> bench-b</label>' in shown(one)
    assert '<input type="checkbox" name="v" id="filter-v-3" value="c"> bench-c</label>' in shown(several)


def test_names_of_choices_are_escaped():
    made = shown(filters.one_of("v", "Version", [('"><script>', "<b>")], None))
    assert 'value="&quot;&gt;&lt;script&gt;"> &lt;b&gt;</label>' in made
