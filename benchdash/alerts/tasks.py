from celery import shared_task

from benchdash.alerts import services


@shared_task
def send_alerts() -> None:
    services.owe_alerts()
    services.send_owed_alerts()
