from celery import shared_task

from benchdash.rest import idempotency


@shared_task
def delete_old_answers() -> None:
    """Forget answers to keys of requests that are kept no longer."""
    idempotency.delete_old_answers()
