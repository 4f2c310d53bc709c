"""Settings of the web server, read by gunicorn; the address to bind is given on its command line."""

import gc
import os
from typing import Any

from benchdash.memory import give_back_freed_memory

worker_class = "gthread"
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
threads = 8
# The code is loaded once and shared; a worker that dies is back at once.
preload_app = True
timeout = 120
graceful_timeout = 4
# Whether a proxy's word counts is decided in one place: BEHIND_PROXY in benchdash.settings.
forwarded_allow_ips = ""
control_socket_disable = True


give_back_freed_memory()


def when_ready(_server: Any) -> None:
    """What was loaded stays: the collector need not look at it again in any worker."""
    gc.collect()
    gc.freeze()


def post_worker_init(_worker: Any) -> None:
    """An answer makes some ten thousand objects that live until it is sent, and hardly any cycle."""
    gc.set_threshold(50_000, 5, 5)
