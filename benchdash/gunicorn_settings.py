"""Settings of the web server, read by gunicorn; the address to bind is given on its command line."""

import gc
import os
import resource
from typing import Any

worker_class = "benchdash.entrance.worker.Worker"
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
# The code is loaded once and shared; a worker that dies is back at once.
preload_app = True
timeout = 120
graceful_timeout = 4
# How long a connection may be idle between two requests.
keepalive = 5
control_socket_disable = True


def when_ready(_server: Any) -> None:
    """Keep loaded code out of garbage collection, in all workers."""
    gc.collect()
    gc.freeze()


def post_worker_init(_worker: Any) -> None:
    """Allow many connections, and collect garbage seldom."""
    # Each connection is an open file.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    # An answer makes some ten thousand objects and hardly any cycle.
    gc.set_threshold(50_000, 5, 5)


def child_exit(server: Any, _worker: Any) -> None:
    """Count one process less again, where one that ended had asked for its successor before."""
    server.num_workers = max(workers, server.num_workers - 1)
