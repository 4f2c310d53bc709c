"""What the address of the page "Side by side" chooses."""

import pytest

from benchdash.addresses import PairQuery
from benchdash.dashboard.pages.pair.selection import read_pair
from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from tests.builders import make_project, make_record, make_runs

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    project = make_project()
    make_runs([make_record(version=f"10.6.{patch}") for patch in (1, 2, 3)], project=project)
    return project


def read(project, query):
    return read_pair(PairQuery.of(query), columns_of(project, Selector()), project)


def chosen(project, query):
    choice = read(project, query)
    return tuple(side and side.version.version for side in (choice.base, choice.against))


def test_a_bare_address_chooses_the_newest_and_the_reference_of_all_pages(project):
    assert chosen(project, "") == ("10.6.1", "10.6.3")


def test_both_sides_are_chosen_by_short_ids(project):
    first, _, third = map(short_id, columns_of(project, Selector()))
    assert chosen(project, f"base={third}&against={first}") == ("10.6.3", "10.6.1")


def test_a_side_that_means_nothing_is_told_and_not_filled(project):
    choice = read(project, "base=nothing")
    assert (choice.base, choice.against, choice.gone) == (None, None, ["nothing"])


@pytest.mark.parametrize(
    ("query", "runs"),
    [
        ("run=12&run=15", [12, 15]),
        ("run=12&run=12", [12]),
        ("run=1&run=2&run=3", [1, 2]),
        ("run=-1&run=x&run=&run=" + "9" * 30, []),
    ],
)
def test_runs_are_at_most_two_numbers(project, query, runs):
    assert read(project, query).runs == runs


def test_an_address_keeps_what_was_chosen_and_swaps_its_sides(project):
    first, second, _ = map(short_id, columns_of(project, Selector()))
    choice = read(project, f"base={first}&against={second}&threads=4&threads=none&metric=tps")
    assert str(choice.fixed) == f"base={first}&against={second}&threads=4&threads=none&metric=tps"
    assert str(choice.swapped) == f"base={second}&against={first}&threads=4&threads=none&metric=tps"
    assert str(read(project, "run=2&run=1").swapped) == "run=1&run=2"
