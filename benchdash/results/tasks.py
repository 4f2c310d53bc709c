from celery import shared_task

from benchdash.celery import one_at_a_time
from benchdash.results import services


@shared_task
@one_at_a_time
def fold_summaries() -> None:
    services.fold_summaries()
