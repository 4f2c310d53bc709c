"""The morning of a project: whether last night broke anything, what is open, and what did not report."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from benchdash.accounts.models import Project
from benchdash.regressions import queries
from benchdash.regressions.morning import sentences
from benchdash.regressions.morning.missing import missing_of
from benchdash.regressions.morning.news import News, ToldIncidents, described, incidents_of
from benchdash.regressions.morning.nights import Night, night_of
from benchdash.regressions.morning.rows import Standing, rows_of
from benchdash.results.models import Hardware


@dataclass(frozen=True, kw_only=True)
class Morning(News):
    """The news of a night with all that ran in it.

    ``expected`` workloads (each at its place) were due, of which ``ran`` came; ``others`` ran beside them.
    ``rows`` are the workloads that are measured regularly.
    """

    night: Night
    ran: int
    expected: int
    others: int
    machines: Sequence[str]
    rows: Sequence[Standing]

    @property
    def is_of_nights(self) -> bool:
        """Tell whether what ran last was a branch, and no release."""
        return self.night_runs is not None and self.night_runs.is_nightly

    @property
    def ran_in_words(self) -> str:
        return sentences.ran_words(self.night_runs, now=self.now)


def morning_of(project: Project, *, now: datetime | None = None, since: datetime | None = None) -> Morning:
    """Return the morning after the last night, or of all that happened ``since``.

    A constant number of statements. The sentence names days in the current time zone.
    """
    now = now or timezone.now()
    runs = night_of(project, now=now, since=since)
    machines = Hardware.objects.filter(pk__in=runs.hardware).order_by("name") if runs.hardware else ()
    names = [one.name for one in machines]
    night_runs = runs.ran(names)
    found = incidents_of({project: (runs.night.since, night_runs)}).get(project.pk, ToldIncidents())
    told = found.known_by(described([found]))
    return Morning(
        project=project,
        now=now,
        night=runs.night,
        night_runs=night_runs,
        ran=len(runs.came),
        expected=runs.due,
        others=len(runs.others),
        machines=names,
        missing=missing_of(runs, told.silences),
        new=told.new,
        open=told.open,
        lost=told.lost,
        recovered=told.recovered,
        rows=rows_of(runs.reporters, found.open_ids),
        waiting=queries.waiting_series([project]).get(project.pk, 0),
    )
