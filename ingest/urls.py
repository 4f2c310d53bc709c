"""The door for files, under ``/api/v1/``."""

from django.urls import path

from ingest import api

app_name = "ingest"

urlpatterns = [
    path("uploads/", api.UploadListView.as_view(), name="upload-list"),
    path("uploads/<int:pk>/", api.UploadDetailView.as_view(), name="upload-detail"),
    path("uploads/<int:pk>/raw/", api.RawView.as_view(), name="upload-raw"),
    path(
        "uploads/<int:pk>/companions/<int:companion>/raw/",
        api.CompanionRawView.as_view(),
        name="companion-raw",
    ),
]
