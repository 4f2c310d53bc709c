"""Several workers at once, each with a database connection of its own."""

import threading
from concurrent.futures import ThreadPoolExecutor

from django.db import connections


def at_once(*actions):
    """Start them together and raise what one of them raised."""
    start = threading.Barrier(len(actions))

    def work(action):
        try:
            start.wait(60)
            return action()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(work, actions))
