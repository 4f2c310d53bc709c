"""What people do to a project with more runs than a statement may have parameters."""

import pytest
from django.db import connection

from benchdash.accounts.access import NOBODY
from benchdash.results.corrections import merge, rename
from benchdash.results.models import Product, Run, Series, ServerVersion, Workload
from ingest.models import Removal
from ingest.removal import delete_project
from tests.builders import make_record, make_runs
from tests.large_projects import KINDS, RUNS, make_large_project

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture(scope="module")
def project(django_db_setup, django_db_blocker):
    """Shared by the tests, each of which takes back what it changes."""
    with django_db_blocker.unblock():
        made = make_large_project("large")
        connection.close()
    yield made
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("TRUNCATE accounts_project, accounts_user CASCADE")
        connection.close()


def of(model, project, **conditions):
    return model.objects.get(project=project, **conditions)


def test_its_product_and_its_workload_are_renamed(project):
    assert rename(of(Workload, project), "point_select", by=NOBODY).runs == RUNS + 1
    assert rename(of(Product, project), "MySQL", by=NOBODY).runs == RUNS + 1


def test_its_products_are_merged_with_their_versions(project):
    runs = make_runs(
        [
            make_record(product="Percona", version="unknown", branch="main", commit=f"{at:040x}")
            for at in range(1, KINDS + 1)
        ],
        project=project,
    )
    other = of(Product, project, name="Percona")
    effect = merge(of(Product, project, name="MariaDB"), other, by=NOBODY)
    assert (effect.runs, effect.series) == (RUNS + 1, KINDS + 1)
    assert Run.objects.filter(version__product=other).count() == RUNS + 1 + len(runs)
    assert ServerVersion.objects.filter(product=other).count() == KINDS + 1


def test_its_workloads_are_merged_and_so_its_runs_are_assigned_to_other_series(project):
    make_runs([make_record(workload="other")], project=project)
    other = of(Workload, project, name="other")
    assert merge(of(Workload, project, name="oltp_read_only"), other, by=NOBODY).runs == RUNS + 1
    assert Series.objects.filter(project=project).count() == KINDS + 2


def test_it_is_deleted(project):
    delete_project(project, by=NOBODY)
    assert not Run.objects.filter(project=project).exists()
    assert Removal.objects.get().per_cent == 100
