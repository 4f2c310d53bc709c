"""How regularly results come in: when each workload of each place is measured, and when the next run is due.

A report is a session as ``benchdash.results.sessions`` cuts it; of a machine that is never idle, every hour
with a run is one. What is due is learned from the same time of the week in former weeks, so that a night
without a run is expected where there was none on that weekday before.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import Final

from django.conf import settings
from django.db import connection

from benchdash.accounts.models import Project
from benchdash.results.models import Product
from benchdash.results.place import Place
from benchdash.results.pull_requests import PATTERN
from benchdash.results.series import line_of

LOOK_BACK: Final = timedelta(days=60)
MIN_SESSIONS: Final = 5
"""Fewer reports tell no cadence."""
MIN_SPAN: Final = timedelta(days=14)
"""A reporter of a shorter time may have ended as it was meant to, like releases that were compared."""
MIN_ARRIVALS: Final = 3
"""Results that came in on fewer occasions are an archive that was imported."""
MAX_UNEVENNESS: Final = 1.5
"""The upper quartile of the gaps between regular reports is at most so many times the lower one."""

_WEEK_S: Final = 7 * 24 * 3600.0
# A machine whose session goes on for longer is never idle.
_MAX_SESSION_S: Final = 20 * 3600.0
_MIN_WEEKS: Final = 2
# With so many former weeks one of them may have been an exception.
_MANY_WEEKS: Final = 4


@dataclass(frozen=True)
class Reporter:
    """One workload at one place, with the starts and arrivals of its reports in epoch seconds, in order.

    ``arrivals`` are when the first results of each report came in. ``last_at`` is the start of the last run.
    """

    place: Place
    workload_id: int
    starts: Sequence[float]
    arrivals: Sequence[float]
    last_at: datetime

    @cached_property
    def cadence(self) -> "Cadence | None":
        """Return how regularly it reports; None of an irregular one, or of too few reports to tell."""
        if len(self.starts) < MIN_SESSIONS:
            return None
        gaps = sorted(later - earlier for earlier, later in pairwise(self.starts))
        lower, upper = gaps[len(gaps) // 4], gaps[3 * (len(gaps) - 1) // 4]
        if upper > MAX_UNEVENNESS * lower:
            return None
        return Cadence(
            self.place, self.workload_id, median(gaps), self.last_at, len(self.starts), tuple(self.starts)
        )

    @property
    def has_lasted(self) -> bool:
        return self.starts[-1] - self.starts[0] >= MIN_SPAN.total_seconds()

    @property
    def occasions(self) -> Sequence[float]:
        """Return the arrivals (epoch seconds) that are more than half an interval from the one before."""
        found: list[float] = []
        for arrival in sorted(self.arrivals):
            if not found or (self.cadence and arrival - found[-1] > self.cadence.interval_s / 2):
                found.append(arrival)
        return found


@dataclass(frozen=True)
class Cadence:
    """How regularly one workload of one place reports.

    ``interval_s`` is the usual time from one report to the next, of the ``sessions`` with these ``starts``
    (epoch seconds, in order). ``last_at`` is the start of the last run.
    """

    place: Place
    workload_id: int
    interval_s: float
    last_at: datetime
    sessions: int
    starts: tuple[float, ...]

    @cached_property
    def due_at(self) -> datetime:
        """When the next run is due to start."""
        return datetime.fromtimestamp(next(self._due()), UTC)

    @cached_property
    def second_due_at(self) -> datetime:
        """When the one after the next is due to start."""
        due = self._due()
        next(due)
        return datetime.fromtimestamp(next(due), UTC)

    def is_due(self, since: datetime, until: datetime) -> bool:
        """Tell whether a run was to be expected after ``since`` and up to ``until``, or came then."""
        after, up_to = since.timestamp(), until.timestamp()
        if any(after < start <= up_to for start in reversed(self.starts)):
            return True
        return any(after < due for due in self._due(up_to))

    def _due(self, up_to: float | None = None) -> Iterator[float]:
        """Yield when runs are due after the last report, up to a time."""
        due = self.starts[-1] + self._first_wait()
        while up_to is None or due <= up_to:
            yield due
            due += self._usual_wait(due)

    def _first_wait(self) -> float:
        """Return the usual wait after the last report; the last gap where that broke with what was usual."""
        before, last = self.starts[-2:]
        usual = self._usual_wait(last)
        has_new_rhythm = last - before > self._usual_wait(before) + self.interval_s
        return max(usual, last - before) if has_new_rhythm else usual

    def _usual_wait(self, after: float) -> float:
        """Return how long the next report took at the same time of the week, in all weeks before but one.

        In the first weeks, the longest time that it ever took.
        """
        waits: list[float] = []
        same_time = after - _WEEK_S
        while same_time > self.starts[0] - self.interval_s / 2:
            # Half an interval later, so that the report at that very time is not the next one.
            index = bisect_right(self.starts, same_time + self.interval_s / 2)
            if index < len(self.starts):
                waits.append(self.starts[index] - same_time)
            same_time -= _WEEK_S
        if len(waits) < _MIN_WEEKS:
            return max(later - earlier for earlier, later in pairwise(self.starts))
        waits.sort()
        return waits[-2] if len(waits) >= _MANY_WEEKS else waits[-1]


# The first run of each hour is enough to tell one report from the next.
_HOURS: Final = """
    SELECT product_id, build, branch, hardware_id, configuration_id, counterpart, workload_id, release,
        array_agg(extract(epoch FROM started_at)::float8 ORDER BY started_at),
        array_agg(extract(epoch FROM recorded_at)::float8 ORDER BY started_at),
        max(extract(epoch FROM last_at)::float8)
    FROM (
        SELECT version.product_id, version.build, run.branch, run.hardware_id, run.configuration_id,
            run.counterpart, run.workload_id,
            CASE run.branch WHEN '' THEN version.version ELSE '' END AS release,
            min(run.started_at) AS started_at, min(run.recorded_at) AS recorded_at,
            max(run.started_at) AS last_at
        FROM results_run run JOIN results_serverversion version ON version.id = run.version_id
        WHERE run.project_id = %s AND run.started_at > %s AND run.started_at <= %s AND run.branch !~ %s
        GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, date_trunc('hour', run.started_at)
    ) AS hours
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
    ORDER BY 1, 2, 3, 4, 5, 6, 7, 8
