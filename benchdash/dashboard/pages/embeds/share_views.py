"""The page that hands out the addresses of badges and embedded charts, and makes signed links."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.loader import render_to_string
from django.urls import path
from django.utils import timezone
from django.views.decorators.cache import never_cache

from benchdash.accounts.models import Scope
from benchdash.accounts.signed_links import end_signed_links, make_signed_query
from benchdash.addresses import absolute
from benchdash.dashboard.pages.embeds.badges import BADGE_HEIGHT, KINDS
from benchdash.dashboard.pages.embeds.shown_charts import CHARTS, query_of_page, shown_chart
from benchdash.dashboard.pages.embeds.views import HEIGHTS, WIDTHS
from benchdash.dashboard.pages.embeds.visitors import NothingToShow
from benchdash.dashboard.shell.contents import fixed_query
from benchdash.dashboard.shell.project_page import ProjectPage, project_action, project_form

_BADGE: Final = "badge"
_KIND_WORDS: Final = {
    "status": "What is open",
    "geomean": "The newest release against the one before it, the geometric mean of speeds",
}
# How long a signed link holds: by what the form says, the days (None: until all are ended).
LASTING: Final = {"30": ("30 days", 30), "365": ("a year", 365), "never": ("until links are ended", None)}


@dataclass(frozen=True)
class Snippet:
    """A text to copy."""

    label: str
    text: str


@dataclass(frozen=True)
class Handout:
    """A badge or a chart with what to copy for it.

    ``query`` is what a form sends to have it signed, ``picture_url`` the address of a picture on this site,
    of ``width`` (0: that of its words) and ``height`` in points.
    """

    name: str
    title: str
    query: str
    picture_url: str
    snippets: list[Snippet]
    width: int = 0
    height: int = BADGE_HEIGHT


@never_cache
@project_form
def share(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    """Show what to copy; of a private project, after an admin asked for a signed link to one thing."""
    signed, status = "", 200
    project, name = page.project, request.GET.get("chart", "")
    if request.method == "POST":
        page.require(Scope.ADMIN)
        what = request.POST.get("what", "")
        _, days = LASTING.get(request.POST.get("lasting", ""), LASTING["30"])
        if what in (_BADGE, *CHARTS):
            ends_at = None if days is None else timezone.now() + timedelta(days=days)
            query = QueryDict(request.POST.get("query", "")[:_MAX_QUERY])
            signed, status = make_signed_query(project, what, query, ends_at=ends_at, by=page.viewer), 201
            name = what if what in CHARTS else ""
    context: dict[str, Any] = {
        "chart_name": name,
        "signed": signed,
        "needs_signature": not project.is_public,
        "is_closed": project.is_relative_only,
        "lasting": [(value, words) for value, (words, _) in LASTING.items()],
        "may_sign": page.is_admin,
    }
    if name in CHARTS:
        context["shared"] = [_shared_chart(request, page, name, signed)]
    elif signed:
        context["shared"] = [_shared_badge(page, signed)]
    else:
        context["shared"] = [_shared_badge(page, f"kind={kind}") for kind in KINDS]
    return page.render(request, "dashboard/share.html", context, status=status)


_MAX_QUERY: Final = 8000


@project_action
def end_links(request: HttpRequest, page: ProjectPage) -> HttpResponse:
    end_signed_links(page.project, by=page.viewer)
    return page.done(request, "All signed links of the project have ended.", "share")


def _shared_badge(page: ProjectPage, query: str) -> Handout:
    kind, slug = QueryDict(query).get("kind", ""), page.project.slug
    words = {"title": f"{page.project.name}: benchmarks", "url": absolute("dashboard:overview", slug)}
    picture = f"{absolute('dashboard:badge', slug)}?{query}"
    return Handout(
        name=_BADGE,
        title=_KIND_WORDS.get(kind, _KIND_WORDS["status"]),
        query=query,
        picture_url=picture.removeprefix(settings.SITE_URL),
        snippets=[*_pictures({**words, "picture": picture}), Snippet("Address", picture)],
    )


def _shared_chart(request: HttpRequest, page: ProjectPage, name: str, signed: str) -> Handout:
    """Return the chart of the address, with all that it leaves to the page fixed as it is now."""
    slug = page.project.slug
    query = signed or fixed_query(request, page, name, query_of_page(name, request.GET))
    try:
        title = shown_chart(request, page, name, query_of_page(name, query)).title
    except NothingToShow as refusal:
        return Handout(name, refusal.sentence, query, "", [])
    svg, png = (f"{absolute(f'dashboard:embed_{kind}', slug, name)}?{query}" for kind in ("svg", "png"))
    frame = f"{absolute('dashboard:embed', slug, name)}?{query}"
    own = f"{absolute(f'dashboard:{name}', slug)}?{query_of_page(name, query)}"
    words = {"title": title, "url": own, "frame": frame, "width": WIDTHS[1], "height": HEIGHTS[1]}
    return Handout(
        name=name,
        title=title,
        query=query,
        picture_url=svg.removeprefix(settings.SITE_URL),
        snippets=[
            Snippet("Frame, a chart to point at", _written("frame.html", words)),
            *_pictures({**words, "picture": svg}),
            Snippet("SVG", svg),
            Snippet("PNG", png),
        ],
        width=WIDTHS[1],
        height=HEIGHTS[1],
    )


def _pictures(words: Mapping[str, object]) -> list[Snippet]:
    kinds = (("Markdown", "picture.md"), ("HTML", "picture.html"), ("reStructuredText", "picture.rst"))
    return [Snippet(label, _written(name, words)) for label, name in kinds]


def _written(name: str, words: Mapping[str, object]) -> str:
    # Signs that would end the alternative text of Markdown, or the line of reStructuredText.
    title = " ".join(str(words["title"]).translate(_NOT_IN_TITLES).split())
    return render_to_string(f"embeds/{name}", {**words, "title": title}).strip()


_NOT_IN_TITLES: Final = str.maketrans(dict.fromkeys("[]`\\<>|*", " "))

urlpatterns = [
    path("share/", share, name="share"),
    path("share/end/", end_links, name="share_end"),
]
