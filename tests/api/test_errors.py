import json

import pytest
from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.core.exceptions import ValidationError as ModelValidationError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.renderers import JSONRenderer

from benchdash.accounts.access import NotAllowed, NotVisible
from benchdash.api.errors import exception_handler
from benchdash.results.checks import RecordError
from ingest.errors import FieldError, FieldsError, FileRefusedError, FileTooLargeError, UploadBusyError


def answer_to(exception):
    response = exception_handler(exception, {})
    assert response.content_type == "application/problem+json"
    body = json.loads(JSONRenderer().render(response.data))
    assert body["status"] == response.status_code
    assert body.keys() >= {"type", "title", "status", "detail", "errors"}
    return response.status_code, body["errors"]


@pytest.mark.parametrize(
    ("exception", "status", "errors"),
    [
        (FieldsError([FieldError("threads", "is odd")]), 400, [{"field": "threads", "message": "is odd"}]),
        (exceptions.ValidationError("odd"), 400, [{"field": "", "message": "odd"}]),
        (
            exceptions.ValidationError({"a": ["x", "y"], "b": [{"c": ["z"]}], "non_field_errors": ["n"]}),
            400,
            [
                {"field": "a", "message": "x"},
                {"field": "a", "message": "y"},
                {"field": "b.0.c", "message": "z"},
                {"field": "", "message": "n"},
            ],
        ),
        (exceptions.ValidationError("no \ud800"), 400, [{"field": "", "message": "no ?"}]),
        (ModelValidationError({"slug": ["taken"]}), 400, [{"field": "slug", "message": "taken"}]),
        (ModelValidationError("odd"), 400, [{"field": "", "message": "odd"}]),
        (RecordError("two units"), 400, [{"field": "", "message": "two units"}]),
        (exceptions.ParseError("no JSON"), 400, [{"field": "", "message": "no JSON"}]),
        (TooManyFieldsSent(), 400, [{"field": "", "message": "more than 1000 fields"}]),
        (TooManyFilesSent(), 400, [{"field": "", "message": "more than 100 files"}]),
        (SuspiciousOperation("odd"), 400, [{"field": "", "message": "odd"}]),
        (exceptions.AuthenticationFailed("unknown"), 401, [{"message": "unknown"}]),
        (NotAllowed("this needs the scope 'upload'"), 403, [{"message": "this needs the scope 'upload'"}]),
        (exceptions.PermissionDenied("CSRF"), 403, [{"message": "CSRF"}]),
        (PermissionDenied(), 403, [{"message": "this is not allowed"}]),
        (NotVisible("no project is called 'x'"), 404, [{"message": "there is no such thing here"}]),
        (Http404("no Run matches"), 404, [{"message": "there is no such thing here"}]),
        (exceptions.MethodNotAllowed("PUT"), 405, [{"message": 'Method "PUT" not allowed.'}]),
        (UploadBusyError("wait"), 409, [{"message": "wait"}]),
        (FileTooLargeError("larger"), 413, [{"message": "larger"}]),
        (
            RequestDataTooBig(),
            413,
            [{"message": "the request, files apart, is larger than 5242880 bytes"}],
        ),
        (
            FileRefusedError([{"line": 3, "message": "odd"}], upload_id=7, url="u"),
            422,
            [{"line": 3, "message": "odd"}],
        ),
        (
            exceptions.Throttled(wait=5),
            429,
            [{"message": "Request was throttled. Expected available in 5 seconds."}],
        ),
    ],
)
def test_what_a_client_can_mend_is_told_in_one_shape(exception, status, errors):
    assert answer_to(exception) == (status, errors)


def test_a_fault_of_ours_is_not_dressed_up():
    assert exception_handler(KeyError("x"), {}) is None


def test_a_throttled_client_is_told_when_to_come_again():
    assert exception_handler(exceptions.Throttled(wait=5), {})["Retry-After"] == "5"


def test_a_refused_file_leads_to_its_upload():
    refused = FileRefusedError([{"line": None, "message": "odd"}], upload_id=7, url="https://x/7/")
    assert exception_handler(refused, {}).data["url"] == "https://x/7/"
