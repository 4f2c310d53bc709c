"""A pytest plugin: real servers for the tests, before Django reads its settings.

One embedded PostgreSQL serves all xdist workers, each with a database of its own; every process has
its own Redis and its own ``var/``. With DATABASE_URL or REDIS_URL set, those servers are used.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from benchdash import embedded
from benchdash.embedded import roles, servers
from benchdash.embedded.postgresql import Postgresql
from benchdash.embedded.redis import Redis

# Tests need not survive a power failure.
_QUICK = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
# What a developer may have set for a server of their own.
_FOREIGN = (
    "SITE_URL",
    "EMAIL_URL",
    "EMAIL_FROM",
    "HOST",
    "PORT",
    "DEBUG",
    "SECRET_KEY",
    "STATIC_ROOT",
    "STORAGE_URL",
)
_keeper = None


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests():
    for name in _FOREIGN:
        os.environ.pop(name, None)
    # Tests ask for many pages from one place; those of the limit set their own.
    os.environ["ANONYMOUS_PER_MINUTE"] = os.environ["PERSON_PER_MINUTE"] = "1000000"
    # Playwright runs an event loop in the thread of the test; the ORM is still called from that thread alone.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    var = Path(tempfile.mkdtemp(prefix="benchdash-tests-"))
    (var / "static").mkdir()
    os.environ["BENCHDASH_VAR"] = str(var)
    _start_keeper(var)
    # xdist workers inherit it.
    os.environ.setdefault("DATABASE_URL", embedded.database_url(var))


def pytest_configure():
    from django.conf import settings

    from tests import schema_check

    settings.MIDDLEWARE.append(schema_check.MIDDLEWARE)
    settings.STORAGES["staticfiles"] = {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage",
    }
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.hookimpl(trylast=True)
def pytest_unconfigure():
    if _keeper:
        _keeper.stdin.close()
        _keeper.wait()


def _start_keeper(var):
    """The servers belong to a process that stops them when this one ends, even by force."""
    global _keeper  # noqa: PLW0603 - pytest's hooks are functions
    _keeper = subprocess.Popen(
        [sys.executable, "-m", __name__, str(var)],
        cwd=Path(__file__).parent.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    if _keeper.stdout.readline() != "ready\n":
        raise pytest.UsageError("the servers for the tests did not start")


def _keep(var):
    wanted = []
    if not os.environ.get("REDIS_URL"):
        wanted.append(Redis(var))
    if not os.environ.get("DATABASE_URL"):
        wanted.append(Postgresql(var, settings=_QUICK))
    with servers.running(var, wanted):
        if not os.environ.get("DATABASE_URL"):
            # Each process of the tests makes a database; nothing else is allowed beyond production's rights.
            with roles.connect_as_administrator(embedded.socket_folder(var)) as connection:
                connection.execute(f"ALTER ROLE {roles.APPLICATION} CREATEDB")
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.read()
    shutil.rmtree(var, ignore_errors=True)


if __name__ == "__main__":
    _keep(Path(sys.argv[1]))
