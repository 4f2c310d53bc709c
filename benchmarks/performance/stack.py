"""The real thing: PostgreSQL, Redis, gunicorn, two Celery workers, and the CPU time that they take."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

import redis

from benchdash import embedded
from benchdash.embedded.postgresql import Postgresql
from benchdash.embedded.redis import Redis
from benchdash.embedded.servers import running
from benchdash.launcher.processes import Program, spawn, stop

CHECKOUT = Path(__file__).resolve().parents[2]
_TICKS_PER_MS = os.sysconf("SC_CLK_TCK") / 1000
_UP_WITHIN_S = 60


@dataclass
class Stack:
    """``url`` answers. CPU times are those of everything that was started, the database's included."""

    var: Path
    url: str
    web: "subprocess.Popen[str]"
    workers: "list[subprocess.Popen[str]]" = field(default_factory=list)

    def cpu_ms(self) -> dict[str, float]:
        """So far, of the web server, the database, the workers, and Redis."""
        of_process = _cpu_of_all_processes()
        return {
            "web": _cpu_of_tree(self.web.pid, of_process),
            "database": _cpu_of_tree(self._postmaster, of_process),
            "workers": sum(_cpu_of_tree(worker.pid, of_process) for worker in self.workers),
            "redis": _cpu_of_tree(self._redis_pid, of_process),
        }

    def memory_mb(self) -> dict[str, float]:
        """Proportional set size of the largest process of the web server and of the workers."""
        return {
            "web": max(map(_pss_mb, _tree(self.web.pid))),
            "worker": max(_pss_mb(pid) for worker in self.workers for pid in _tree(worker.pid)),
        }

    def empty_cache_of_database(self) -> None:
        """A restart; the operating system may still have the pages."""
        server = Postgresql(self.var)
        server.stop()
        server.start()

    @property
    def _postmaster(self) -> int:
        return int((self.var / "postgresql" / "postmaster.pid").read_text().split("\n", 1)[0])

    @property
    def _redis_pid(self) -> int:
        client = redis.Redis.from_url(embedded.redis_url(self.var))
        return int(client.info("server")["process_id"])


@contextmanager
def databases(var: Path) -> Iterator[None]:
    """PostgreSQL and Redis in ``var``; the environment then says the rest to Django."""
    for name in ("DATABASE_URL", "REDIS_URL", "SITE_URL"):
        os.environ.pop(name, None)
    os.environ |= {"BENCHDASH_VAR": str(var), "DJANGO_SETTINGS_MODULE": "benchmarks.performance.settings"}
    with running(var, [Postgresql(var), Redis(var)]):
        yield


@contextmanager
def stack(var: Path) -> Iterator[Stack]:
    """The web server as production has it, and two workers of one process each."""
    with ExitStack() as ending:
        address = ending.enter_context(socket.create_server(("127.0.0.1", 0), backlog=512))
        port = address.getsockname()[1]
        environment = {
            **os.environ,
            "PORT": str(port),
            "PYTHONPATH": str(CHECKOUT),
            "LOG_LEVEL": "WARNING",
            "STATIC_ROOT": str(var / "static"),
        }
        log = ending.enter_context((var / "stack.log").open("a"))
        gunicorn = [sys.executable, "-m", "gunicorn", "--config", "python:benchdash.gunicorn_settings"]
        program = Program(
            "web",
            [*gunicorn, f"--bind=fd://{address.fileno()}", "benchdash.wsgi"],
            inherited=(address.fileno(),),
        )
        web = spawn(program, environment, stdout=log, stderr=log)
        started = Stack(var=var, url=f"http://127.0.0.1:{port}", web=web)
        celery = [sys.executable, "-m", "celery", "-A", "benchdash.celery", "worker", "--concurrency=1"]
        options = ["--loglevel=WARNING", "--without-gossip", "--without-mingle", "--without-heartbeat"]
        for number in range(2):
            name = [f"--hostname=bench-{number}@localhost"]
            worker = Program(f"worker-{number}", [*celery, *options, *name], orphan_signal=signal.SIGQUIT)
            started.workers.append(spawn(worker, environment, stdout=log, stderr=log))
        ending.callback(lambda: stop([started.web, *started.workers]))
        _wait_for(f"{started.url}/healthz")
        yield started


def _wait_for(url: str) -> None:
    until = time.monotonic() + _UP_WITHIN_S
    while True:
        try:
            with urlopen(url, timeout=5):  # noqa: S310 - our own address
                return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def _cpu_of_all_processes() -> dict[int, tuple[int, float]]:
    """The parent and the ms of each process, with those of its children that ended."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                # The name stands in brackets and may hold anything.
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            found[int(entry.name)] = int(fields[1]), sum(map(int, fields[11:15])) / _TICKS_PER_MS
    return found


def _cpu_of_tree(root: int, of_process: dict[int, tuple[int, float]]) -> float:
    return sum(of_process[pid][1] for pid in _tree(root, of_process) if pid in of_process)


def _tree(root: int, of_process: dict[int, tuple[int, float]] | None = None) -> list[int]:
    of_process = of_process or _cpu_of_all_processes()
    found = [root]
    for pid in found:
        found.extend(child for child, (parent, _) in of_process.items() if parent == pid)
    return found


def _pss_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0
