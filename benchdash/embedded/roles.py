"""Who may do what in the embedded PostgreSQL: benchdash owns its database and nothing else."""

import os
import pwd
import tempfile
from pathlib import Path
from typing import Any

import psycopg

# Connects for pages, API and jobs, and owns the database of the same name.
APPLICATION = "benchdash"
# The superuser: the only one where an older version made the cluster.
ADMINISTRATOR = "postgres"

# Only the system user who starts the server may be its administrator, as the kernel tells who connects.
# No SQL of the application can make a connection of its own, so none can become the administrator.
_ACCESS = f"""\
# Written at each start.
local  all  {ADMINISTRATOR}  peer  map=administrators
local  all  {APPLICATION}  trust
"""
_CHANGES_OF_OWNER = f"""
    SELECT format('ALTER TABLE %s OWNER TO {APPLICATION}', oid::regclass)
    FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')
      -- A sequence that belongs to a column goes where its table goes.
      AND NOT EXISTS (
        SELECT FROM pg_depend
        WHERE classid = 'pg_class'::regclass
          AND objid = pg_class.oid AND deptype IN ('a', 'i') AND relkind = 'S'
      )
    UNION ALL
    SELECT format('ALTER ROUTINE %s OWNER TO {APPLICATION}', oid::regprocedure)
    FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace
"""  # noqa: S608 - a constant


def write_access_rules(data: Path) -> None:
    """Say in the cluster's own files who may connect as whom."""
    administrator = pwd.getpwuid(os.geteuid()).pw_name
    _write(data / "pg_hba.conf", _ACCESS)
    _write(data / "pg_ident.conf", f'administrators  "{administrator}"  {ADMINISTRATOR}\n')


def connect_as_administrator(
    socket_folder: Path, database: str = "postgres"
) -> "psycopg.Connection[tuple[Any, ...]]":
    address = f"host={socket_folder} port=5432 user={ADMINISTRATOR} dbname={database}"
    return psycopg.connect(address, autocommit=True)


def make_database(socket_folder: Path) -> None:
    """Make the application's role and its database where they are missing, and bring an older one over."""
    with connect_as_administrator(socket_folder) as connection:
        role = connection.execute("SELECT oid FROM pg_roles WHERE rolname = %s", [APPLICATION]).fetchone()
        if role is None:
            connection.execute(f"CREATE ROLE {APPLICATION} LOGIN")
        owner = connection.execute(
            "SELECT datdba::regrole::text FROM pg_database WHERE datname = %s", [APPLICATION]
        ).fetchone()
        if owner is None:
            connection.execute(f"CREATE DATABASE {APPLICATION} OWNER {APPLICATION}")
    if owner == (ADMINISTRATOR,):
        _bring_over(socket_folder)


def _bring_over(socket_folder: Path) -> None:
    """Give the application what an older version made as the superuser: REASSIGN OWNED refuses to."""
    with connect_as_administrator(socket_folder, APPLICATION) as connection, connection.transaction():
        for (change,) in connection.execute(_CHANGES_OF_OWNER).fetchall():
            connection.execute(change)
        connection.execute(f"ALTER DATABASE {APPLICATION} OWNER TO {APPLICATION}")


def _write(file: Path, text: str) -> None:
    # The folder belongs to the server's user, whose links root must not follow.
    descriptor, draft = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(descriptor, "w") as handle:
        handle.write(text)
        os.fchmod(descriptor, 0o644)
    Path(draft).replace(file)
