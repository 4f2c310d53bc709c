"""The mornings of several projects in short."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from benchdash.regressions.models import Incident
from benchdash.regressions.morning.briefs import mornings_of
from benchdash.regressions.services import analyse_touched
from tests.builders import START, make_project, make_series

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
STEADY = [100.0, 100.4, 99.7, 100.1, 99.9, 100.3, 99.6] * 4


def make_nightly(values, **fields):
    project = make_project()
    start = timezone.now() - (len(values) - 1) * DAY - timedelta(hours=5)
    make_series(values, project=project, branch="main", start=start, **fields)
    return project


def test_a_brief_says_what_ran_and_what_is_new():
    quiet = make_nightly(STEADY)
    broken = make_nightly([*STEADY, *(value * 0.8 for value in STEADY[:6])], hardware="bench-03")
    empty = make_project()
    analyse_touched()
    found = mornings_of([quiet, broken, empty], listed=5)
    assert found[quiet.pk].sentence.endswith(": 1 workload ran on box; nothing new, nothing open.")
    assert ": 1 workload ran on bench-03; 1 new: oltp_read_only −20." in found[broken.pk].sentence
    assert found[empty.pk].sentence == "No results yet."
    assert found[broken.pk].new == [Incident.objects.get()]
    assert found[broken.pk].open == []


def test_releases_have_no_night():
    project = make_project()
    make_series([100.0, 101.0, 99.0], project=project, step=20 * DAY)
    analyse_touched()
    assert mornings_of([project], now=START + 60 * DAY)[project.pk].sentence == (
        "Newest: MariaDB 10.6.3, measured 11 Apr; nothing new, nothing open."
    )


def test_any_number_of_projects_takes_the_same_statements(django_assert_num_queries):
    projects = [make_nightly([*STEADY, *(value * 0.8 for value in STEADY[:6])])]
    analyse_touched()
    with django_assert_num_queries(4):
        mornings_of(projects, listed=5)
    projects += [make_nightly(STEADY[:5]), make_project(is_sample=True)]
    make_series(STEADY[:3], project=projects[-1], branch="main")
    with django_assert_num_queries(4):
        mornings_of(projects, listed=5)


def test_any_number_of_projects_takes_the_same_parameters():
    """Each project has a night of its own, which is no part of the statement."""
    projects = [make_nightly(STEADY[:5]) for _ in range(4)]
    assert parameters_of(projects[:2]) == parameters_of(projects)


def parameters_of(projects):
    counts = []

    def count(execute, sql, parameters, many, context):
        counts.append(len(parameters or ()))
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(count):
        mornings_of(projects)
    return counts
