"""A database with so many rows that an index is worth while, for the tests that look at plans."""

from dataclasses import replace

import pytest

# 146 thousand measurements of 55 thousand runs.
SIZE = {"projects": 2, "threads": 2, "metrics": 3, "machines": 1, "nightly": 12}

# Of a project that nobody looks at: thousands of series, and of change points that were withdrawn.
OTHERS = """
    INSERT INTO results_series (project_id, product_id, build, branch, line, hardware_id, configuration_id,
        counterpart, workload_id, threads, metric, unit, printed_unit, direction)
    SELECT project_id, product_id, build, branch, line, hardware_id, configuration_id,
        'other ' || at, workload_id, threads, metric, unit, printed_unit, direction
    FROM results_series series JOIN accounts_project project ON project.id = series.project_id,
        generate_series(1, 20) at
    WHERE project.slug <> %(looked_at)s;
    INSERT INTO regressions_changepoint (series_id, run_id, origin, state, historical, quiet, before, after,
        change, confidence, groups_before, groups_after, detected_at)
    SELECT series.id, 1, '', 'withdrawn', false, false, 1, 2, 1, 1, 5, 5, now()
    FROM results_series series WHERE counterpart <> ''
"""


@pytest.fixture(scope="module")
def loaded(django_db_setup, django_db_blocker):
    """What the suite's requests choose from. What is loaded goes after the module."""
    from django.db import connection

    from benchmarks.performance.dataset import Size, load
    from benchmarks.performance.detail import load_detail

    with django_db_blocker.unblock(), connection.cursor() as cursor:
        found = load(Size("of tests", **SIZE))
        found = replace(found, detail=load_detail())
        cursor.execute(OTHERS % {"looked_at": f"'{found.slug}'"})
        cursor.execute("VACUUM (ANALYZE)")
        connection.close()
    yield found
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("TRUNCATE accounts_project, accounts_user, django_session CASCADE")
        # No constraint ties these to their project.
        cursor.execute("TRUNCATE results_surroundingscount, results_workloadcount")
        cursor.execute("TRUNCATE results_subjectcount, results_parametercount")
        connection.close()
