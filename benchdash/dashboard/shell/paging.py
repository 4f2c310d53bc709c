"""Pages of lists that may have millions of rows."""

from functools import cached_property
from typing import Any, Final

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet

from benchdash.addresses import whole_number
from benchdash.dashboard.shell import numbers

# To count a million rows takes longer than all the rest of a page.
MAX_COUNTED: Final = 10_000


class LongList(Paginator):  # type: ignore[type-arg] # not subscriptable at run time
    """A list whose rows are counted up to ``MAX_COUNTED``, or to the end of a later page that is asked for.

    Every page can be reached from the one before it.
    """

    def __init__(self, found: QuerySet[Any, Any], per_page: int, asked: str | None) -> None:
        super().__init__(found, per_page)
        self._found, self._asked = found, asked
        self.most = max(MAX_COUNTED, (whole_number(asked or "") or 1) * per_page)

    def page_asked_for(self) -> "Page[Any]":
        """Return the page asked for: the last for too large a number, the first for what is no number."""
        return self.get_page(self._asked)

    @cached_property
    def count(self) -> int:
        """One more than ``most`` for any number of rows that is larger."""
        return int(self._found.order_by().values("pk")[: self.most + 1].count())


def total(pages: "Paginator[Any]", noun: str) -> str:
    """``1,234 runs``, ``1 run``, ``more than 10,000 runs``."""
    if isinstance(pages, LongList) and pages.count > pages.most:
        return f"more than {numbers.counted(pages.most, noun)}"
    return numbers.counted(pages.count, noun)
