"""Machines of one installation: each has its own ``var/`` and processes, all share PostgreSQL and Redis."""

import json
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from django.conf import settings
from django.db import connection
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from benchdash.launcher.processes import Program, spawn
from tests.waiting import wait_until


class Machine:
    def __init__(self, var, **environment):
        self.var = Path(var)
        self.var.mkdir(exist_ok=True)
        database = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
        self._environment = {
            **os.environ,
            "BENCHDASH_VAR": str(self.var),
            "DATABASE_URL": database.geturl(),
            "REDIS_URL": settings.REDIS_URL,
            "SECRET_KEY": settings.SECRET_KEY,
            "PYTHONPATH": str(settings.BASE_DIR),
            "WEB_CONCURRENCY": "1",
            **environment,
        }
        self._processes = []

    def serve(self):
        """Start a web server and wait until it answers."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.start_web()
        wait_until(self._answers, within=180)

    def start_web(self):
        command = [sys.executable, "-m", "gunicorn", "--config", "python:benchdash.gunicorn_settings"]
        address = getattr(self, "address", "127.0.0.1:0")
        return self._start("web", [*command, f"--bind={address}", "benchdash.asgi"])

    def start_worker(self):
        command = [sys.executable, "-m", "celery", "-A", "benchdash.celery", "worker", "--loglevel=INFO"]
        return self._start(
            "worker",
            [*command, "--queues=imports", "--concurrency=1", "--without-gossip", "--without-mingle"],
        )

    def log(self, name):
        return (self.var / f"{name}.log").read_text(errors="replace")

    def kill(self):
        """As a hard stop of the machine does."""
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._processes.clear()

    def upload(self, token, name, data, **fields):
        """Send a file to the web server and return the JSON of its answer."""
        content = _File(data)
        content.name = name
        request = Request(
            f"http://{self.address}/api/v1/uploads/",
            data=encode_multipart(BOUNDARY, {"file": content, **fields}),
            headers={"Content-Type": MULTIPART_CONTENT, "Authorization": f"Bearer {token}"},
        )
        with urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def get(self, path):
        with urlopen(f"http://{self.address}{path}", timeout=20) as answer:
            return answer.read()

    def _start(self, name, command):
        with (self.var / f"{name}.log").open("w") as log:
            program = Program(name, command, orphan_signal=signal.SIGKILL)
            process = spawn(program, self._environment, stdout=log, stderr=log)
        self._processes.append(process)
        return process

    def _answers(self):
        assert self._processes[-1].poll() is None, self.log("web")
        try:
            return self.get("/healthz")
        except OSError:
            return False


class _File:
    def __init__(self, data):
        self._data = data

    def read(self):
        return self._data
