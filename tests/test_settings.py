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
