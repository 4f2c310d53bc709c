"""Answers to somebody who is known are kept by nobody else."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import patch_vary_headers

_Answer = Callable[[HttpRequest], HttpResponseBase]

_TOLD_BY = ("Authorization", "Cookie")


def keep_answers_private(get_response: _Answer) -> _Answer:
    """Middleware: an answer to a session or a token is not stored, and says that it depends on them.

    Whoever sends a session or a token counts as known, whether it still works or not.
    """

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        patch_vary_headers(response, _TOLD_BY)
        session = settings.SESSION_COOKIE_NAME
        if "Authorization" in request.headers or session in request.COOKIES or session in response.cookies:
            response.headers["Cache-Control"] = "private, no-store"
        return response

    return answer
