"""The end of pull requests: their results go some days after the last of them came in."""

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from benchdash.accounts.access import NOBODY
from benchdash.accounts.models import Project
from benchdash.accounts.services import audit
from benchdash.results.models import Run, VersionPlace
from benchdash.results.pull_requests import days_kept, of_pull_requests
from benchdash.results.services import delete_runs
from ingest.errors import UploadBusyError
from ingest.models import Upload
from ingest.receiving.imports import delete_uploads, hold

# Uploads of one pull request that go at a time; the rest goes the next time.
_MAX_UPLOADS: Final = 1000


def expire_pull_requests(*, now: datetime | None = None) -> None:
    """Delete the results of pull requests for which none came in for as long as their project keeps them.

    What an upload holds beside them stays. Repeatable: uploads that somebody is at are left to the next time.
    """
    for project in Project.objects.filter(deleting_since=None).order_by("pk"):
        if days := days_kept(project):
            _expire(project, (now or timezone.now()) - timedelta(days=days))


def _expire(project: Project, before: datetime) -> None:
    places = VersionPlace.objects.filter(of_pull_requests(), project=project).order_by()
    for branch in list(places.values_list("branch", flat=True).distinct()):
        versions = places.filter(branch=branch).values("version")
        runs = Run.objects.filter(project=project, branch=branch, version__in=versions)
        last = runs.aggregate(Max("recorded_at"))["recorded_at__max"]
        if last and last < before:
            _delete(project, branch, runs)


def _delete(project: Project, branch: str, runs: QuerySet[Run]) -> None:
    ids = runs.order_by("upload_id").values_list("upload_id", flat=True).distinct()[:_MAX_UPLOADS]
    uploads, number = 0, 0
    for upload in Upload.objects.filter(pk__in=list(ids)):
        try:
            with transaction.atomic():
                number += _delete_of(project, hold(upload, wait=False), runs)
                uploads += 1
        except UploadBusyError:
            continue
    if uploads:
        audit(project, NOBODY, "results expired", branch, detail={"uploads": uploads, "runs": number})


def _delete_of(project: Project, upload: Upload, runs: QuerySet[Run]) -> int:
    """Delete the runs of a pull request in an upload, with the upload where it holds nothing else."""
    others = Run.objects.filter(upload_id=upload.pk).exclude(pk__in=runs.values("pk"))
    if others.exists():
        return delete_runs(project, runs.filter(upload_id=upload.pk))
    return delete_uploads(project, [upload.pk])
