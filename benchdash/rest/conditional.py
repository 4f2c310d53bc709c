"""``ETag``, ``If-None-Match`` and ``If-Match``: nothing is sent again, and nothing is overwritten unseen.

A tag is the hash of the answer, which is computed all the same: it saves bytes, not work.
"""

import copy
import hashlib
from collections.abc import Callable
from typing import Any, Final, cast

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import resolve
from django.utils.cache import get_conditional_response, patch_cache_control
from django.utils.http import parse_etags, parse_http_date_safe
from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from benchdash.database.locks import alone_with

_SAFE: Final = ("GET", "HEAD")
_KEPT: Final = ("RateLimit", "RateLimit-Policy", "Link", "Deprecation", "Sunset")
_REFUSALS: Final = (status.HTTP_401_UNAUTHORIZED, status.HTTP_403_FORBIDDEN, status.HTTP_404_NOT_FOUND)

_Handler = Callable[..., HttpResponseBase]


class ChangedMeanwhile(APIException):
    status_code = status.HTTP_412_PRECONDITION_FAILED
    default_code = "changed_meanwhile"
    default_detail = "this is no longer what If-Match names; read it again, then change it"


class BeingChanged(APIException):
    status_code = status.HTTP_409_CONFLICT
    default_code = "being_changed"
    wait = 1
    default_detail = "somebody changes this right now; read it again, then change it"


def answer_not_modified(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return a middleware that tags answers of the API, and answers 304 to who has the tagged one already.

    Pages have no tags, for each is unlike the one before. A view may set the ``ETag`` of its answer itself.
    """

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        is_whole = isinstance(response, HttpResponse) and response.status_code == status.HTTP_200_OK
        return _tagged(request, cast(HttpResponse, response)) if is_whole else response

    return answer


def _tagged(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Return an answer with its tag, or 304."""
    if request.method not in _SAFE:
        return response
    if request.path.startswith("/api/v1/"):
        response.headers.setdefault("ETag", tag_of(response))
        if not response.has_header("Cache-Control"):
            patch_cache_control(response, private=True, no_cache=True)
    if not response.has_header("ETag") or not {"If-Match", "If-Unmodified-Since"}.isdisjoint(request.headers):
        return response
    changed_at = parse_http_date_safe(response.headers.get("Last-Modified", ""))
    found = get_conditional_response(request, response.headers["ETag"], changed_at, response) or response
    for name in _KEPT:
        if response.has_header(name):
            found.headers[name] = response.headers[name]
    return found


def tag_of(response: HttpResponse) -> str:
    """Return the strong tag of a rendered answer."""
    return f'"{hashlib.blake2b(response.content, digest_size=16).hexdigest()}"'


def only_if_unchanged(handler: _Handler) -> _Handler:
    """Return a handler of changes that first holds what ``GET`` answers now against ``If-Match``.

    Raises ChangedMeanwhile, or BeingChanged while another request with such a header is at work.
    """

    def change(request: Request, *arguments: Any, **options: Any) -> HttpResponseBase:
        with alone_with(f"If-Match of {request.path}") as is_alone:
            if not is_alone:
                raise BeingChanged
            current = answer_to_get(request, request.path_info)
            # Who may not even read it is refused by the handler itself, as without the header.
            if current.status_code not in _REFUSALS and not _names(request.headers["If-Match"], current):
                raise ChangedMeanwhile
            return handler(request, *arguments, **options)

    return change


def answer_to_get(request: Request, path: str) -> Response:
    """Return what ``GET`` of an address of this API answers to the sender of a request."""
    look: HttpRequest = copy.copy(request._request)
    for name in ("GET", "headers"):
        look.__dict__.pop(name, None)
    look.method = "GET"
    look.META = {**request.META, "REQUEST_METHOD": "GET", "QUERY_STRING": _query_of_look(request)}
    look.environ = look.META  # type: ignore[attr-defined] # of WSGI, where the query is read from
    look.path = look.path_info = path
    look.resolver_match = found = resolve(path)
    answer: Response = found.func(look, *found.args, **found.kwargs)
    answer.render()
    return answer


def _query_of_look(request: Request) -> str:
    kept = request.GET.copy()
    for name in request.GET:
        if name != "project":
            del kept[name]
    return kept.urlencode()


def _names(header: str, current: HttpResponse) -> bool:
    """Return whether ``If-Match`` names an answer.

    The mark of a packed answer, ``W/``, makes no difference: what was packed is the same.
    """
    if current.status_code != status.HTTP_200_OK:
        return False
    tags = parse_etags(header)
    return tags == ["*"] or tag_of(current) in {tag.removeprefix("W/") for tag in tags}
