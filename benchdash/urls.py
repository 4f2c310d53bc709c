"""The whole URL map."""

from django.contrib import admin
from django.urls import include, path, re_path

from benchdash.api import health
from benchdash.api.client_file import client_checksum, client_file
from benchdash.api.views.docs import DocsView, SchemaView
from benchdash.api.views.unknown import UnknownView
from benchdash.dashboard.pages.help.views import statistics
from benchdash.dashboard.pages.home.views import sign_in_for_admin

handler500 = "benchdash.error_pages.server_error"
urlpatterns = [
    path("admin/login/", sign_in_for_admin, name="admin_sign_in"),
    path("admin/", admin.site.urls),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
    path("client/benchdash.py", client_file, name="client_file"),
    path("client/benchdash.py.sha256", client_checksum, name="client_checksum"),
    path("api/v1/", include("ingest.urls")),
    path("api/v1/", include("benchdash.api.urls")),
    path("api/schema/", SchemaView.as_view(), name="schema"),
    path("api/docs/", DocsView.as_view(), name="docs"),
    path("", include("benchdash.assistants.urls")),
    path("help/statistics/", statistics, name="statistics"),
    # Only with a slash at the end: Django still leads to it who forgot one.
    re_path(r"^api/.*/$", UnknownView.as_view()),
    path("", include("benchdash.dashboard.urls")),
]
