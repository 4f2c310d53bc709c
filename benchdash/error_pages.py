"""The answer to an error that no view handled."""

import logging
import secrets
import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from benchdash.api.errors import MEDIA_TYPE, problem
from benchdash.failures import Failure, failure_of

logger = logging.getLogger(__name__)

_MISTAKE = Failure(500, "this installation made a mistake; its log says which")


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer an unhandled exception as Django's handler500, without PostgreSQL and Redis."""
    failure = failure_of(sys.exc_info()[1]) or _MISTAKE
    if request.path.startswith("/api/"):
        body = problem(failure.status, [{"message": failure.sentence}]).data
        if failure is _MISTAKE:
            body["reference"] = _logged(request)
        return JsonResponse(body, status=failure.status, headers=failure.headers, content_type=MEDIA_TYPE)
    return failure_page(failure, "500.html" if failure is _MISTAKE else "failure.html")


def failure_page(failure: Failure, template: str = "failure.html") -> HttpResponse:
    answer = render(None, template, {"failure": failure}, status=failure.status)
    for name, value in failure.headers.items():
        answer.headers[name] = value
    return answer


def _logged(request: HttpRequest) -> str:
    """Return a name under which the log has a request; its traceback follows there."""
    reference = secrets.token_hex(8)
    logger.error("mistake %s: %s %s", reference, request.method, request.path)
    return reference
