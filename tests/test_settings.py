import json
import os
import string
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


def settings_of(code, **environment):
    """What the code prints of the settings, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", f"from benchdash import settings; print({code})"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_short_secret_key_is_refused_in_production():
    key = (string.ascii_letters + string.digits)[:49]
    refused = settings_of("1", SECRET_KEY=key, DEBUG="0")
    assert refused.returncode != 0
    assert "SECRET_KEY has 49 characters and needs at least 50" in refused.stderr.splitlines()[-1]
    assert key not in refused.stderr
    assert settings_of("settings.SECRET_KEY", SECRET_KEY=f"{key}x", DEBUG="0").stdout == f"{key}x\n"
    assert settings_of("settings.SECRET_KEY", SECRET_KEY="short", DEBUG="1").stdout == "short\n"


def test_under_https_no_other_host_can_set_the_cookies():
    names = "settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME"
    told = settings_of(names, SITE_URL="https://bench.example.org").stdout
    assert told == "__Host-sessionid __Host-csrftoken\n"
    assert settings_of(names, SITE_URL="http://127.0.0.1:8000").stdout == "sessionid csrftoken\n"
    # Such cookies must be secure, for the whole host, and for no other.
    asked = "settings.SESSION_COOKIE_SECURE, settings.CSRF_COOKIE_SECURE"
    assert settings_of(asked, SITE_URL="https://bench.example.org").stdout == "True True\n"


def test_anonymous_requests_of_a_minute_are_limited_by_a_setting(monkeypatch):
    rate = "settings.REST_FRAMEWORK['DEFAULT_THROTTLE_RATES']['anonymous']"
    monkeypatch.delenv("ANONYMOUS_PER_MINUTE")
    assert settings_of(rate).stdout == "600/min\n"
    assert settings_of(rate, ANONYMOUS_PER_MINUTE="50").stdout == "50/min\n"


def test_who_makes_projects_is_one_of_two_words():
    assert settings_of("settings.PROJECTS_MADE_BY").stdout == "superusers\n"
    assert settings_of("settings.PROJECTS_MADE_BY", PROJECTS_MADE_BY="everyone").stdout == "everyone\n"
    refused = settings_of("1", PROJECTS_MADE_BY="Everyone")
    assert "PROJECTS_MADE_BY must be superusers or everyone, not 'Everyone'" in refused.stderr


def test_browsers_preload_https_only_where_the_operator_asks_for_it():
    told = "settings.SECURE_HSTS_SECONDS > 0, settings.SECURE_HSTS_PRELOAD"
    assert settings_of(told, SITE_URL="https://bench.example.org").stdout == "True False\n"
    asked = settings_of(told, SITE_URL="https://bench.example.org", HSTS_PRELOAD="1")
    assert asked.stdout == "True True\n"
    assert settings_of(told, SITE_URL="http://bench.example.org", HSTS_PRELOAD="1").stdout == "False False\n"


def test_keys_of_before_are_read_from_the_environment():
    assert settings_of("settings.SECRET_KEY_FALLBACKS").stdout == "[]\n"
    assert (
        settings_of("settings.SECRET_KEY_FALLBACKS", SECRET_KEY_FALLBACKS="one,two").stdout
        == "['one', 'two']\n"
    )
