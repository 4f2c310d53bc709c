"""From ``make run`` to the last Ctrl-C."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

from benchdash.embedded import ServerError, servers
from benchdash.embedded.servers import Server
from benchdash.launcher import LaunchError, machine, run_file
from benchdash.launcher.choices import CHECKOUT, Choices, choices_of
from benchdash.launcher.logs import rotate
from benchdash.launcher.processes import Program, Service, spawn, stop

_MANAGE = [sys.executable, str(CHECKOUT / "manage.py")]
_CELERY = [sys.executable, "-m", "celery", "-A", "benchdash.celery"]
_RESET_HINT = "the one that you chose; .venv/bin/python manage.py reset_admin sets a new one"
_CREATE_HINT = "one that you made; .venv/bin/python manage.py create_token makes another"
_WEB_ANSWERS_WITHIN_S = 60.0
_LOOK_AT_SERVERS_EVERY_S = 2.0


class _StopAsked(Exception):  # noqa: N818 - nothing went wrong
    """Ctrl-C, or a signal that means the same."""


def launch() -> None:
    """Run everything until somebody stops it. Raises LaunchError or ServerError where it cannot start."""
    choices = choices_of(os.environ)
    patience = _Patience()
    with machine.own_folder(choices.var), machine.reserve(choices.host, choices.port) as address:
        embedded = servers.needed(choices.var, os.environ)
        if embedded:
            _say(f"Starting {' and '.join(server.name for server in embedded)}")
        with servers.running(choices.var, embedded):
            everything = _Everything(choices, address, embedded, patience)
            with suppress(_StopAsked):
                try:
                    everything.start()
                    everything.look_after()
                finally:
                    everything.stop()


class _Patience:
    """Waiting that a signal ends. No signal interrupts anything else."""

    def __init__(self) -> None:
        self._stop_asked = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._ask_to_stop)

    def wait(self, seconds: float = 0.1) -> None:
        until = time.monotonic() + seconds
        while not self._stop_asked and time.monotonic() < until:
            time.sleep(0.05)
        if self._stop_asked:
            raise _StopAsked

    def _ask_to_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stop_asked = True


class _Everything:
    """The processes of one start, from the first to the last."""

    def __init__(
        self, choices: Choices, address: socket.socket, embedded: Sequence[Server], patience: _Patience
    ) -> None:
        self._choices = choices
        self._address = address
        self._embedded = embedded
        self._patience = patience
        self._url = choices.url(address.getsockname()[1])
        self._environment = _environment(choices, self._url)
        self._logs = choices.var / "log"
        self._services: list[Service] = []
        self._silent: set[str] = set()
        self._samples: subprocess.Popen[str] | None = None
        self._began = time.monotonic()

    def start(self) -> None:
        self._logs.mkdir(mode=0o700, exist_ok=True)
        for private in ("mail", "media"):
            (self._choices.var / private).mkdir(mode=0o700, exist_ok=True)
        _say("Preparing the database and the static files")
        access = self._prepare()
        # From now on clients wait for an answer and are not turned away.
        self._address.listen(2048)
        run_file.write(self._choices.var, {"url": self._url, **access})
        _say("Starting the web server, the workers and beat")
        for program in self._programs():
            service = Service(program, environment=self._environment, logs=self._logs)
            self._services.append(service)
            service.start()
        self._wait_for_web()
        self._tell(access)
        if self._choices.samples:
            _say("Loading the sample projects that are not there yet; they fill while you look")
            self._samples = spawn(Program("samples", [*_MANAGE, "load_samples"]), self._environment)

    def look_after(self) -> None:
        """Look after the processes until somebody asks to stop."""
        servers_due = time.monotonic()
        while True:
            self._patience.wait()
            self._look_at_samples()
            for service in self._services:
                if told := service.look_after():
                    _say(told)
            if time.monotonic() >= servers_due:
                self._look_at_servers()
                servers_due = time.monotonic() + _LOOK_AT_SERVERS_EVERY_S

    def stop(self) -> None:
        _say("Stopping")
        processes = [service.process for service in self._services if service.process]
        stop([*processes, *([self._samples] if self._samples else [])])

    def _programs(self) -> list[Program]:
        descriptor = self._address.fileno()
        gunicorn = [sys.executable, "-m", "gunicorn", "--config", "python:benchdash.gunicorn_settings"]
        (self._choices.var / "beat").mkdir(exist_ok=True)
        schedule = self._choices.var / "beat" / "schedule"
        return [
            Program(
                "web",
                [*gunicorn, f"--bind=fd://{descriptor}", "benchdash.asgi"],
                inherited=(descriptor,),
            ),
            _worker("imports", "--concurrency=2"),
            # One process each, without the one that looks after others: half the memory.
            _worker("analysis", "--pool=solo"),
            _worker("mail", "--pool=solo"),
            # Threads, for it does nothing but wait for the answers of others.
            _worker("code-hosts", "--pool=threads", "--concurrency=4"),
            Program("beat", [*_CELERY, "beat", f"--schedule={schedule}", "--pidfile=", "--loglevel=INFO"]),
        ]

    def _prepare(self) -> dict[str, Any]:
        log = self._logs / "prepare.log"
        with log.open("w") as errors:
            process = spawn(
                Program("prepare", [*_MANAGE, "prepare"]),
                self._environment,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
            try:
                while process.poll() is None:
                    self._patience.wait()
            finally:
                stop([process])
        if process.returncode:
            raise LaunchError(f"the database could not be prepared: {_reason(log)} (see {log})")
        answer: dict[str, Any] = json.loads(process.communicate()[0].splitlines()[-1])
        return answer

    def _wait_for_web(self) -> None:
        web = self._services[0]
        deadline = time.monotonic() + _WEB_ANSWERS_WITHIN_S
        while not _answers(self._url):
            self._patience.wait()
            if time.monotonic() > deadline or (web.process and web.process.poll() is not None):
                raise LaunchError(f"the web server did not start; {web.log} says why")

    def _tell(self, access: Mapping[str, Any]) -> None:
        site = self._environment["SITE_URL"]
        _say(f"""
