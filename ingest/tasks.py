"""Jobs that import files."""

from celery import shared_task

from ingest import services


@shared_task
def import_upload(upload_id: int) -> None:
    services.import_by_job(upload_id)


@shared_task
def import_waiting() -> None:
    """Take up what a lost doorbell or a worker that died left behind."""
    for upload_id in services.waiting_upload_ids():
        services.import_by_job(upload_id)
