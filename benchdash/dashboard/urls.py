"""The pages. Each module of views lists its own; those of a project live under its slug."""

from django.urls import include, path

from benchdash.dashboard.views import (
    articles,
    catalogue,
    compare,
    curves,
    history,
    incidents,
    latency,
    matrix,
    operations,
    overview,
    pair,
    people,
    removals,
    rule,
    runs,
    search,
    shell,
    sweep,
    upload_mending,
    uploads,
    workload_groups,
)

app_name = "dashboard"

_project_pages = [
    *overview.urlpatterns,
    *compare.urlpatterns,
    *curves.urlpatterns,
    *latency.urlpatterns,
    *matrix.urlpatterns,
    *sweep.urlpatterns,
    *pair.urlpatterns,
    *articles.urlpatterns,
    *history.urlpatterns,
    *runs.urlpatterns,
    *incidents.urlpatterns,
    *rule.urlpatterns,
    *uploads.urlpatterns,
    *upload_mending.urlpatterns,
    *catalogue.urlpatterns,
    *workload_groups.urlpatterns,
    *people.urlpatterns,
    *search.urlpatterns,
]

urlpatterns = [
    *shell.urlpatterns,
    *operations.urlpatterns,
    *people.public_urlpatterns,
    *removals.urlpatterns,
    *rule.public_urlpatterns,
    path("p/<slug:slug>/", include(_project_pages)),
]
