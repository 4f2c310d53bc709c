import os
import subprocess
import sys
import tempfile
from pathlib import Path

from django.db import connection

from benchdash import embedded
from benchdash.database.checks import warn_of_superuser
from benchdash.embedded import servers
from benchdash.embedded.postgresql import Postgresql

ROOT = Path(__file__).parents[2]


def test_the_role_of_the_tests_is_not_warned_of(db):
    assert warn_of_superuser([connection.alias]) == []


def test_a_superuser_is_warned_of():
    with tempfile.TemporaryDirectory(prefix="benchdash-checks-") as folder:
        var = Path(folder)
        with servers.running(var, [Postgresql(var, settings={"fsync": "off"})]):
            told = subprocess.run(
                [sys.executable, "manage.py", "check", "--database", "default"],
                cwd=ROOT,
                env={
                    **os.environ,
                    "DATABASE_URL": embedded.database_url(var).replace("benchdash@", "postgres@"),
                },
                capture_output=True,
                text=True,
                check=True,
            )
    assert "benchdash.W001" in told.stderr
    assert "as the superuser 'postgres'" in told.stderr
