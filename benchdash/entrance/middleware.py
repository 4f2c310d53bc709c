"""Requests are refused here before anything reads their body, whichever server passes them on."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from rest_framework.exceptions import APIException, AuthenticationFailed, NotAuthenticated

from benchdash.accounts.access import NotAllowed, NotVisible
from benchdash.api.errors import exception_handler
from benchdash.entrance.bodies import declared_bytes, limit_for
from benchdash.error_pages import failure_page
from benchdash.failures import Failure
from benchdash.rendering import FastJSONRenderer
from ingest.errors import FileTooLargeError

# The decision of the event loop, as an entry of the WSGI environment.
REFUSAL: Final = "benchdash.refusal"
REFUSALS: Final = (
    *(FileTooLargeError, NotAllowed, NotVisible, APIException),
    *(InterfaceError, OperationalError),  # who sends it cannot be told now
)

_GetResponse = Callable[[HttpRequest], HttpResponseBase]


def refuse_early(get_response: _GetResponse) -> _GetResponse:
    """Return a middleware that answers requests which are too large, or which the event loop refused."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if refusal := request.META.get(REFUSAL):
            return _refused(request, refusal)
        try:
            # Without a length nothing is read: Django takes such a body for an empty one.
            limit_for(request, declared_bytes(request.META))
        except REFUSALS as error:
            return _refused(request, error)
        return get_response(request)

    return answer


def _refused(request: HttpRequest, error: Exception) -> HttpResponse:
    """Return problem details for a program, a sentence for a person."""
    if isinstance(error, NotAuthenticated | AuthenticationFailed):
        error.auth_header = "Bearer"  # type: ignore[union-attr] # as DRF's views do
    response = exception_handler(error, {})
    if response is None:
        raise error
    if request.path_info.startswith(("/api/", "/mcp")):
        response.accepted_renderer = FastJSONRenderer()
        response.accepted_media_type = FastJSONRenderer.media_type
        response.renderer_context = {}  # type: ignore[attr-defined] # DRF's views set it so
        response.render()
        return response
    detail, retry = response.data["detail"], response.headers.get("Retry-After")
    if retry:
        return failure_page(Failure(response.status_code, detail, int(retry)))
    sentence = f"{HTTPStatus(response.status_code).phrase}: {detail}\n"
    return HttpResponse(sentence, status=response.status_code, content_type="text/plain; charset=utf-8")