benchdash is up after {time.monotonic() - self._began:.0f} s

  address       {self._url}{"" if site == self._url else f" (in mails: {site})"}
  sign in as    {access["admin"]["user"]}
  password      {access["admin"]["password"] or _RESET_HINT}
  upload token  {_told_token(access)}

The same is in {run_file.path(self._choices.var)}, logs are in {self._logs}. Ctrl-C stops everything.
""")

    def _look_at_samples(self) -> None:
        if self._samples is None or self._samples.poll() is None:
            return
        if self._samples.returncode == 0:
            _say(f"The sample projects are there: {self._url}")
        else:
            _say("The sample projects could not be loaded; the next start tries again")
        self._samples = None

    def _look_at_servers(self) -> None:
        try:
            for server in servers.start_missing(self._choices.var, self._embedded):
                _say(f"{server.name} was gone and is started again")
        except ServerError as error:
            _say(f"{error}; trying again")
        for server in self._embedded:
            rotate(server.log)
            self._look_whether_it_answers(server)

    def _look_whether_it_answers(self, server: Server) -> None:
        """Say when a server falls silent or answers again. A second one would damage its files."""
        is_silent, was_silent = not server.answers(), server.name in self._silent
        if is_silent and not was_silent:
            self._silent.add(server.name)
            _say(f"{server.name} does not answer; {server.log} may say why. It is left as it is")
        elif was_silent and not is_silent:
            self._silent.remove(server.name)
            _say(f"{server.name} answers again")


def _worker(queue: str, *options: str) -> Program:
    command = [*_CELERY, "worker", f"--queues={queue}", f"--hostname={queue}@%h", *options]
    # SIGTERM would let a worker finish its work first, with nobody left to stop it.
    return Program(
        f"worker-{queue}",
        [*command, "--loglevel=INFO", "--without-gossip", "--without-mingle"],
        orphan_signal=signal.SIGQUIT,
    )


def _environment(choices: Choices, url: str) -> dict[str, str]:
    return {
        **os.environ,
        "BENCHDASH_VAR": str(choices.var),
        "HOST": choices.host,
        "PORT": str(urlsplit(url).port),
        "SITE_URL": os.environ.get("SITE_URL") or url,
        "PYTHONPATH": str(CHECKOUT),
        "PYTHONUNBUFFERED": "1",
    }


def _told_token(access: Mapping[str, Any]) -> str:
    return f"{access['token']} (project '{access['project']}')" if access["token"] else _CREATE_HINT


def _reason(log: Path) -> str:
    """Return the line of a traceback that names the error; indented lines belong to the one before."""
    lines = log.read_text(errors="replace").splitlines()
    return next((line for line in reversed(lines) if line and not line[0].isspace()), "it gave no reason")


def _answers(url: str) -> bool:
    """Return whether it answers at all, even an error: the pages may expect another address."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        connection.getresponse()
    except (OSError, http.client.HTTPException):
        return False
    else:
        return True
    finally:
        connection.close()


def _say(text: str) -> None:
    # A terminal that was closed must not keep us from stopping in order.
    with suppress(OSError):
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
