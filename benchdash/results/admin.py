"""The history in Django's admin: to look at. It is corrected on the pages, with a preview and a record."""

from django.contrib import admin

from benchdash.accounts.admin import ReadOnlyAdmin
from benchdash.results.models import (
    Alias,
    Baseline,
    Configuration,
    ConfigurationContent,
    Environment,
    Hardware,
    Product,
    Run,
    Series,
    ServerVersion,
    TouchedSeries,
    Workload,
    WorkloadGroup,
)


@admin.register(Product, Hardware, Configuration, Workload)
class NamedAdmin(ReadOnlyAdmin):
    list_display = ("name", "project")
    list_filter = ("project",)
    list_select_related = ("project",)
    search_fields = ("name",)
    ordering = ("project", "name")


@admin.register(ServerVersion)
class ServerVersionAdmin(ReadOnlyAdmin):
    list_display = ("version", "build", "commit", "product", "project", "committed_at", "released_at")
    list_filter = ("project",)
    list_select_related = ("project", "product")
    search_fields = ("version", "commit", "product__name")
    ordering = ("project", "product", "sort_key")


@admin.register(Environment, ConfigurationContent)
class ContentAdmin(ReadOnlyAdmin):
    list_display = ("digest", "project")
    list_filter = ("project",)
    list_select_related = ("project",)
    search_fields = ("digest",)


@admin.register(Alias)
class AliasAdmin(ReadOnlyAdmin):
    list_display = ("name", "product", "version", "hardware", "configuration", "workload", "project")
    list_filter = ("project",)
    list_select_related = ("product", "version", "hardware", "configuration", "workload", "project")
    search_fields = ("name",)


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = ("id", "workload", "threads", "version", "branch", "hardware", "started_at", "excluded_at")
    list_filter = ("project", ("excluded_at", admin.EmptyFieldListFilter))
    list_select_related = ("workload", "version", "hardware")
    search_fields = ("workload__name", "version__version", "version__commit", "hardware__name", "branch")
    date_hierarchy = "started_at"
    ordering = ("-started_at",)
    show_full_result_count = False


@admin.register(Series)
class SeriesAdmin(ReadOnlyAdmin):
    list_display = ("id", "workload", "threads", "metric", "unit", "product", "branch", "line", "hardware")
    list_filter = ("project", "direction")
    list_select_related = ("workload", "product", "hardware")
    search_fields = ("workload__name", "metric", "product__name", "branch", "hardware__name")
    show_full_result_count = False


@admin.register(TouchedSeries)
class TouchedSeriesAdmin(ReadOnlyAdmin):
    list_display = ("series", "touched_at", "quiet")
    list_select_related = ("series__product", "series__workload")
    list_filter = ("quiet",)


@admin.register(WorkloadGroup)
class WorkloadGroupAdmin(ReadOnlyAdmin):
    list_display = ("name", "position", "patterns", "project")
    list_filter = ("project",)
    list_select_related = ("project",)
    ordering = ("project", "position")


@admin.register(Baseline)
class BaselineAdmin(ReadOnlyAdmin):
    list_display = ("name", "product", "branch", "hardware", "set_by", "set_at", "reason", "project")
    list_filter = ("project",)
    list_select_related = ("project", "product", "hardware", "version", "set_by")
    ordering = ("-pk",)
