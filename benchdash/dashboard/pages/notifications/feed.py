"""The Atom feed of a project: its incidents, the last changed first."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import Max, Prefetch, Q, QuerySet
from django.db.models.functions import Greatest
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django.urls import path
from django.utils.feedgenerator import Atom1Feed
from django.utils.http import http_date
from django.views.decorators.http import require_safe
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from benchdash.accounts.authentication import TokenAuthentication
from benchdash.addresses import absolute
from benchdash.charts.svg import in_xml
from benchdash.dashboard.shell.project_page import ProjectPage, project_page
from benchdash.regressions.headlines import figure, recovered_words, what_happened
from benchdash.regressions.models import Incident, IncidentEvent
from benchdash.rest.conditional import tag_of

MAX_ENTRIES: Final = 50
_KINDS: Final = Incident.FOR_THE_WORSE
_What = IncidentEvent.What
_TOLD: Final = (
    *(_What.CONFIRMED, _What.SPREAD, _What.SPLIT, _What.MERGED, _What.WITHDRAWN),
    *(_What.RECOVERED, _What.RETURNED, _What.UNFOLDED, _What.STATE),
)


class _Feed(Atom1Feed):
    """``changed_at`` is the time of the newest entry, or of the project where there is none."""

    def __init__(self, *, changed_at: datetime, **options: Any) -> None:
        super().__init__(**options)
        self._changed_at = changed_at

    def latest_post_date(self) -> datetime:
        return self._changed_at


@require_safe
def feed(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Answer with the feed; of a private project to its members, and to tokens that may read it."""
    try:
        if found := TokenAuthentication().authenticate(Request(request)):
            request.auth = found[1]  # type: ignore[attr-defined]  # where viewer_of looks for it
    except APIException as error:
        headers = {"WWW-Authenticate": "Bearer"} if error.status_code == 401 else {}
        return HttpResponse(f"{error}\n", "text/plain", status=error.status_code, headers=headers)
    return _feed_of(request, slug)


@project_page
def _feed_of(request: HttpRequest, page: ProjectPage) -> HttpResponseBase:
    asked = [kind for kind in request.GET.getlist("kind") if kind in Incident.Kind.values]
    incidents = list(_told(page, kinds=asked or _KINDS))
    changed_at = max((one.changed_at for one in incidents), default=page.project.created_at)
    body = _atom(page, incidents, changed_at=changed_at).encode()
    answer = HttpResponse(body, content_type=Atom1Feed.content_type)
    answer.headers["ETag"] = tag_of(answer)
    answer.headers["Last-Modified"] = http_date(changed_at.timestamp())
    return answer


def _told(page: ProjectPage, *, kinds: Iterable[str]) -> QuerySet[Any]:
    """Return the incidents that were ever confirmed, with ``changed_at`` and ``told_events``.

    Who is assigned, snoozes or links a bug is for members and not told here.
    """
    told = Q(events__what__in=_TOLD, events__quiet=False)
    events = IncidentEvent.objects.filter(what__in=_TOLD, quiet=False)
    return (
        Incident.objects.filter(
            project=page.project,
            kind__in=kinds,
            historical=False,
            folded_into=None,
            confirmed_at__isnull=False,
        )
        .select_related("product", "hardware", "since", "until", "largest__series__workload")
        .prefetch_related(Prefetch("events", queryset=events, to_attr="told_events"))
        .annotate(changed_at=Greatest("confirmed_at", Max("events__at", filter=told)))
        .order_by("-changed_at", "-pk")[:MAX_ENTRIES]
    )


def _atom(page: ProjectPage, incidents: Iterable[Any], *, changed_at: datetime) -> str:
    project = page.project
    feed = _Feed(
        title=in_xml(f"{project.name}: incidents"),
        link=absolute("dashboard:incidents", project.slug),
        description="",
        feed_url=absolute("dashboard:feed", project.slug),
        feed_guid=_tag(project.created_at, f"project/{project.pk}"),
        changed_at=changed_at,
    )
    for incident in incidents:
        feed.add_item(
            title=in_xml(_title(incident)),
            link=absolute("dashboard:incident", project.slug, incident.pk),
            description=in_xml(render_to_string("dashboard/_feed_entry.html", {"incident": incident})),
            unique_id=_tag(incident.detected_at, f"incident/{incident.pk}"),
            pubdate=incident.confirmed_at,
            updateddate=incident.changed_at,
            author_name="benchdash",
            categories=[incident.kind, incident.state],
        )
    return feed.writeString("utf-8")


def _title(incident: Incident) -> str:
    words = f"{incident.subject} {what_happened(incident)}"
    left = "" if incident.remaining is None else recovered_words(incident)
    return ", ".join(filter(None, [words, figure(incident), left]))


def _tag(since: datetime, name: str) -> str:
    """Return an address that stays the same when the site moves its pages (RFC 4151)."""
    return f"tag:{urlsplit(settings.SITE_URL).hostname},{since:%Y-%m-%d}:{name}"


urlpatterns = [path("feed.atom", feed, name="feed")]
