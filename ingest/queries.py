"""Questions about uploads."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from benchdash.accounts.access import NotVisible, Viewer
from benchdash.accounts.models import Project, Token
from benchdash.results.models import (
    Configuration,
    Hardware,
    Product,
    Run,
    Series,
    ServerVersion,
    TouchedSeries,
    Workload,
)
from benchdash.results.services import Recorded
from ingest.masking import MASK
from ingest.metadata.path_patterns import WHOLE_PATH
from ingest.models import ArchiveFile, Copy, Upload

# Reasons, and files that are gone, are for members.
_MAX_SUGGESTIONS = 200
_MAY_HOLD_AGAIN = (
    *("product", "version", "hardware", "workload", "build", "branch", "configuration", "counterpart"),
    *("tags", "map", "pattern", "path_map", "companion_pattern"),
)
_FOR_MEMBERS = (Upload.State.REFUSED, Upload.State.DELETED)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run of an upload; ``id`` is None where it was only tried. ``readings`` is their number."""

    id: int | None
    key: str
    product: str
    version: str
    hardware: str
    workload: str
    threads: int | None
    readings: int


@dataclass(frozen=True, slots=True)
class RunCopy:
    """A run that a file repeats: its id, and the upload that holds it."""

    run: int
    of_upload: int


def copies_of(upload: Upload) -> list[RunCopy]:
    """Return the runs that an upload repeats."""
    rows = upload.copies.order_by("run__upload_id", "run").values_list("run", "run__upload_id")
    return [RunCopy(*row) for row in rows]


def holders_of(upload_ids: Collection[int]) -> dict[int, list[int]]:
    """Return the uploads that hold the runs which each of these repeats, by its id: one statement."""
    rows = Copy.objects.filter(upload__in=upload_ids).order_by("upload", "run__upload_id")
    holders: dict[int, list[int]] = {}
    for upload_id, holder in rows.values_list("upload_id", "run__upload_id").distinct():
        holders.setdefault(upload_id, []).append(holder)
    return holders


def other_forms(upload_ids: Collection[int]) -> QuerySet[Upload]:
    """Return the uploads, none of these, that tell of runs of these too."""
    copies = Copy.objects.filter(run__upload_id__in=upload_ids).exclude(upload__in=upload_ids)
    return Upload.objects.filter(pk__in=copies.values("upload")).order_by("pk")


def run_summaries(upload: Upload) -> list[RunSummary]:
    """Return the runs of an upload by workload, version and thread count, with those that it repeats."""
    runs = (
        runs_told_by(upload)
        .annotate(readings=Count("measurements", filter=Q(measurements__series__is_derived=False)))
        .order_by("workload__name", "version__product__name", "version__sort_key", "threads", "pk")
    )
    version = ("version__product__name", "version__version")
    names = ("pk", "key", *version, "hardware__name", "workload__name", "threads", "readings")
    return [RunSummary(*row) for row in runs.values_list(*names)]


def summaries_of(recorded: Recorded) -> list[RunSummary]:
    """Return runs that were just recorded as ``run_summaries`` does, without a statement."""
    rows = sorted(
        zip(recorded.run_ids, recorded.places, recorded.records, strict=True),
        key=lambda row: (
            *(row[1].workload.name, row[1].product.name, row[1].version.sort_key),
            *(row[2].threads is None, row[2].threads or 0, row[0]),
        ),
    )
    return [
        RunSummary(
            id=run_id,
            key=record.key,
            product=place.product.name,
            version=place.version.version,
            hardware=place.hardware.name,
            workload=place.workload.name,
            threads=record.threads,
            readings=len(record.readings),
        )
        for run_id, place, record in rows
    ]


def runs_told_by(*uploads: Upload) -> QuerySet[Run]:
    """Return the runs of uploads, or of the files of archives, and those that they repeat."""
    told = runs_of(*uploads)
    copies = Copy.objects.filter(upload__in=[upload.pk for upload in uploads])
    # By their ids: no index serves a choice of two conditions, one of them a subquery.
    if repeated := list(copies.values_list("run", flat=True)):
        told |= Run.objects.filter(pk__in=repeated)
    return told


