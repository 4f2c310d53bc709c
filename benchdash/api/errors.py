"""The one shape of API errors: ``application/problem+json`` with ``errors``."""

import logging
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.core.exceptions import ValidationError as ModelValidationError
from django.http import Http404, UnreadablePostError
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from benchdash.accounts.access import BeingDeleted, NotAllowed, NotVisible
from benchdash.failures import failure_of
from benchdash.regressions.comparison.columns import SelectorError
from benchdash.regressions.comparison.gate import GateError
from benchdash.results.checks import RecordError
from ingest.errors import (
    FieldsError,
    FileMissingError,
    FileRefusedError,
    FileTooLargeError,
    FileUnavailableError,
    UploadBusyError,
)

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"

_UNNAMED_FIELD = "non_field_errors"
_UNNAMED_CODE = exceptions.APIException.default_code


def exception_handler(
    exception: Exception,
    context: Mapping[str, Any],  # noqa: ARG001 - DRF calls it so
) -> Response | None:
    """Answer an exception, as DRF's hook; None for a bug of ours, which stays a 500.

    400 carries ``[{"field", "message"}]``, 422 ``[{"line", "message"}]``, all others ``[{"message"}]``.
    """
    if failure := failure_of(exception):
        logger.warning("answered with %s: %s", failure.status, exception)
        answer: Response | None = problem(
            failure.status, [{"message": failure.sentence}], headers=failure.headers
        )
    else:
        answer = _answer(exception)
    if answer is not None:
        set_rollback()
    return answer


def problem(
    status: int,
    errors: list[dict[str, Any]],
    *,
    code: str = "",
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> Response:
    """Return an error; ``more`` are further members of the object.

    ``code`` names for programs what a status alone does not tell; without one it is that of the status.
    """
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code or HTTPStatus(status).name.lower(),
        "detail": "; ".join(map(_in_a_sentence, errors[:3])),
        "errors": errors,
        **more,
    }
    return Response(body, status=status, headers=dict(headers or {}), content_type=MEDIA_TYPE)


def _in_a_sentence(error: Mapping[str, Any]) -> str:
    if line := error.get("line"):
        return f"line {line}: {error['message']}"
    return ": ".join(filter(None, (error.get("field"), str(error["message"]))))


def _answer(exception: Exception) -> Response | None:
    match exception:
        case FileRefusedError():
            upload_id, url = exception.upload_id, exception.url
            return problem(422, exception.errors, code="file_refused", id=upload_id, url=url)
        case SelectorError() | GateError():
            candidates = list(exception.candidates)
            code = "ambiguous" if candidates else "invalid"
            error = {"field": exception.field, "message": exception.message, "candidates": candidates}
            return problem(400, [error], code=code)
        case FieldsError():
            errors = [{"field": e.field, "message": e.message} for e in exception.errors]
            return problem(400, errors, code="invalid")
        case exceptions.ValidationError():
            return problem(400, list(_field_errors(exception.detail)), code="invalid")
        case ModelValidationError():
            return problem(400, list(_field_errors(_model_errors(exception))), code="invalid")
        case NotVisible() | Http404():
            # The same sentence for what is hidden and for what does not exist.
            return problem(404, [{"message": "there is no such thing here"}])
        case NotAllowed():
            return problem(403, [{"message": str(exception)}])
        case PermissionDenied():
            return problem(403, [{"message": str(exception) or "this is not allowed"}])
        case FileTooLargeError():
            return problem(413, [{"message": str(exception)}])
        case RequestDataTooBig():
            most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
            return problem(413, [{"message": f"the request, files apart, is larger than {most} bytes"}])
        case TooManyFieldsSent():
            message = f"more than {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS} fields"
            return problem(400, [{"field": "", "message": message}])
        case TooManyFilesSent():
            message = f"more than {settings.DATA_UPLOAD_MAX_NUMBER_FILES} files"
            return problem(400, [{"field": "", "message": message}])
        case SuspiciousOperation() | UnreadablePostError():
            return problem(400, [{"field": "", "message": str(exception) or "the request cannot be read"}])
        case FileMissingError():
            return problem(404, [{"message": str(exception)}])
        case FileUnavailableError():
            return problem(503, [{"message": str(exception)}], headers={"Retry-After": "5"})
        case UploadBusyError():
            return problem(409, [{"message": str(exception)}], code="upload_busy")
        case BeingDeleted():
            return problem(409, [{"message": str(exception)}], code="being_deleted")
        case RecordError():
            return problem(400, [{"field": "", "message": str(exception)}], code="invalid")
        case exceptions.ParseError():
            return problem(400, [{"field": "", "message": _sentence(exception)}], code="unreadable")
        case exceptions.APIException():
            return problem(
                exception.status_code,
                [{"message": _sentence(exception)}],
                code=exception.default_code if exception.default_code != _UNNAMED_CODE else "",
                headers=_headers(exception),
            )
    return None


def _sentence(exception: exceptions.APIException) -> str:
    return str(exception.detail)


def _headers(exception: exceptions.APIException) -> dict[str, str]:
    """Return the headers that DRF itself would send: how to authenticate, and when to try again."""
    headers = {}
    if authenticate := getattr(exception, "auth_header", None):
        headers["WWW-Authenticate"] = str(authenticate)
    if wait := getattr(exception, "wait", None):
        headers["Retry-After"] = str(int(wait))
    return headers


def _model_errors(exception: ModelValidationError) -> Any:
    return exception.message_dict if hasattr(exception, "error_dict") else exception.messages


def _field_errors(detail: Any, field: str = "") -> Iterator[dict[str, str]]:
    """Flatten DRF's nested details, with dotted names of fields."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            own = "" if name in {_UNNAMED_FIELD, "__all__"} else str(name)
            yield from _field_errors(inner, ".".join(filter(None, (field, own))))
    elif isinstance(detail, list | tuple):
        for position, inner in enumerate(detail):
            is_row = isinstance(inner, Mapping | list | tuple)
            place = ".".join(filter(None, (field, str(position)))) if is_row else field
            yield from _field_errors(inner, place)
    else:
        # A message may quote what was sent, and half of a character cannot be sent back.
        yield {"field": field, "message": str(detail).encode(errors="replace").decode()}
