"""The parts that pages are put together from: ``{% load shell %}``."""

from typing import Any
from urllib.parse import urlsplit

from django import template
from django.http import HttpRequest, QueryDict
from django.template.context import RequestContext
from django.urls import reverse
from django.utils.html import format_html

from benchdash.accounts.access import NOBODY, viewer_of
from benchdash.accounts.models import Project
from benchdash.addresses import QUERIES, ViewQuery, history_of
from benchdash.charts.figure import Figure
from benchdash.charts.plotly import plotly
from benchdash.dashboard.shell.chapters import EXPLAINED_AT
from benchdash.dashboard.shell.filters import FilterChip, FilterLine
from benchdash.dashboard.shell.html import choice_labels, figure_json
from benchdash.dashboard.shell.navigation import navigation, page_url, tabs
from benchdash.results.readings import UNKNOWN

register = template.Library()


@register.simple_tag
def choices(chip: FilterChip) -> str:
    """Return a labelled box for each choice of a chip."""
    return choice_labels(chip.name, chip.choices, several=chip.several)


@register.inclusion_tag("dashboard/_top_bar.html", takes_context=True)
def top_bar(context: RequestContext) -> dict[str, Any]:
    request, page = context.get("request"), context.get("page")
    # An error page may be drawn before the middlewares have said who asks.
    viewer = page.viewer if page else viewer_of(request) if request and hasattr(request, "user") else NOBODY
    project, current = page.project if page else None, _current(request)
    return {
        "request": request,
        "viewer": viewer,
        "project": project,
        "projects": page.projects if page else [],
        "navigation": navigation(project, viewer, current, _selection(context)) if project else None,
        "is_sign_in": current == "sign_in",
        "csrf_token": context.get("csrf_token"),
    }


@register.inclusion_tag("dashboard/_tabs.html", takes_context=True)
def page_tabs(context: RequestContext) -> dict[str, Any]:
    """Show the tabs of a page that is one of several on the same things."""
    request, page = context.get("request"), context.get("page")
    if not (request and page):
        return {"tabs": []}
    return {"tabs": tabs(page.project, page.viewer, _current(request), _selection(context))}


@register.simple_tag(takes_context=True)
def unsaid_direction(context: RequestContext, metric: str, direction: str) -> str:
    """Say of a metric that nobody has said which direction is better, with a link to say it."""
    if direction != UNKNOWN:
        return ""
    url = reverse("dashboard:metrics", args=[context["project"].slug])
    return format_html(
        '<p class="quiet unsaid-direction">Nobody has said which direction of {} is better, so it is not'
        ' judged. <a href="{}#not-said">Say it</a></p>',
        metric,
        url,
    )


def _selection(context: RequestContext) -> ViewQuery | None:
    """Return the selection of the page, in its own words or as its address says; None where it has none."""
    request, query = context.get("request"), QUERIES.get(_current(context.get("request")))
    return context.get("selection") or (query.of(request.GET) if query and request else None)


@register.simple_tag(takes_context=True)
def filter_line(context: RequestContext) -> FilterLine:
    """Divide the chips of a page (``filters``) into those in its line and those under "More"."""
    request = context.get("request")
    return FilterLine.of(
        context.get("filters") or (),
        request.GET if request else QueryDict(),
        request.path if request else "",
        kept=context.get("kept") or (),
        beside=len(context.get("pickers") or ()) or bool(context.get("version_picker")),
    )


@register.inclusion_tag("dashboard/_chart.html", takes_context=True)
def chart(
    context: RequestContext,
    figure: Figure,
    name: str | int,
    *,
    title: str = "",
    words: str = "",
    height: int = 360,
    table: str = "",
    csv: str = "",
    link: str = "",
    scale: str = "",
    small: bool = False,
    share: str = "",
) -> dict[str, Any]:
    """Show a figure with its tools; its page includes ``dashboard/_chart_scripts.html`` in the block scripts.

    ``name`` is unique on the page; ``title`` says what and where, ``words`` more for who does not see it;
    ``table`` is the id of the table that says the same; ``csv`` is an address of its numbers where a cell of
    it says more than one; ``link`` is the address of the large chart; ``share`` is that which hands it out
    for other pages; ``scale`` names the query parameter that keeps ``log`` or ``linear`` of the vertical
    axis; ``small`` is for small multiples, whose title leads to the large chart.
    """
    return {
        "json": figure_json(plotly(figure)),
        "name": name,
        "title": title,
        "words": words or title,
        "height": height,
        "table": table,
        "csv": csv,
        "link": link,
        "scale": scale,
        "small": small,
        "share": share,
        "project": context.get("project"),
        "at": context.get("at") or "",
    }


@register.simple_tag
def series_url(project: Project, series: int) -> str:
    """Return the address of the history of a series."""
    return history_of(series).url(project)


@register.simple_tag
def statistics_url(word: str) -> str:
    """Return the address of the paragraph that explains a word of a page, such as ``likely_worse``."""
    return f"{reverse('statistics')}#{EXPLAINED_AT[word]}"


@register.simple_tag
def meaning(word: str) -> str:
    """Write a small link to the paragraph that explains a word: ``{% meaning "likely" %}``."""
    label = EXPLAINED_AT[word].replace("-", " ")
    return format_html(
        '<a class="meaning" href="{}" title="What this means" aria-label="What “{}” means">?</a>',
        statistics_url(word),
        label,
    )


@register.inclusion_tag("dashboard/_post_button.html", takes_context=True)
def post_button(
    context: RequestContext, label: str, name: str, *args: int | str, confirm: str = "", look: str = "small"
) -> dict[str, Any]:
    """Write a button that sends nothing but itself to a page of the project; ``confirm`` is asked before."""
    return {
        "label": label,
        "url": page_url(name, context["project"], *args),
        "confirm": confirm,
        "look": look,
        "csrf_token": context.get("csrf_token"),
    }


@register.simple_tag(takes_context=True)
def share_url(context: RequestContext, name: str, address: str) -> str:
    """Return the address that hands out the chart of a page at this address for the pages of others.

    Empty where the viewer may see ratios alone, of which no chart is handed out.
    """
    if context["page"].is_relative:
        return ""
    query = query_of(address)
    return f"{page_url('share', context['project'], chart=name)}{'&' if query else ''}{query}"


@register.filter
def query_of(address: str) -> str:
    """Return the part of an address behind the question mark."""
    return urlsplit(address).query


def _current(request: HttpRequest | None) -> str:
    """Return the URL name of the page being shown."""
    match = getattr(request, "resolver_match", None)
    return match.url_name or "" if match else ""
