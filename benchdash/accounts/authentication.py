"""``Authorization: Bearer <token>`` for the API."""

from django.contrib.auth.models import AnonymousUser
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from benchdash.accounts.models import Token
from benchdash.accounts.services import find_token


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[AnonymousUser, Token] | None:
        scheme, _, secret = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        token = find_token(secret.strip().decode("latin-1"))
        if token is None:
            raise AuthenticationFailed("the token is unknown or was revoked")
        return AnonymousUser(), token

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - DRF's signature
        return "Bearer"
