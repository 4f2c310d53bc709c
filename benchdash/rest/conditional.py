"""``ETag`` and ``If-None-Match``: an answer is not sent again to whom has it.

A tag is the hash of the answer, which is computed all the same: it saves bytes, not work.
"""

import hashlib
from collections.abc import Callable
from typing import Final, cast

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_cache_control
from django.utils.http import parse_http_date_safe
from rest_framework import status

_SAFE: Final = ("GET", "HEAD")
_KEPT: Final = ("RateLimit", "RateLimit-Policy", "Link")


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
