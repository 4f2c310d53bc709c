"""What one goes with from one page under Compare to the next."""

import pytest
from django.http import QueryDict

from benchdash.dashboard.carried import carried
from benchdash.dashboard.navigation import tabs
from tests.builders import make_project


def going(address, here, there):
    return carried(QueryDict(address), here=here, there=there)


@pytest.mark.parametrize("there", ["matrix", "curves", "latency"])
def test_pages_of_several_versions_share_them_with_their_reference(there):
    address = "v=4.1.1&v=5.1.1&base=5.1.1&workload=7&threads=8&threads=none"
    assert going(address, "compare", there) == "v=4.1.1&v=5.1.1&base=5.1.1&workload=7&threads=8&threads=none"


def test_the_reference_stands_against_the_newest_of_the_others_side_by_side():
    assert going("v=4&v=5&v=6&base=5", "curves", "pair") == "base=5&against=6"
    assert going("v=4&v=5&base=5", "curves", "pair") == "base=5&against=4"
    assert going("v=4&v=5", "curves", "pair") == "base=4&against=5"
    assert going("base=4", "curves", "pair") == "base=4"


def test_the_two_sides_are_the_versions_of_the_other_pages():
    assert going("base=5&against=4&workload=7", "pair", "matrix") == "v=5&v=4&base=5&workload=7"
    assert going("against=4", "pair", "compare") == "v=4&base=4"
    assert going("run=1&run=2&threads=8", "pair", "compare") == "threads=8"


def test_a_page_of_one_metric_gets_the_first():
    assert going("metric=tps&metric=latency_avg", "compare", "matrix") == "metric=tps"
    assert going("metric=tps&metric=latency_avg", "compare", "curves") == "metric=tps&metric=latency_avg"
    assert going("metric=tps", "compare", "latency") == ""


def test_what_a_page_means_otherwise_is_left_behind():
    # The reference of nights is a night; "Settings" knows one version, and workloads by their names.
    assert going("over=nights&base=2026-11-20&v=4", "matrix", "compare") == "v=4"
    assert going("v=4&workload=7&threads=8&metric=tps", "compare", "sweep") == "threads=8&metric=tps"
    assert going("v=12&workload=oltp&base=8M&threads=8", "sweep", "compare") == "threads=8"


@pytest.mark.django_db
def test_tabs_carry_the_choice_and_nothing_without_one():
    project = make_project("nightly")
    links = {link.label: link.url for link in tabs(project, "compare", QueryDict("v=4&base=4&page=2"))}
    assert links["Curves"] == "/p/nightly/compare/curves/?v=4&base=4"
    assert {link.url for link in tabs(project, "compare", QueryDict(""))} >= {"/p/nightly/compare/curves/"}
    assert tabs(project, "history", QueryDict("v=4")) == []
