"""Is it alive, is it ready, and how much is waiting: for orchestrators, monitoring and operators."""

import ipaddress
import logging
import secrets
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Count, Min, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError

from benchdash.alerts.models import Alert
from benchdash.api.heartbeat import LATELY, worker_seen_at
from benchdash.regressions.models import Incident
from benchdash.results.models import Run, TouchedSeries
from ingest.models import Upload

logger = logging.getLogger(__name__)

# Whoever sends one of these is a proxy: the address that we see is not the one who asks.
_FORWARDED = ("X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Forwarded", "Via")


@never_cache
@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    """The process answers; nothing else is looked at."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """All that an installation consists of is there. Only an operator is told what is not."""
    checks = {name: check() for name, check in _CHECKS.items()}
    ready = not any(checks.values())
    answer: dict[str, object] = {"status": "ready" if ready else "not ready"}
    if is_operator(request):
        answer["checks"] = {name: trouble or "ok" for name, trouble in checks.items()}
    return JsonResponse(answer, status=200 if ready else 503)


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Figures in the text format of Prometheus."""
    if not is_operator(request):
        return HttpResponse(
            "only for operators and from this machine\n", status=403, content_type="text/plain"
        )
    lines = "".join(f"{line}\n" for line in _figures())
    return HttpResponse(lines, content_type="text/plain; version=0.0.4; charset=utf-8")


# --- who may know -----------------------------------------------------------------------------------------


def is_operator(request: HttpRequest) -> bool:
    """Somebody on this machine itself, a superuser's session, or the bearer of OPERATOR_TOKEN."""
    return _is_from_here(request) or _bears_operator_token(request) or _is_superuser(request)


def _is_from_here(request: HttpRequest) -> bool:
    if any(header in request.headers for header in _FORWARDED):
        return False
    try:
        address = ipaddress.ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:  # a Unix socket has no address
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def _bears_operator_token(request: HttpRequest) -> bool:
    sent = request.headers.get("Authorization", "").encode()
    expected = f"Bearer {settings.OPERATOR_TOKEN}".encode()
    return bool(settings.OPERATOR_TOKEN) and secrets.compare_digest(sent, expected)


def _is_superuser(request: HttpRequest) -> bool:
    try:
        return request.user.is_active and request.user.is_superuser
    except (DatabaseError, RedisError):  # the session cannot be read now
        return False


# --- what is missing --------------------------------------------------------------------------------------


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        logger.warning("the database does not answer: %s", error)
        return "the database does not answer"
    return ""


def _migrations() -> str:
    try:
        executor = MigrationExecutor(connection)
        waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return "the database does not answer"
    return f"{len(waiting)} migrations are not applied" if waiting else ""


def _redis() -> str:
    try:
        cache.get("readyz")
    except RedisError as error:
        logger.warning("Redis does not answer: %s", error)
        return "Redis does not answer"
    return ""


def _worker() -> str:
    try:
        seen_at = worker_seen_at()
    except RedisError:
        return "Redis does not answer"
    if seen_at is None or seen_at < timezone.now() - LATELY:
        return f"no worker was seen within {LATELY.seconds} s"
    return ""


_CHECKS: Mapping[str, Callable[[], str]] = {
    "database": _database,
    "migrations": _migrations,
    "redis": _redis,
    "worker": _worker,
}


# --- figures ----------------------------------------------------------------------------------------------


def _figures() -> Iterator[str]:
    yield from _described("benchdash_uploads", "Uploads by state.")
    by_state = dict(Upload.objects.order_by().values_list("state").annotate(Count("pk")))
    for state in Upload.State.values:
        yield f'benchdash_uploads{{state="{state}"}} {by_state.get(state, 0)}'
    waiting = {
        "uploads": _waiting(Upload.objects.exclude(state__in=Upload.FINISHED), since="received_at"),
        "analysis": _waiting(TouchedSeries.objects.all(), since="touched_at"),
        # What was withdrawn before it could be told waits for nothing.
        "alerts": _waiting(
            Alert.objects.filter(sent_at=None, incident__status=Incident.Status.CONFIRMED), since="owed_at"
        ),
    }
    figures = [
        ("benchdash_runs", "Runs in the history.", Run.objects.count()),
        ("benchdash_series_touched", "Series waiting for analysis.", waiting["analysis"][0]),
        ("benchdash_alerts_unsent", "Alerts owed and not sent.", waiting["alerts"][0]),
    ]
    for name, about, value in figures:
        yield from _described(name, about)
        yield f"{name} {value}"
    yield from _described("benchdash_oldest_waiting_seconds", "Age of the oldest that waits, 0 without one.")
    for queue, (_, age) in waiting.items():
        yield f'benchdash_oldest_waiting_seconds{{queue="{queue}"}} {age:.3f}'


def _described(name: str, about: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} gauge"


def _waiting(
    rows: QuerySet[Upload] | QuerySet[TouchedSeries] | QuerySet[Alert], *, since: str
) -> tuple[int, float]:
    """How many rows wait, and for how many seconds the oldest of them."""
    found = rows.order_by().aggregate(number=Count("pk"), oldest=Min(since))
    oldest: datetime | None = found["oldest"]
    return found["number"], (timezone.now() - oldest).total_seconds() if oldest else 0.0
