"""Real starts on a ``var/`` of their own: what a person sees who types ``make run``."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from django.conf import settings

from benchdash.launcher import LaunchError, machine
from benchdash.launcher.choices import choices_of
from tests.waiting import wait_until
from tests.web_server import SLOW_SENDERS, slow_clients

CHECKOUT = Path(__file__).parent.parent
STOPS_WITHIN = 60
GIVES_UP_WITHIN = 60
# A word in the command of each program under the launcher.
PROGRAMS = {"gunicorn", "beat", *(f"--queues={queue}" for queue in settings.QUEUES)}


class Launched:
    def __init__(self, var, port=0, **servers):
        self.var = var
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchdash.launcher"],
            cwd=CHECKOUT,
            env=environment(BENCHDASH_VAR=str(var), PORT=str(port), SAMPLE="0", **servers),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.output = ""

    def wait_until_up(self):
        self.wait_until_told("Ctrl-C stops everything")
        return self

    def wait_until_told(self, sentence):
        for line in self.process.stdout:
            self.output += line
            if sentence in line:
                return
        raise AssertionError(self.output)

    def end(self, number=signal.SIGINT):
        """The exit status."""
        self.process.send_signal(number)
        return self.wait(within=STOPS_WITHIN)

    def wait(self, within=GIVES_UP_WITHIN):
        self.output += self.process.communicate(timeout=within)[0]
        return self.process.returncode

    @property
    def run_file(self):
        return json.loads((self.var / "run.json").read_text())

    def answer(self, path, **headers):
        request = urllib.request.Request(self.run_file["url"] + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=GIVES_UP_WITHIN) as response:
                return response.status
        except urllib.error.HTTPError as error:
            return error.code

    def children(self):
        """The processes under the launcher, by what they are."""
        found = {}
        for child in psutil.Process(self.process.pid).children():
            with suppress(psutil.Error):
                words = child.cmdline()
                found |= {name: child for name in PROGRAMS if name in words}
        return found

    def redis(self):
        return next(iter(self.redis_servers()), None)

    def redis_servers(self):
        return [p for p in processes_of(self.var) if p.name() in {"redis-server", "valkey-server"}]


def environment(**own):
    """That of a person who named no servers."""
    inherited = {k: v for k, v in os.environ.items() if k not in {"DATABASE_URL", "REDIS_URL"}}
    return {**inherited, **own}


def processes_of(var):
    """What still works for this ``var/``, the servers included."""
    found = []
    for process in psutil.process_iter():
        try:
            told = [*process.cmdline(), *process.environ().values()]
        except psutil.Error:
            continue
        if any(str(var) in text for text in told) and process.pid != os.getpid():
            found.append(process)
    return found


@pytest.fixture(scope="module")
def var():
    with tempfile.TemporaryDirectory(prefix="benchdash-launcher-") as folder:
        yield Path(folder)
        for process in processes_of(folder):
            process.kill()


@pytest.fixture(scope="module")
def launches(var):
    """Every start on that ``var/``; the last may still run."""
    launches = []
    yield launches
    assert launches[-1].end(signal.SIGTERM) == 0
    assert processes_of(var) == []


@pytest.fixture
def launched(var, launches):
    """A running benchdash, the one of the test before if that left it running."""
    if not launches or launches[-1].process.poll() is not None:
        launches.append(Launched(var).wait_until_up())
    return launches[-1]


def test_what_is_printed_works_and_stands_in_the_run_file(launched):
    access = launched.run_file
    assert launched.answer("/healthz") == 200
    assert launched.answer("/api/v1/projects/", Authorization=f"Bearer {access['token']}") == 200
    assert launched.answer("/api/v1/projects/", Authorization="Bearer bd_wrong") == 401
    assert access["project"] == "default"
    for told in (access["url"], access["admin"]["user"], access["admin"]["password"], access["token"]):
        assert told in launched.output
    assert stat.S_IMODE((launched.var / "run.json").stat().st_mode) == 0o600


def test_the_static_files_are_served_and_packed(launched):
    assert launched.answer("/static/admin/css/base.css") == 200
    for encoding in ("gz", "br"):
        assert list((launched.var / "static" / "plotly").glob(f"plotly-basic.min.*.js.{encoding}"))


def test_200_slow_clients_keep_nobody_waiting(launched):
    port = urlsplit(launched.run_file["url"]).port
    answer = b"GET /static/plotly/plotly-basic.min.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    for beginning in (*SLOW_SENDERS.values(), answer):
        with slow_clients(port, 200, beginning, reads=beginning == answer) as slow:
            # Each of them is connected, and what they ask for has begun.
            wait_until(lambda: launched.answer("/healthz") == 200)
            for _ in range(5):
                slow.go_on()
                began = time.monotonic()
                assert launched.answer("/healthz") == 200
                # Who waits for a slow client waits for ten seconds.
                assert time.monotonic() - began < 5


def test_what_dies_is_started_again(launched):
    first = launched.children() | {"redis": launched.redis()}
    for process in first.values():
        process.kill()
    wait_until(lambda: launched.children().keys() == PROGRAMS and launched.redis())
    second = launched.children() | {"redis": launched.redis()}
    assert {process.pid for process in first.values()}.isdisjoint(p.pid for p in second.values())
    assert launched.answer("/healthz") == 200


def test_a_redis_that_hangs_is_told_and_stays_the_only_one(launched):
    (hanging,) = launched.redis_servers()
    hanging.suspend()
    launched.wait_until_told("Redis does not answer")
    assert launched.redis_servers() == [hanging]
    hanging.resume()
    launched.wait_until_told("Redis answers again")
    assert launched.redis_servers() == [hanging]


def test_a_command_beside_it_uses_its_servers_and_leaves_them(launched):
    command = [sys.executable, "manage.py", "migrate", "--check"]
    subprocess.run(command, cwd=CHECKOUT, env=environment(BENCHDASH_VAR=str(launched.var)), check=True)
    assert launched.answer("/healthz") == 200


def test_ctrl_c_leaves_nothing_behind_and_the_next_start_has_the_same_access(launched, launches):
    before = launched.run_file
    assert launched.end(signal.SIGINT) == 0
    assert processes_of(launched.var) == []
    again = Launched(launched.var).wait_until_up()
    launches.append(again)
    assert {**again.run_file, "url": ""} == {**before, "url": ""}


def test_one_that_was_killed_takes_its_processes_along_and_the_next_start_goes_on(launched, launches):
    """Even without the run file, which was lost: nothing is reset, and the start tells how to."""
    launched.end(signal.SIGKILL)
    wait_until(lambda: not any("python" in process.name() for process in processes_of(launched.var)))
    (launched.var / "run.json").unlink()
    again = Launched(launched.var).wait_until_up()
    launches.append(again)
    assert again.answer("/healthz") == 200
    assert again.run_file["admin"] == {"user": "admin@localhost", "password": None}
    assert again.run_file["token"] is None
    assert "manage.py reset_admin sets a new one" in again.output
    assert "manage.py create_token makes another" in again.output


def test_a_named_database_is_used_and_one_that_does_not_answer_is_told(tmp_path):
    launched = Launched(
        tmp_path, DATABASE_URL="postgres://user@127.0.0.1:1/benchdash", REDIS_URL="redis://none"
    )
    assert launched.wait() == 1
    assert "benchdash cannot start: the database could not be prepared:" in launched.output
    assert "Connection refused" in launched.output
    assert not (tmp_path / "postgresql").exists()
    assert not (tmp_path / "redis").exists()


def test_a_second_one_on_the_same_folder_is_told_so(launched):
    second = Launched(launched.var)
    assert second.wait() == 1
    assert second.output == (
        f"benchdash cannot start: another benchdash already runs in {launched.var}; "
        "stop it, or set BENCHDASH_VAR to another folder\n"
    )


def test_a_taken_port_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        launched = Launched(tmp_path, port)
        assert launched.wait() == 1
    assert launched.output == (
        f"benchdash cannot start: port {port} of 127.0.0.1 is taken by another program; "
        f"choose another with PORT={port + 1} make run\n"
    )


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "_NEEDED_DISK_MB", 10**9)
    with pytest.raises(LaunchError, match=r"is full: \d+ MB are free"), machine.own_folder(tmp_path):
        pass


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(LaunchError, match="Not a directory"), machine.own_folder(tmp_path / "file" / "var"):
        pass


@pytest.mark.parametrize(
    ("name", "value"), [("PORT", "eighty"), ("PORT", "70000"), ("SAMPLE", "no"), ("PORT", "-1")]
)
def test_a_value_that_makes_no_sense_is_refused(name, value):
    with pytest.raises(LaunchError, match=f"{name} must be"):
        choices_of({name: value})


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("0.0.0.0", "http://127.0.0.1:80"),
        ("::1", "http://[::1]:80"),
        ("bench.example", "http://bench.example:80"),
    ],
)
def test_the_address_is_one_that_a_browser_can_open(host, url):
    assert choices_of({"HOST": host}).url(80) == url
