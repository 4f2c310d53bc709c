"""A real Celery worker process for tests that go through the queue."""

import os
import signal
import sys
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connection

from benchdash.celery import app
from benchdash.launcher.processes import Program, spawn
from tests.waiting import wait_until

QUEUES = tuple(settings.QUEUES)


def forget_queues():
    """Take out of them what no worker has begun."""
    with app.connection_for_write() as broker:
        broker.default_channel.client.delete(*QUEUES)


class CeleryWorker:
    """Works on the test database of this pytest process, whose address it gets by its environment."""

    def __init__(self, *, queues=QUEUES, **environment):
        database = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
        self._environment = {**os.environ, "DATABASE_URL": database.geturl(), **environment}
        self.email_url = environment.get("EMAIL_URL", "")
        self._queues = ",".join(queues)
        self._log = Path(settings.VAR_DIR) / f"worker-{self._queues}.log"
        self._process = None

    @property
    def log(self):
        return self._log.read_text(errors="replace")

    def start(self):
        command = [sys.executable, "-m", "celery", "-A", "benchdash.celery", "worker", "--loglevel=INFO"]
        command += [f"--queues={self._queues}", f"--hostname={self._queues}@%h", "--concurrency=2"]
        command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        with self._log.open("w") as log:
            self._process = spawn(
                Program("worker", command, orphan_signal=signal.SIGKILL),
                {**self._environment, "PYTHONPATH": str(settings.BASE_DIR)},
                stdout=log,
                stderr=log,
            )
        try:
            wait_until(self._is_ready, within=180)
        except AssertionError:
            self.stop()
            raise

    def kill(self):
        """As the kernel does when memory is short: the worker and its children, at once."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self):
        if self._process.poll() is None:
            self.kill()

    def hang(self):
        """The worker and its children do nothing any more, and still live."""
        os.killpg(self._process.pid, signal.SIGSTOP)

    def go_on(self):
        os.killpg(self._process.pid, signal.SIGCONT)

    def wait_until_idle(self, *, within=180.0):
        wait_until(self._is_idle, within=within)

    def wake(self):
        """Work, from an empty queue; a worker that was killed starts anew."""
        forget_queues()
        if self._process.poll() is None:
            self.go_on()
        else:
            self.start()

    def rest(self):
        """Finish what is being done, and leave alone what tests without a worker will put into the queue."""
        forget_queues()
        if self._process.poll() is None:
            wait_until(lambda: self._unfinished() == 0)
            self.hang()

    def _is_ready(self):
        assert self._process.poll() is None, self.log
        return " ready." in self.log

    def _is_idle(self):
        """Nothing is queued or being done, all asked of Redis at one moment."""
        with app.connection_for_write() as broker:
            redis = broker.default_channel.client
            asked = redis.pipeline(transaction=True).hlen("unacked").client_list()
            for queue in QUEUES:
                asked.llen(queue)
            unfinished, clients, *queued = asked.execute()
            database = str(redis.connection_pool.connection_kwargs.get("db", 0))
        # What the worker has just fetched stands in neither place until the worker waits for the next task.
        waiting = [one for one in clients if one["cmd"] == "brpop" and "b" in one["flags"]]
        return sum(queued) + unfinished == 0 and any(one["db"] == database for one in waiting)

    def _unfinished(self):
        # Tasks are acknowledged when they are done; until then Redis holds them here.
        with app.connection_for_write() as broker:
            return broker.default_channel.client.hlen("unacked")
