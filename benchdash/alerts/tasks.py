from celery import shared_task

from benchdash.alerts import digests, pull_requests, services, subscriptions
from benchdash.celery import one_at_a_time


@shared_task
def send_alerts() -> None:
    subscriptions.end_unconfirmed()
    services.send_owed_confirmations()
    services.owe_alerts()
    services.send_owed_alerts()
    digests.owe_digests()
    services.send_owed_digests()


@shared_task
@one_at_a_time
def send_waiting() -> None:
    """Send what a lost doorbell or a mail server that was down left behind."""
    send_alerts()


@shared_task
@one_at_a_time
def answer_pull_requests() -> None:
    pull_requests.answer_pull_requests()
