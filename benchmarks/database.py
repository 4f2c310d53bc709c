"""A database of its own for a measurement, on a real server that is stopped afterwards."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django
from django.core.management import call_command

from benchdash.embedded import servers


@contextmanager
def empty_database() -> Iterator[None]:
    """Django, set up on a database without rows; nothing of the checkout's own ``var/`` is touched."""
    with tempfile.TemporaryDirectory(prefix="benchdash-bench-") as folder:
        var = Path(folder)
        os.environ["BENCHDASH_VAR"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "benchdash.settings"
        for name in ("DATABASE_URL", "REDIS_URL"):
            os.environ.pop(name, None)
        with servers.running(var, servers.needed(var, os.environ)):
            django.setup()
            call_command("migrate", verbosity=0)
            yield
