"""Jobs that import files."""

from celery import shared_task

from ingest import archives, services


@shared_task
def import_upload(upload_id: int) -> None:
    _import(upload_id)


@shared_task
def import_waiting() -> None:
    """Take up what a lost doorbell or a worker that died left behind."""
    for upload_id in services.waiting_upload_ids():
        _import(upload_id)


def _import(upload_id: int) -> None:
    """Each of the two leaves alone what is the other's."""
    services.import_by_job(upload_id)
    archives.import_by_job(upload_id)
