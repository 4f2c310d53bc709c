"""What the address of the compare page chooses."""

from datetime import timedelta

import pytest
from django.http import QueryDict

from benchdash.addresses import MatrixQuery
from benchdash.dashboard.compare.selection import MAX_COLUMNS, available_columns, read_columns
from benchdash.dashboard.compare.version_picker import version_picker
from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from tests.builders import START, make_project, make_record, make_runs

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def measure(project, *versions, **fields):
    make_runs([make_record(version=version, **fields) for version in versions], project=project)


def chosen(project, query=""):
    return read_columns(MatrixQuery.of(query), columns_of(project, Selector()), project)


def versions(columns):
    return [column.version.version for column in columns]


def ids(project, **place):
    return [short_id(column) for column in columns_of(project, Selector(**place))]


# --- controls -----------------------------------------------------------------------------------------------


def test_a_control_is_chosen_only_where_it_is_asked_for(project):
    measure(project, "10.6.1", "10.6.2")
    measure(project, *["10.6.0"] * 20, build="control")
    assert versions(chosen(project).chosen) == ["10.6.1", "10.6.2"]
    assert versions(chosen(project, "build=control").chosen) == ["10.6.0"]
    [control] = ids(project, build="control")
    assert versions(chosen(project, f"v={control}").chosen) == ["10.6.0"]


def test_where_there_are_only_controls_they_are_shown(project):
    measure(project, "10.6.1", "10.6.2", build="debug control")
    assert versions(chosen(project).chosen) == ["10.6.1", "10.6.2"]


# --- nothing chosen -----------------------------------------------------------------------------------------


def test_a_bare_address_compares_the_five_newest_versions_with_the_oldest_of_the_last_twelve(project):
    measure(project, *(f"10.6.{patch}" for patch in range(1, 16)))
    found = chosen(project)
    assert versions(found.chosen) == ["10.6.4", *(f"10.6.{patch}" for patch in range(11, 16))]
    assert found.base.version.version == "10.6.4"


def test_a_bare_address_compares_few_versions_with_the_oldest_of_them(project):
    measure(project, *(f"10.6.{patch}" for patch in range(1, 7)))
    found = chosen(project)
    assert versions(found.chosen) == [f"10.6.{patch}" for patch in range(1, 7)]
    assert found.base.version.version == "10.6.1"


def test_at_first_it_is_the_newest_product_where_it_is_measured_most(project):
    measure(project, "9.5.0", product="MySQL", started_at=START - timedelta(days=9))
    measure(project, "10.6.1", "10.6.2", hardware="busy")
    measure(project, "10.6.1", hardware="idle", started_at=START + timedelta(days=9))
    found = chosen(project)
    assert {(one.version.product.name, one.hardware) for one in found.chosen} == {("MariaDB", "busy")}


def test_at_first_releases_stand_before_branches(project):
    measure(project, "10.6.1", "10.6.2")
    measure(project, *["11.8.0"] * 5, branch="main", commit="a" * 40)
    assert versions(chosen(project).chosen) == ["10.6.1", "10.6.2"]


def test_a_product_with_one_version_stands_beside_its_neighbours(project):
    for product in ("ConnectorJ", "Drizzle-JDBC", "MariaDB-JDBC"):
        measure(project, "1.0", product=product)
    measure(project, "1.0", product="Elsewhere", hardware="other", started_at=START - timedelta(days=1))
    assert [one.version.product.name for one in chosen(project).chosen] == [
        "ConnectorJ",
        "Drizzle-JDBC",
        "MariaDB-JDBC",
    ]


# --- chosen -------------------------------------------------------------------------------------------------


def test_columns_come_in_the_order_of_versions_with_the_asked_base(project):
    measure(project, "10.2.44", "10.6.23", "10.11.15")
    old, middle, new = ids(project)
    found = chosen(project, f"v={new}&v={old}&v={middle}&base={middle}")
    assert versions(found.chosen) == ["10.2.44", "10.6.23", "10.11.15"]
    assert found.base.version.version == "10.6.23"
    assert versions(found.others) == ["10.2.44", "10.11.15"]


