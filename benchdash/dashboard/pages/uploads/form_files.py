"""The files of an upload form: results and the files beside them, tried or uploaded, with the outcome."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.utils.datastructures import MultiValueDict

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.dashboard.pages.uploads.archive_files import TriedFiles, tried_files
from benchdash.dashboard.pages.uploads.contradictions import Contradiction, settle
from benchdash.dashboard.pages.uploads.descriptions import FileTrouble, troubles
from benchdash.results.wording import listed
from ingest.archives import services as archive_services
from ingest.archives.plan import COMPANION_WORDS, META_SUFFIX, bare_stem
from ingest.errors import FieldError, FieldsError, FileRefusedError, FileTooLargeError, FileUnavailableError
from ingest.metadata.upload_metadata import read_form
from ingest.models import Companion, Upload
from ingest.queries import RunCopy, RunSummary, copies_of, run_summaries
from ingest.receiving.arrivals import Arrival, CompanionFile, clean_file_name, received_data
from ingest.receiving.dry_runs import dry_run
from ingest.receiving.reception import receive_one
from ingest.storage.raw_bytes import RawData

# ``t04.vmstat.txt`` lies beside ``t04.txt``.
COMPANION_SUFFIXES: Final = tuple(
    f".{word}.{ending}" for word in COMPANION_WORDS for ending in ("txt", "csv", "log", "out")
)
BESIDE_SUFFIXES: Final = (META_SUFFIX, *COMPANION_SUFFIXES)
CONFIGURATION_SUFFIXES: Final = (".cnf", ".conf", ".ini")
# By these the form guesses that a file is an archive; what it is, its bytes say.
ARCHIVE_SUFFIXES: Final = (
    *(".tar", ".tgz", ".tbz2", ".txz", ".tzst", ".zip"),
    *(".gz", ".bz2", ".xz", ".zst"),
)

PASTED_NAME: Final = "pasted.txt"

CHECKED: Final = "checked"
CONTRADICTED: Final = "contradicted"
DUPLICATE: Final = "duplicate"
INCOMPLETE: Final = "incomplete"


@dataclass(frozen=True)
class ResultFile:
    """A result and what goes with it."""

    file: "UploadedFile[Any]"
    meta: "UploadedFile[Any] | None" = None
    companions: tuple[CompanionFile, ...] = ()


@dataclass(frozen=True)
class Batch:
    """The files of one form. ``stray`` are names of files that lie beside a result which is not here."""

    results: Sequence[ResultFile]
    stray: Sequence[str]


@dataclass(frozen=True)
class FileOutcome:
    """The outcome of a file, or the one that it would have.

    ``state`` is that of its upload, or CHECKED, DUPLICATE, INCOMPLETE (a field is missing or malformed),
    CONTRADICTED (somebody is asked which of the ``contradictions`` is right).
    ``copies`` are the runs that are there already. ``files`` are those of an archive that was checked.
    """

    name: str
    state: str
    format: str = ""
    runs: Sequence[RunSummary] = ()
    copies: Sequence[RunCopy] = ()
    warnings: Sequence[str] = ()
    troubles: Sequence[FileTrouble] = ()
    fields: Sequence[FieldError] = ()
    contradictions: Sequence[Contradiction] = ()
    upload: Upload | None = None
    is_dry_run: bool = False
    files: TriedFiles | None = None

    @property
    def holders(self) -> list[int]:
        """The uploads of which it is another form."""
        return sorted({copy.of_upload for copy in self.copies})

    @property
    def missing(self) -> str:
        """The required fields that nobody says, in words."""
        return listed([error.field for error in self.fields if error.is_missing])

    @property
    def left_to_a_job(self) -> Upload | None:
        """The upload, where somebody waits for it."""
        return self.upload if self.upload and self.upload.state not in Upload.FINISHED else None


def sort_files(files: "MultiValueDict[str, UploadedFile[Any]]", pasted: str = "") -> Batch:
    """Tell results from the files beside them, by their names; a pasted text is one more result.

    What lies beside one result goes with it; configuration files and other companions go with every one.
    """
    chosen = files.getlist("file")
    if pasted.strip():
        # Its last line is whole, though a selection has no line end there.
        text = pasted.replace("\r\n", "\n").removesuffix("\n") + "\n"
        chosen = [*chosen, SimpleUploadedFile(PASTED_NAME, text.encode("utf-8", "replace"))]
    configurations = [
        *files.getlist("configuration_file"),
        *(file for file in chosen if is_configuration(_name(file))),
    ]
    shared = (
        *(_companion(Companion.Kind.CONFIGURATION, file) for file in configurations),
        *(_companion(Companion.Kind.OTHER, file) for file in files.getlist("companion")),
    )
    beside = [file for file in chosen if _suffix(_name(file))]
    results = [file for file in chosen if not _suffix(_name(file)) and not is_configuration(_name(file))]
    return Batch(
        results=[_with_neighbours(file, beside, shared) for file in results],
        stray=[_name(file) for file in beside if not any(_is_beside(file, result) for result in results)],
    )


def is_configuration(name: str) -> bool:
    return name.lower().endswith(CONFIGURATION_SUFFIXES)


@dataclass(frozen=True)
class FormTexts:
    """The texts of a form, with the names of those that were said the last time and not typed now.

    ``choice`` is what counts where a typed one contradicts the file: ``file``, ``mine``, or to be asked.
    """

    texts: Mapping[str, Sequence[str]]
    remembered: Collection[str] = ()
    choice: str = ""


def check(project: Project, result: ResultFile, said: FormTexts) -> FileOutcome:
    """Try what uploading the file would do; nothing is stored."""

    def try_out(arrival: Arrival) -> FileOutcome:
        return (_check_archive if arrival.is_archive else _check_file)(project, arrival)

    return _outcome(result, said, try_out, is_dry_run=True)


def _check_file(project: Project, arrival: Arrival) -> FileOutcome:
    tried = dry_run(project, arrival)
    return FileOutcome(
        name=arrival.file_name,
        state=DUPLICATE if tried.duplicate else CHECKED,
        format=tried.format,
        runs=tried.runs,
        copies=tried.copies,
        warnings=tried.warnings,
        is_dry_run=True,
    )


def _check_archive(project: Project, arrival: Arrival) -> FileOutcome:
    tried = archive_services.dry_run(project, arrival)
    files = tried_files(tried)
    state = Upload.State.REFUSED if files.is_refused else CHECKED
    return FileOutcome(
        name=arrival.file_name,
        state=DUPLICATE if tried.duplicate else state,
        format=tried.format,
        warnings=tried.warnings,
        is_dry_run=True,
        files=files,
    )


def upload(project: Project, result: ResultFile, said: FormTexts, *, by: Viewer) -> FileOutcome:
    """Receive a file and say what became of it."""

    def store(arrival: Arrival) -> FileOutcome:
        received = receive_one(project, by=by, arrival=arrival)
        stored = received.upload
        return FileOutcome(
            name=arrival.file_name,
            state=DUPLICATE if received.duplicate else stored.state,
            format=stored.format,
            runs=() if stored.is_archive else run_summaries(stored),
            copies=copies_of(stored),
            warnings=stored.warnings,
            troubles=troubles(stored.errors, _small(arrival.data)),
            upload=stored,
        )

    return _outcome(result, said, store, is_dry_run=False)


def stray(name: str) -> FileOutcome:
    """Refuse a file beside a result that was not chosen with it."""
    name = clean_file_name(name)
    result = name.removesuffix(_suffix(name))
    found = [FileTrouble(None, f"this lies beside a result '{result}'; choose that one too")]
    return FileOutcome(name, Upload.State.REFUSED, troubles=found, is_dry_run=True)


def _outcome(
    result: ResultFile,
    said: FormTexts,
    use: Callable[[Arrival], FileOutcome],
    *,
    is_dry_run: bool,
) -> FileOutcome:
    """Return what becomes of a file, or why nothing does."""
    name, data = clean_file_name(_name(result.file)), received_data(result.file)
    try:
        metadata, warnings = read_form(_said_of(said.texts, result.meta))
        arrival = Arrival(name, data, metadata, companions=result.companions, warnings=warnings)
        arrival, asked = settle(arrival, remembered=said.remembered, choice=said.choice)
        if asked:
            return FileOutcome(name, CONTRADICTED, contradictions=asked, is_dry_run=is_dry_run)
        return use(arrival)
    except FieldsError as error:
        return FileOutcome(name, INCOMPLETE, fields=error.errors, is_dry_run=is_dry_run)
    except FileRefusedError as error:
        found = troubles(error.errors, _small(data))
    except (FileTooLargeError, FileUnavailableError) as error:
        found = [FileTrouble(None, str(error))]
    return FileOutcome(name, Upload.State.REFUSED, troubles=found, is_dry_run=is_dry_run)


def _with_neighbours(
    file: "UploadedFile[Any]", beside: Sequence["UploadedFile[Any]"], shared: tuple[CompanionFile, ...]
) -> ResultFile:
    own = [other for other in beside if _is_beside(other, file)]
    metas = [other for other in own if _name(other).endswith(META_SUFFIX)]
    others = (_companion(Companion.Kind.OTHER, other) for other in own if other not in metas)
    return ResultFile(file, metas[-1] if metas else None, (*others, *shared))


def _is_beside(file: "UploadedFile[Any]", result: "UploadedFile[Any]") -> bool:
    stem = _name(file).removesuffix(_suffix(_name(file)))
    return stem in (_name(result), PurePath(_name(result)).stem, bare_stem(_name(result)))


def _suffix(name: str) -> str:
    return next((suffix for suffix in BESIDE_SUFFIXES if name.endswith(suffix)), "")


def _name(file: "UploadedFile[Any]") -> str:
    return file.name or ""


def _said_of(
    said: Mapping[str, Sequence[str]], meta: "UploadedFile[Any] | None"
) -> Mapping[str, Sequence[str]]:
    """Return what the form says of this file, with the facts beside it. Raise FieldsError."""
    if meta is None:
        return said
    meta.seek(0)
    try:
        return {**said, "meta": [meta.read().decode("utf-8-sig")]}
    except UnicodeDecodeError:
        raise FieldsError([FieldError("meta", f"is read from '{_name(meta)}', which is not UTF-8")]) from None


def _companion(kind: str, file: "UploadedFile[Any]") -> CompanionFile:
    return CompanionFile(kind, _name(file), received_data(file))


def _small(data: RawData) -> bytes | None:
    return data.read() if data.size <= settings.UPLOAD_IMPORT_AT_ONCE_BYTES else None
