"""The CPU time that reading one file may take: it ends what no limit on sizes foresees."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ends_at: ContextVar[float] = ContextVar("ends_at", default=math.inf)


class OverBudgetError(BaseException):
    """The budget is spent. It is no Exception, so that nothing on the way takes it for a fault of its own.

    ``line`` is the line that was being read, as far as it is known.
    """

    def __init__(self, line: int | None) -> None:
        super().__init__(line)
        self.line = line


@contextmanager
def cpu_budget(seconds: float) -> Iterator[None]:
    """Let this thread spend so much CPU time within; check_budget raises OverBudgetError beyond."""
    before = _ends_at.set(time.thread_time() + seconds)
    try:
        yield
    finally:
        _ends_at.reset(before)


def check_budget(line: int | None = None) -> None:
    """Raise OverBudgetError where the budget is spent. It asks the system, so not for each of many values."""
    if time.thread_time() > _ends_at.get():
        raise OverBudgetError(line)