def runs_of(*uploads: Upload) -> QuerySet[Run]:
    """Return the runs of uploads, or of the files of archives."""
    found = Run.objects.filter(upload_id__in=[upload.pk for upload in uploads if not upload.is_archive])
    archives = [upload.pk for upload in uploads if upload.is_archive]
    if not archives:
        return found
    files = ArchiveFile.objects.filter(archive__in=archives).exclude(upload=None)
    of_files = Run.objects.filter(upload_id__in=files.values("upload"))
    return of_files | found if len(archives) < len(uploads) else of_files


def are_still_read(project: Project, *, commit: str, version: str, branch: str) -> bool:
    """Tell whether uploads are waiting, or being read, that may hold runs of a commit or version on a branch.

    One that does not say what it holds, such as an archive, may hold them.
    """
    waiting = Upload.objects.filter(project=project, state__in=(Upload.State.QUEUED, Upload.State.IMPORTING))
    of_it = [("commit", commit), ("version", version if not commit else ""), ("branch", branch)]
    for name, value in of_it:
        if value:
            waiting = waiting.filter(~Q(metadata__has_key=name) | Q(**{f"metadata__{name}": value}))
    return waiting.exists()


def files_of_its_own(archive: Upload) -> QuerySet[Upload]:
    """Return the files of an archive that came with nothing else that is still there."""
    elsewhere = ArchiveFile.objects.filter(upload=OuterRef("pk")).exclude(
        Q(archive=archive) | Q(archive__state=Upload.State.DELETED)
    )
    return files_in(archive.pk).filter(~Exists(elsewhere), came_alone=False)


def files_in(archive_id: int) -> QuerySet[Upload]:
    """Return the uploads that are files of this archive."""
    return Upload.objects.filter(pk__in=ArchiveFile.objects.filter(archive=archive_id).values("upload"))


def is_analysed(upload: Upload) -> bool:
    """Return whether changes were looked for in all series of an upload, or of the files of an archive."""
    uploads = files_in(upload.pk) if upload.is_archive else Upload.objects.filter(pk=upload.pk)
    due = TouchedSeries.objects.filter(series__measurements__run__upload_id__in=uploads.values("pk"))
    return not due.exists()


def files_of(archive: Upload, *, sees_reasons: bool) -> QuerySet[ArchiveFile]:
    """Return the files of an archive in its order, with ``run_count``.

    Refused and deleted ones are for members.
    """
    runs = Run.objects.filter(upload_id=OuterRef("upload"))
    files = archive.files.annotate(run_count=_number_of(runs)).select_related("upload").order_by("number")
    if sees_reasons:
        return files
    return files.exclude(state=ArchiveFile.State.REFUSED).exclude(upload__state__in=_FOR_MEMBERS)


def file_counts(archives: Collection[int]) -> dict[int, dict[str, int]]:
    """Count the files of each archive by their state."""
    rows = ArchiveFile.objects.filter(archive__in=archives).order_by("archive", "state")
    counts: dict[int, dict[str, int]] = {}
    for archive, state, number in rows.values_list("archive", "state").annotate(Count("pk")):
        counts.setdefault(archive, {})[state] = number
    return counts


def uploads_named(project: Project, words: Sequence[str]) -> QuerySet[Upload, tuple[int, str]]:
    """Return id and name of the uploads whose names have all of the words, the newest first."""
    found = Upload.objects.filter(project=project).order_by("-received_at")
    for word in words:
        found = found.filter(name__icontains=word)
    return found.values_list("pk", "name")


def uploads_for(viewer: Viewer, project: Project | None = None) -> QuerySet[Upload]:
    """Return the uploads that exist for this viewer, newest first.

    Refused and deleted ones are for members, and for the token that sent them.
    """
    asked = viewer.projects() if project is None else [project]
    projects = [one for one in asked if viewer.sees(one)]
    open_to = [one.pk for one in projects if one.raw_files_are_public or viewer.is_member(one)]
    others = [one.pk for one in projects if one.pk not in open_to]
    # An empty list is left out of the statement, and no index serves a choice of two conditions.
    visible = Q(project__in=open_to) | (Q(project__in=others) & ~Q(state__in=_FOR_MEMBERS))
    token = viewer.token
    if token and token.project_id not in open_to and project in (None, token.project):
        visible |= Q(pk__in=sent_by(token).values("pk"))
    return (
        Upload.objects.filter(visible).select_related("project", "raw").defer("raw__content").order_by("-pk")
    )


