"""The chart that an address embeds: the first one of a page, as that page draws it."""

import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC
from typing import Any, Final

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, QueryDict
from django.utils import timezone

from benchdash.accounts.signed_links import ENDS, UNSIGNED
from benchdash.dashboard.charts.common import Figure
from benchdash.dashboard.pages.embeds.visitors import NothingToShow
from benchdash.dashboard.shell.contents import content_of, request_of
from benchdash.dashboard.shell.navigation import page_url
from benchdash.dashboard.shell.project_page import ProjectPage

_LINK: Final = re.compile(r"</?a\b[^>]*>")
# How a chart is embedded, and which of several stands on a page.
_NOT_OF_PAGE: Final = frozenset({*UNSIGNED, ENDS, "chart", "charts", "page", "format"})


def _first_of_history(context: Mapping[str, Any]) -> Any:
    return next(iter(context.get("charts", ())), None)


def _first_of_compare(context: Mapping[str, Any]) -> Any:
    rows = context["shown"].opened.rows.values() if context else ()
    return next((panel for row in rows for panel in row.panels), None)


CHARTS: Final = {"history": _first_of_history, "compare": _first_of_compare}
"""By the name of a page, which chart of its context is embedded."""


@dataclass(frozen=True)
class ShownChart:
    """A figure without links, its title, and the whole address of the page that has it with its table.

    ``notes`` are what its flags stand for, newest first.
    """

    title: str
    figure: Figure
    url: str
    notes: Sequence[str] = ()


def shown_chart(request: HttpRequest, page: ProjectPage, name: str, query: str) -> ShownChart:
    """Return the chart of the page of that name with this query, in the statements of the page.

    Raises NothingToShow.
    """
    inner = copy(request)
    inner.user = AnonymousUser()
    with timezone.override(UTC):
        context = content_of(request_of(inner, page, name, query), page)
    chart = CHARTS[name](context)
    if chart is None:
        sentence = "What this address names was not measured, or is not here any more."
        raise NothingToShow(404, sentence, "not measured")
    notes = [f"{flag.text} {flag.words}" for flag in getattr(chart, "listed", ())]
    url = f"{page_url(name, page.project)}?{query}"
    return ShownChart(chart.title, _without_links(chart.figure), url, notes)


def query_of_page(query: QueryDict) -> str:
    """Leave out of a query what is of the embedding and not of the page."""
    kept = query.copy()
    for name in _NOT_OF_PAGE:
        kept.pop(name, None)
    return kept.urlencode()


def _without_links(figure: Figure) -> Figure:
    """Take out what would lead from within a frame to pages that are not shown in frames."""

    def plain(part: Any) -> Any:
        if isinstance(part, dict):
            return {
                key: _LINK.sub("", value) if key == "text" and isinstance(value, str) else plain(value)
                for key, value in part.items()
                if key not in ("links", "times")
            }
        is_list = isinstance(part, list) and part and isinstance(part[0], dict)
        return [plain(one) for one in part] if is_list else part

    return {name: plain(part) for name, part in figure.items()}
