"""Uploads in Django's admin: to look at. What changes one records its runs again, and is on the pages."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from benchdash.accounts.admin import ReadOnlyAdmin
from ingest.models import Upload


@admin.register(Upload)
class UploadAdmin(ReadOnlyAdmin):
    list_display = ("id", "name", "project", "state", "format", "received_at")
    list_filter = ("state", "format", "project")
    list_select_related = ("project",)
    search_fields = ("name", "raw__sha256")
    ordering = ("-pk",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("raw__content")
