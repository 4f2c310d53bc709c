"""The whole URL map."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("benchdash.dashboard.urls")),
]
