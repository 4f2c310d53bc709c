"""Which scripts of other sites may read the API (CORS). Cookies never count for them: only tokens do."""

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import patch_vary_headers

_METHODS: Final = "GET, HEAD"
_SENT: Final = "Authorization, If-None-Match"
_SHOWN: Final = "ETag, Link, RateLimit, RateLimit-Policy, Retry-After, Content-Disposition"

_Answer = Callable[[HttpRequest], HttpResponseBase]


def allow_other_sites(get_response: _Answer) -> _Answer:
    """Return a middleware that lets scripts of ``CORS_ORIGINS`` read the API."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        origins = settings.CORS_ORIGINS
        if not origins or not request.path.startswith("/api/"):
            return get_response(request)
        is_preflight = request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
        response = HttpResponse(status=204) if is_preflight else get_response(request)
        if "*" not in origins:
            patch_vary_headers(response, ["Origin"])
        origin = "*" if "*" in origins else request.headers.get("Origin", "")
        if origin != "*" and origin not in origins:
            return response
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Expose-Headers"] = _SHOWN
        if is_preflight:
            response.headers["Access-Control-Allow-Methods"] = _METHODS
            response.headers["Access-Control-Allow-Headers"] = _SENT
            response.headers["Access-Control-Max-Age"] = "3600"
        return response

    return answer
