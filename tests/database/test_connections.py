import psycopg
import pytest
from django.db import connection

pytestmark = pytest.mark.django_db(transaction=True)


def backend():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]


def end(pid):
    """As a server that restarts, or an operator, ends a connection."""
    known = connection.get_connection_params()
    with psycopg.connect(
        host=known["host"], port=known["port"], user=known["user"], dbname=known["dbname"]
    ) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def test_a_connection_that_the_server_ended_is_not_usable():
    end(backend())
    assert not connection.is_usable()
    connection.close()
    assert not connection.is_usable()


def test_a_request_after_the_server_ended_the_connection_is_answered(client):
    ended = backend()
    end(ended)
    connection.health_check_enabled, connection.health_check_done = True, False
    assert client.get("/api/v1/projects/").status_code == 200
    assert backend() != ended
