"""Reads a received file by its format, and puts into words what is wrong with it."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import DataError

from benchdash.accounts.models import Project
from benchdash.results.records import RunRecord
from benchdash.results.services import RecordError
from benchdash.results.stability import stall_rule
from benchdash.results.wording import listed
from ingest import formats
from ingest.errors import FieldsError
from ingest.formats.report import FormatError, ParsedReport
from ingest.formats.source import Source
from ingest.masking import mask_text
from ingest.masking.token_shapes import token_in
from ingest.metadata.fields import Metadata
from ingest.metadata.values import as_identity
from ingest.receiving.arrivals import Arrival, result_limits
from ingest.receiving.companions import facts_of
from ingest.receiving.records import decide

logger = logging.getLogger(__name__)

# Fields that a file may name.
_NAMES = ("product", "version", "build", "hardware", "configuration", "counterpart", "workload")
# Faults of a file, and not of its sender or of ours.
REFUSALS = (FormatError, RecordError, DataError)


@dataclass(frozen=True, slots=True)
class Understood:
    """The words of a file, joined with those of its sender; with ``errors`` it cannot be understood."""

    format: str = ""
    records: tuple[RunRecord, ...] = ()
    warnings: tuple[str, ...] = ()
    errors: list[dict[str, Any]] = field(default_factory=list)
    companion_formats: Mapping[tuple[str, str], str] = field(default_factory=dict)


def understand(project: Project, arrival: Arrival, *, received_at: datetime) -> Understood:
    """Read a file, one that has just come in or a stored one, and the companions of one that can be read.

    Raises FieldsError where neither sender nor file says what is required, and FileTooLargeError or
    FileUnavailableError where its bytes cannot be had.
    """
    data, rule = arrival.data.read(), stall_rule(project)
    try:
        format_, report = parse(data, arrival.file_name, arrival.metadata)
        beside = facts_of(arrival.companions)
        with result_limits().budget(len(data)):
            decided = decide(report, arrival.metadata, received_at=received_at, beside=beside, rule=rule)
            _refuse_tokens(decided.records, data)
    except FormatError as error:
        return Understood(errors=errors_of(error))
    return Understood(format_, decided.records, decided.warnings, companion_formats=beside.formats)


def _refuse_tokens(records: Iterable[RunRecord], data: bytes) -> None:
    """Raise FormatError for a name that a file gives and that holds a token: names are never masked."""
    names = {(name, getattr(record, name)) for record in records for name in _NAMES}
    names |= {("metric", one.metric) for record in records for one in record.readings if one.is_own}
    for name, value in sorted(names):
        try:
            as_identity(value)
        except ValueError as error:
            before, found, _ = data.partition(str(token_in(value)).encode())
            line = before.count(b"\n") + 1 if found else None
            raise FormatError(f"the {name} {error}; the fields '{name}' and 'map' do", line) from None


def parse(data: bytes, name: str, metadata: Metadata) -> tuple[str, ParsedReport]:
    """Return the format and what it found. Raises FormatError."""
    chosen = metadata.format or metadata.meta.get("format")
    metric = metadata.metric or metadata.meta.get("metric") or ""
    try:
        source = Source(data, name, result_limits(), metric=str(metric))
        return formats.parse(source, str(chosen) if chosen else None)
    except FormatError:
        raise
    except Exception:
        # The file is no less safe for a fault of a format, and its sender is owed a sentence.
        logger.exception("a format failed on %s", name)
        raise FormatError("the file could not be read because of a fault in benchdash; it is kept") from None


def errors_of(error: Exception) -> list[dict[str, Any]]:
    match error:
        case FormatError():
            return [error_of(error.sentence, error.line)]
        case FieldsError():
            return [error_of(sentence) for sentence in _field_sentences(error)]
        case DataError():
            return [error_of("the file holds a value that the database cannot hold")]
    return [error_of(str(error))]


def _field_sentences(error: FieldsError) -> Iterator[str]:
    """Yield one sentence for all fields that are missing, and one for each other field."""
    if len(error.missing) > 1:
        yield f"{listed(error.missing)} are required, and neither the file nor its sender says them"
    for one in error.errors:
        if not one.is_missing or len(error.missing) == 1:
            yield f"{one.field} {one.message}"
        elif ";" in one.message:
            yield f"{one.field}: {one.message.partition('; ')[2]}"


def error_of(message: str, line: int | None = None) -> dict[str, Any]:
    return {"line": line, "message": mask_text(message)}
