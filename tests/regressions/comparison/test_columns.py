"""Names for the columns of a comparison."""

import pytest

from benchdash.regressions.comparison.columns import Selector, are_versions_in_order, columns_of, names
from tests.builders import make_project, make_record, make_runs

pytestmark = pytest.mark.django_db

COMMITS = ["1f3c9a0b2d" + "0" * 30, "2e4d8b1c3f" + "0" * 30]


@pytest.fixture
def project():
    return make_project()


def columns(project, *places):
    """The columns of one run at each of these places, in their order."""
    make_runs([make_record(**place) for place in places], project=project)
    return columns_of(project, Selector())


def test_a_name_says_the_version_and_what_else_differs(project):
    assert names(columns(project, {"version": "10.6.23"}, {"version": "10.11.15"})) == ["10.6.23", "10.11.15"]
    other_machine = columns(project, {"version": "10.6.23", "hardware": "bench-b"})
    assert names(other_machine) == ["10.6.23, bench-b", "10.6.23, box", "10.11.15, box"]


def test_products_are_named_where_there_are_several(project):
    found = columns(project, {"product": "C client library", "version": "unknown"}, {"build": "debug"})
    assert names(found) == ["C client library", "MariaDB 10.6.23 debug"]
    assert names(found[:1]) == ["unknown"]


def test_commits_are_named_where_the_version_says_too_little(project):
    found = columns(project, *({"commit": commit, "branch": "main"} for commit in COMMITS))
    assert names(found) == ["10.6.23 1f3c9a0b2d", "10.6.23 2e4d8b1c3f"]
    assert names(found[:1]) == ["10.6.23"]
    unknown = columns(make_project(), {"version": "unknown", "commit": COMMITS[0], "branch": "main"})
    assert names(unknown) == ["1f3c9a0b2d"]


def test_only_versions_of_one_product_follow_each_other(project):
    found = columns(
        project, {"version": "10.6.23"}, {"version": "10.11.15"}, {"version": "10.6.23", "hardware": "b"}
    )
    assert are_versions_in_order([found[0], found[2]])
    assert not are_versions_in_order(found)
    assert not are_versions_in_order(columns(project, {"product": "MySQL"}))
