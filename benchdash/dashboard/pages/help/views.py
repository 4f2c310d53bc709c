"""The meaning of the words of pages and mails: the chapter on statistics of the documentation."""

from functools import cache
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchdash.dashboard.shell.chapters import Chapter, chapter_of

_STATISTICS: Final = settings.BASE_DIR / "docs" / "statistics.md"


@require_safe
def statistics(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboard/statistics.html", {"chapter": _statistics()})


@cache
def _statistics() -> Chapter:
    return chapter_of(_STATISTICS.read_text())
