"""The files of an archive as pages list them: what each would become, and what it became."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.db.models import Case, Count, F, IntegerField, Q, QuerySet, Value, When

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.dashboard.pages.uploads.descriptions import Held, held_by
from benchdash.dashboard.shell.navigation import page_url
from ingest.archives import files as archived
from ingest.archives.files import Tried, missing_in_words
from ingest.archives.services import NOT_LOOKED_AT, ArchiveDryRun
from ingest.models import ArchiveFile, Upload
from ingest.queries import files_of, holders_of, uploads_for

_MAX_TRIED: Final = 2000
# Files that somebody has to look at come first.
_ORDER: Final = (
    Upload.State.REFUSED,
    Upload.State.QUEUED,
    Upload.State.IMPORTING,
    Upload.State.DELETED,
    Upload.State.IMPORTED,
    ArchiveFile.State.IGNORED,
)
_TRIED_ORDER: Final = (archived.REFUSED, archived.WOULD_BE_IMPORTED, archived.KNOWN_ALREADY)


@dataclass(frozen=True)
class TriedFiles:
    """The outcome that the files of an archive would have. ``rows`` are those looked at, refused ones first.

    ``counts`` are (state, number) of those that there are; ``unlisted`` were looked at and are too many.
    ``missing`` are sentences that say of each field in how many files it is missing.
    """

    rows: Sequence[Tried]
    unlisted: int
    ignored: Sequence[Tried]
    not_looked_at: int
    counts: Sequence[tuple[str, int]]
    missing: Sequence[str] = ()

    @property
    def is_refused(self) -> bool:
        """Tell whether nothing of the archive would be imported."""
        found = {state for state, _ in self.counts}
        return found <= {archived.REFUSED, archived.IGNORED}


def tried_files(tried: ArchiveDryRun) -> TriedFiles:
    by_state: dict[str, list[Tried]] = {}
    for file in tried.files:
        by_state.setdefault(file.state, []).append(file)
    rows = [file for state in _TRIED_ORDER for file in by_state.get(state, ())]
    return TriedFiles(
        rows=rows[:_MAX_TRIED],
        unlisted=max(0, len(rows) - _MAX_TRIED),
        ignored=by_state.get(archived.IGNORED, []),
        not_looked_at=len(by_state.get(NOT_LOOKED_AT, ())),
        counts=[
            (state, len(by_state[state]))
            for state in (*_TRIED_ORDER, archived.IGNORED, NOT_LOOKED_AT)
            if state in by_state
        ],
        missing=missing_in_words(file.missing for file in rows),
    )


@dataclass(frozen=True)
class FileRow:
    """A file in the list; ``held`` is None where it has no runs.

    ``holders`` are the uploads of which it is another form.
    """

    file: ArchiveFile
    state: str
    held: Held | None
    holders: Sequence[int]


def listed_files(archive: Upload, *, sees_reasons: bool) -> QuerySet[Any]:
    """Return the files with ``shown_state``, the present one of their upload, those to look at first."""
    own = Case(
        When(Q(upload=None) | Q(state=ArchiveFile.State.QUEUED), then=F("state")), default=F("upload__state")
    )
    rank = Case(
        *(When(shown_state=state, then=Value(place)) for place, state in enumerate(_ORDER)),
        default=Value(len(_ORDER)),
        output_field=IntegerField(),
    )
    files = files_of(archive, sees_reasons=sees_reasons).annotate(shown_state=own)
    return files.order_by(rank, "name", "number")


def states_of(files: QuerySet[Any]) -> list[tuple[str, int]]:
    """Return (state, number) of the listed files, in the order of the list."""
    return counted(dict(files.order_by().values_list("shown_state").annotate(Count("pk"))))


def file_rows(files: Iterable[ArchiveFile]) -> list[FileRow]:
    """Return the rows of files, in two statements more."""
    shown = list(files)
    uploads = [file.upload for file in shown if file.upload]
    held, holders = held_by(uploads), holders_of([upload.pk for upload in uploads])
    return [
        FileRow(file, file.current_state, held.get(file.upload_id or 0), holders.get(file.upload_id or 0, []))
        for file in shown
    ]


CSV_COLUMNS: Final = ("file", "state", "format", "runs", "reasons", "upload")


def csv_rows(project: Project, files: QuerySet[Any]) -> Iterator[Sequence[Any]]:
    for file in files:
        reasons = ((f"line {one['line']}: " if one["line"] else "") + one["message"] for one in file.reasons)
        yield (
            file.name,
            file.current_state,
            file.upload.format if file.upload else "",
            file.run_count,
            "; ".join(reasons),
            f"{settings.SITE_URL}{page_url('upload', project, file.upload_id)}" if file.upload_id else "",
        )


def places_of(upload: Upload, viewer: Viewer) -> list[ArchiveFile]:
    """Return the places of an upload in archives that the viewer may see, the latest first."""
    archives = uploads_for(viewer, upload.project).order_by().values("pk")
    places = upload.places.filter(archive__in=archives).exclude(archive__state=Upload.State.DELETED)
    return list(places.select_related("archive").order_by("-archive", "number"))


def counted(states: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return (state, number) of the files of an archive, in the order of the list."""
    return [(state, states[state]) for state in _ORDER if state in states]
