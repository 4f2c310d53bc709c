"""A request to an address that a person gave: only to the outside, only to the host that was checked.

The name is resolved once, every address that it has must be allowed, and the connection goes to one of these;
so nobody can point a name elsewhere between the check and the request. Redirects are answers, not followed.
"""

import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from threading import Event, Timer
from typing import Final
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

MAX_SECONDS = 10.0
MAX_URL = 2000
MAX_REPLY = 200

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_MIN_UNPRIVILEGED_PORT = 1024
_NAT64 = ip_network("64:ff9b::/96")
_IPV6_IN_USE = ip_network("2000::/3")
# Reserved, or ways to other addresses, which older releases of Python count as global.
_NEVER = tuple(
    ip_network(one)
    for one in ("192.0.0.0/24", "192.88.99.0/24", "2001::/32", "2002::/16", "2001:db8::/32", "3fff::/20")
)
_PRIVATE = tuple(
    ip_network(one)
    for one in (
        *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8"),
        *("::1/128", "fc00::/7"),
    )
)
# Clouds hand out credentials at these; the other such address, 169.254.169.254, is link-local.
_METADATA = frozenset({ip_address("100.100.100.200"), ip_address("fd00:ec2::254")})


class ForbiddenError(Exception):
    """The address may not be called, with a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer: its status, and as much of the body as was asked for."""

    status: int
    body: bytes

    @property
    def text(self) -> str:
        """The beginning of the body as one line."""
        return _line(self.body[: 4 * MAX_REPLY])

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def __str__(self) -> str:
        return f"{self.status}: {self.text}" if self.text else str(self.status)


@dataclass(frozen=True, slots=True)
class _Target:
    url: SplitResult
    host: str
    port: int

    @property
    def path(self) -> str:
        path = self.url.path or "/"
        return f"{path}?{self.url.query}" if self.url.query else path


def server_of(url: str) -> str:
    """Return the host and the port, under which an address is found to be reachable or not."""
    return urlsplit(url).netloc.lower()


def check(url: str) -> None:
    """Refuse an address that may not be called. Raises ForbiddenError.

    A name that cannot be resolved now passes: it is resolved again at each request.
    """
    target = _target(url)
    with suppress(OSError):
        _addresses(target)


def request(
    method: str, url: str, body: bytes, headers: Mapping[str, str], *, max_reply: int = 4 * MAX_REPLY
) -> Reply:
    """Send the body, and return what came back within ``MAX_SECONDS``, at most ``max_reply`` bytes of it.

    Raises ForbiddenError, or OSError or http.client.HTTPException where nothing sensible came back.
    """
    target, until = _target(url), time.monotonic() + MAX_SECONDS
    with _connected(target, until) as connection:
        connection.request(method, target.path, body, {**headers, "Host": target.url.netloc})
        response = connection.getresponse()
        return Reply(response.status, response.read(max_reply))


def reason_of(error: Exception) -> str:
    """Say in words why nothing came back: ``Name or service not known``, without the number of an OSError."""
    return getattr(error, "strerror", None) or str(error).strip("\0\r\n ") or type(error).__name__


def _target(url: str) -> _Target:
    """Take the address apart. Raises ForbiddenError for one that is malformed or not of the web."""
    if len(url) > MAX_URL:
        raise ForbiddenError(f"the address has {len(url)} characters, more than {MAX_URL}")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise ForbiddenError("the address holds a character that none can; copy it from the browser")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except (ValueError, UnicodeError):
        raise ForbiddenError("this is not an address") from None
    if parts.scheme not in _DEFAULT_PORTS:
        raise ForbiddenError("an address begins with https:// or http://")
    if not host:
        raise ForbiddenError("the address names no host")
    if parts.username is not None or parts.password is not None:
        raise ForbiddenError("an address with a user name or password is not taken")
    port = _DEFAULT_PORTS[parts.scheme] if port is None else port
    if port < _MIN_UNPRIVILEGED_PORT and port not in _DEFAULT_PORTS.values():
        raise ForbiddenError(f"port {port} is not one of the web: 80, 443 or above 1023")
    return _Target(parts, host, port)


def _addresses(target: _Target) -> list[str]:
    """Resolve the host. Raises OSError, or ForbiddenError where one of its addresses may not be called."""
    found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
    for address in addresses:
        if not _is_allowed(address):
            inside = "" if settings.WEBHOOKS_MAY_BE_PRIVATE else " outside of private networks"
            raise ForbiddenError(f"{target.host} is at {address}, which is no address{inside}")
    return addresses


def _is_allowed(address: str) -> bool:
    ip = _behind(ip_address(address.partition("%")[0]))
    if ip in _METADATA or any(ip in network for network in _NEVER):
        return False
    if any(ip in network for network in _PRIVATE):
        return bool(settings.WEBHOOKS_MAY_BE_PRIVATE)
    if isinstance(ip, IPv6Address) and ip not in _IPV6_IN_USE:
        return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def _behind(ip: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that is written as one of IPv6, or the address itself."""
    if isinstance(ip, IPv4Address):
        return ip
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip


@contextmanager
def _connected(target: _Target, until: float) -> Iterator[HTTPConnection]:
    """Connect, and hang up when the time is over, whatever the other side does meanwhile."""
    with _socket(target, until) as plain, _hung_up_in_time(plain, until):
        sock = plain
        if target.url.scheme == "https":
            # The plain socket stays open beside its copy, to be hung up.
            sock = ssl.create_default_context().wrap_socket(plain.dup(), server_hostname=target.host)
        connection = HTTPConnection(target.host, target.port)
        # A connection that has its socket resolves no name.
        connection.sock = sock
        try:
            yield connection
        finally:
            connection.close()


def _socket(target: _Target, until: float) -> socket.socket:
    """Connect to the first of the addresses that answers. Raises OSError and ForbiddenError."""
    trouble: OSError = ConnectionError(f"{target.host} has no address")
    addresses = _addresses(target)
    for number, address in enumerate(addresses):
        seconds = _seconds_left(until) / (len(addresses) - number)
        try:
            return socket.create_connection((address, target.port), timeout=seconds)
        except OSError as error:
            trouble = error
    raise trouble


def _seconds_left(until: float) -> float:
    # With a timeout of 0 a socket would not wait at all, which is another kind of error.
    return max(until - time.monotonic(), 0.01)


@contextmanager
def _hung_up_in_time(sock: socket.socket, until: float) -> Iterator[None]:
    """Each read has a limit of its own, and a server could send a byte at a time for ever."""
    sock.settimeout(_seconds_left(until))
    is_late = Event()
    timer = Timer(_seconds_left(until), _hang_up, [sock, is_late])
    timer.daemon = True
    timer.start()
    try:
        yield
    except (OSError, HTTPException) as error:
        if is_late.is_set() or isinstance(error, TimeoutError):
            raise TimeoutError(f"no answer within {MAX_SECONDS:g} seconds") from error
        raise
    finally:
        timer.cancel()


def _hang_up(sock: socket.socket, is_late: Event) -> None:
    is_late.set()
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def _line(body: bytes) -> str:
    text = " ".join(body.decode(errors="replace").split())
    return "".join(char for char in text if char.isprintable())[:MAX_REPLY]
