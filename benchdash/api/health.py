"""Liveness, readiness and metrics: for orchestrators, monitoring and operators."""

import ipaddress
import secrets
from collections.abc import Iterator
from math import nan

from django.conf import settings
from django.db import DatabaseError
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError

from benchdash.api.readiness import disks, signs, troubles_by_part, waiting
from benchdash.client_address import client_address
from benchdash.regressions.models import FailingPlace
from benchdash.results.models import Run
from ingest.models import Upload

# A request with one of these came through a proxy, whose address is not that of the client.
_FORWARDED = ("X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Forwarded", "Via")


@never_cache
@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    """Say that the process answers; nothing else is checked."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Say whether the installation works: ``ready`` or ``degraded`` (200), or ``not ready`` (503).

    Only an operator is told which part is in trouble, and why.
    """
    troubles = troubles_by_part()
    not_ready = [part for part, trouble in troubles.items() if trouble and not trouble.only_degrades]
    degraded = [part for part, trouble in troubles.items() if trouble and trouble.only_degrades]
    status = "not ready" if not_ready else "degraded" if degraded else "ready"
    answer: dict[str, object] = {"status": status}
    if is_operator(request):
        checks = {part: trouble.sentence if trouble else "ok" for part, trouble in troubles.items()}
        answer |= {"checks": checks, "not_ready": not_ready, "degraded": degraded}
    return JsonResponse(answer, status=503 if not_ready else 200)


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return figures in the text format of Prometheus."""
    if not is_operator(request):
        return HttpResponse(
            "only for operators and from this machine\n", status=403, content_type="text/plain"
        )
    lines = "".join(f"{line}\n" for line in _figures())
    return HttpResponse(lines, content_type="text/plain; version=0.0.4; charset=utf-8")


# --- who may know -----------------------------------------------------------------------------------------


def is_operator(request: HttpRequest) -> bool:
    """Recognise an operator: on this machine, a superuser's session, or the bearer of OPERATOR_TOKEN."""
    return _is_from_here(request) or _bears_operator_token(request) or _is_superuser(request)


def _is_from_here(request: HttpRequest) -> bool:
    if any(header in request.headers for header in _FORWARDED):
        return False
    try:
        address = ipaddress.ip_address(client_address(request))
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


# --- figures ----------------------------------------------------------------------------------------------


def _figures() -> Iterator[str]:
    yield from _described("benchdash_uploads", "Uploads by state.")
    by_state = dict(Upload.objects.order_by().values_list("state").annotate(Count("pk")))
    for state in Upload.State.values:
        yield f'benchdash_uploads{{state="{state}"}} {by_state.get(state, 0)}'
    found = waiting()
    failing = FailingPlace.objects.filter(set_aside_at=None).count()
    set_aside = FailingPlace.objects.exclude(set_aside_at=None).count()
    put_back = Upload.objects.exclude(state__in=Upload.FINISHED).filter(misses__gt=0).count()
    figures = [
        ("benchdash_runs", "Runs in the history.", Run.objects.count()),
        ("benchdash_uploads_put_back", "Uploads that wait for their file or for room.", put_back),
        ("benchdash_series_touched", "Series waiting for analysis.", found["analysis"].number),
        ("benchdash_alerts_unsent", "Alerts owed and not sent.", found["alerts"].number),
        ("benchdash_mail_held", "Whether HOLD_MAIL keeps all mail back.", int(settings.HOLD_MAIL)),
        ("benchdash_places_failing", "Places whose analysis failed and is tried again.", failing),
        ("benchdash_places_set_aside", "Places whose analysis failed too often.", set_aside),
    ]
    for name, about, value in figures:
        yield from _described(name, about)
        yield f"{name} {value}"
    yield from _described("benchdash_oldest_waiting_seconds", "Age of the oldest that waits, 0 without one.")
    for queue, one in found.items():
        yield f'benchdash_oldest_waiting_seconds{{queue="{queue}"}} {one.age:.3f}'
    yield from _described("benchdash_silent_seconds", "Since beat and the workers of a queue did something.")
    for of, sign in signs().items():
        yield f'benchdash_silent_seconds{{of="{of}"}} {sign.age if sign else nan:.3f}'
    yield from _described("benchdash_disk_free_bytes", "Room that is left on the disk of a folder.")
    for name, free in disks().items():
        yield f'benchdash_disk_free_bytes{{folder="{name}"}} {free}'


def _described(name: str, about: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} gauge"
