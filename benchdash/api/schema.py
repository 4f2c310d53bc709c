"""Extensions of drf-spectacular: what it does not find out from the code."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerFieldExtension
from rest_framework.serializers import Serializer

from benchdash.rest.fields import SELECTION, is_selectable
from benchdash.rest.operations import Operation


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call] # the package has no types
    target_class = "benchdash.accounts.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, _auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


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

    target_class = "benchdash.api.answers.fields.AsIs"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: Any, direction: str) -> Any:
        return auto_schema._map_serializer_field(self.target.shape, direction)


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


def add_problems(result: dict[str, Any], **_options: Any) -> dict[str, Any]:
    """Declare the answer to what went wrong, which is the same for all operations."""
    result["components"]["schemas"]["Problem"] = _PROBLEM
    answer = {
        "description": "what went wrong",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for methods in result["paths"].values():
        for operation in methods.values():
            operation["responses"]["default"] = answer
    return result


def add_fields(result: dict[str, Any], **_options: Any) -> dict[str, Any]:
    """Declare the selection of fields where an answer has named members."""
    for methods in result["paths"].values():
        described = methods.get("get")
        if described and is_selectable(Operation(described, result["components"]["schemas"])):
            described.setdefault("parameters", []).append(SELECTION)
    return result
