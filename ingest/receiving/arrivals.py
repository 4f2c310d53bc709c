"""Files as they arrive, with what is said of them and the files beside them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from ingest.containers import HEAD_BYTES, recognise
from ingest.formats.limits import Limits
from ingest.masking import mask_text
from ingest.metadata.fields import ARCHIVE_FIELDS, Metadata
from ingest.metadata.upload_metadata import metadata_digest, of_single_file
from ingest.models import Upload
from ingest.storage.raw_bytes import RawData, StoredData

_MAX_NAME = 255
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class CompanionFile:
    """A file beside an upload, as it was received. ``kind`` is a Companion.Kind."""

    kind: str
    name: str
    data: RawData


# The keys of uploads of a project: the digests of their content, and of metadata with companions.
Identity = tuple[str, str]


@dataclass(frozen=True)
class Arrival:
    """A file with all that is said of it. ``warnings`` are those of reading the metadata.

    ``came_alone`` is not true of a file out of an archive. ``bound_to`` is the machine of which an archive
    may have runs, empty for any. ``received_at`` is when its sender first had it to send, or when its archive
    came; None is now.
    """

    file_name: str
    data: RawData
    metadata: Metadata
    companions: Sequence[CompanionFile] = ()
    warnings: Sequence[str] = ()
    came_alone: bool = True
    bound_to: str = ""
    received_at: datetime | None = None

    @cached_property
    def is_archive(self) -> bool:
        return bool(recognise(next(self.data.chunks(), b"")[:HEAD_BYTES]))

    @cached_property
    def identity(self) -> Identity:
        return self.data.sha256, metadata_digest(
            self.metadata,
            {(one.kind, one.data.sha256) for one in self.companions},
            bound_to=self.bound_to,
        )

    @property
    def is_read_at_once(self) -> bool:
        """Tell whether it is imported while its sender waits, and not by a job."""
        return self.data.size <= settings.UPLOAD_IMPORT_AT_ONCE_BYTES and not self.is_archive

    def with_fitting_metadata(self) -> "Arrival":
        """Return a single file with what pattern and mapping say of its name, in place of the two.

        Raises FieldsError where the pattern does not fit the name.
        """
        said = [name for name in ARCHIVE_FIELDS if getattr(self.metadata, name)]
        if not said or self.is_archive:
            return self
        metadata, warnings = of_single_file(self.metadata, clean_file_name(self.file_name))
        if metadata.companion_pattern:
            warnings.append("'companion_pattern' is for archives and was ignored")
            metadata = replace(metadata, companion_pattern=())
        return replace(self, metadata=metadata, warnings=[*self.warnings, *warnings])


def received_data(file: "UploadedFile[Any]") -> RawData:
    """Keep a small file of a form in memory, and a large one where Django has put it."""
    if (file.size or 0) > settings.UPLOAD_IMPORT_AT_ONCE_BYTES:
        return RawData(file)  # type: ignore[arg-type] # it reads and seeks like a file
    file.seek(0)
    return RawData(file.read())


def stored_arrival(upload: Upload, metadata: Metadata) -> Arrival:
    """Return a stored upload as it came, with what is said of it now."""
    rows = upload.companions.select_related("raw").order_by("pk")
    companions = [CompanionFile(one.kind, one.name, StoredData(one.raw)) for one in rows]
    return Arrival(upload.name, StoredData(upload.raw), metadata, companions)


def distinct_files(companions: Iterable[CompanionFile]) -> dict[tuple[str, str], CompanionFile]:
    """Return companions by kind and digest; of the same ones, the first."""
    distinct: dict[tuple[str, str], CompanionFile] = {}
    for one in companions:
        distinct.setdefault((one.kind, one.data.sha256), one)
    return distinct


def result_limits() -> Limits:
    """Return what one result file may cost, as the settings say."""
    return Limits(
        file_bytes=settings.RESULT_FILE_MAX_BYTES,
        line_bytes=settings.RESULT_LINE_MAX_BYTES,
        json_bytes=settings.RESULT_JSON_MAX_BYTES,
        json_values=settings.RESULT_JSON_MAX_VALUES,
        lines=settings.RESULT_MAX_LINES,
        cells=settings.RESULT_TABLE_MAX_CELLS,
        samples=settings.RESULT_MAX_SAMPLES,
        runs=settings.RESULT_MAX_RUNS,
        cpu_seconds=settings.RESULT_MAX_CPU_SECONDS,
    )


def clean_file_name(name: str) -> str:
    """Make a sender's file name fit to be shown: without its path, control characters and secrets."""
    base = re.split(r"[/\\]", _CONTROL.sub("", name))[-1].strip()
    return mask_text(base)[:_MAX_NAME] or "file"
