import pytest
from django.db import connection
from django.db.models import F, Q
from django.test.utils import CaptureQueriesContext

from benchdash.results.models import Product, Run, Workload
from tests.builders import make_project, make_run

pytestmark = pytest.mark.django_db

# More than a statement may have parameters.
MANY = 70_000


@pytest.fixture
def product():
    return Product.objects.create(project=make_project(), name="MariaDB")


def test_a_list_longer_than_a_statement_has_parameters_finds_its_rows(product):
    ids = [*range(-MANY, 0), product.pk]
    assert list(Product.objects.filter(pk__in=ids)) == [product]
    assert list(Product.objects.filter(project__in=[*range(-MANY, 0), product.project_id])) == [product]
    assert list(Product.objects.in_bulk(ids)) == [product.pk]


def test_a_list_is_one_parameter_of_a_statement(product):
    sql, parameters = Product.objects.filter(pk__in=[1, 2, 3]).query.sql_with_params()
    assert "= ANY(%s)" in sql
    assert parameters == ([1, 2, 3],)


def test_what_is_in_no_list_is_found_by_its_opposite(product):
    assert list(Product.objects.exclude(name__in=["MySQL", "PostgreSQL"])) == [product]
    assert not Product.objects.filter(~Q(name__in=["MariaDB"])).exists()


def test_an_empty_list_finds_nothing_and_asks_nothing(product):
    with CaptureQueriesContext(connection) as asked:
        assert not Product.objects.filter(pk__in=[])
        assert not Product.objects.filter(pk__in=[None])
    assert len(asked) == 0


def test_rows_are_in_a_list_as_their_keys(product):
    assert list(Product.objects.filter(project__in=[product.project])) == [product]


def test_a_list_may_hold_expressions_or_be_a_query(product):
    assert list(Product.objects.filter(name__in=[F("name"), "MySQL"])) == [product]
    assert list(Product.objects.filter(name__in=Product.objects.values("name"))) == [product]


def test_texts_longer_than_their_column_are_not_cut(product):
    Workload.objects.create(project=product.project, name="w" * 300)
    assert not Workload.objects.filter(name__in=["w" * 301])


def test_times_numbers_and_json_are_found_in_lists():
    run = make_run(project=make_project(), duration_s=1.5)
    assert Run.objects.get(started_at__in=[run.started_at]) == run
    assert Run.objects.get(threads__in=[1, 2**31 - 1, 4]) == run
    assert Run.objects.get(duration_s__in=[1.5, 2.5]) == run
    assert Run.objects.get(options__in=[run.options, {"a": 1}]) == run
