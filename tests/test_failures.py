"""What is told of a failure that is no mistake of ours: by the API and on pages, through the real driver."""

import errno
from contextlib import contextmanager

import pytest
from django.db import Error, OperationalError, connection, transaction

from benchdash.failures import failure_of
from tests.builders import make_project

pytestmark = pytest.mark.django_db

STATES = {
    "53100": (507, "the disk of this installation is full, so nothing was stored; tell whoever runs it"),
    "57P01": (503, "the database does not answer now; try again"),
    "08006": (503, "the database does not answer now; try again"),
    "40P01": (503, "this met another change of the same rows; try again"),
    "40001": (503, "this met another change of the same rows; try again"),
    "55P03": (503, "another change holds what this one needs; try again"),
    "53200": (503, "the database is short of memory or connections now; try again"),
    "57014": (503, "this took the database too long and was stopped; try again"),
}


def raising(state):
    return f"DO $$ BEGIN RAISE EXCEPTION 'raised' USING ERRCODE = '{state}'; END $$"


def error_of(statement, parameters=None):
    with pytest.raises(Error) as caught, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, parameters)
    return caught.value


@contextmanager
def every_statement_raises(state):
    def execute(run, _sql, _values, many, context):
        return run(raising(state), None, many, context)

    with transaction.atomic():
        with connection.execute_wrapper(execute):
            yield
        transaction.set_rollback(True)


@pytest.mark.parametrize("state", STATES)
def test_what_may_pass_is_told_as_what_it_is(state):
    failure = failure_of(error_of(raising(state)))
    assert (failure.status, failure.sentence) == STATES[state]
    assert ("Retry-After" in failure.headers) == (failure.status == 503)


@pytest.mark.parametrize("state", ["54001", "42601", "23505", "XX000"])
def test_a_statement_of_ours_that_is_wrong_is_a_mistake_of_ours(state):
    assert failure_of(error_of(raising(state))) is None


def test_more_parameters_than_the_protocol_has_are_a_mistake_of_ours():
    many = list(range(70_000))
    statement = f"SELECT 1 WHERE 1 IN ({', '.join(['%s'] * len(many))})"
    # Past the guard of the tests, which refuses such a statement itself.
    with pytest.raises(OperationalError) as caught, transaction.atomic(), connection.wrap_database_errors:
        connection.connection.execute(statement, many)
    assert failure_of(caught.value) is None


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_is_gone_is_a_database_that_does_not_answer():
    error = error_of("SELECT pg_terminate_backend(pg_backend_pid())")
    assert failure_of(error).status == 503
    connection.close()


@pytest.mark.parametrize(
    ("number", "status"), [(errno.ENOSPC, 507), (errno.EDQUOT, 507), (errno.EACCES, None)]
)
def test_a_full_disk_is_told_from_other_trouble_with_files(number, status):
    failure = failure_of(OSError(number, "trouble"))
    assert (failure and failure.status) == status


def test_the_api_tells_it_as_problem_details(client):
    make_project("public", public=True)
    with every_statement_raises("40P01"):
        answer = client.get("/api/v1/runs/?project=public")
    assert (answer.status_code, answer["Content-Type"]) == (503, "application/problem+json")
    assert answer["Retry-After"] == "5"
    assert answer.json()["detail"] == "this met another change of the same rows; try again"


@pytest.mark.parametrize(
    ("state", "status", "told"),
    [
        ("53100", 507, "The disk of this installation is full"),
        ("57P01", 503, "The database does not answer now"),
        ("54001", 500, "benchdash made a mistake"),
    ],
)
def test_a_page_tells_it_in_a_sentence(client, state, status, told):
    client.raise_request_exception = False
    with every_statement_raises(state):
        answer = client.get("/")
    assert answer.status_code == status
    assert told in answer.content.decode()
    assert ("Retry-After" in answer.headers) == (status == 503)


def test_a_mistake_of_ours_under_the_api_is_problem_details_too(client):
    client.raise_request_exception = False
    with every_statement_raises("54001"):
        answer = client.get("/api/v1/projects/")
    assert (answer.status_code, answer["Content-Type"]) == (500, "application/problem+json")
    assert answer.json()["title"] == "Internal Server Error"
