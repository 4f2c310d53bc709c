"""The product's addresses, and beside them the bare ones that it is compared with."""

from django.urls import include, path

from benchmarks.performance.bare import BareView, bare_points

urlpatterns = [
    path("bare/", BareView.as_view()),
    path("bare/points/<int:series>/", bare_points),
    path("", include("benchdash.urls")),
]
