import pytest
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, Q

from benchdash.accounts.models import Project, Token
from benchdash.database.written import Given, written
from tests.builders import make_project, make_token

pytestmark = pytest.mark.django_db

CONDITION = Q(project=Given("project")) & ~Q(name=Given("but"))


@pytest.fixture
def project():
    project = make_project("amber")
    Project.objects.filter(pk=project.pk).update(options={"equivalence_margin": 0.05})
    for name in ("nightly", "ci", "laptop"):
        make_token(project, name=name)
    make_token(make_project("birch"), name="nightly")
    return project


def values(row):
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def test_rows_are_what_the_queryset_gives(project, django_assert_num_queries):
    @written
    def tokens():
        return Token.objects.filter(CONDITION).select_related("project").order_by("name")

    with django_assert_num_queries(1):
        found = tokens(project=project.pk, but="ci")
        assert [token.project.slug for token in found] == ["amber", "amber"]
    expected = Token.objects.filter(project=project).exclude(name="ci").order_by("name")
    assert list(map(values, found)) == list(map(values, expected))
    assert values(found[0].project) == values(Project.objects.get(slug="amber"))


def test_what_was_annotated_stands_at_the_rows(project):
    names = Token.objects.filter(project=OuterRef("pk")).order_by("name").values("name")

    @written
    def projects():
        return Project.objects.filter(slug=Given("slug")).annotate(named=ArraySubquery(names))

    assert [one.named for one in projects(slug="amber")] == [["ci", "laptop", "nightly"]]
    assert projects(slug="cedar") == []


def test_tuples_have_the_columns_that_were_asked_for(project):
    @written
    def names():
        return Token.objects.filter(CONDITION).order_by("-created_at").values_list("name", "project__options")

    assert names(project=project.pk, but="laptop") == [
        ("ci", {"equivalence_margin": 0.05}),
        ("nightly", {"equivalence_margin": 0.05}),
    ]


def test_each_shape_is_built_once_and_the_values_are_those_of_the_call(project):
    built = []

    @written
    def first(number):
        built.append(number)
        return Token.objects.filter(CONDITION).order_by("name").values_list("name")[:number]

    assert first(1, project=project.pk, but="ci") == [("laptop",)]
    assert first(1, project=project.pk, but="") == [("ci",)]
    assert first(2, project=project.pk, but="") == [("ci",), ("laptop",)]
    assert built == [1, 2]
