"""The whole URL map."""

from django.contrib import admin
from django.urls import include, path

from benchdash.api import health

urlpatterns = [
    path("admin/", admin.site.urls),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
    path("api/v1/", include("ingest.urls")),
    path("api/v1/", include("benchdash.api.urls")),
    path("", include("benchdash.dashboard.urls")),
]
