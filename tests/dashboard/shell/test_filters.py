"""The chips of the filter line."""

from django.http import QueryDict
from django.template.loader import render_to_string

from benchdash.dashboard.shell import filters
from benchdash.dashboard.shell.filters import FilterLine

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
    assert '<input type="radio" name="v" id="filter-v-b" value="b" checked> bench-b</label>' in shown(one)
    assert '<input type="checkbox" name="v" id="filter-v-c" value="c"> bench-c</label>' in shown(several)


def test_names_of_choices_are_escaped():
    made = shown(filters.one_of("v", "Version", [('"><script>', "<b>"), ("a", "a")], None))
    assert 'value="&quot;&gt;&lt;script&gt;"> &lt;b&gt;</label>' in made


# --- the line -----------------------------------------------------------------------------------------------


def chip(name, *chosen, default=""):
    if default:
        return filters.one_of(name, name.capitalize(), OPTIONS, *chosen, empty="", default=default)
    return filters.some_of(name, name.capitalize(), OPTIONS, chosen)


def line(*chips, query="", **more):
    return FilterLine.of(chips, QueryDict(query), "/here/", **more)


def names(chips):
    return [one.name for one in chips]


def test_three_chips_stand_in_the_line_and_the_others_under_more():
    made = line(*map(chip, "abcde"))
    assert names(made.visible) == ["a", "b", "c"]
    assert names(made.more) == ["d", "e"]
    assert (made.set_in_more, made.is_touched) == ([], False)


def test_chips_of_the_page_s_own_take_room_in_the_line():
    assert names(line(*map(chip, "abc"), beside=2).visible) == ["a"]


def test_a_chip_that_leaves_no_choice_is_not_shown_until_an_address_sets_it():
    only = filters.some_of_names("build", "Build", ["debug"], [])
    assert names(line(only, chip("a")).visible) == ["a"]
    only = filters.some_of_names("build", "Build", ["debug"], ["debug"])
    assert names(line(only, chip("a"), query="build=debug").visible) == ["build", "a"]


def test_what_is_set_under_more_can_be_taken_back_and_the_rest_stays():
    chips = [chip("a", "b"), chip("b"), chip("c"), chip("d", "a", "c"), chip("e")]
    made = line(*chips, query="a=b&d=a&d=c&page=3&scale=log", kept=[("x", "time")])
    [one] = made.set_in_more
    assert (one.chip.label, one.chip.summary) == ("D", "bench-a, bench-c")
    assert one.url == "/here/?a=b&scale=log&x=time"
    assert made.is_touched


def test_what_is_so_by_itself_is_not_set_although_the_form_sends_it():
    chips = [*map(chip, "abc"), chip("metric", "b", default="b")]
    assert line(*chips, query="metric=b").set_in_more == []
    chips = [*map(chip, "abc"), chip("metric", "c", default="b")]
    assert names(one.chip for one in line(*chips, query="metric=c").set_in_more) == ["metric"]
    # What an address does not say was chosen by the page.
    assert line(*chips).set_in_more == []


def test_more_says_how_many_are_set():
    made = render_to_string(
        "dashboard/_filters.html", {"filters": [*map(chip, "abcd")], "request": None, "kept": ()}
    )
    assert 'id="filter-more"' in made
    assert "filter-set" not in made