"""


def reporters(project: Project, *, now: datetime) -> list[Reporter]:
    """Return everything that reported within the last weeks, regular or not, but for pull requests.

    Two statements.

    Excluded runs count: what they measured may be wrong, but they were reported.
    """
    products = dict(Product.objects.filter(project=project).values_list("pk", "name"))
    with connection.cursor() as cursor:
        cursor.execute(_HOURS, [project.pk, now - LOOK_BACK, now, PATTERN])
        rows = cursor.fetchall()
    hours: dict[tuple[Place, int], list[tuple[float, float]]] = defaultdict(list)
    last_at: dict[tuple[Place, int], float] = {}
    for product, build, branch, hardware, configuration, counterpart, workload, release, *times in rows:
        line = line_of(branch, products[product], release)
        place = Place(project.pk, product, build, branch, line, hardware, configuration, counterpart)
        starts, arrivals, last = times
        hours[place, workload] += zip(starts, arrivals, strict=True)
        last_at[place, workload] = max(last, last_at.get((place, workload), last))
    return [_reporter(*key, sorted(found), last_at[key]) for key, found in hours.items()]


def _reporter(
    place: Place, workload_id: int, hours: Sequence[tuple[float, float]], last_at: float
) -> Reporter:
    sessions: list[list[tuple[float, float]]] = []
    for start, arrival in hours:
        if not sessions or start - sessions[-1][-1][0] > settings.SESSION_GAP_S:
            sessions.append([])
        sessions[-1].append((start, arrival))
    if any(session[-1][0] - session[0][0] > _MAX_SESSION_S for session in sessions):
        sessions = [[hour] for hour in hours]
    return Reporter(
        place,
        workload_id,
        starts=[session[0][0] for session in sessions],
        arrivals=[min(arrival for _, arrival in session) for session in sessions],
        last_at=datetime.fromtimestamp(last_at, UTC),
    )
