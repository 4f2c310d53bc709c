"""Addresses of pages, as they stand in mails."""

from django.conf import settings
from django.urls import reverse


def absolute(name: str, *args: object) -> str:
    """Return the whole address of a page."""
    return f"{settings.SITE_URL}{reverse(name, args=args)}"
