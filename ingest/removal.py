"""The end of a project: everything that is its own goes, down to its raw files.

A project may hold millions of rows, so they go in batches, each in a transaction of its own. PostgreSQL
remembers what is still to be deleted: a worker that dies leaves it to the next.
"""

import logging
import time
from typing import Any, Final

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import AuditEntry, Project
from benchdash.celery import ring_together
from benchdash.database.locks import alone_with
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.results.models import (
    Alias,
    ConfigurationContent,
    Environment,
    ParameterCount,
    Run,
    Series,
    ServerVersion,
    SubjectCount,
    SurroundingsCount,
    TouchedSeries,
    Workload,
    WorkloadCount,
)
from ingest.models import ArchiveFile, Copy, RawFile, Removal, Upload
from ingest.storage import raw_bytes

_log = logging.getLogger(__name__)

REMOVAL_TASK: Final = "ingest.tasks.delete_projects"
# A job deletes for this long, and then lets others of its queue go first.
_TURN_S: Final = 5.0
# Rows of a batch. Rows that belong to them, such as the measurements of a run, go with them.
_BATCH: Final = 1000
# The rows that are deleted in batches, with the way from them to the project. A row that points at others
# goes before them; what is due, counted or owed goes before all, so that nobody takes it up.
_ROWS: Final = (
    (TouchedSeries, "series__project"),
    (Incident, "project"),
    (ChangePoint, "series__project"),
    (SurroundingsCount, "project"),
    (WorkloadCount, "project"),
    (SubjectCount, "project"),
    (ParameterCount, "project"),
    (Copy, "upload__project"),
    (Run, "project"),
    (ArchiveFile, "archive__project"),
    (Upload, "project"),
    (RawFile, "project"),
    (Series, "project"),
    (Alias, "project"),
    (ServerVersion, "project"),
    (Environment, "project"),
    (ConfigurationContent, "project"),
    (Workload, "project"),
    (AuditEntry, "project"),
)
# Progress is told by the number of these.
_COUNTED: Final = (Run, Upload, RawFile)


def begin_removal(project: Project, *, by: Viewer) -> Removal:
    """Have a project deleted, with its results, incidents, subscriptions, members, tokens and files.

    From now on it does not exist for anybody, and takes no uploads; a job deletes what is in it. Its audit
    log goes with it, so the log of the installation says who did it.
    """
    with transaction.atomic():
        locked = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        total = sum(model._default_manager.filter(project=locked).count() for model in _COUNTED)
        removal, is_new = Removal.objects.get_or_create(
            project_id=locked.pk,
            defaults={"slug": locked.slug, "name": locked.name, "asked_by": by.user, "total": total},
        )
        if is_new:
            locked.deleting_since = removal.asked_at
            locked.save(update_fields=["deleting_since"])
            _log.info("project %s is deleted by %s", removal, by.user or by.token or "the installation")
        ring_together(REMOVAL_TASK, every=0)
    return removal


def delete_project(project: Project, *, by: Viewer) -> None:
    """Do all that ``begin_removal`` leaves to a job, at once."""
    removal = begin_removal(project, by=by)
    while not carry_on(removal):
        pass


def delete_in_turn() -> None:
    """Delete for some seconds what is due, and ring for the rest of it.

    A project that another worker is at is left to it.
    """
    ends_at = time.monotonic() + _TURN_S
    for removal in Removal.objects.filter(finished_at=None).order_by("asked_at"):
        with alone_with("removal", removal.pk) as is_alone:
            if is_alone and not carry_on(removal, ends_at=ends_at):
                ring_together(REMOVAL_TASK, every=0)
                return


def carry_on(removal: Removal, *, ends_at: float | None = None) -> bool:
    """Delete batch after batch, until ``ends_at`` at most; return whether nothing is left."""
    for model, to_project in _ROWS:
        rows: QuerySet[Any] = model._default_manager.filter(**{to_project: removal.project_id})
        while _delete_batch(removal, rows):
            if ends_at is not None and time.monotonic() > ends_at:
                return False
    _finish(removal)
    return True


def removals_for(viewer: Viewer) -> QuerySet[Removal]:
    """Return the deletions that the viewer asked for, and those of projects the viewer is a member of."""
    if viewer.user is None:
        return Removal.objects.none()
    if viewer.user.is_superuser:
        return Removal.objects.all()
    memberships = viewer.user.memberships.values("project")
    return Removal.objects.filter(Q(asked_by=viewer.user) | Q(project_id__in=memberships))


@transaction.atomic
def _delete_batch(removal: Removal, rows: QuerySet[Any]) -> bool:
    """Delete some of the rows; return whether there were any."""
    locked = Removal.objects.select_for_update().get(pk=removal.pk)
    ids = list(rows.values_list("pk", flat=True)[:_BATCH])
    if not ids:
        return False
    batch = rows.model._default_manager.filter(pk__in=ids)
    if rows.model is RawFile:
        # The row of a file goes last: after a crash it still says which file is to be deleted.
        names = RawFile.objects.filter(pk__in=ids).exclude(storage_name="")
        raw_bytes.delete(names.values_list("storage_name", flat=True))
    # The rows themselves, with contents and all, need not be read.
    batch.only("pk").delete()
    if rows.model in _COUNTED:
        locked.done += len(ids)
        locked.save(update_fields=["done"])
    return True


@transaction.atomic
def _finish(removal: Removal) -> None:
    """Delete the project itself, and with it the little that is left."""
    locked = Removal.objects.select_for_update().get(pk=removal.pk)
    for project in Project.objects.filter(pk=locked.project_id):
        project.delete()
    if locked.finished_at is None:
        locked.finished_at = timezone.now()
        locked.save(update_fields=["finished_at"])
        _log.info("project %s is gone", locked)
