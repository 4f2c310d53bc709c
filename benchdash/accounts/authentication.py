"""``Authorization: Bearer <token>`` for the API: a stored token, or a job's token that its CI has signed."""

from collections.abc import Mapping
from typing import NoReturn

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from rest_framework import status
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import APIException, AuthenticationFailed, Throttled, ValidationError
from rest_framework.request import Request

from benchdash.accounts.access_log import log_refused_token
from benchdash.accounts.identities.claims import IdentityError, looks_like_identity
from benchdash.accounts.identities.key_sets import KeysAwayError
from benchdash.accounts.identities.services import trusted_tokens
from benchdash.accounts.models import Scope, Token
from benchdash.accounts.services import TokenExpiredError, find_token, note_use
from benchdash.throttling import AnonymousThrottle, place_of

_UNKNOWN = "the token is unknown or was revoked"


class KeysUnavailable(APIException):
    """The keys of a CI cannot be read, so nobody can tell whose token it is."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    wait = 60


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[AnonymousUser, Token] | None:
        """Return whose token was sent. Of a plain request of Django nothing but the head is read.

        Raises AuthenticationFailed, KeysUnavailable, Throttled, and ValidationError where several projects
        trust the job and the request names none.
        """
        scheme, _, sent = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        secret = sent.strip().decode("latin-1")
        try:
            token = _trusted(request, secret) if looks_like_identity(secret) else find_token(secret)
        except (IdentityError, TokenExpiredError) as error:
            _refuse(request, secret, str(error))
        except KeysAwayError as error:
            raise KeysUnavailable(str(error)) from None
        if token is None:
            _refuse(request, secret, _UNKNOWN)
        return AnonymousUser(), token

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 - DRF's signature
        return "Bearer"


def _trusted(request: Request, sent: str) -> Token:
    """Return the token as which a job acts: in the project that its request names, or in the only one."""
    tokens = trusted_tokens(sent)
    token = tokens[0]
    if len({one.project_id for one in tokens}) > 1:
        token = _of_named_project(request, tokens)
    note_use(token)
    return token


def _of_named_project(request: Request, tokens: list[Token]) -> Token:
    named = _named_project(request)
    if named is None:
        # The body is yet to come, and this decides only how large it may be.
        return next((token for token in tokens if Scope.UPLOAD in token.scopes), tokens[0])
    if not named:
        slugs = sorted({token.project.slug for token in tokens})
        raise ValidationError({"project": f"is required: {' and '.join(slugs)} trust this repository"})
    return next((token for token in tokens if token.project.slug == named), tokens[0])


def _named_project(request: Request) -> str | None:
    """Return what a request names as its project, None where it may name one in a body that nobody read."""
    plain: HttpRequest = getattr(request, "_request", request)
    if named := plain.GET.get("project", "").strip():
        return named
    if plain is request:
        return None
    body = request.data
    said = body.get("project") if isinstance(body, Mapping) else ""
    return said.strip() if isinstance(said, str) else ""


def _refuse(request: Request, secret: str, reason: str) -> NoReturn:
    """Refuse a token. Raises AuthenticationFailed, or Throttled after too many from this network."""
    throttle = AnonymousThrottle()
    if not throttle.allows(place_of(request)):
        raise Throttled(wait=throttle.wait())
    log_refused_token(request, secret, reason)
    raise AuthenticationFailed(reason)
