"""How large a body may be, by address and sender. Decided from the headers, before any of it is read."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from django.urls import Resolver404, ResolverMatch, resolve
from rest_framework.exceptions import NotAuthenticated

from benchdash.accounts.access import NotAllowed, Viewer, viewer_of
from benchdash.accounts.authentication import TokenAuthentication
from benchdash.accounts.models import Scope
from ingest.errors import FileTooLargeError

# Fields and companions of an upload, beside the file itself.
UPLOAD_SLACK_BYTES: Final = 8 * 1024 * 1024
# The largest body of somebody unknown: signing in takes some hundred bytes.
MAX_STRANGER_BYTES: Final = 64 * 1024

_UPLOAD_API: Final = "ingest:upload-list"
_UPLOAD_PAGE: Final = "dashboard:upload_new"


def declared_bytes(environ: Mapping[str, Any]) -> int:
    """Return the ``Content-Length`` as Django understands it, 0 where there is none."""
    try:
        return int(environ.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0


def max_bytes_of_anyone() -> int:
    """Return the size up to which nobody is asked who sends a body."""
    return min(MAX_STRANGER_BYTES, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)


def limit_for(request: HttpRequest, size: int) -> int:
    """Return how many bytes the sender of a request may send. Raises FileTooLargeError if these are more.

    Raises AuthenticationFailed for a wrong token, and NotAuthenticated, NotAllowed or NotVisible where files
    are uploaded and the sender may upload none. Nobody is asked who sends a few bytes.
    """
    limit = max_bytes_of_anyone()
    if size > limit:
        limit = _max_bytes(request)
    if size > limit:
        raise FileTooLargeError(f"the request is larger than {limit} bytes")
    return limit


def _max_bytes(request: HttpRequest) -> int:
    match = _match(request) if request.method == "POST" else None
    name = match.view_name if match else ""
    sender = _sender(request)
    if name not in (_UPLOAD_API, _UPLOAD_PAGE):
        return max_bytes_of_anyone() if sender.is_anonymous else int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    if sender.is_anonymous:
        raise NotAuthenticated
    if match and name == _UPLOAD_PAGE:
        sender.require(Scope.UPLOAD, sender.project(match.kwargs["slug"]))
    elif not sender.may_somewhere(Scope.UPLOAD):  # the project is a field of the body
        raise NotAllowed(f"this needs the scope '{Scope.UPLOAD}'")
    return int(settings.UPLOAD_MAX_BYTES) + UPLOAD_SLACK_BYTES


def _match(request: HttpRequest) -> ResolverMatch | None:
    try:
        return resolve(request.path_info)
    except Resolver404:
        return None


def _sender(request: HttpRequest) -> Viewer:
    """Return who sends a request, by its token or its session. Raises AuthenticationFailed for a wrong token.

    The middleware that knows sessions comes later: it is not needed for the requests that are refused.
    """
    found = TokenAuthentication().authenticate(request)  # type: ignore[arg-type] # it reads the headers alone
    if found:
        return Viewer(token=found[1])
    asking = HttpRequest()
    asking.session = import_module(settings.SESSION_ENGINE).SessionStore(
        request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    )
    asking.user = get_user(asking)
    return viewer_of(asking)
