import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

OLDER = Path(__file__).parent.parent.parent / "ingest" / "older" / "database.sql"
CHECKOUT = Path(__file__).parent.parent.parent.parent
NAME = f"empty_{os.getpid()}"


@pytest.fixture
def empty_database():
    """The address of a database without tables."""
    url = urlsplit(os.environ["DATABASE_URL"])
    with psycopg.connect(url.geturl(), autocommit=True) as server:
        server.execute(f"CREATE DATABASE {NAME}")
        yield url._replace(path=f"/{NAME}").geturl()
        server.execute(f"DROP DATABASE {NAME} WITH (FORCE)")


def begin_to_migrate(url):
    return subprocess.Popen(
        [sys.executable, "manage.py", "migrate", "results"],
        cwd=CHECKOUT,
        env={**os.environ, "DATABASE_URL": url},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_processes_that_migrate_together_do_it_once(empty_database):
    both = [begin_to_migrate(empty_database) for _ in range(2)]
    told = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    assert sum("Applying accounts.0001_initial... OK" in text for text in told) == 1
    assert sum("No migrations to apply." in text for text in told) == 1


def test_a_database_of_an_older_benchdash_is_refused_with_a_sentence(empty_database):
    with psycopg.connect(empty_database, autocommit=True) as database:
        database.execute(OLDER.read_text())
    process = begin_to_migrate(empty_database)
    told = process.communicate(timeout=120)[0]
    assert process.returncode == 1
    assert told.splitlines()[-1].startswith("CommandError: this database was made by an older benchdash")


def test_no_migration_makes_a_trigger():
    migrations = [*CHECKOUT.glob("benchdash/*/migrations/*.py"), *CHECKOUT.glob("ingest/migrations/*.py")]
    assert len(migrations) > 6
    for path in migrations:
        assert "CREATE TRIGGER" not in path.read_text(), path
