"""The Content-Security-Policy of every answer, put together once: only the nonce differs."""

from functools import cache

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.http import HttpRequest, HttpResponseBase

_NONCE = "of-this-answer"


class PolicyMiddleware(CSPMiddleware):
    """The policy of the settings; no view has one of its own."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        nonce: str | None = getattr(request, "_csp_nonce", None)
        policy = _policy(has_nonce=nonce is not None)
        response.headers[HEADER] = policy.replace(_NONCE, nonce) if nonce else policy
        return response


@cache
def _policy(*, has_nonce: bool) -> str:
    return build_policy(nonce=_NONCE if has_nonce else None)
