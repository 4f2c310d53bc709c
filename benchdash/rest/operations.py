"""The OpenAPI schema, made once in a process, and what it says of the operation behind a request."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from threading import Lock
from typing import Any

from django.urls import get_urlconf
from drf_spectacular.generators import SchemaGenerator
from rest_framework.request import Request

# The generator loads its extensions when it is first used, and fails where two threads do so at once.
_ONE_AT_A_TIME = Lock()


def document() -> Mapping[str, Any]:
    """Return the whole schema. It follows from the code alone; the first call takes a second or two."""
    with _ONE_AT_A_TIME:
        return _document(get_urlconf())


@dataclass(frozen=True)
class Operation:
    """The part of the schema that is of one method at one address."""

    described: Mapping[str, Any]

    @cached_property
    def parameters(self) -> Mapping[str, Mapping[str, Any]]:
        """The query parameters, by name."""
        described = self.described.get("parameters", ())
        return {one["name"]: one for one in described if one["in"] == "query"}


def operation_of(request: Request) -> Operation | None:
    """Return the operation that a request asks for; None for one that the schema does not have."""
    match = request.resolver_match
    if match is None:
        return None
    method = "get" if request.method == "HEAD" else str(request.method).lower()
    with _ONE_AT_A_TIME:
        return _operations(get_urlconf()).get((_anonymous(match.route), method))


@cache
def _document(urlconf: str | None) -> Mapping[str, Any]:
    generator = SchemaGenerator(urlconf=urlconf)  # type: ignore[no-untyped-call] # the package has no types
    made: Mapping[str, Any] = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return made


@cache
def _operations(urlconf: str | None) -> Mapping[tuple[str, str], Operation]:
    """Return the operations by address, with ``{}`` for what varies in it, and method."""
    made = _document(urlconf)
    return {
        (_anonymous(path.removeprefix("/")), method): Operation(described)
        for path, methods in made["paths"].items()
        for method, described in methods.items()
    }


def _anonymous(address: str) -> str:
    """Return the pattern of an address, Django's or that of the schema, without names."""
    return re.sub(r"<[^>]*>|\{[^}]*\}", "{}", address)
