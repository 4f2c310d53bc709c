"""The matrix of the API: the same columns and figures as the page, by default and as asked for."""

import csv
import io

import pytest

from benchdash.regressions.comparison.default_columns import MATRIX_COLUMNS
from benchdash.results.models import ServerVersion
from tests.builders import make_project, make_run, make_series

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project("amber", public=True)


@pytest.fixture
def asked(anonymous):
    def asked(status=200, **query):
        answer = anonymous.get("/api/v1/matrix/", {"project": "amber", **query})
        assert answer.status_code == status, answer.content
        return answer

    return asked


def rows_of(answer):
    return list(csv.reader(io.StringIO(answer.content.decode().lstrip("\ufeff"))))


def versions_of(matrix):
    return [matrix["base"]["version"], *(column["version"] for column in matrix["columns"])]


def test_the_api_and_the_page_show_the_same(project, asked, anonymous):
    for workload in ("hot-points", "point-query", "SELECT 1"):
        make_series(range(100, 115), project=project, workload=workload)
    make_series([7, 9], project=project, workload="hot-points", threads=64)
    make_run(project=project, branch="main", commit="a" * 40)
    matrix = asked().json()
    assert versions_of(matrix) == [f"10.6.{patch}" for patch in range(4, 16)]
    assert len(versions_of(matrix)) == MATRIX_COLUMNS
    assert (matrix["metric"], matrix["unit"]) == ("tps", "1/s")
    assert {(row["workload"], row["threads"]) for row in matrix["rows"]} == {
        ("hot-points", 4),
        ("point-query", 4),
        ("SELECT 1", 4),
    }
    assert [group["group"] for group in matrix["groups"]] == ["point queries", None]
    assert matrix["geomean"][-1] == pytest.approx(114 / 103)
    page = rows_of(anonymous.get("/p/amber/compare/matrix/", {"format": "csv", "over": "versions"}))
    assert rows_of(asked(format="csv")) == page
    path = matrix["url"].partition("/p/")[2]
    assert rows_of(anonymous.get(f"/p/{path}&format=csv")) == page


def test_versions_and_base_can_be_chosen(project, asked):
    make_series(range(100, 115), project=project)
    first, second, third = (ServerVersion.objects.get(version=f"10.6.{one}").pk for one in (1, 2, 3))
    assert versions_of(asked(v=[third, first]).json()) == ["10.6.3", "10.6.1"]
    assert versions_of(asked(v=[third, first], base=second).json()) == ["10.6.2", "10.6.3", "10.6.1"]
    of_base = asked(base=first).json()
    assert versions_of(of_base) == ["10.6.1", *(f"10.6.{patch}" for patch in range(4, 16))]
    previous = asked(v=[first, second, third], relative_to="previous", threads=4).json()
    assert previous["rows"][0]["cells"][1]["ratio"] == pytest.approx(102 / 101)


def test_the_place_can_be_said(project, asked):
    make_series([1, 2], project=project)
    make_run(project=project, branch="main", hardware="bench-2", version="11.1.1")
    [column] = [asked(branch="main").json()["base"]]
    assert (column["branch"], column["hardware"], column["version"]) == ("main", "bench-2", "11.1.1")
    assert versions_of(asked(branch="").json()) == ["10.6.1", "10.6.2"]
    assert asked(hardware="bench-2").json()["base"]["version"] == "11.1.1"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"hardware": "nowhere"}, "hardware"),
        ({"branch": "other"}, "branch"),
        ({"metric": "nothing"}, "metric"),
        ({"v": "999999"}, "v"),
        ({"base": "{"}, "base"),
        ({"v": ["1"] * 41}, "v"),
        ({"threads": "77"}, "metric"),
        ({"over": "nights"}, "over"),
    ],
)
def test_what_is_not_there_is_refused_by_its_name(project, asked, query, field):
    make_series([1, 2], project=project)
    [error] = asked(400, **query).json()["errors"]
    assert error["field"] == field


def test_a_project_without_results_has_no_matrix(project, asked):
    [error] = asked(400).json()["errors"]
    assert error == {"field": "project", "message": "no version was measured there", "candidates": []}


def test_more_rows_take_no_more_statements(project, asked, django_assert_max_num_queries):
    for number in range(20):
        make_series(range(100, 103), project=project, workload=f"reads {number}")
    with django_assert_max_num_queries(16):
        assert len(asked().json()["rows"]) == 20
