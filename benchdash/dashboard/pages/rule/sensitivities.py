"""The table of a project's series: how they scatter, and how small a change is found in them."""

from typing import Final

from django.db.models import F, Q, QuerySet

from benchdash.accounts.models import Project
from benchdash.regressions.models import Sensitivity

PAGE: Final = 50
MAX_SEARCH: Final = 200
COLUMNS: Final = (
    *("product", "branch", "line", "build", "hardware", "configuration", "counterpart"),
    *("workload", "threads", "metric", "unit", "groups", "groups_a_year", "runs", "sessions"),
    *("noise", "smallest_change", "with_runs", "with_sessions"),
    *("smallest_change_with_runs", "smallest_change_with_sessions", "series"),
)


def csv_row(found: Sensitivity) -> tuple[object, ...]:
    """Return the row of a CSV file, by ``COLUMNS``."""
    series = found.series
    return (
        *(series.product.name, series.branch, series.line, series.build, series.hardware.name),
        *(series.configuration.name, series.counterpart, series.workload.name, series.threads),
        *(series.metric, series.unit, found.groups, found.groups_a_year, found.runs, found.sessions),
        *(found.noise, found.smallest_change, found.more_runs, found.more_sessions),
        *(found.with_more_runs, found.with_more_sessions, series.pk),
    )


def sensitivities(project: Project, *, search: str) -> QuerySet[Sensitivity]:
    """Return the rows of a project's series, the noisiest first, whose names have every word of a search."""
    found = Sensitivity.objects.filter(series__project=project)
    for word in search.split():
        found = found.filter(
            Q(series__workload__name__icontains=word)
            | Q(series__metric__icontains=word)
            | Q(series__product__name__icontains=word)
            | Q(series__branch__icontains=word)
            | Q(series__line__icontains=word)
            | Q(series__hardware__name__icontains=word)
        )
    return found.select_related(
        *(f"series__{name}" for name in ("product", "hardware", "configuration", "workload"))
    ).order_by(F("noise").desc(nulls_last=True), "pk")
