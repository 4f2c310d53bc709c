"""The web server as production starts it, and clients that are slow or large."""

import http.client
import os
import select
import signal
import socket
import sys
import time
from collections import defaultdict
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from django.conf import settings
from django.db import connection

from benchdash.launcher.processes import Program, spawn
from tests.waiting import wait_until


class WebServer:
    """One web process on the test database of this pytest process; ``environment`` says what differs."""

    def __init__(self, folder, **environment):
        database = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self._log = folder / "web.log"
        with socket.create_server(("127.0.0.1", 0)) as address, self._log.open("w") as log:
            self.port = address.getsockname()[1]
            descriptor = address.fileno()
            gunicorn = [sys.executable, "-m", "gunicorn", "--config", "python:benchdash.gunicorn_settings"]
            self._process = spawn(
                Program(
                    "web",
                    [*gunicorn, f"--bind=fd://{descriptor}", "benchdash.asgi"],
                    orphan_signal=signal.SIGKILL,
                    inherited=(descriptor,),
                ),
                {
                    **os.environ,
                    "DATABASE_URL": database.geturl(),
                    "PYTHONPATH": str(settings.BASE_DIR),
                    "TMPDIR": str(self.temporary),
                    "WEB_CONCURRENCY": "1",
                    **environment,
                },
                stdout=log,
                stderr=log,
            )
        wait_until(self.seconds_of_healthz_or_none, within=180)

    @property
    def log(self):
        return self._log.read_text(errors="replace")

    def connect(self, timeout=20.0):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def ask(self, method, path, body=None, **headers):
        """The answer and its bytes."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as client:
            client.request(method, path, body, headers)
            answer = client.getresponse()
            return answer, answer.read()

    def seconds_of_healthz(self):
        began = time.monotonic()
        answer, _ = self.ask("GET", "/healthz")
        assert answer.status == 200
        return time.monotonic() - began

    def seconds_of_healthz_or_none(self):
        assert self._process.poll() is None, self.log
        try:
            return self.seconds_of_healthz()
        except (AssertionError, OSError, http.client.HTTPException):
            return None

    def files_held(self):
        """Temporary files of requests, those without a name included."""
        held = []
        for process in self.processes():
            for descriptor in Path(f"/proc/{process.pid}/fd").iterdir():
                with suppress(FileNotFoundError):
                    held.append(descriptor.readlink())
        # By one of its own gunicorn sees that a process lives.
        return [
            file
            for file in held
            if file.is_relative_to(self.temporary) and not file.name.startswith("wgunicorn-")
        ]

    def connections(self):
        """How many clients it has."""
        return sum(
            connection.status == psutil.CONN_ESTABLISHED and connection.laddr.port == self.port
            for process in self.processes()
            for connection in process.net_connections(kind="tcp")
        )

    def processes(self):
        process = psutil.Process(self._process.pid)
        return [process, *process.children()]

    def memory_mb(self):
        return max(process.memory_info().rss for process in self.processes()) / 2**20

    def stop(self):
        """Ask it to end, and return the seconds that it took."""
        began = time.monotonic()
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait(timeout=30)
        return time.monotonic() - began


def head_of_post(path, **headers):
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: multipart/form-data; boundary=b"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


# How clients begin that then send a byte at a time.
SLOW_SENDERS = {
    "the head of a request": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ",
    "an anonymous upload": head_of_post("/api/v1/uploads/", Content_Length=60_000),
    "signing in": head_of_post("/sign-in/", Content_Length=60_000, Cookie=f"csrftoken={'a' * 32}"),
}


@contextmanager
def slow_clients(port, number, beginning, *, reads=False):
    """Connections that have sent ``beginning`` and go on, or read the answer, by a byte at a time."""
    clients = []
    try:
        for _ in range(number):
            client = socket.socket()
            if reads:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", port))
            client.sendall(beginning)
            client.setblocking(False)
            clients.append(client)
        yield SlowClients(clients, reads=reads)
    finally:
        for client in clients:
            client.close()


class SlowClients:
    """``answers`` are what each got while it was sending."""

    def __init__(self, clients, *, reads):
        self._open, self._reads = clients, reads
        self.answers = defaultdict(bytes)

    def go_on(self):
        """Each does a little more; those that were cut off are dropped."""
        self._open = [client for client in self._open if self._is_left_after_a_byte(client)]

    def _is_left_after_a_byte(self, client):
        try:
            if self._reads:
                return client.recv(1) != b""
            if select.select([client], [], [], 0)[0]:
                received = client.recv(65536)
                self.answers[client] += received
                return received != b""
            client.send(b"x")
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True