def sent_by(token: Token) -> QuerySet[Upload]:
    """Return the uploads that this token sent, first or again, and the files of its archives."""
    again = Upload.also_sent_by.through.objects.filter(token=token)
    sent = Upload.objects.filter(Q(token=token) | Q(pk__in=again.values("upload")))
    files = ArchiveFile.objects.filter(archive__in=sent, upload__isnull=False)
    return Upload.objects.filter(Q(pk__in=sent) | Q(pk__in=files.values("upload")))


def has_sent(viewer: Viewer, upload: Upload) -> bool:
    """Return whether the viewer is a token that sent this upload."""
    return viewer.token is not None and sent_by(viewer.token).filter(pk=upload.pk).exists()


def with_run_counts(uploads: QuerySet[Upload]) -> QuerySet[Upload]:
    """Add the number of its runs, of an archive those of its files, to each upload as ``run_count``."""
    of_files = ArchiveFile.objects.filter(archive=OuterRef(OuterRef("pk")), upload__isnull=False)
    own = Run.objects.filter(upload_id=OuterRef("pk"))
    in_files = Run.objects.filter(upload_id__in=of_files.values("upload"))
    return uploads.annotate(run_count=_number_of(own) + _number_of(in_files))


def _number_of(runs: QuerySet[Run]) -> Coalesce:
    everything = runs.order_by().annotate(everything=Value(1)).values("everything")
    return Coalesce(Subquery(everything.annotate(number=Count("pk")).values("number")), 0)


def upload_for(viewer: Viewer, upload_id: int, project: Project | None = None) -> Upload:
    """Return the upload of this number, in this project or in any. Raises NotVisible."""
    found = with_run_counts(uploads_for(viewer, project)).filter(pk=upload_id)
    upload = found.first() if upload_id < 2**63 else None
    if upload is None:
        raise NotVisible(f"no upload has the number {upload_id}")
    return upload


def may_see_raw(viewer: Viewer, upload: Upload) -> bool:
    is_open = upload.project.raw_files_are_public or viewer.is_member(upload.project)
    return is_open or has_sent(viewer, upload)


def known_names(project: Project) -> dict[str, list[str]]:
    """Return the names that a project has, by the field of an upload: suggestions for its form."""

    def names(model: type[Product | Hardware | Workload | Configuration]) -> QuerySet[Any, Any]:
        return model._default_manager.filter(project=project).order_by("name").values_list("name", flat=True)

    series = Series.objects.filter(project=project).order_by()
    found: dict[str, QuerySet[Any, Any]] = {
        "product": names(Product),
        "version": ServerVersion.objects.filter(project=project)
        .order_by("-sort_key", "version")
        .values_list("version", flat=True),
        "hardware": names(Hardware),
        "workload": names(Workload),
        "configuration": names(Configuration),
        **{
            name: series.exclude(**{name: ""}).order_by(name).values_list(name, flat=True).distinct()
            for name in ("build", "branch", "counterpart")
        },
    }
    return {name: list(dict.fromkeys(names[:_MAX_SUGGESTIONS])) for name, names in found.items()}


def last_said(viewer: Viewer, project: Project) -> tuple[Upload | None, dict[str, Any]]:
    """Return the newest upload that this person sent on a page, and what of its metadata may hold again.

    What was masked stays away, and so does what is of one run, or of one file of an archive.
    """
    if viewer.user is None:
        return None, {}
    sent = Upload.objects.filter(project=project, user=viewer.user, token=None, came_alone=True)
    upload = sent.exclude(state=Upload.State.DELETED).order_by("-received_at", "-pk").first()
    if upload is None:
        return None, {}
    metadata = {**upload.metadata.get("defaults", {}), **upload.metadata}
    said = {name: metadata[name] for name in _MAY_HOLD_AGAIN if name in metadata}
    if "path_map" in said:
        said["path_map"] = {name: parts for name, parts in said["path_map"].items() if name != WHOLE_PATH}
    return upload, {name: value for name, value in said.items() if value and MASK not in str(value)}
