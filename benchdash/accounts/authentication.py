"""``Authorization: Bearer <token>`` for the API."""

from typing import NoReturn

from django.contrib.auth.models import AnonymousUser
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request

from benchdash.accounts.access_log import log_refused_token
from benchdash.accounts.models import Token
from benchdash.accounts.services import find_token
from benchdash.throttling import AnonymousThrottle, place_of


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[AnonymousUser, Token] | None:
        scheme, _, sent = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        secret = sent.strip().decode("latin-1")
        token = find_token(secret)
        if token is None:
            _refuse(request, secret)
        return AnonymousUser(), token

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - DRF's signature
        return "Bearer"


def _refuse(request: Request, secret: str) -> NoReturn:
    """Refuse a token. Raises AuthenticationFailed, or Throttled after too many from this network."""
    throttle = AnonymousThrottle()
    if not throttle.allows(place_of(request)):
        raise Throttled(wait=throttle.wait())
    log_refused_token(request, secret)
    raise AuthenticationFailed("the token is unknown or was revoked")
