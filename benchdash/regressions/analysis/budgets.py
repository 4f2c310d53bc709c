"""How many false incidents a year a project has to expect, and how small a change is found in its series."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count, Max
from scipy.special import gammaincinv

from benchdash.accounts.models import Project
from benchdash.regressions.models import NullRun, Sensitivity
from benchdash.results.models import Series
from benchdash.results.place import Place

BENCHMARK_ALARMS: Final = 8
BENCHMARK_LOOKS: Final = 10_000
"""A substitute for a project's own null runs: published synthetic series (docs/statistics.md)."""

MAX_NULL_RUNS: Final = 8
SURE: Final = 0.95

# A place that reported until so long before the newest of its project is still looked at.
_STILL_REPORTS: Final = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class AlarmBudget:
    """The false incidents to expect in a year, and with 95 % not more than ``upper``.

    ``alarms`` in ``looks`` were counted in ``null_runs`` runs of the project's own shuffled histories;
    without any, in a benchmark. The ``series`` of ``places`` that still report get ``looks_a_year``. Rates
    are None where no place has reported for long enough to know them. They hold for what detection confirms:
    a rule that is stricter raises fewer.
    """

    rate: float | None
    upper: float | None
    null_runs: int
    alarms: int
    looks: int
    looks_a_year: float
    places: int
    series: int
    since: datetime | None = None

    @property
    def basis(self) -> str:
        if self.null_runs:
            return f"{self.alarms:,} in {self.looks:,} looks at this project's shuffled histories"
        return f"{self.alarms:,} in {self.looks:,} looks at published synthetic series"


def newest_null_runs(project: Project) -> list[NullRun]:
    return list(NullRun.objects.filter(project=project)[:MAX_NULL_RUNS])


def false_incidents_per_year(project: Project, null_runs: Sequence[NullRun] | None = None) -> AlarmBudget:
    """Estimate how often the rule is wrong in a year, from the newest null runs; three statements at most."""
    runs = newest_null_runs(project) if null_runs is None else null_runs
    alarms = sum(run.incidents for run in runs) if runs else BENCHMARK_ALARMS
    looks = sum(run.looks for run in runs) if runs else BENCHMARK_LOOKS
    here = Sensitivity.objects.filter(series__project=project)
    newest = here.aggregate(newest=Max("newest_at"))["newest"]
    places = (
        list(
            here.filter(newest_at__gt=newest - _STILL_REPORTS)
            .values(*(f"series__{name}" for name in Place._fields))
            .annotate(looks=Max("groups_a_year"), number=Count("pk"))
            .order_by()
        )
        if newest
        else []
    )
    a_year = sum(place["looks"] or 0.0 for place in places)
    return AlarmBudget(
        rate=alarms / looks * a_year if a_year else None,
        upper=most_plausible(alarms) / looks * a_year if a_year else None,
        null_runs=len(runs),
        alarms=alarms,
        looks=looks,
        looks_a_year=a_year,
        places=len(places),
        series=sum(place["number"] for place in places),
        since=runs[-1].at if runs else None,
    )


def most_plausible(seen: int) -> float:
    """Return the largest mean that shows so few events in one of twenty cases: about 3 for none."""
    return float(gammaincinv(seen + 1, SURE))


def false_changes_per_point(null_runs: Sequence[NullRun]) -> float | None:
    """Return how many change points of single series are false, for each point; None without a null run."""
    points = sum(run.points for run in null_runs)
    return sum(run.change_points for run in null_runs) / points if points else None


def smallest_change(series: Series) -> float | None:
    """Return the relative size of a loss that is found within five groups, eight times of ten.

    None where there are too few groups to tell.
    """
    row = Sensitivity.objects.filter(pk=series.pk).first()
    return row.smallest_change if row else None
