import gzip
import os
import subprocess
import sys
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

CHECKOUT = Path(__file__).parent.parent.parent.parent
# Made before the migrations were joined: nights and releases with a regression, a webhook and an annotation.
LANDED = gzip.decompress((Path(__file__).parent / "landed.sql.gz").read_bytes()).decode()
READ_ALL = """
from django.apps import apps
for model in apps.get_models():
    print(model._meta.label, len(model._base_manager.all()))
"""
COLUMNS = """
    SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
    WHERE table_schema = 'public'
"""
CONSTRAINTS = """
    SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace
"""
INDEXES = "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"


@pytest.fixture
def make_database():
    """Make databases with what some SQL puts into them, and return their addresses."""
    url = urlsplit(os.environ["DATABASE_URL"])
    names = (f"migrated_{os.getpid()}_{number}" for number in count())
    made = []
    with psycopg.connect(url.geturl(), autocommit=True) as server:

        def make(content=""):
            made.append(next(names))
            server.execute(f"CREATE DATABASE {made[-1]}")
            address = url._replace(path=f"/{made[-1]}").geturl()
            if content:
                with psycopg.connect(address, autocommit=True) as database:
                    database.execute(content)
            return address

        yield make
        for name in made:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def begin(url, *command):
    return subprocess.Popen(
        [sys.executable, "manage.py", *command],
        cwd=CHECKOUT,
        env={**os.environ, "DATABASE_URL": url},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def told_by(process):
    """Return what a process told, and the status it ended with."""
    return process.communicate(timeout=120)[0], process.returncode


def migrated(url):
    told, status = told_by(begin(url, "migrate"))
    assert status == 0, told
    return told


def structure(url):
    with psycopg.connect(url) as database:
        return [sorted(map(str, database.execute(part))) for part in (COLUMNS, CONSTRAINTS, INDEXES)]


def test_processes_that_migrate_together_do_it_once(make_database):
    url = make_database()
    both = [told_by(process) for process in [begin(url, "migrate") for _ in range(2)]]
    assert [status for _, status in both] == [0, 0], both
    assert sum("Applying accounts.0001_squashed... OK" in told for told, _ in both) == 1
    assert sum("No migrations to apply." in told for told, _ in both) == 1


def test_a_database_from_before_the_migrations_were_joined_keeps_all_it_has(make_database):
    url = make_database(LANDED)
    assert "_squashed... OK" not in migrated(url)
    told, status = told_by(begin(url, "shell", "-c", READ_ALL))
    assert status == 0, told
    counts = dict(line.rsplit(" ", 1) for line in told.splitlines() if line[:1].isalpha())
    expected = {
        "results.Run": "127",
        "results.Measurement": "247",
        "regressions.Incident": "1",
        "regressions.ChangePoint": "8",
        "alerts.Subscription": "1",
        "results.Annotation": "1",
        "ingest.Upload": "37",
    }
    assert counts | expected == counts


def test_a_database_that_is_made_anew_has_the_tables_of_one_that_was_upgraded(make_database):
    new, upgraded = make_database(), make_database(LANDED)
    migrated(new)
    migrated(upgraded)
    for made, kept in zip(structure(new), structure(upgraded), strict=True):
        assert made == kept


def test_a_database_of_an_older_benchdash_is_refused_with_a_sentence(make_database):
    unfinished = f"{LANDED}\nDELETE FROM public.django_migrations WHERE name = '0007_drifts';"
    of_other_tables = f"""{LANDED}
        INSERT INTO public.django_migrations (app, name, applied)
        VALUES ('results', '0002_measurement_key_covers_values', now())"""
    for content in (of_other_tables, unfinished):
        told, status = told_by(begin(make_database(content), "migrate"))
        assert status == 1
        assert told.splitlines()[-1].startswith("CommandError: this database was made by an older benchdash")


def test_no_migration_makes_a_trigger():
    migrations = [*CHECKOUT.glob("benchdash/*/migrations/*.py"), *CHECKOUT.glob("ingest/migrations/*.py")]
    assert len(migrations) > 6
    for path in migrations:
        assert "CREATE TRIGGER" not in path.read_text(), path
