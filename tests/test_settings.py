import json
import os
import subprocess
import sys

import pytest
from django.db import connection


@pytest.mark.django_db
def test_the_key_of_measurements_carries_their_values():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_indexdef('results_measurement_pkey'::regclass)")
        assert "(series_id, run_id) INCLUDE (value, low, high)" in cursor.fetchone()[0]


@pytest.mark.django_db
def test_a_run_cannot_point_at_an_upload_that_does_not_exist():
    with connection.cursor() as cursor:
        cursor.execute("SELECT convalidated FROM pg_constraint WHERE conname = 'run_belongs_to_upload'")
        assert cursor.fetchone() == (True,)


@pytest.mark.django_db
def test_a_statement_that_is_asked_again_and_again_is_planned_once():
    with connection.cursor() as cursor:
        for number in range(6):
            cursor.execute("SELECT %s::int AS planned_once", [number])
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement ~ 'planned_once$'")
        assert cursor.fetchone() == (1,)


def database_of(url):
    """The settings of the database, in a process of its own."""
    code = "import json; from benchdash.settings import DATABASES; print(json.dumps(DATABASES['default']))"
    environment = {**os.environ, "DATABASE_URL": url}
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    return json.loads(told.stdout)


def test_what_the_address_of_the_database_says_comes_first():
    plain = database_of("postgres://me@db/history")
    assert plain["OPTIONS"] == {"server_side_binding": True, "prepare_threshold": 3}
    assert plain["CONN_HEALTH_CHECKS"] is True
    asked = database_of("postgres://me@db/history?server_side_binding=no&sslmode=require&conn_max_age=0")
    assert asked["OPTIONS"] == {"server_side_binding": "no", "prepare_threshold": 3, "sslmode": "require"}
    assert asked["CONN_MAX_AGE"] == 0
