import multiprocessing
import os
import socket
import stat
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
import redis

from benchdash import embedded
from benchdash.embedded import ServerError, servers
from benchdash.embedded.postgresql import Postgresql
from benchdash.embedded.redis import Redis
from benchdash.launcher.logs import rotate
from tests.waiting import wait_until

QUICK = {"fsync": "off"}


@pytest.fixture(scope="module")
def var():
    with tempfile.TemporaryDirectory(prefix="benchdash-embedded-") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def postgresql(var):
    return Postgresql(var, settings=QUICK)


def command(var, *words):
    inherited = {k: v for k, v in os.environ.items() if k not in {"DATABASE_URL", "REDIS_URL"}}
    subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=Path(__file__).parent.parent,
        env={**inherited, "BENCHDASH_VAR": str(var)},
        stdout=subprocess.DEVNULL,
        check=True,
    )


def test_processes_that_begin_together_read_one_key(tmp_path):
    with multiprocessing.get_context("spawn").Pool(4) as processes:
        keys = set(processes.map(embedded.secret_key, [tmp_path / "var"] * 8))
    assert len(keys) == 1
    assert len(keys.pop()) > 50
    assert stat.S_IMODE((tmp_path / "var" / "secret_key").stat().st_mode) == 0o600


@pytest.mark.parametrize("place", ["/srv/" + "long/" * 30 + "var", "/srv/with space/var", "/srv/ü/var"])
def test_a_path_that_no_socket_can_have_is_replaced_by_a_short_one(place):
    folder = embedded.socket_folder(Path(place))
    assert folder == embedded.socket_folder(Path(place))
    assert folder != embedded.socket_folder(Path(place + "2"))
    assert len(str(folder / ".s.PGSQL.5432.lock")) < 108


def test_the_last_who_uses_the_servers_stops_them(var, postgresql):
    both = [postgresql, Redis(var)]
    with servers.running(var, both):
        with servers.running(var, both):
            assert all(server.is_running() for server in both)
        assert all(server.is_running() for server in both)
    assert not any(server.is_running() for server in both)


class Unstoppable:
    name = "Unstoppable"

    def is_running(self):
        return True

    def stop(self):
        raise ServerError("it goes on")


def test_one_that_cannot_be_stopped_keeps_no_other_running(var, postgresql):
    with pytest.raises(ServerError, match="it goes on"), servers.running(var, [postgresql, Unstoppable()]):
        assert postgresql.is_running()
    assert not postgresql.is_running()


def test_what_was_written_is_there_after_the_next_start(var, postgresql):
    both = [postgresql, Redis(var)]
    with servers.running(var, both):
        with psycopg.connect(embedded.database_url(var)) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        redis.from_url(embedded.redis_url(var)).set("kept", 42)
    with servers.running(var, both):
        with psycopg.connect(embedded.database_url(var)) as connection:
            assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)
        assert redis.from_url(embedded.redis_url(var)).get("kept") == b"42"


def test_no_port_is_opened_and_no_other_user_comes_in(var, postgresql):
    with servers.running(var, [postgresql]):
        with psycopg.connect(embedded.database_url(var)) as connection:
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        assert stat.S_IMODE(embedded.socket_folder(var).stat().st_mode) == 0o700


def test_texts_sort_by_code_point_on_every_machine(var, postgresql):
    with servers.running(var, [postgresql]), psycopg.connect(embedded.database_url(var)) as connection:
        sorted_texts = connection.execute("SELECT t FROM (VALUES ('a'), ('B'), ('ä')) AS v(t) ORDER BY t")
        assert [text for (text,) in sorted_texts] == ["B", "a", "ä"]


def test_a_pid_file_that_names_another_program_does_not_keep_the_server_down(var, postgresql):
    with servers.running(var, [postgresql]):
        pid_file = (postgresql.data / "postmaster.pid").read_text()
    # As after a power failure, when the number went to another process.
    (postgresql.data / "postmaster.pid").write_text(
        pid_file.replace(pid_file.split("\n", 1)[0], str(os.getpid()), 1)
    )
    with servers.running(var, [postgresql]):
        assert postgresql.is_running()


def test_a_server_that_was_killed_is_started_again(var):
    server = Redis(var)
    with servers.running(var, [server]):
        os.kill(int((server.data / "server.pid").read_text()), 9)
        while server.is_running():
            pass
        assert servers.start_missing(var, [server]) == [server]
        assert server.is_running()


def test_a_command_by_itself_starts_what_it_needs_and_stops_it(var, postgresql):
    command(var, "showmigrations")
    assert (var / "postgresql" / "PG_VERSION").exists()
    assert not postgresql.is_running()
    assert not Redis(var).is_running()


def test_a_command_that_needs_no_tables_starts_nothing(tmp_path):
    command(tmp_path, "check")
    assert not (tmp_path / "postgresql").exists()


def test_servers_named_by_the_environment_are_not_replaced(var):
    other = {"DATABASE_URL": "postgres://db/benchdash", "REDIS_URL": "redis://redis/0"}
    assert servers.needed(var, other) == []
    assert servers.needed(var, {"REDIS_URL": "redis://redis/0"}) == [Postgresql(var)]
    assert servers.needed(var, {}) == [Postgresql(var), Redis(var)]


def test_a_reason_is_given_when_postgresql_cannot_start(tmp_path):
    (tmp_path / "postgresql").mkdir(mode=0o755)
    (tmp_path / "postgresql" / "PG_VERSION").write_text("18\n")
    with (
        pytest.raises(ServerError, match=r"^PostgreSQL: "),
        servers.running(tmp_path, [Postgresql(tmp_path)]),
    ):
        pass


def test_a_socket_folder_that_others_may_enter_is_refused(tmp_path):
    embedded.socket_folder(tmp_path).mkdir(mode=0o755)
    with (
        pytest.raises(ServerError, match="open to other users"),
        servers.running(tmp_path, [Redis(tmp_path)]),
    ):
        pass


def test_a_file_where_the_socket_should_be_is_no_running_server(tmp_path):
    (tmp_path / "run").mkdir()
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(tmp_path / "run" / ".s.PGSQL.5432"))
    assert not Postgresql(tmp_path).is_running()


def test_a_log_that_is_emptied_gets_what_is_written_next(var, postgresql):
    server = Redis(var)
    with servers.running(var, [postgresql, server]):
        for log in (postgresql.log, server.log):
            rotate(log, max_bytes=0)
        with psycopg.connect(embedded.database_url(var)) as connection, suppress(psycopg.Error):
            connection.execute("SELECT FROM nowhere")
        wait_until(lambda: 'relation "nowhere" does not exist' in postgresql.log.read_text())
        # No hole remains where the lines before were.
        assert "\0" not in postgresql.log.read_text()
    assert "bye bye" in server.log.read_text()
    assert "\0" not in server.log.read_text()
