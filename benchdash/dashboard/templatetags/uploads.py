"""Words about an upload: ``{% load uploads %}``."""

from django import template

from benchdash.dashboard import upload_rows

register = template.Library()

register.filter("holds", upload_rows.holds)
register.filter("progress", upload_rows.progress)
register.filter("sender", upload_rows.sender)
