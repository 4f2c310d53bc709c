"""The table of a project's series: how they scatter, and how small a change is found in them."""

from dataclasses import dataclass
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
    *("smallest_change_with_runs", "smallest_change_with_sessions", "false_changes_a_year", "series"),
)


@dataclass(frozen=True)
class SensitivityRow:
    """``per_point`` is how many change points are false, for each point of a series; None: nobody knows."""

    found: Sensitivity
    per_point: float | None

    @property
    def false_changes_a_year(self) -> float | None:
        if self.per_point is None or self.found.groups_a_year is None:
            return None
        return self.per_point * self.found.groups_a_year

    @property
    def cells(self) -> tuple[object, ...]:
        """The row of a CSV file, by ``COLUMNS``."""
        row, series = self.found, self.found.series
        return (
            *(series.product.name, series.branch, series.line, series.build, series.hardware.name),
            *(series.configuration.name, series.counterpart, series.workload.name, series.threads),
            *(series.metric, series.unit, row.groups, row.groups_a_year, row.runs, row.sessions),
            *(row.noise, row.smallest_change, row.more_runs, row.more_sessions),
            *(row.with_more_runs, row.with_more_sessions, self.false_changes_a_year, series.pk),
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
