"""The log of sign-ins and refusals: one line each, never a secret.

Text from outside is logged by ``%r``, so that it cannot begin a line of its own.
"""

import logging

from django.http import HttpRequest

from benchdash.accounts.models import TOKEN_PREFIX, TOKEN_PREFIX_LENGTH, User
from benchdash.client_address import client_address

logger = logging.getLogger("benchdash.access")

_MAX_NAME = 254


def log_sign_in(request: HttpRequest, user: User) -> None:
    logger.info("%r signed in from %r", user.email, client_address(request))


def log_failed_sign_in(request: HttpRequest, account: str) -> None:
    logger.warning("sign-in as %r failed from %r", account[:_MAX_NAME], client_address(request))


def log_throttled_sign_in(request: HttpRequest, account: str) -> None:
    logger.warning(
        "sign-in as %r from %r was not tried: too many", account[:_MAX_NAME], client_address(request)
    )


def log_refused_token(request: HttpRequest, secret: str, reason: str) -> None:
    # Any other text may be the secret of something else.
    is_ours = secret.startswith(TOKEN_PREFIX)
    name = repr(f"{secret[:TOKEN_PREFIX_LENGTH]}…") if is_ours else "that is none of ours"
    logger.warning("a token %s was refused from %r: %r", name, client_address(request), reason)
