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
from benchmarks.performance.processes import cpu_ms_of_trees, pss_mb, tree

CHECKOUT = Path(__file__).resolve().parents[2]
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
        return {
            "web": cpu_ms_of_trees(self.web.pid),
            "database": cpu_ms_of_trees(self._postmaster),
            "workers": cpu_ms_of_trees(*(worker.pid for worker in self.workers)),
            "redis": cpu_ms_of_trees(self._redis_pid),
        }

    def memory_mb(self) -> dict[str, float]:
        """Of the largest process of the web server and of the workers."""
        return {name: max(sizes) for name, sizes in self.memory_of_each_mb().items()}

    def memory_of_each_mb(self) -> dict[str, list[float]]:
        """Proportional set sizes of the processes of the web server and of the workers."""
        return {
            "web": list(map(pss_mb, tree(self.web.pid))),
            "worker": [pss_mb(pid) for worker in self.workers for pid in tree(worker.pid)],
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
            [*gunicorn, f"--bind=fd://{address.fileno()}", "benchdash.asgi"],
            inherited=(address.fileno(),),
        )
        web = spawn(program, environment, stdout=log, stderr=log)
        started = Stack(var=var, url=f"http://127.0.0.1:{port}", web=web)
        celery = [sys.executable, "-m", "celery", "-A", "benchdash.celery", "worker", "--concurrency=1"]
        options = ["--queues=imports,analysis,mail", "--loglevel=WARNING"]
        options += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
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
