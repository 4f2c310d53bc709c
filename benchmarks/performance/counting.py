"""How many statements an answer took: asked for with a header, told by a header."""

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.http import HttpRequest, HttpResponseBase

ASKED_BY = "X-Count-Statements"
TOLD_BY = "X-Statements"

_Answer = Callable[[HttpRequest], HttpResponseBase]


def count_statements(get_response: _Answer) -> _Answer:
    def answer(request: HttpRequest) -> HttpResponseBase:
        if ASKED_BY not in request.headers:
            return get_response(request)
        statements = 0

        def count(execute: Callable[..., Any], *arguments: Any) -> Any:
            nonlocal statements
            statements += 1
            return execute(*arguments)

        with connection.execute_wrapper(count):
            response = get_response(request)
        response.headers[TOLD_BY] = str(statements)
        return response

    return answer
