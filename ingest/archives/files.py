"""The files of a folder or an archive, each with all that is said of it, received in batches."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from django.conf import settings

from benchdash.accounts.access import NOBODY, Viewer
from benchdash.accounts.models import Project
from ingest.archives.plan import PlannedFile, is_configuration, may_be_companions, plan
from ingest.containers import HEAD_BYTES as CONTAINER_HEAD_BYTES
from ingest.containers import Container, Member, recognise
from ingest.errors import FieldError, FieldsError, FileRefusedError
from ingest.formats import FORMATS
from ingest.formats.companions import COMPANION_FORMATS
from ingest.formats.source import HEAD_BYTES, Source
from ingest.metadata.fields import ARCHIVE_FIELDS
from ingest.metadata.path_patterns import PathRules
from ingest.metadata.upload_metadata import read_metadata
from ingest.metadata.values import read_json
from ingest.models import Companion, Upload
from ingest.queries import RunCopy, RunSummary
from ingest.receiving.arrivals import Arrival, CompanionFile
from ingest.receiving.dry_runs import dry_run
from ingest.receiving.imports import Received, import_upload
from ingest.receiving.parsing import error_of, errors_of
from ingest.receiving.reception import receive
from ingest.storage.raw_bytes import RawData

# A batch is one transaction, and all of it is in memory.
_BATCH_FILES: Final = 64
_BATCH_BYTES: Final = 8 * 1024 * 1024
_MAX_META_BYTES: Final = 1024 * 1024
# Files are opened before the rest is planned, to see whether they are companions.
_MAX_ASKED: Final = 4_000
# Companions and metas that are kept in memory, so that those of a folder are not read for each of its files.
_MAX_CACHED: Final = 64

_Errors = list[dict[str, Any]]


class FileSet:
    """The files of a container, and what goes with what.

    ``shared`` are companions of every file; ``received_at`` is when the container came, None is now.
    """

    def __init__(
        self,
        container: Container,
        rules: PathRules,
        shared: Sequence[CompanionFile] = (),
        *,
        received_at: datetime | None = None,
    ) -> None:
        """Plan what becomes of the files. Raises PatternError."""
        self.container = container
        self._members = {member.path: member for member in container.members}
        asked = may_be_companions(self._members, rules)[:_MAX_ASKED]
        self.plan = plan(self._members, rules, {path for path in asked if self.companion_format(path)})
        self._shared = tuple(shared)
        self._received_at = received_at
        self._companion: Callable[[str], CompanionFile] = lru_cache(_MAX_CACHED)(self._read_companion)
        self._meta: Callable[[str], Mapping[str, Any]] = lru_cache(_MAX_CACHED)(self._read_meta)

    def number(self, path: str) -> int:
        return self._members[path].number

    def size(self, path: str) -> int:
        """Return its length in bytes."""
        return self._members[path].size

    def prepared(self, file: PlannedFile, *, came_alone: bool = True) -> "Prepared":
        try:
            return Prepared(file.path, self._arrival(file, came_alone))
        except FieldsError as error:
            return Prepared(file.path, None, errors_of(error))
        except FileRefusedError as error:
            return Prepared(file.path, None, error.errors)

    def left_aside(self) -> "list[Tried]":
        """Return the files that are not read at all, with the reason."""
        refused = [Tried(one.path, REFUSED, errors=[error_of(one.reason)]) for one in self.container.refused]
        ignored = sorted(self.plan.ignored.items())
        return [*refused, *(Tried(path, IGNORED, warnings=[reason]) for path, reason in ignored)]

    def _arrival(self, file: PlannedFile, came_alone: bool) -> Arrival:
        """Return a file with all that is said of it. Raises FieldsError or FileRefusedError."""
        member = self._members[file.path]
        if member.size > settings.UPLOAD_MAX_BYTES:
            raise _refused(f"it is larger than {settings.UPLOAD_MAX_BYTES} bytes (UPLOAD_MAX_BYTES)")
        with member.open() as opened:
            if recognise(opened.read(CONTAINER_HEAD_BYTES)):
                raise _refused("it is an archive itself; import it by itself")
        values = dict(file.fields)
        for path in file.metas:
            farther = values.get("meta")
            values["meta"] = {**(farther if isinstance(farther, Mapping) else {}), **self._meta(path)}
        if of_archive := [name for name in ARCHIVE_FIELDS if name in values]:
            raise FieldsError([FieldError(of_archive[0], "is of the archive and not of a file in it")])
        metadata, warnings = read_metadata(values)
        companions = [*self._shared, *map(self._companion, file.companions)]
        data = _raw_data(member)
        arrival = Arrival(file.path, data, metadata, companions, warnings, came_alone)
        return replace(arrival, received_at=self._received_at)

    def companion_format(self, path: str) -> str:
        """Return the companion format that knows a file by its content; empty for a result and for others."""
        with self._members[path].open() as opened:
            head = Source(opened.read(HEAD_BYTES)).head
        if any(one.recognise(head) for one in FORMATS.values()):
            return ""
        return next((name for name, one in COMPANION_FORMATS.items() if one.recognise(head)), "")

    def _read_companion(self, path: str) -> CompanionFile:
        kind = Companion.Kind.CONFIGURATION if is_configuration(path) else Companion.Kind.OTHER
        return CompanionFile(kind, path, _raw_data(self._members[path]))

    def _read_meta(self, path: str) -> Mapping[str, Any]:
        """Read a meta.json. Raises FieldsError."""
        member = self._members[path]
        try:
            if member.size > _MAX_META_BYTES:
                raise ValueError(f"is larger than {_MAX_META_BYTES} bytes")  # noqa: TRY301 - one sentence for all
            meta = read_json(member.read().decode("utf-8-sig"))
            if not isinstance(meta, dict):
                raise ValueError("must hold a JSON object")  # noqa: TRY301, TRY004
        except UnicodeDecodeError:
            raise FieldsError([FieldError("meta", f"'{path}' is not UTF-8")]) from None
        except ValueError as error:
            raise FieldsError([FieldError("meta", f"'{path}' {error}")]) from None
        return meta


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file on its way in, or what is wrong with it."""

    path: str
    arrival: Arrival | None
    errors: _Errors = field(default_factory=list)


