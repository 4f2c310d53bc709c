from celery import shared_task
from django.core.management import call_command


@shared_task
def clear_sessions() -> None:
    """Delete the sessions that have expired; signing in and out leaves them behind."""
    call_command("clearsessions")
