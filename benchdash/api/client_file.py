"""The client of the command line, for anybody to download: its file, and the checksum of it."""

import hashlib
from functools import cache
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import condition, require_safe

_FILE: Final = settings.BASE_DIR / "benchdash" / "client" / "benchdash.py"


@cache
def _content() -> bytes:
    return _FILE.read_bytes()


@cache
def _checksum() -> str:
    return hashlib.sha256(_content()).hexdigest()


def _tag(_request: HttpRequest) -> str:
    return f'"{_checksum()}"'


@require_safe
@cache_control(public=True, no_cache=True)
@condition(etag_func=_tag)
def client_file(_request: HttpRequest) -> HttpResponse:
    return HttpResponse(_content(), content_type="text/x-python; charset=utf-8")


@require_safe
@cache_control(public=True, no_cache=True)
@condition(etag_func=_tag)
def client_checksum(_request: HttpRequest) -> HttpResponse:
    """Return the line that ``sha256sum --check`` reads."""
    return HttpResponse(f"{_checksum()}  {_FILE.name}\n", content_type="text/plain; charset=utf-8")