def batches(
    file_set: FileSet,
    files: Iterable[PlannedFile],
    *,
    came_alone: bool = True,
    max_files: int = _BATCH_FILES,
) -> Iterator[list[Prepared]]:
    batch: list[Prepared] = []
    size = 0
    for file in files:
        prepared = file_set.prepared(file, came_alone=came_alone)
        batch.append(prepared)
        size += prepared.arrival.data.size if prepared.arrival else 0
        if len(batch) >= max_files or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class Tried:
    """The outcome of a file, or the one that it would have. ``missing`` are required fields that nobody says.

    ``upload`` is None for a file of which nothing is stored.
    """

    path: str
    state: str
    upload: Upload | None = None
    format: str = ""
    runs: Sequence[RunSummary] = ()
    copies: Sequence[RunCopy] = ()
    errors: _Errors = field(default_factory=list)
    warnings: Sequence[str] = ()
    companions: Sequence[str] = ()
    missing: Sequence[str] = ()

    @property
    def holders(self) -> list[int]:
        """The uploads of which it is another form."""
        return sorted({copy.of_upload for copy in self.copies})


WOULD_BE_IMPORTED: Final = "would be imported"
KNOWN_ALREADY: Final = "known already"
REFUSED: Final = "refused"
IGNORED: Final = "ignored"


def take(project: Project, batch: Sequence[Prepared], *, by: Viewer, quiet: bool = False) -> list[Tried]:
    """Import the files of a batch, large ones too. One bad file does not stop the rest."""
    arrivals = [one.arrival for one in batch if one.arrival]
    received = iter(receive(project, by=by, arrivals=arrivals, quiet=quiet))
    return [
        _taken(one.path, next(received)) if one.arrival else Tried(one.path, REFUSED, errors=one.errors)
        for one in batch
    ]


def _taken(path: str, received: Received | FieldsError) -> Tried:
    if isinstance(received, FieldsError):
        return Tried(path, REFUSED, errors=errors_of(received), missing=received.missing)
    upload = received.upload
    if upload.state not in Upload.FINISHED:
        import_upload(upload)
    state = KNOWN_ALREADY if received.duplicate else str(upload.state)
    return Tried(path, state, upload, errors=upload.errors)


def try_out(project: Project, file_set: FileSet, *, by: Viewer = NOBODY) -> Iterator[Tried]:
    """Yield what would become of each file that the pattern finds; nothing is stored."""
    for file in file_set.plan.files:
        prepared = file_set.prepared(file)
        if prepared.arrival is None:
            outcome = Tried(file.path, REFUSED, errors=prepared.errors)
        else:
            outcome = _tried(project, file.path, prepared.arrival, by)
        yield replace(outcome, companions=file.companions)


def _tried(project: Project, path: str, arrival: Arrival, by: Viewer) -> Tried:
    try:
        tried = dry_run(project, arrival, by=by)
    except FieldsError as error:
        return Tried(path, REFUSED, errors=errors_of(error), missing=error.missing)
    except FileRefusedError as error:
        return Tried(path, REFUSED, errors=error.errors)
    state = KNOWN_ALREADY if tried.duplicate else WOULD_BE_IMPORTED
    return Tried(
        path, state, format=tried.format, runs=tried.runs, copies=tried.copies, warnings=tried.warnings
    )


def missing_in_words(missing: Iterable[Sequence[str]]) -> list[str]:
    """Say of each field in how many files it is missing; ``missing`` are the fields of each file."""
    of_files = list(missing)
    number = len(of_files)
    counts = Counter(name for names in of_files for name in names)
    return [
        f"{name} is missing"
        + (
            ""
            if number == 1
            else f" in all {number} files"
            if of == number
            else f" in {of} of {number} files"
        )
        for name, of in counts.items()
    ]


def _refused(message: str) -> FileRefusedError:
    return FileRefusedError([error_of(message)])


def _raw_data(member: Member) -> RawData:
    """Return a small file in memory, a large one where it lies."""
    if member.size > settings.UPLOAD_IMPORT_AT_ONCE_BYTES:
        return RawData(member.open())
    return RawData(member.read())
