"""The address of the client."""

import ipaddress
from typing import Final

from django.conf import settings
from django.http import HttpRequest

_IPV6_NETWORK: Final = 64


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


def network_of(address: str) -> str:
    """Return the address itself; for IPv6 the network that one customer gets."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:  # a Unix socket has none
        return address
    if isinstance(parsed, ipaddress.IPv6Address) and not parsed.ipv4_mapped:
        return str(ipaddress.ip_network((parsed, _IPV6_NETWORK), strict=False))
    return address