def test_a_base_that_is_not_among_the_versions_gives_way_to_the_oldest(project):
    measure(project, "10.2.44", "10.6.23", "10.11.15")
    old, middle, new = ids(project)
    assert chosen(project, f"v={middle}&v={new}&base={old}").base.version.version == "10.6.23"


def test_a_base_alone_stands_alone(project):
    measure(project, "10.2.44", "10.6.23")
    [only] = chosen(project, f"base={ids(project)[1]}").chosen
    assert only.version.version == "10.6.23"


def test_what_is_gone_and_what_is_unclear_is_said(project):
    measure(project, "10.2.44", hardware="a")
    measure(project, "10.2.44", hardware="b")
    version = columns_of(project, Selector())[0].version.pk
    found = chosen(project, f"v=99.1.1&v={version}")
    assert (found.chosen, found.base, found.gone) == ((), None, ("99.1.1",))
    [(text, meanings)] = found.unclear
    assert text == str(version)
    assert [one.hardware for one in meanings] == ["a", "b"]


def test_the_id_of_a_version_that_was_measured_once_is_clear(project):
    measure(project, "10.2.44")
    version = columns_of(project, Selector())[0].version.pk
    assert versions(chosen(project, f"v={version}").chosen) == ["10.2.44"]


def test_more_than_fit_are_left_out(project):
    measure(project, *(f"10.6.{patch}" for patch in range(45)))
    found = chosen(project, "&".join(f"v={text}" for text in ids(project)))
    assert (len(found.chosen), found.left_out) == (MAX_COLUMNS, 5)


# --- the picker ---------------------------------------------------------------------------------------------


def picker(project, *, find="", chosen=()):
    query = QueryDict(mutable=True)
    query.update({"find": find})
    query.setlist("v", list(map(short_id, chosen)))
    available = available_columns(project, query)
    return version_picker(available, chosen, find=find, address=lambda columns: " ".join(versions(columns)))


def test_the_picker_groups_versions_by_place_newest_first(project):
    measure(project, "10.6.1", "10.6.2")
    measure(project, "9.5.0", product="MySQL")
    first, second = picker(project).groups
    assert (str(first.place), [one.label for one in first.choices]) == (
        "MariaDB on box",
        ["10.6.2", "10.6.1"],
    )
    assert str(second.place) == "MySQL on box"


def test_the_picker_offers_the_newest_and_the_newest_of_each_line(project):
    measure(
        project, *(f"10.6.{patch}" for patch in range(1, 5)), *(f"10.11.{patch}" for patch in range(1, 5))
    )
    [group] = picker(project).groups
    assert dict(group.shortcuts) == {
        "newest 6": "10.11.4 10.11.3 10.11.2 10.11.1 10.6.4 10.6.3",
        "newest of each line": "10.11.4 10.6.4",
    }


def test_the_picker_hides_what_a_search_does_not_mean(project):
    measure(project, "10.6.1", "10.11.1")
    measure(project, "10.6.1", hardware="bench-2")
    found = {
        (group.place.hardware, one.label): one.is_hidden
        for group in picker(project, find="BENCH 10.6").groups
        for one in group.choices
    }
    assert found == {("bench-2", "10.6.1"): False, ("box", "10.11.1"): True, ("box", "10.6.1"): True}


def test_of_many_commits_the_picker_shows_the_newest_the_chosen_and_what_is_searched(project):
    records = [
        make_record(
            version="unknown",
            branch="main",
            commit=f"{night:040x}"[::-1],
            committed_at=START + timedelta(days=night),
        )
        for night in range(1, 61)
    ]
    make_runs(records, project=project)
    [group] = picker(project).groups
    assert (len(group.choices), group.older) == (25, 35)
    oldest = columns_of(project, Selector())[0]
    [group] = picker(project, chosen=[oldest], find="2000").groups
    assert [one.is_chosen for one in group.choices if one.value == short_id(oldest)] == [True]
    assert "2000000000" in {one.label for one in group.choices if not one.is_hidden}
