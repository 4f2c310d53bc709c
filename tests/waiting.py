"""Wait for what another process does."""

import time


def wait_until(condition, *, within=120.0):
    """The first true answer of ``condition()``; fails after ``within`` seconds."""
    deadline = time.monotonic() + within
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"still waiting after {within} s"
        time.sleep(0.05)
    return answer
