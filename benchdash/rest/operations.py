"""The OpenAPI schema, made once in a process, and what it says of the operation behind a request."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from threading import Lock
from typing import Any, Final

from django.urls import get_urlconf
from drf_spectacular.generators import SchemaGenerator
from rest_framework.request import Request

# The generator loads its extensions when it is first used, and fails where two threads do so at once.
_ONE_AT_A_TIME = Lock()
_ALTERNATIVES: Final = ("allOf", "anyOf", "oneOf")


def document() -> Mapping[str, Any]:
    """Return the whole schema. It follows from the code alone; the first call takes a second or two."""
    with _ONE_AT_A_TIME:
        return _document(get_urlconf())


@dataclass(frozen=True)
class Operation:
    """What the schema says of one method at one address; ``components`` are what it refers to."""

    described: Mapping[str, Any]
    components: Mapping[str, Any]

    @cached_property
    def parameters(self) -> Mapping[str, Mapping[str, Any]]:
        """The query parameters, by name."""
        described = self.described.get("parameters", ())
        return {one["name"]: one for one in described if one["in"] == "query"}

    @cached_property
    def answer(self) -> Mapping[str, Any]:
        """The schema of the JSON answer when all is well; empty where there is none."""
        content = self.described["responses"].get("200", {}).get("content", {})
        answer: Mapping[str, Any] = content.get("application/json", {}).get("schema", {})
        return answer

    def members(self, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the schemas of the members of objects, in lists or not; None where they may have any."""
        if reference := schema.get("$ref"):
            return self.members(self.components[reference.rpartition("/")[2]])
        found: dict[str, Any] = dict(schema.get("properties", {}))
        is_open = not found and not schema.keys() & {*_ALTERNATIVES} and _may_be_object(schema)
        inner = [one for name in _ALTERNATIVES for one in schema.get(name, ())]
        for one in [*inner, *([schema["items"]] if "items" in schema else ())]:
            members = self.members(one)
            is_open |= members is None
            found |= members or {}
        return None if is_open else found


def operation_of(request: Request) -> Operation | None:
    """Return the operation that a request asks for; None for one that the schema does not have."""
    match = request.resolver_match
    if match is None:
        return None
    method = "get" if request.method == "HEAD" else str(request.method).lower()
    with _ONE_AT_A_TIME:
        return _operations(get_urlconf()).get((_anonymous(match.route), method))


def _may_be_object(schema: Mapping[str, Any]) -> bool:
    types = schema.get("type")
    return types is None or "object" in ([types] if isinstance(types, str) else types)


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
        (_anonymous(path.removeprefix("/")), method): Operation(described, made["components"]["schemas"])
        for path, methods in made["paths"].items()
        for method, described in methods.items()
    }


def _anonymous(address: str) -> str:
    """Return the pattern of an address, Django's or that of the schema, without names."""
    return re.sub(r"<[^>]*>|\{[^}]*\}", "{}", address)
