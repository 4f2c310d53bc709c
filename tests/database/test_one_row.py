import pytest

from benchdash.accounts.models import Project, Token
from benchdash.database.one_row import one_row
from tests.builders import make_project, make_token

pytestmark = pytest.mark.django_db


def values(row):
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def test_a_row_is_what_the_query_set_of_its_model_gives():
    project = make_project("amber")
    Project.objects.filter(pk=project.pk).update(options={"equivalence_margin": 0.05})
    found = one_row(Project, "slug = %s", ["amber"])
    assert found == project
    assert values(found) == values(Project.objects.get())
    assert one_row(Project, "slug = %s", ["birch"]) is None


def test_a_related_row_comes_with_it(django_assert_num_queries):
    make_token(make_project("amber"))
    with django_assert_num_queries(1):
        token = one_row(Token, "found.revoked_at IS NULL", [], related="project")
    assert values(token) == values(Token.objects.get())
    assert values(token.project) == values(Project.objects.get())


def test_a_row_can_be_changed_and_saved():
    make_project("amber")
    found = one_row(Project, "slug = %s", ["amber"])
    found.name = "Amber"
    found.save()
    assert [project.name for project in Project.objects.all()] == ["Amber"]
