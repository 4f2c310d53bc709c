"""The files of a folder or an archive, each with all that is said of it, imported batch by batch."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from django.conf import settings

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from ingest import services
from ingest.batches import Arrival, accept_many
from ingest.companions import CompanionFile
from ingest.containers import HEAD_BYTES, Container, Member, recognise
from ingest.errors import FieldError, FieldsError, FileRefusedError
from ingest.fields import read_json
from ingest.folders import PathRules
from ingest.metadata import read_metadata
from ingest.models import Companion, Upload
from ingest.planning import Plan, PlannedFile, is_configuration, plan
from ingest.queries import RunSummary
from ingest.reading import error_of, errors_of
from ingest.storage import RawData

# A batch is one transaction, and all of it is in memory.
_BATCH_FILES: Final = 64
_BATCH_BYTES: Final = 8 * 1024 * 1024
_MOST_META_BYTES: Final = 1024 * 1024
# Those of the folders at hand; one is read again for each file otherwise.
_KEPT: Final = 64

_Errors = list[dict[str, Any]]


class Collected:
    """``shared`` are companions of every file. Raises PatternError."""

    def __init__(self, container: Container, rules: PathRules, shared: Sequence[CompanionFile] = ()) -> None:
        self.container = container
        self.plan: Plan = plan((member.path for member in container.members), rules)
        self._members: Mapping[str, Member] = {member.path: member for member in container.members}
        self._shared = tuple(shared)
        self._companion: Callable[[str], CompanionFile] = lru_cache(_KEPT)(self._read_companion)
        self._meta: Callable[[str], Mapping[str, Any]] = lru_cache(_KEPT)(self._read_meta)

    def number(self, path: str) -> int:
        return self._members[path].number

    def arrival(self, file: PlannedFile, *, came_alone: bool = True) -> Arrival:
        """Raises FieldsError or FileRefusedError."""
        member = self._members[file.path]
        if member.size > settings.UPLOAD_MAX_BYTES:
            message = f"it is larger than {settings.UPLOAD_MAX_BYTES} bytes (UPLOAD_MAX_BYTES)"
            raise FileRefusedError([error_of(message)], upload_id=None, url=None)
        with member.open() as opened:
            if recognise(opened.read(HEAD_BYTES)):
                message = "it is an archive itself; import it by itself"
                raise FileRefusedError([error_of(message)], upload_id=None, url=None)
        values = dict(file.fields)
        for path in file.metas:
            farther = values.get("meta")
            values["meta"] = {**(farther if isinstance(farther, Mapping) else {}), **self._meta(path)}
        metadata, warnings = read_metadata(values)
        return Arrival(
            file_name=file.path,
            data=_raw_data(member),
            metadata=metadata,
            companions=[*self._shared, *map(self._companion, file.companions)],
            warnings=warnings,
            came_alone=came_alone,
        )

    def _read_companion(self, path: str) -> CompanionFile:
        kind = Companion.Kind.CONFIGURATION if is_configuration(path) else Companion.Kind.OTHER
        return CompanionFile(kind, path, _raw_data(self._members[path]))

    def _read_meta(self, path: str) -> Mapping[str, Any]:
        """Raises FieldsError."""
        member = self._members[path]
        try:
            if member.size > _MOST_META_BYTES:
                raise ValueError(f"is larger than {_MOST_META_BYTES} bytes")  # noqa: TRY301 - one sentence for all
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
    collected: Collected, files: Iterable[PlannedFile], *, came_alone: bool = True, most: int = _BATCH_FILES
) -> Iterator[list[Prepared]]:
    batch: list[Prepared] = []
    size = 0
    for file in files:
        prepared = _prepare(collected, file, came_alone)
        batch.append(prepared)
        size += prepared.arrival.data.size if prepared.arrival else 0
        if len(batch) >= most or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a file. ``upload`` is None for one of which nothing is stored."""

    path: str
    upload: Upload | None
    duplicate: bool = False
    errors: _Errors = field(default_factory=list)


def take(project: Project, batch: Sequence[Prepared], *, by: Viewer, quiet: bool = False) -> list[Taken]:
    """Import the files of a batch, large ones too. One bad file does not stop the rest."""
    arrivals = [one.arrival for one in batch if one.arrival]
    received = iter(accept_many(project, by=by, arrivals=arrivals, quiet=quiet))
    return [
        _taken(one.path, next(received)) if one.arrival else Taken(one.path, None, errors=one.errors)
        for one in batch
    ]


def _taken(path: str, received: services.Received | FieldsError) -> Taken:
    if isinstance(received, FieldsError):
        return Taken(path, None, errors=errors_of(received))
    upload = received.upload
    if upload.state not in Upload.FINISHED:
        services.import_upload(upload)
    return Taken(path, upload, received.duplicate, upload.errors)


@dataclass(frozen=True, slots=True)
class Tried:
    """What would become of a file."""

    path: str
    state: str
    format: str = ""
    runs: Sequence[RunSummary] = ()
    errors: _Errors = field(default_factory=list)
    warnings: Sequence[str] = ()
    companions: Sequence[str] = ()


WOULD_BE_IMPORTED: Final = "would be imported"
KNOWN_ALREADY: Final = "known already"
REFUSED: Final = "refused"
IGNORED: Final = "ignored"


def try_out(project: Project, collected: Collected) -> Iterator[Tried]:
    """What would become of each file that the pattern finds; nothing is stored."""
    for file in collected.plan.files:
        prepared = _prepare(collected, file)
        if prepared.arrival is None:
            yield Tried(file.path, REFUSED, errors=prepared.errors, companions=file.companions)
            continue
        arrival = prepared.arrival
        try:
            tried = services.dry_run(
                project,
                file_name=arrival.file_name,
                data=arrival.data,
                metadata=arrival.metadata,
                companions=arrival.companions,
                warnings=arrival.warnings,
            )
        except (FieldsError, FileRefusedError) as error:
            yield Tried(file.path, REFUSED, errors=_errors_of(error), companions=file.companions)
            continue
        yield Tried(
            file.path,
            KNOWN_ALREADY if tried.duplicate else WOULD_BE_IMPORTED,
            format=tried.format,
            runs=tried.runs,
            warnings=tried.warnings,
            companions=file.companions,
        )


def left_aside(collected: Collected) -> list[Tried]:
    """The files that are not read at all, with the reason."""
    refused = [Tried(one.path, REFUSED, errors=[error_of(one.reason)]) for one in collected.container.refused]
    ignored = [
        Tried(path, IGNORED, warnings=[reason]) for path, reason in sorted(collected.plan.ignored.items())
    ]
    return [*refused, *ignored]


def _prepare(collected: Collected, file: PlannedFile, came_alone: bool = True) -> Prepared:
    try:
        return Prepared(file.path, collected.arrival(file, came_alone=came_alone))
    except (FieldsError, FileRefusedError) as error:
        return Prepared(file.path, None, _errors_of(error))


def _errors_of(error: FieldsError | FileRefusedError) -> _Errors:
    return error.errors if isinstance(error, FileRefusedError) else errors_of(error)


def _raw_data(member: Member) -> RawData:
    """Small files in memory, large ones where they lie."""
    if member.size > settings.UPLOAD_IMPORT_AT_ONCE_BYTES:
        return RawData(member.open())
    return RawData(member.read())
