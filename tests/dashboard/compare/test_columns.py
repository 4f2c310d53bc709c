"""The columns of a comparison in addresses."""

import pytest

from benchdash.dashboard.compare.selection import meant_by
from benchdash.regressions.comparison.columns import Selector, columns_of, short_id
from benchdash.regressions.comparison.default_columns import PlaceNames
from tests.builders import make_project, make_record, make_runs

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def columns(project, *places):
    """The columns of one run at each of these places, in their order."""
    make_runs([make_record(**place) for place in places], project=project)
    return columns_of(project, Selector())


def test_an_address_holds_short_ids_that_mean_one_column_each(project):
    found = columns(
        project,
        {"hardware": "a"},
        {"hardware": "b"},
        {"hardware": "b", "branch": "main"},
        {"hardware": "b", "counterpart": "Connector/C ~ 3.4"},
        {"hardware": "b", "branch": "main", "counterpart": "Connector/C ~ 3.4"},
    )
    ids = [short_id(column) for column in found]
    assert len(set(ids)) == 5
    assert [meant_by(text, found) for text in ids] == [[column] for column in found]
    version = found[0].version.pk
    assert {text for text in ids if "~" not in text} == {
        f"{version}.{column.hardware_id}.{column.configuration_id}" for column in found
    }


def test_the_id_of_a_version_alone_means_it_wherever_it_was_measured(project):
    found = columns(project, {"hardware": "a"}, {"hardware": "b"}, {"hardware": "b", "version": "10.6.24"})
    version = found[0].version
    assert meant_by(str(version.pk), found) == [one for one in found if one.version == version]
    assert meant_by("0", found) == meant_by("no id", found) == []


def test_a_place_says_what_is_not_usual(project):
    plain, special = columns(
        project,
        {},
        {
            "version": "11.8.3",
            "branch": "main",
            "configuration": "tuned",
            "counterpart": "Connector/C",
            "build": "debug",
        },
    )
    assert str(PlaceNames.of(plain)) == "MariaDB on box"
    assert (
        str(PlaceNames.of(special))
        == "MariaDB debug on box, branch main, configuration tuned, with Connector/C"
    )
