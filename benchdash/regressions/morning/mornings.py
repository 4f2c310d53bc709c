"""The morning of a project: whether last night broke anything, what is open, and what did not report."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Q, QuerySet
from django.utils import timezone

from benchdash.accounts.models import Project
from benchdash.regressions import headlines, queries
from benchdash.regressions.models import Incident, IncidentEvent
from benchdash.regressions.morning import sentences
from benchdash.regressions.morning.missing import Missing, missing_of
from benchdash.regressions.morning.nights import Night, Ran, night_of
from benchdash.regressions.morning.rows import Standing, rows_of
from benchdash.results.models import Hardware

_PUT_ASIDE: Final = (Incident.State.EXPECTED, Incident.State.WONTFIX, Incident.State.INVALID)


@dataclass(frozen=True)
class Morning:
    """The news of a night for a person.

    ``expected`` workloads (each at its place) were due, of which ``ran`` came; ``others`` ran beside them.
    ``new`` incidents were detected or confirmed since the night began, improvements among them; the ``open``
    ones are older. ``lost`` made the level of a row worse, still hold and are neither: settled, put off or
    from before anyone could care. ``recovered`` were ended by a step back in the night. ``rows`` are the
    workloads that are measured regularly. So many series are ``waiting`` for analysis. ``night_runs`` sums up
    what ran, for the sentence; None where nothing ever did.
    """

    project: Project
    night: Night
    night_runs: Ran | None
    ran: int
    expected: int
    others: int
    machines: Sequence[str]
    missing: Sequence[Missing]
    new: Sequence[Incident]
    open: Sequence[Incident]
    lost: Sequence[Incident]
    recovered: Sequence[Incident]
    rows: Sequence[Standing]
    waiting: int
    ran_in_words: str
    sentence: str

    @property
    def is_of_nights(self) -> bool:
        """Tell whether what ran last was a branch, and no release."""
        return self.night_runs is not None and self.night_runs.is_nightly

    @property
    def headline(self) -> str:
        """The same by numbers alone."""
        return sentences.headline(
            new=self.new,
            still_open=self.open,
            lost=self.lost,
            missing=self.missing,
            recovered=len(self.recovered),
            waiting=self.waiting,
        )


def morning_of(project: Project, *, now: datetime | None = None, since: datetime | None = None) -> Morning:
    """Return the morning after the last night, or of all that happened ``since``.

    A constant number of statements. The sentence names days in the current time zone.
    """
    now = now or timezone.now()
    runs = night_of(project, now=now, since=since)
    machines = Hardware.objects.filter(pk__in=runs.hardware).order_by("name") if runs.hardware else ()
    names = [one.name for one in machines]
    is_open = list(
        queries.open_incidents(project).select_related(
            "silence__hardware", "silence__product", "silence__workload"
        )
    )
    recovered = list(recovered_incidents(project, since=runs.night.since))
    steps_back = {one.recovered_by_id for one in recovered}
    found = queries.incidents(project).filter(new_filter(runs.night.since))
    new = [one for one in found if one.pk not in steps_back]
    news = {one.pk for one in new}
    still_open = [one for one in is_open if one.pk not in news and one.kind != Incident.Kind.SILENCE]
    missing = missing_of(runs, [one for one in is_open if one.kind == Incident.Kind.SILENCE])
    rows = rows_of(runs.reporters, {one.pk for one in is_open})
    lost = _lost(project, rows, {*news, *(one.pk for one in is_open)})
    waiting = queries.waiting_series([project]).get(project.pk, 0)
    night_runs = runs.ran(names)
    return Morning(
        project=project,
        night=runs.night,
        night_runs=night_runs,
        ran=len(runs.came),
        expected=runs.due,
        others=len(runs.others),
        machines=names,
        missing=missing,
        new=new,
        open=still_open,
        lost=lost,
        recovered=recovered,
        rows=rows,
        waiting=waiting,
        ran_in_words=sentences.ran_words(night_runs, now=now),
        sentence=sentences.sentence(
            night_runs,
            new=new,
            still_open=still_open,
            lost=lost,
            missing=missing,
            recovered=len(recovered),
            waiting=waiting,
            now=now,
        ),
    )


def _lost(project: Project, rows: Sequence[Standing], told: Collection[int]) -> list[Incident]:
    """Return the incidents that made the level of a row worse and are not told as new or open.

    Of one that its machine explains it is the incident of the machine.
    """
    holding = {
        one.incident.folded_into_id or one.incident.pk
        for row in rows
        for one in row.each_threads
        if one.incident and headlines.is_for_the_worse(one.incident)
    }
    left = holding.difference(told)
    return list(queries.incidents(project).filter(pk__in=left)) if left else []


def new_filter(since: datetime) -> Q:
    """Select incidents that are news of the time since then, and that nobody has put aside.

    Of what was imported or corrected, only what began since then is news. Silences are missing, not new; what
    the rule of the project leaves out is no news.
    """
    is_found = Q(detected_at__gt=since) | Q(confirmed_at__gt=since)
    is_news = Q(quiet=False) | Q(started_at__gt=since)
    is_told = ~Q(kind=Incident.Kind.SILENCE) & ~Q(status=Incident.Status.WITHDRAWN)
    return (
        is_found
        & is_news
        & is_told
        & Q(historical=False, folded_into=None, left_out=False)
        & ~Q(state__in=_PUT_ASIDE)
        & Q(snoozed_until=None, snoozed_until_version="")
    )


def recovered_incidents(project: Project, *, since: datetime) -> QuerySet[Incident]:
    """Return those that a step back ended since then."""
    events = IncidentEvent.objects.filter(what=IncidentEvent.What.RECOVERED, at__gt=since, quiet=False)
    ended = queries.incidents(project).filter(pk__in=events.values("incident"), state=Incident.State.FIXED)
    return ended.filter(left_out=False).exclude(kind=Incident.Kind.SILENCE)
