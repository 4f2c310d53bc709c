from celery import shared_task

from benchdash.regressions import services


@shared_task
def analyse_touched() -> None:
    services.analyse_touched()
