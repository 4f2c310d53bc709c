"""The address of the client."""

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """Return the address that a request came from, as far as it can be trusted.

    Behind a proxy (``BEHIND_PROXY=1``) that is the last entry of ``X-Forwarded-For``: the one that the proxy
    appended. Anything before it was written by the client. Without a proxy the header counts for nothing.
    """
    return believed_address(request.META.get("REMOTE_ADDR", ""), request.headers.get("X-Forwarded-For", ""))


def believed_address(peer: str, forwarded_for: str) -> str:
    """Return the client's address from the connection's other end and the header ``X-Forwarded-For``."""
    appended = forwarded_for.rpartition(",")[2].strip()
    return appended if settings.BEHIND_PROXY and appended else peer
