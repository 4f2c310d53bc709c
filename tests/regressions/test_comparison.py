"""Versions against each other."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchdash.regressions.comparison import Selector, SelectorError, columns_of, compare, compare_columns
from benchdash.results.readings import Reading
from tests.builders import make_project, make_record, make_runs

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def measured(version, workload, values, **reading):
    """Runs of a JMH score, one a value."""
    return [
        make_record(
            version=version, workload=workload, threads=None, readings=(Reading("score", value, **reading),)
        )
        for value in values
    ]


def columns(project):
    return columns_of(project, Selector())


def test_every_row_has_its_own_direction(project):
    """A score may be a time or a throughput: twice as much is worse in one row and better in the other."""
    for version, factor in (("1.0", 1), ("1.1", 2)):
        took = [value * factor for value in (10.0, 10.1, 10.2)]
        make_runs(
            [
                *measured(version, "SELECT 1, avgt", took, unit="ns/op", direction="lower"),
                *measured(version, "SELECT 1, thrpt", took, unit="op/s", direction="higher"),
            ],
            project=project,
        )
    base, other = columns(project)
    table = compare_columns(project, metric="score", base=base, columns=[other])
    assert [(row.unit, row.comparisons[0].verdict) for row in table.rows] == [
        ("ns/op", "worse"),
        ("op/s", "better"),
    ]


def test_cells_in_different_units_are_not_compared(project):
    make_runs(measured("1.0", "SELECT 1", [10.0], unit="ns/op", direction="lower"), project=project)
    other = [
        make_record(
            product="Other",
            version="1.0",
            workload="SELECT 1",
            threads=None,
            readings=(Reading("score", 5.0, "op/s", "higher"),),
        )
    ]
    make_runs(other, project=project)
    base, foreign = columns(project)
    [row] = compare_columns(project, metric="score", base=base, columns=[foreign]).rows
    assert row.cells[0].value == 5.0
    assert row.comparisons == (None,)


def test_known_columns_are_compared_in_one_statement_and_as_by_selectors(project):
    for version, value in (("10.2.44", 100.0), ("10.6.23", 90.0)):
        make_runs(
            [make_record(value, version=version), make_record(value + 1, version=version)], project=project
        )
    base, other = columns(project)
    with CaptureQueriesContext(connection) as statements:
        table = compare_columns(project, metric="tps", base=base, columns=[other])
    assert len(statements) == 1
    by_selectors = compare(
        project, metric="tps", base=Selector(version="10.2.44"), against=[Selector(version="10.6.23")]
    )
    assert table == by_selectors


def test_what_was_never_measured_is_said(project):
    make_runs([make_record()], project=project)
    [base] = columns(project)
    with pytest.raises(SelectorError, match="'score'"):
        compare_columns(project, metric="score", base=base, columns=[])
