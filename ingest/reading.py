"""Reads a received file by its format, and puts into words what is wrong with it."""

import logging
from dataclasses import dataclass
from typing import Any

from django.db import DataError

from benchdash.results.services import RecordError
from ingest import formats
from ingest.errors import FieldsError
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.source import Source
from ingest.limits import result_limits
from ingest.masking import mask_text
from ingest.metadata import Metadata

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Parsed:
    format: str
    report: ParsedReport


# What is wrong with a file, and not with the one who sent it or with us.
REFUSALS = (FormatError, RecordError, DataError)


def parse(data: bytes, name: str, metadata: Metadata) -> Parsed:
    """Raises FormatError."""
    chosen = metadata.format or _format_in_meta(metadata)
    try:
        return Parsed(*formats.parse(Source(data, name, result_limits()), chosen))
    except FormatError:
        raise
    except Exception:
        # The file is no less safe for a fault of a format, and its sender is owed a sentence.
        logger.exception("a format failed on %s", name)
        raise FormatError("the file could not be read because of a fault in benchdash; it is kept") from None


def try_to_parse(data: bytes, name: str, metadata: Metadata) -> Parsed | FormatError:
    try:
        return parse(data, name, metadata)
    except FormatError as error:
        return error


def _format_in_meta(metadata: Metadata) -> str | None:
    named = metadata.meta.get("format")
    return str(named) if named else None


def errors_of(error: Exception) -> list[dict[str, Any]]:
    match error:
        case FormatError():
            return [error_of(error.message, error.line)]
        case FieldsError():
            return [error_of(f"{one.field} {one.message}") for one in error.errors]
        case DataError():
            return [error_of("the file holds a value that the database cannot hold")]
    return [error_of(str(error))]


def error_of(message: str, line: int | None = None) -> dict[str, Any]:
    return {"line": line, "message": mask_text(message)}
