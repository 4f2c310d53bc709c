"""The chart that an address embeds: the first one of a page, as that page draws it."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC
from typing import Any, Final

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, QueryDict
from django.utils import timezone

from benchdash.addresses import HistoryQuery, RowsQuery, ViewQuery
from benchdash.charts.figure import Figure
from benchdash.dashboard.pages.embeds.visitors import NothingToShow
from benchdash.dashboard.shell.contents import content_of, request_of
from benchdash.dashboard.shell.navigation import page_url
from benchdash.dashboard.shell.project_page import ProjectPage


def _first_of_history(context: Mapping[str, Any]) -> Any:
    return next(iter(context.get("charts", ())), None)


def _first_of_compare(context: Mapping[str, Any]) -> Any:
    rows = context["shown"].opened.rows.values() if context else ()
    return next((panel for row in rows for panel in row.panels), None)


CHARTS: Final = {"history": _first_of_history, "compare": _first_of_compare}
"""By the name of a page, which chart of its context is embedded."""
_QUERIES: Final[Mapping[str, type[ViewQuery]]] = {"history": HistoryQuery, "compare": RowsQuery}


@dataclass(frozen=True)
class ShownChart:
    """A figure, its title, and the whole address of the page that has it with its table.

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
    return ShownChart(chart.title, chart.figure, url, notes)


def query_of_page(name: str, query: QueryDict | str) -> str:
    """Leave out of a query what is of the embedding, and which of several charts stands on the page."""
    return str(_QUERIES[name].of(query).without("charts"))
