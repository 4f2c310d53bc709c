import pytest
from django.db import connection

from benchdash.accounts.models import Project
from benchdash.accounts.services import create_project
from benchdash.database.subquery import subquery

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return create_project("bench", public=True)


def found(rows):
    chosen, parameters = subquery(rows.values("pk"))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id FROM accounts_project WHERE id IN ({chosen})", parameters)
        return {pk for (pk,) in cursor.fetchall()}


def test_a_queryset_is_a_part_of_a_larger_statement(project):
    assert found(Project.objects.filter(slug=project.slug)) == {project.pk}


def test_one_that_cannot_find_anything_finds_nothing(project):
    assert found(Project.objects.filter(pk__in=[])) == set()
    assert found(Project.objects.none()) == set()
    assert found(Project.objects.filter(pk__in=[project.pk])) == {project.pk}
