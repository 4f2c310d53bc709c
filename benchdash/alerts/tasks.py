from celery import shared_task
from django.conf import settings

from benchdash.alerts import digests, pull_requests, services, subscriptions
from benchdash.celery import one_at_a_time


@shared_task
def send_alerts() -> None:
    subscriptions.end_unconfirmed()
    services.send_owed_tests()
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
def answer_pull_requests() -> None:
    """Ring for each code host that may have news; a job that no worker took up is rung for again."""
    for host_id in pull_requests.hosts_to_ask():
        answer_code_host.apply_async((host_id,), expires=settings.CODE_HOSTS_EVERY_S)


@shared_task
def answer_code_host(host_id: int) -> None:
    pull_requests.answer_pull_requests(host_id)
