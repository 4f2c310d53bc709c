"""The read API, under ``/api/v1/``."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from benchdash.api.views import (
    annotations,
    articles,
    baselines,
    catalogue,
    comparison,
    curves,
    difference,
    gate,
    incidents,
    latency,
    matrix,
    members,
    metrics,
    nights,
    overview,
    runs,
    series,
    sweep,
    tokens,
    webhooks,
)

app_name = "api"

_router = SimpleRouter(use_regex_path=False)
_router.register("projects", catalogue.ProjectViews, "project")
_router.register("products", catalogue.ProductViews, "product")
_router.register("versions", catalogue.VersionViews, "version")
_router.register("hardware", catalogue.HardwareViews, "hardware")
_router.register("configurations", catalogue.ConfigurationViews, "configuration")
_router.register("workloads", catalogue.WorkloadViews, "workload")
_router.register("runs", runs.RunViews, "run")
_router.register("series", series.SeriesViews, "series")
_router.register("incidents", incidents.IncidentViews, "incident")
_router.register("annotations", annotations.AnnotationViews, "annotation")
_router.register("baselines", baselines.BaselineViews, "baseline")
_router.register("articles", articles.ArticleViews, "article")

urlpatterns = [
    *_router.urls,
    path("compare/", comparison.CompareView.as_view(), name="compare"),
    path("curves/", curves.CurvesView.as_view(), name="curves"),
    path("difference/", difference.DifferenceView.as_view(), name="difference"),
    path("latency/", latency.LatencyView.as_view(), name="latency"),
    path("matrix/", matrix.MatrixView.as_view(), name="matrix"),
    path(
        "metrics/",
        metrics.MetricViews.as_view(
            {"get": "list", "post": "create", "patch": "partial_update_by_name"}, detail=False
        ),
        name="metrics",
    ),
    path(
        "metrics/<int:pk>/",
        metrics.MetricViews.as_view({"get": "retrieve", "patch": "partial_update"}, detail=True),
        name="metric-detail",
    ),
    path("nights/", nights.NightsView.as_view(), name="nights"),
    path("overview/", overview.OverviewView.as_view(), name="overview"),
    path("sweep/", sweep.SweepView.as_view(), name="sweep"),
    path("token/", tokens.TokenView.as_view(), name="token"),
    path("exclusions/", annotations.ExclusionsView.as_view(), name="exclusions"),
    path("gate/", gate.GateView.as_view(), name="gate"),
    path(
        "subscriptions/",
        members.SubscriptionViews.as_view(
            {"get": "list", "post": "create", "delete": "destroy_all"}, detail=False
        ),
        name="subscription-list",
    ),
    path(
        "subscriptions/<int:pk>/",
        members.SubscriptionViews.as_view(
            {"get": "retrieve", "patch": "partial_update", "delete": "destroy"}, detail=True
        ),
        name="subscription-detail",
    ),
    path(
        "webhooks/",
        webhooks.WebhookViews.as_view(
            {"get": "list", "post": "create", "delete": "destroy_all"}, detail=False
        ),
        name="webhook-list",
    ),
    path(
        "webhooks/<int:pk>/",
        webhooks.WebhookViews.as_view({"get": "retrieve", "delete": "destroy"}, detail=True),
        name="webhook-detail",
    ),
    path(
        "webhooks/<int:pk>/test/",
        webhooks.WebhookViews.as_view({"post": "test"}, detail=True),
        name="webhook-test",
    ),
    path("audit/", members.AuditViews.as_view({"get": "list"}, detail=False), name="audit-list"),
]
