"""Jobs that import files, and that delete projects."""

from celery import shared_task

from benchdash.celery import one_at_a_time, taken_up
from benchdash.heartbeat import still_at_work
from ingest import expiry, removal
from ingest.archives import services as archive_services
from ingest.receiving import imports


@shared_task
def import_upload(upload_id: int) -> None:
    _import(upload_id)


@shared_task
@one_at_a_time
def import_waiting() -> None:
    """Take up what a lost doorbell or a worker that died left behind."""
    for upload_id in imports.waiting_upload_ids():
        still_at_work()
        _import(upload_id)


@shared_task
def delete_projects() -> None:
    """Go on with the projects that are being deleted."""
    taken_up(delete_projects.name, every=0)
    removal.delete_in_turn()


@shared_task
@one_at_a_time
def expire_pull_requests() -> None:
    """Delete the results of pull requests for which none came in for long."""
    expiry.expire_pull_requests()


def _import(upload_id: int) -> None:
    """Each of the two leaves alone what is the other's."""
    imports.import_by_job(upload_id)
    archive_services.import_by_job(upload_id)
