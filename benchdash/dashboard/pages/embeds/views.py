"""Badges and charts for the pages of others, by addresses that know no session."""

import hashlib
import time
from collections.abc import Callable
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import PIL
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import path
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.utils.http import http_date
from django.views.decorators.http import require_safe

from benchdash.addresses import whole_number
from benchdash.charts.colours import Theme
from benchdash.charts.drawing import PictureOptions, note_of, picture_of
from benchdash.charts.plotly import plotly
from benchdash.charts.png import png
from benchdash.charts.shapes import Drawing
from benchdash.charts.svg import svg
from benchdash.dashboard.pages.embeds.badges import GEOMEAN, Badge, badge_of, svg_of
from benchdash.dashboard.pages.embeds.shown_charts import CHARTS, query_of_page, shown_chart
from benchdash.dashboard.pages.embeds.visitors import NothingToShow, embedded_page
from benchdash.dashboard.shell.html import figure_json
from benchdash.dashboard.shell.project_page import ProjectPage
from benchdash.throttling import PictureThrottle, place_of

FRESH_S: Final = 300
"""The seconds for which others may show an answer again without asking."""
FRESH_REFUSAL_S: Final = 60
WIDTHS: Final = (240, 800, 1200)
"""The least, the usual and the largest width of a picture, in points."""
HEIGHTS: Final = (160, 400, 800)

# A picture has a note for each of so many points beyond these.
_HEIGHT_OF_CHART: Final = 240
_HEIGHT_OF_NOTE: Final = 32
_SVG: Final = "image/svg+xml"
_View = Callable[..., HttpResponse]


@require_safe
def badge(request: HttpRequest, slug: str) -> HttpResponse:
    """Answer with a badge, also where there is nothing to show: a broken picture says nothing."""
    shows_ratios, status = request.GET.get("kind") == GEOMEAN, 200
    try:
        found = badge_of(embedded_page(slug, "badge", request.GET, shows_ratios=shows_ratios), request.GET)
    except NothingToShow as refusal:
        found, status = Badge(refusal.words), refusal.status
    body = svg_of(found)
    return _kept(request, body, lambda: HttpResponse(body, content_type=_SVG, status=status), status)


@require_safe
def chart(request: HttpRequest, slug: str, chart: str) -> HttpResponse:
    """Answer with a page that holds a chart and nothing else, for a frame."""
    context: dict[str, Any] = {"theme": _theme(request, usual="")}
    status = 200
    try:
        page = _page_of(request, slug, chart)
        shown = shown_chart(request, page, chart, query_of_page(chart, request.GET))
        json = figure_json(plotly(shown.figure, with_links=False))
        context |= {"shown": shown, "json": json, "project": page.project}
    except NothingToShow as refusal:
        context["sentence"], status = refusal.sentence, refusal.status
    body = render_to_string("embeds/chart.html", context, request)
    response = _kept(request, body, lambda: HttpResponse(body, status=status), status)
    # Looked for by the middlewares; no other answer may be framed.
    response._csp_replace = {"frame-ancestors": settings.EMBED_ANCESTORS}  # type: ignore[attr-defined]
    response.xframe_options_exempt = True
    return response


def _picture_view(kind: Literal["svg", "png"]) -> _View:
    @require_safe
    def picture(request: HttpRequest, slug: str, chart: str) -> HttpResponse:
        found, status = _picture(request, slug, chart)

        def answer() -> HttpResponse:
            if kind == "svg":
                return HttpResponse(svg(found), content_type=_SVG, status=status)
            throttle = PictureThrottle()
            if not throttle.allows(place_of(request)):
                wait = str(int(throttle.wait()) + 1)
                said = f"Too many pictures were drawn for this place; more are in {wait} seconds.\n"
                headers = {"Retry-After": wait, "Cache-Control": "no-store"}
                return HttpResponse(said, "text/plain", status=429, headers=headers)
            return HttpResponse(png(found), content_type="image/png", status=status)

        return _kept(request, f"{PIL.__version__} {kind} {found!r}", answer, status)

    return picture


def _picture(request: HttpRequest, slug: str, chart: str) -> tuple[Drawing, int]:
    options = _options(request)
    try:
        page = _page_of(request, slug, chart)
        shown = shown_chart(request, page, chart, query_of_page(chart, request.GET))
    except NothingToShow as refusal:
        return note_of(refusal.sentence, options), refusal.status
    name, host = page.project.name, urlsplit(settings.SITE_URL).netloc
    footer = [f"{name}, {timezone.now():%Y-%m-%d}, {host}"]
    if page.project.notice:
        footer.insert(0, page.project.notice)
    notes = shown.notes[: max(options.height - _HEIGHT_OF_CHART, 0) // _HEIGHT_OF_NOTE]
    footer = [*notes, *footer]
    return picture_of(shown.figure, options, title=shown.title, footer=footer), 200


def _page_of(request: HttpRequest, slug: str, chart: str) -> ProjectPage:
    page = embedded_page(slug, chart, request.GET)
    if chart not in CHARTS:
        raise NothingToShow(
            404, f"There is no chart {chart}; there are {', '.join(CHARTS)}.", "no such chart"
        )
    return page


def _options(request: HttpRequest) -> PictureOptions:
    return PictureOptions(
        width=_bounded(request, "width", WIDTHS),
        height=_bounded(request, "height", HEIGHTS),
        theme="dark" if _theme(request) == "dark" else "light",
    )


def _bounded(request: HttpRequest, name: str, bounds: tuple[int, int, int]) -> int:
    least, usual, most = bounds
    return min(max(whole_number(request.GET.get(name, "")) or usual, least), most)


def _theme(request: HttpRequest, *, usual: Theme | Literal[""] = "light") -> Theme | Literal[""]:
    asked = request.GET.get("theme")
    return "dark" if asked == "dark" else "light" if asked == "light" else usual


def _kept(
    request: HttpRequest, content: str, answer: Callable[[], HttpResponse], status: int
) -> HttpResponse:
    """Answer so that it may be kept a while, or that nothing changed, without making it once more.

    ``content`` decides the answer.
    """
    etag = f'"{hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:32]}"'
    fresh = FRESH_S if status == 200 else FRESH_REFUSAL_S
    headers = {"ETag": etag, "Cache-Control": f"max-age={fresh}", "Last-Modified": http_date(time.time())}
    unchanged = get_conditional_response(request, etag) if status == 200 else None
    response = unchanged if unchanged is not None else answer()
    for name, value in headers.items():
        response.headers.setdefault(name, value)
    return response


urlpatterns = [
    path("badge.svg", badge, name="badge"),
    path("embed/<slug:chart>/", chart, name="embed"),
    path("embed/<slug:chart>.svg", _picture_view("svg"), name="embed_svg"),
    path("embed/<slug:chart>.png", _picture_view("png"), name="embed_png"),
]
