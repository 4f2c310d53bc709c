"""Whole addresses of pages and resources, as they stand in mails and answers."""

from django.conf import settings
from django.urls import reverse


def absolute(name: str, *args: object) -> str:
    """Return the whole address of a named page or resource."""
    return f"{settings.SITE_URL}{reverse(name, args=args)}"
