"""The clock of this process, moved: what is asked for the time within ``clock_at`` is told that one."""

from contextlib import contextmanager

import time_machine

from benchdash.results.models import TouchedSeries


@contextmanager
def clock_at(time):
    """Let it be that time, standing still.

    What was touched then is due since then: PostgreSQL has a clock of its own.
    """
    with time_machine.travel(time, tick=False):
        yield
        TouchedSeries.objects.filter(touched_at=time).update(due_since=time)
