"""Extensions of drf-spectacular: what it does not find out from the code."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from drf_spectacular.extensions import (
    OpenApiAuthenticationExtension,
    OpenApiSerializerExtension,
    OpenApiSerializerFieldExtension,
)
from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers
from rest_framework.permissions import SAFE_METHODS
from rest_framework.serializers import Serializer

from benchdash.rest.parameters import MAX_ID

_EXAMPLES = Path(__file__).with_name("examples.json")


class Operations(AutoSchema):
    """How an operation is described, beyond what drf-spectacular finds out."""

    def get_auth(self) -> list[dict[str, Any]]:
        """Whatever only reads may be asked by anybody, except where a view is ``for_known_only``."""
        known: list[dict[str, Any]] = super().get_auth()
        is_open = self.method in SAFE_METHODS and not getattr(self.view, "for_known_only", False)
        return [{}, *known] if is_open else known


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call] # the package has no types
    target_class = "benchdash.accounts.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, _auto_schema: Any) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of a project, or the OpenID Connect token of a job of GitHub Actions or"
            " GitLab CI that the project trusts.",
        }


class ListOfObjects(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call] # the same
    """A list whose objects may be null, which drf-spectacular forgets."""

    target_class = "rest_framework.serializers.ListField"

    def map_serializer_field(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        schema: dict[str, Any] = auto_schema._map_serializer_field(
            self.target, direction, bypass_extensions=True
        )
        child = self.target.child
        if isinstance(child, Serializer) and child.allow_null:
            schema["items"] = {"anyOf": [schema["items"], {"type": "null"}]}
        return schema


class AsIsField(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call] # the same
    """A value that is JSON already, by its shape."""

    target_class = "benchdash.answers.fields.AsIs"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: Any, direction: str) -> Any:
        return auto_schema._map_serializer_field(self.target.shape, direction)


class BodyOfRequest(OpenApiSerializerExtension):  # type: ignore[no-untyped-call] # the same
    """A body has no other members, and its texts say whether they may be blank."""

    target_class = "benchdash.api.requests.Body"
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        schema: dict[str, Any] = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        for name, field in self.target.fields.items():
            schema["properties"][name] = _exactly(field, schema["properties"][name])
        return {**schema, "additionalProperties": False, **self.target.more_schema}


def _exactly(field: Any, schema: dict[str, Any]) -> dict[str, Any]:
    """Say of a text that it is not blank, and of one in a format that may be null what it is then not."""
    if isinstance(field, serializers.ListField) and isinstance(schema.get("items"), dict):
        least = {} if field.allow_empty else {"minItems": 1}
        return {**schema, **least, "items": _exactly(field.child, schema["items"])}
    if (
        isinstance(field, serializers.CharField)
        and not field.allow_blank
        and not {"pattern", "format"} & {*schema}
    ):
        return {**schema, "pattern": r"\S"}
    if "format" in schema and schema.get("type") == ["string", "null"]:
        text = {name: schema[name] for name in ("format", "maxLength", "minLength") if name in schema}
        rest = {name: value for name, value in schema.items() if name not in {"type", *text}}
        return {**rest, "anyOf": [{"type": "string", **text}, {"type": "null"}]}
    return schema


_PROBLEM = {
    "type": "object",
    "description": "An error. Each of `errors` names the field of the request or the line of the file.",
    "required": ["type", "title", "status", "code", "detail", "errors"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {
            "type": "string",
            "description": "what kind of error it is, for programs: `invalid`, `file_refused`, ...",
        },
        "reference": {
            "type": "string",
            "description": "of a mistake of ours: where it is in the log",
        },
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["message"],
                "properties": {
                    "message": {"type": "string"},
                    "field": {"type": "string"},
                    "line": {"type": ["integer", "null"]},
                    "candidates": {"type": "array", "items": {"type": ["object", "string"]}},
                },
                "additionalProperties": False,
            },
        },
        "id": {"type": ["integer", "null"], "description": "the upload that was refused; null in a dry run"},
        "url": {"type": ["string", "null"], "description": "the address of that upload"},
    },
}


_PROBLEMS = {
    "400": "a field is missing or malformed",
    "401": "no token or session, or one that is not known",
    "403": "the token or the role may not do this",
    "404": "there is no such thing, or it is hidden",
    "429": "too many requests; `Retry-After` says when to ask again",
    "5XX": "not a mistake of the request; the same may be sent again",
}
_PROBLEMS_OF_CHANGES = {
    "409": "something else is just being done to it",
    "413": "the request is too large",
    "415": "a body of another media type",
    "422": "a file that cannot be understood, or an `Idempotency-Key` of another request",
}


def add_problems(result: dict[str, Any], **_options: Any) -> dict[str, Any]:
    """Declare the answers to what went wrong, which are of one shape everywhere."""
    components = result["components"]
    components["schemas"]["Problem"] = _PROBLEM
    problems = {**_PROBLEMS, **_PROBLEMS_OF_CHANGES}
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    components["responses"] = {
        f"Problem{status}": {"description": about, "content": content} for status, about in problems.items()
    }
    for _, method, operation in _operations(result):
        known = dict(_PROBLEMS)
        if method == "get":
            operation["responses"]["304"] = {"description": "as `If-None-Match` knows it"}
        else:
            known |= _PROBLEMS_OF_CHANGES
        for status in known:
            operation["responses"][status] = {"$ref": f"#/components/responses/Problem{status}"}
    return result


def complete_parameters(result: dict[str, Any], **_options: Any) -> dict[str, Any]:
    """Declare of texts that are required that they may not be empty, and of ids which there can be."""
    for _, _, operation in _operations(result):
        for parameter in operation.get("parameters", ()):
            schema = parameter["schema"]
            if parameter["in"] == "query" and parameter.get("required") and schema.get("type") == "string":
                schema.setdefault("minLength", 1)
            if parameter["in"] == "path" and schema.get("type") == "integer":
                schema |= {"minimum": 0, "maximum": MAX_ID}
    return result


# In the order in which somebody meets them.
_TAGS = {
    "uploads": "What comes in: files with results.",
    "runs": "What was measured, run by run.",
    "series": "One line on a chart, and its points.",
    "compare": "Versions against each other.",
    "matrix": "A release or a commit by workload and thread count.",
    "difference": "Two versions or two runs by everything that was measured.",
    "curves": "Scaling curves in figures.",
    "latency": "Distributions of response times.",
    "sweep": "One setting varied.",
    "nights": "The newest commits or nights of a branch against its baseline.",
    "overview": "The morning of a project.",
    "gate": "Whether a commit or a release may pass.",
    "baselines": "What branches are held against.",
    "incidents": "Changes of level that people triage.",
    "annotations": "What people wrote on charts.",
    "exclusions": "Runs that count in no point.",
    "articles": "Saved comparisons.",
    "projects": "What results belong to.",
    "products": "What is measured.",
    "versions": "Builds of products.",
    "hardware": "Machines.",
    "configurations": "Named sets of settings.",
    "workloads": "What tools were told to do.",
    "metrics": "What numbers mean.",
    "subscriptions": "Who is mailed about what.",
    "webhooks": "Which addresses are told about what.",
    "token": "What the token of a request may do.",
    "audit": "Who changed what and why.",
}


def add_tags(result: dict[str, Any], **_options: Any) -> dict[str, Any]:
    """List the tags in the order of the page that is made from the schema."""
    used = {tag for _, _, operation in _operations(result) for tag in operation["tags"]}
    result["tags"] = [{"name": name, "description": about} for name, about in _TAGS.items() if name in used]
    return result


def add_examples(result: dict[str, Any], **_options: Any) -> dict[str, Any]:
    """Add to each operation a real request and its answers, which ``make examples`` wrote."""
    examples = json.loads(_EXAMPLES.read_text())
    for status, problem in examples["problems"].items():
        content = result["components"]["responses"][f"Problem{status}"]["content"]
        result["components"]["responses"][f"Problem{status}"]["content"] = {
            name: {**described, "example": problem} for name, described in content.items()
        }
    for _, _, operation in _operations(result):
        example = examples.get(operation["operationId"], {"parameters": {}, "answers": {}})
        for parameter in operation.get("parameters", ()):
            if parameter["name"] in example["parameters"]:
                parameter["example"] = example["parameters"][parameter["name"]]
        for media_type, body in example.get("body", {}).items():
            operation["requestBody"]["content"][media_type]["example"] = body
        for status, answers in example["answers"].items():
            for media_type, answer in answers.items():
                operation["responses"][status]["content"][media_type]["example"] = answer
    return result


def _operations(result: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in result["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation
