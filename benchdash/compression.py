"""Answers are compressed for who accepts it."""

import re
import secrets
import zlib
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import patch_vary_headers

_Answer = Callable[[HttpRequest], HttpResponseBase]

# Below this a packet is a packet.
_LEAST_BYTES = 500
# The higher levels take twice the time for a tenth of the bytes.
_LEVEL = 3
_accepts_gzip = re.compile(r"\bgzip\b")
_COMPRESSIBLE = ("text/", "application/json", "application/problem+json", "image/svg+xml")
_HEADER = b"\x1f\x8b\x08\x08" + bytes(4) + b"\x00\xff"  # of gzip, with the name of a file (RFC 1952)
_MOST_PADDING = 100


def compress(get_response: _Answer) -> _Answer:
    """A middleware. Static files are compressed when they are collected, and come before it."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if isinstance(response, HttpResponse) and _is_worth_it(response):
            patch_vary_headers(response, ("Accept-Encoding",))
            if _accepts_gzip.search(request.headers.get("Accept-Encoding", "")):
                _compress(response)
        return response

    return answer


def _is_worth_it(response: HttpResponse) -> bool:
    return (
        len(response.content) >= _LEAST_BYTES
        and not response.has_header("Content-Encoding")
        and response.headers.get("Content-Type", "").startswith(_COMPRESSIBLE)
    )


def _compress(response: HttpResponse) -> None:
    response.content = _gzip(response.content)
    response.headers["Content-Length"] = str(len(response.content))
    response.headers["Content-Encoding"] = "gzip"
    if (etag := response.headers.get("ETag", "")) and not etag.startswith("W/"):
        # The bytes are others than those that it was made of.
        response.headers["ETag"] = f"W/{etag}"


def _gzip(content: bytes) -> bytes:
    """With a name of random length: the length of an answer must not tell what is secret in it (BREACH)."""
    name = b"a" * secrets.randbelow(_MOST_PADDING)
    packing = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packing.compress(content) + packing.flush()
    checks = zlib.crc32(content).to_bytes(4, "little") + (len(content) % 2**32).to_bytes(4, "little")
    return _HEADER + name + b"\x00" + packed + checks
