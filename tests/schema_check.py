"""Holds every JSON answer of the API that a test receives against the OpenAPI schema of its route."""

import json
import re
from functools import cache
from typing import NamedTuple

from jsonschema import Draft202012Validator

MIDDLEWARE = "tests.schema_check.record_answers"
MAX_ERRORS = 5
# One list for the process: the requests of browsers are answered by threads of a live server.
_answers = []


class Answer(NamedTuple):
    method: str
    path: str
    status: int
    media_type: str
    content: bytes
    is_partial: bool = False


def record_answers(get_response):
    """Middleware that keeps the JSON answers of the API until the test is over."""

    def middleware(request):
        response = get_response(request)
        media_type = response.headers.get("Content-Type", "").partition(";")[0]
        if request.path.startswith("/api/v1/") and media_type.endswith("json") and not response.streaming:
            is_partial = response.status_code == 200 and "fields" in request.GET
            _answers.append(
                Answer(
                    request.method,
                    request.path,
                    response.status_code,
                    media_type,
                    response.content,
                    is_partial,
                )
            )
        return response

    return middleware


def errors_of_answers():
    """Say how the answers since the last call differ from the schema."""
    answers = dict.fromkeys(_answers)
    _answers.clear()
    return [error for answer in answers for error in errors_of(answer)]


def errors_of(answer):
    found = _operation(answer.method, answer.path)
    if found is None or not answer.content:
        return
    template, operation = found
    at = f"{answer.method} {answer.path} -> {answer.status}"
    declared = operation["responses"]
    status = next((one for one in (str(answer.status), f"{answer.status // 100}XX") if one in declared), None)
    if status is None:
        yield f"{at}: the schema declares no such status"
        return
    if answer.media_type not in resolved(declared[status]).get("content", {}):
        yield f"{at}: the schema declares no {answer.media_type}"
        return
    make = _validator_of_parts if answer.is_partial else _validator
    validator = make(template, answer.method.lower(), status, answer.media_type)
    errors = validator.iter_errors(json.loads(answer.content))
    for error, _ in zip(errors, range(MAX_ERRORS), strict=False):
        yield f"{at}: {error.json_path}: {error.message[:300]}"


def _operation(method, path):
    """Find the path and the operation of the schema; None for a method that it does not declare."""
    for template, pattern in _patterns():
        if pattern.fullmatch(path):
            operation = schema()["paths"][template].get(method.lower())
            return operation and (template, operation)
    return None


def resolved(node):
    """What a reference within the schema leads to."""
    for name in node["$ref"].removeprefix("#/").split("/") if "$ref" in node else ():
        node = schema()[name] if name == "components" else node[name]
    return node


@cache
def schema():
    from drf_spectacular.generators import SchemaGenerator

    schema = json.loads(json.dumps(SchemaGenerator().get_schema(request=None, public=True)))
    for component in schema["components"]["schemas"].values():
        # A key that no schema names is as wrong as one that is missing.
        if "properties" in component:
            component.setdefault("additionalProperties", False)
    return schema


@cache
def _patterns():
    # Literal paths go first, so that no parameter takes a name for a value.
    templates = sorted(schema()["paths"], key=lambda template: template.count("{"))
    return [(one, re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(one)))) for one in templates]


@cache
def _validator(template, method, status, media_type):
    declared = resolved(schema()["paths"][template][method]["responses"][status])
    answer = declared["content"][media_type]["schema"]
    return Draft202012Validator({**answer, "components": schema()["components"]})


@cache
def _validator_of_parts(template, method, status, media_type):
    """Of an answer that was asked for only some fields: nothing is required."""
    return Draft202012Validator(_without_required(_validator(template, method, status, media_type).schema))


def _without_required(node):
    if isinstance(node, dict):
        return {
            name: _without_required(inner)
            for name, inner in node.items()
            if name != "required" or not isinstance(inner, list)
        }
    return [_without_required(inner) for inner in node] if isinstance(node, list) else node
