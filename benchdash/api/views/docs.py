"""The schema of the API, and the page for people that is made from it."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from itertools import groupby
from threading import Lock
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.cache import get_conditional_response
from django.utils.encoding import force_bytes
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from benchdash.throttling import AnonymousThrottle

_METHODS = ("get", "post", "put", "patch", "delete")
# The generator loads its extensions when it is first used, and fails where two threads do so at once.
_ONE_AT_A_TIME = Lock()


class SchemaView(APIView):
    """JSON, or YAML for those who accept nothing else."""

    renderer_classes = [OpenApiJsonRenderer, OpenApiYamlRenderer]
    throttle_classes = [AnonymousThrottle]

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponseBase:
        schema, etag = _rendered_schema(as_yaml=isinstance(request.accepted_renderer, OpenApiYamlRenderer))
        response = HttpResponse(schema, content_type=request.accepted_media_type)
        response["ETag"] = etag
        return get_conditional_response(request, etag=etag, response=response) or response


@cache
def _rendered_schema(*, as_yaml: bool) -> tuple[bytes, str]:
    """The schema and its ETag. It follows from the code alone, and is made once in a process."""
    renderer = OpenApiYamlRenderer() if as_yaml else OpenApiJsonRenderer()
    with _ONE_AT_A_TIME:
        schema = force_bytes(renderer.render(_schema(), renderer_context={}))
    return schema, f'"{hashlib.sha256(schema).hexdigest()}"'


def _schema() -> Any:
    generator = SchemaGenerator()  # type: ignore[no-untyped-call] # the package has no types
    return generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call] # the same


def prose(text: str) -> SafeString:
    """Paragraphs of a docstring, with its ``names`` as code."""
    paragraphs = (" ".join(part.split()) for part in text.split("\n\n") if part.strip())
    return format_html_join("", "<p>{}</p>", ((_code(part),) for part in paragraphs))


def _code(text: str) -> SafeString:
    # Every second part stands between backquotes.
    parts = enumerate(re.split(r"`+", text))
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", p) if i % 2 else p,) for i, p in parts)
    )


@dataclass(frozen=True, slots=True)
class Type:
    """``words`` around the name of a shape, which may be empty: "list of" Run."""

    words: str
    shape: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: Type
    is_required: bool
    about: SafeString


@dataclass(frozen=True, slots=True)
class Answer:
    code: str
    phrase: str
    type: Type


@dataclass(frozen=True, slots=True)
class Operation:
    method: str
    path: str
    summary: str
    about: SafeString
    parameters: Sequence[Field]
    body: Sequence[Field]
    answers: Sequence[Answer]


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    operations: Sequence[Operation]


@dataclass(frozen=True, slots=True)
class Shape:
    name: str
    about: SafeString
    fields: Sequence[Field]


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    with _ONE_AT_A_TIME:
        documentation = _documentation()
    example = (
        f"curl -H 'Authorization: Bearer $TOKEN' '{settings.SITE_URL}/api/v1/series/?metric=tps&limit=10'"
    )
    return render(request, "api/docs.html", {"documentation": documentation, "example": example})


@cache
def _documentation() -> SafeString:
    """What follows from the code alone, drawn once."""
    topics, shapes = _described()
    return render_to_string("api/_documentation.html", {"topics": topics, "shapes": shapes})


def _described() -> tuple[list[Topic], list[Shape]]:
    schema = _schema()
    components = schema["components"]["schemas"]
    described = sorted(_operations(schema["paths"], components), key=lambda pair: pair[0])
    topics = [
        Topic(name, [operation for _, operation in pairs])
        for name, pairs in groupby(described, key=lambda pair: pair[0])
    ]
    shapes = [
        Shape(name, prose(component.get("description", "")), _fields(component))
        for name, component in components.items()
        if "properties" in component
    ]
    return topics, shapes


def _operations(paths: Mapping[str, Any], components: Mapping[str, Any]) -> Iterator[tuple[str, Operation]]:
    """Each with its topic, in the order of addresses and methods."""
    for path, methods in paths.items():
        for method in _METHODS:
            if described := methods.get(method):
                yield (
                    described["tags"][0],
                    Operation(
                        method=method.upper(),
                        path=path,
                        summary=described.get("summary", ""),
                        about=prose(described.get("description", "")),
                        parameters=[_parameter(one) for one in described.get("parameters", ())],
                        body=_body(described.get("requestBody", {}), components),
                        answers=[_answer(*pair) for pair in described["responses"].items()],
                    ),
                )


def _parameter(described: Mapping[str, Any]) -> Field:
    return Field(
        name=described["name"],
        type=_type(described["schema"]),
        is_required=described.get("required", False),
        about=prose(described.get("description", "")),
    )


def _body(described: Mapping[str, Any], components: Mapping[str, Any]) -> list[Field]:
    for content in described.get("content", {}).values():
        name = _type(content["schema"]).shape
        return _fields(components[name]) if name else []
    return []


def _answer(code: str, described: Mapping[str, Any]) -> Answer:
    content = described.get("content", {}).get("application/json", {})
    return Answer(code, HTTPStatus(int(code)).phrase, _type(content["schema"]) if content else Type(""))


def _fields(component: Mapping[str, Any]) -> list[Field]:
    required = component.get("required", ())
    return [
        Field(name, _type(schema), name in required, prose(schema.get("description", "")))
        for name, schema in component.get("properties", {}).items()
    ]


def _type(schema: Mapping[str, Any]) -> Type:
    if "$ref" in schema:
        return Type("", schema["$ref"].rpartition("/")[2])
    for combination in ("allOf", "oneOf"):
        if combination in schema:
            return _type(schema[combination][0])
    if schema.get("type") == "array":
        inner = _type(schema["items"])
        return Type(f"list of {inner.words}".strip(), inner.shape)
    if "enum" in schema:
        return Type(" | ".join(str(value) for value in schema["enum"]))
    return Type(schema.get("format", schema.get("type", "any")))
