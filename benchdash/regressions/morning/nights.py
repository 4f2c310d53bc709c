"""The night that a morning looks back on: what ran in it, what was due, and what did not come."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from statistics import median
from typing import Final, NamedTuple

from benchdash.accounts.models import Project
from benchdash.results.cadence import LOOK_BACK, MIN_ARRIVALS, Reporter, reporters
from benchdash.results.models import Run
from benchdash.results.pull_requests import of_pull_requests

NIGHT: Final = timedelta(days=1)
# Results take as long to come in as they usually do, of this many reports, and a part of the interval more.
_RECENT_REPORTS: Final = 14
_SLACK: Final = 0.1


class Night(NamedTuple):
    """A span of time, without its beginning and with its end."""

    since: datetime
    until: datetime

    def holds(self, time: datetime) -> bool:
        return self.since < time <= self.until


class Newest(NamedTuple):
    """The last run: when it started, and of what."""

    at: datetime
    product: str
    version: str


class NightSpan(Enum):
    """How a night was chosen."""

    ASKED = "asked"  # since a moment that was asked for
    LAST_DAY = "last day"
    LATEST = "latest"  # the latest day with results: nothing ran since, and nothing was due


@dataclass(frozen=True)
class Ran:
    """The workloads that ran since a moment: ``total`` workloads, of which ``came`` of ``due`` were expected.

    Without anything ``due`` only the total is known. A project is nightly if it measures branches, or
    anything regularly; others measure releases.
    """

    newest: Newest
    span: NightSpan
    since: datetime
    is_nightly: bool
    machines: Sequence[str]
    total: int
    came: int = 0
    due: int = 0


@dataclass(frozen=True)
class NightRuns:
    """The workloads that ran in a night: ``late`` and ``came`` were expected, ``others`` ran beside them."""

    night: Night
    span: NightSpan
    newest: Newest | None
    reporters: Sequence[Reporter] = ()
    came: Sequence[Reporter] = ()
    late: Sequence[Reporter] = ()
    others: Sequence[Reporter] = ()

    @property
    def due(self) -> int:
        """How many were expected."""
        return len(self.came) + len(self.late)

    @property
    def hardware(self) -> set[int]:
        """The ids of the machines that ran something."""
        return {one.place.hardware_id for one in (*self.came, *self.others)}

    def ran(self, machines: Sequence[str]) -> Ran | None:
        """Sum up what ran, on machines of these names; None where nothing ever did."""
        return self.newest and Ran(
            newest=self.newest,
            span=self.span,
            since=self.night.since,
            is_nightly=any(one.place.branch or one.cadence for one in self.reporters),
            machines=machines,
            total=len(self.came) + len(self.others),
            came=len(self.came),
            due=self.due,
        )


def night_of(project: Project, *, now: datetime, since: datetime | None = None) -> NightRuns:
    """Return what ran from ``since`` on, or else in the last day; in three statements.

    Where nothing ran in the last day and nothing was due, or the project holds samples, it is the latest day
    with results.
    """
    newest = _newest(project, now=now)
    if newest is None:
        return NightRuns(
            Night(since or now - NIGHT, now), NightSpan.ASKED if since else NightSpan.LAST_DAY, None
        )
    is_over = project.is_sample or newest.at <= now - LOOK_BACK
    found = reporters(project, now=newest.at if is_over else now)
    if since:
        return _runs_of(Night(since, now), NightSpan.ASKED, newest, found)
    if not is_over:
        last_day = _runs_of(Night(now - NIGHT, now), NightSpan.LAST_DAY, newest, found)
        if last_day.due or last_day.others:
            return last_day
    return _runs_of(Night(newest.at - NIGHT, newest.at), NightSpan.LATEST, newest, found)


def _newest(project: Project, *, now: datetime) -> Newest | None:
    runs = Run.objects.filter(~of_pull_requests(), project=project, started_at__lte=now)
    columns = ("started_at", "version__product__name", "version__version")
    found = runs.order_by("-started_at", "-pk").values_list(*columns).first()
    return Newest._make(found) if found else None


def _runs_of(night: Night, span: NightSpan, newest: Newest, found: Sequence[Reporter]) -> NightRuns:
    came: list[Reporter] = []
    late: list[Reporter] = []
    others: list[Reporter] = []
    for one in found:
        if _reported(one, night):
            (came if one.cadence else others).append(one)
        elif _is_late(one, night):
            late.append(one)
    return NightRuns(night, span, newest, found, came, late, others)


def _reported(reporter: Reporter, night: Night) -> bool:
    since, until = night.since.timestamp(), night.until.timestamp()
    return night.holds(reporter.last_at) or any(since < start <= until for start in reporter.starts)


def _is_late(reporter: Reporter, night: Night) -> bool:
    """Tell whether it should have reported in the night, and its results had the time to come in."""
    cadence = reporter.cadence
    if cadence is None:
        return False
    is_measured_on = reporter.has_lasted and len(reporter.occasions) >= MIN_ARRIVALS
    # A comparison of releases is at some time done, also one of some nights.
    if not (reporter.place.branch or is_measured_on):
        return False
    times = zip(reporter.starts, reporter.arrivals, strict=True)
    # Results that came later still were imported.
    delays = [arrival - start for start, arrival in times if 0 <= arrival - start <= cadence.interval_s]
    grace = timedelta(seconds=median(delays[-_RECENT_REPORTS:] or [0.0]) + _SLACK * cadence.interval_s)
    ripe = Night(night.since - grace, night.until - grace)
    return not _reported(reporter, ripe) and cadence.is_due(*ripe)
