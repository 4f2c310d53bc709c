"""The parts that pages are put together from: ``{% load shell %}``."""

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from django import template
from django.http import HttpRequest
from django.template.context import RequestContext
from django.utils.safestring import SafeString, mark_safe

from benchdash.accounts.access import NOBODY, Viewer, viewer_of
from benchdash.accounts.models import Project
from benchdash.dashboard.chart_markup import Chart, chart_markup
from benchdash.dashboard.markup import html, joined
from benchdash.dashboard.navigation import Link, navigation, page_url, tabs

register = template.Library()

_NOTHING: Final = mark_safe("")


@register.inclusion_tag("dashboard/_top_bar.html", takes_context=True)
def top_bar(context: RequestContext) -> dict[str, Any]:
    request, page = context.get("request"), context.get("page")
    viewer, current = page.viewer if page else _viewer(request), _current(request)
    project = page.project if page else None
    return {
        "request": request,
        "viewer": viewer,
        "project": project,
        "projects": joined(_project(other, project) for other in page.projects) if page else "",
        "navigation": navigation(project, viewer, current) if project else None,
        "is_sign_in": current == "sign_in",
        "csrf_token": context.get("csrf_token"),
    }


def _project(other: Project, shown: Project | None) -> SafeString:
    return _link_item(Link(other.name, page_url("overview", other)), "true" if other == shown else "")


@register.filter
def as_links(links: Iterable[Link]) -> SafeString:
    return joined(_link(link, "page" if link.is_current else "") for link in links)


@register.filter
def as_items(links: Iterable[Link]) -> SafeString:
    return joined(_link_item(link, "page" if link.is_current else "") for link in links)


def _link(link: Link, current: str) -> SafeString:
    """``current`` says as what it is the one being shown."""
    mark = html(' aria-current="{}"', current) if current else _NOTHING
    return html('<a href="{}"{}>{}</a>\n', link.url, mark, link.label)


def _link_item(link: Link, current: str) -> SafeString:
    return html("<li>{}</li>\n", _link(link, current))


@register.inclusion_tag("dashboard/_tabs.html", takes_context=True)
def page_tabs(context: RequestContext) -> dict[str, Any]:
    """The tabs of a page that is one of several on the same things."""
    request, project = context.get("request"), context.get("project")
    return {"tabs": tabs(project, _current(request), request.GET) if project and request else []}


@register.simple_tag(takes_context=True)
def chart(
    context: RequestContext,
    figure: Mapping[str, Any],
    name: str | int,
    *,
    title: str = "",
    height: int = 360,
    table: str = "",
    csv: str = "",
    link: str = "",
    scale: str = "",
    small: bool = False,
) -> SafeString:
    """A figure with its tools; its page includes ``dashboard/_chart_scripts.html`` in the block scripts.

    ``name`` is unique on the page; ``title`` says what and where; ``table`` is the id of the table that says
    the same; ``csv`` is an address of its numbers where a cell of it says more than one; ``link`` is the
    address of the large chart; ``scale`` names the query parameter that keeps ``log`` or ``linear`` of the
    vertical axis; ``small`` is for small multiples, whose title leads to the large chart.
    """
    project = context.get("project")
    return chart_markup(
        Chart(
            figure=figure,
            name=str(name),
            title=title,
            height=height,
            table=table,
            csv=csv,
            link=link,
            scale=scale,
            small=small,
            notice=project.notice if project else "",
            at=context.get("at") or "",
        )
    )


@register.filter
def query_of(address: str) -> str:
    """What stands behind the question mark of an address."""
    return urlsplit(address).query


def _viewer(request: HttpRequest | None) -> Viewer:
    # An error page may be drawn before the middlewares have said who asks.
    return viewer_of(request) if request is not None and hasattr(request, "user") else NOBODY


def _current(request: HttpRequest | None) -> str:
    """The URL name of the page being shown."""
    match = getattr(request, "resolver_match", None)
    return match.url_name or "" if match else ""
