"""Answers to a session or a token are kept out of caches."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import patch_vary_headers

_Answer = Callable[[HttpRequest], HttpResponseBase]

_IDENTIFYING_HEADERS = ("Authorization", "Cookie")


def keep_answers_private(get_response: _Answer) -> _Answer:
    """Return a middleware that forbids caches to store answers to a session or a token, valid or not."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        patch_vary_headers(response, _IDENTIFYING_HEADERS)
        session = settings.SESSION_COOKIE_NAME
        if "Authorization" in request.headers or session in request.COOKIES or session in response.cookies:
            response.headers["Cache-Control"] = "private, no-store"
        return response

    return answer
