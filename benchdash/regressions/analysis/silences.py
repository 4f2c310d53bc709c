"""Reporters that stopped: a machine, a job or one workload of a job is one incident, the widest.

A run is missed when it was due (``benchdash.results.cadence``) and nothing came. Something is silent when two
runs in a row were missed, and the results of the second one would be in: one late night is no incident.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from itertools import pairwise
from statistics import fmean, median
from typing import Final, NamedTuple

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from benchdash.accounts.models import Project
from benchdash.database.locks import is_free
from benchdash.regressions.events import note
from benchdash.regressions.models import Incident, IncidentEvent, Silence
from benchdash.regressions.options import branch_origins, historical_after
from benchdash.results.cadence import MIN_ARRIVALS, Cadence, Reporter, reporters

MIN_SILENCE: Final = timedelta(days=1)
"""The time after the first missed run in which nothing is silent yet, however often it used to report."""

_LOCK = "silences of project"
_MAX_MARGIN_S: Final = 6 * 3600.0
# How late results come in after their run began is learned from the newest reports.
_NEWEST = 10

# A pattern of many branches is one of those that come and go.
_WILDCARDS: Final = frozenset("*?[")

_What = IncidentEvent.What


class ReportingPart(NamedTuple):
    """Reporters by the columns of ``Silence``: a machine, a product on it, a job, a workload."""

    hardware_id: int
    product_id: int | None = None
    build: str = ""
    branch: str = ""
    line: str = ""
    configuration_id: int | None = None
    counterpart: str = ""
    workload_id: int | None = None

    @classmethod
    def of(cls, row: Reporter | Silence) -> "ReportingPart":
        place = row.place if isinstance(row, Reporter) else row
        return cls(
            place.hardware_id,
            *(place.product_id, place.build, place.branch, place.line),
            *(place.configuration_id, place.counterpart, row.workload_id),
        )

    @property
    def levels(self) -> list["ReportingPart"]:
        """The reporters that it belongs to, the widest first, itself last."""
        product = ReportingPart(self.hardware_id, self.product_id)
        stream = product._replace(branch=self.branch, line=self.line)
        return list(dict.fromkeys([ReportingPart(self.hardware_id), product, stream, self.job, self]))

    @property
    def job(self) -> "ReportingPart":
        return self._replace(workload_id=None)

    def includes(self, other: "ReportingPart") -> bool:
        return self in other.levels


@dataclass(slots=True)
class _Silent:
    """Something silent. ``due_at`` is when its first missed run was due; it used to report so often."""

    scope: ReportingPart
    due_at: datetime
    cadence_s: float
    last_run_at: datetime


def update_silences(project: Project, *, now: datetime | None = None) -> None:
    """Open, widen and end the silences of a project. Repeatable; keeps what people said.

    While another worker is at it this does nothing. Samples are old, and never silent.
    """
    now = now or timezone.now()
    if project.is_sample:
        return
    with transaction.atomic():
        if is_free(_LOCK, project.pk):
            _update(project, now)


def _update(project: Project, now: datetime) -> None:
    there = reporters(project, now=now)
    silences = (
        Silence.objects.filter(incident__project=project)
        .filter(Q(ended_at=None) | Q(ended_at__gt=now - historical_after(project)))
        .select_related("incident")
        .order_by("pk")
    )
    known = [one.incident for one in silences]
    for incident in known:
        if incident.silence.ended_at is None and (returned_at := _returned_at(incident.silence, there)):
            _end(incident, returned_at)
    lasting = [one for one in known if one.silence.ended_at is None]
    found = _silent(project, there, [one.silence for one in known if one not in lasting], now)
    for incident in lasting:
        if silent := found.pop(ReportingPart.of(incident.silence), None):
            _keep(incident, silent)
    _open_new(project, found, lasting, now)
    _fold(lasting)


def _returned_at(silence: Silence, there: Iterable[Reporter]) -> datetime | None:
    """Return when the first results of a later run came in; None while the silence lasts."""
    scope, last_run_at = ReportingPart.of(silence), silence.last_run_at.timestamp()
    arrivals = (
        arrival
        for reporter in there
        if scope.includes(ReportingPart.of(reporter))
        for start, arrival in zip(reporter.starts, reporter.arrivals, strict=True)
        if start > last_run_at
    )
    first = min(arrivals, default=None)
    return None if first is None else datetime.fromtimestamp(first, UTC)


def _last_runs(there: Iterable[Reporter]) -> dict[ReportingPart, datetime]:
    """Return when the last run of everything started, on every level."""
    found: dict[ReportingPart, datetime] = {}
    for reporter in there:
        for scope in ReportingPart.of(reporter).levels:
            found[scope] = max(reporter.last_at, found.get(scope, reporter.last_at))
    return found


# --- finding ----------------------------------------------------------------------------------------------


def _silent(
    project: Project, there: Sequence[Reporter], ended: Sequence[Silence], now: datetime
) -> dict[ReportingPart, _Silent]:
    """Return what is silent, each as the widest of which nothing came since it missed its first run.

    After a silence ``ended``, each part of what was silent has time until its own next run.
    """
    last_runs = _last_runs(there)
    found: dict[ReportingPart, _Silent] = {}
    returned = [(ReportingPart.of(one), one.ended_at) for one in ended if one.ended_at]
    passing = [pattern for pattern, _ in branch_origins(project) if _WILDCARDS.intersection(pattern)]
    for reporter in there:
        cadence = reporter.cadence
        if cadence is None or not _is_silent(reporter, cadence, project, now):
            continue
        if any(fnmatchcase(reporter.place.branch, pattern) for pattern in passing):
            continue
        levels = ReportingPart.of(reporter).levels
        since = max((at for scope, at in returned if scope in levels), default=cadence.last_at)
        if since > cadence.last_at and not cadence.is_due(since, now - MIN_SILENCE):
            continue
        scope = next(one for one in levels if last_runs[one] < cadence.due_at)
        one = found.setdefault(
            scope, _Silent(scope, cadence.due_at, _mean_interval(cadence), last_runs[scope])
        )
        one.due_at = min(one.due_at, cadence.due_at)
        one.cadence_s = min(one.cadence_s, _mean_interval(cadence))
    return found


def _is_silent(reporter: Reporter, cadence: Cadence, project: Project, now: datetime) -> bool:
    missed_at = max(cadence.second_due_at, cadence.due_at + MIN_SILENCE)
    margin_s = min(cadence.interval_s / 12, _MAX_MARGIN_S) + _usual_delay(reporter, cadence)
    if now <= missed_at + timedelta(seconds=margin_s):
        return False
    if not reporter.has_lasted:
        return False
    if reporter.arrivals[-1] - reporter.starts[-1] > historical_after(project).total_seconds():
        return False
    arrivals = reporter.occasions
    if len(arrivals) < MIN_ARRIVALS:
        return False
    gaps = [later - earlier for earlier, later in pairwise(arrivals)]
    comes_in_batches = median(gaps) > 1.5 * cadence.interval_s
    return not comes_in_batches or now.timestamp() > arrivals[-1] + max(gaps) + margin_s


def _usual_delay(reporter: Reporter, cadence: Cadence) -> float:
    """Return how long after the start of a run its results usually come in, in seconds."""
    newest = list(zip(reporter.starts, reporter.arrivals, strict=True))[-_NEWEST:]
    return min(max(0.0, median(arrival - start for start, arrival in newest)), cadence.interval_s / 2)


def _mean_interval(cadence: Cadence) -> float:
    """Return how often it reported, all in all, but for the longest gap: of working days 1.4 days."""
    gaps = sorted(later - earlier for earlier, later in pairwise(cadence.starts))
    return fmean(gaps[:-1])


# --- telling ----------------------------------------------------------------------------------------------


def _keep(incident: Incident, silent: _Silent) -> None:
    """Let an incident be about what is silent now: the same, or more."""
    before = ReportingPart.of(incident.silence)
    if before == silent.scope and incident.silence.last_run_at == silent.last_run_at:
        return
    _describe(incident, silent)
    incident.save(update_fields=["hardware", "product", "branch", "line", "started_at"])
    incident.silence.save()
    if before != silent.scope:
        note(incident, _What.SPREAD)


def _open_new(
    project: Project, found: Mapping[ReportingPart, _Silent], lasting: list[Incident], now: datetime
) -> None:
    """Open an incident for what is newly silent, or widen the one that a person still has to look at."""
    news_since = now - historical_after(project)
    for silent in sorted(found.values(), key=lambda one: len(one.scope.levels)):
        scopes = [(ReportingPart.of(one.silence), one) for one in lasting]
        if any(scope.includes(silent.scope) for scope, _ in scopes) or silent.due_at < news_since:
            continue
        narrower = [
            one for scope, one in scopes if silent.scope.includes(scope) and one.state in Incident.OPEN
        ]
        if narrower:
            _keep(narrower[0], silent)
        else:
            lasting.append(_open(project, silent, now))


def _open(project: Project, silent: _Silent, now: datetime) -> Incident:
    incident = Incident(
        project=project,
        kind=Incident.Kind.SILENCE,
        status=Incident.Status.CONFIRMED,
        detected_at=now,
        confirmed_at=now,
    )
    incident.silence = Silence(incident=incident)
    _describe(incident, silent)
    incident.save()
    incident.silence.incident = incident
    incident.silence.save()
    note(incident, _What.DETECTED)
    note(incident, _What.CONFIRMED)
    return incident


def _describe(incident: Incident, silent: _Silent) -> None:
    for name, value in silent.scope._asdict().items():
        setattr(incident.silence, name, value)
    incident.silence.last_run_at = silent.last_run_at
    incident.silence.cadence_s = silent.cadence_s
    incident.hardware_id, incident.product_id = silent.scope.hardware_id, silent.scope.product_id
    incident.branch, incident.line = silent.scope.branch, silent.scope.line
    incident.started_at = silent.due_at


def _end(incident: Incident, at: datetime) -> None:
    """End a silence. What a person settled stays as they settled it."""
    incident.silence.ended_at = at
    incident.silence.save(update_fields=["ended_at"])
    is_open = incident.state in Incident.OPEN
    if is_open:
        incident.state = Incident.State.FIXED
        incident.save(update_fields=["state"])
    note(incident, _What.RECOVERED, state=Incident.State.FIXED if is_open else "", quiet=not is_open)


def _fold(lasting: Sequence[Incident]) -> None:
    """Fold silences into those of what they belong to, and unfold those whose wider one has ended."""
    scopes = [(ReportingPart.of(one.silence), one) for one in lasting]
    for scope, incident in scopes:
        wider = next((one for other, one in scopes if other != scope and other.includes(scope)), None)
        if incident.folded_into_id == (wider and wider.pk):
            continue
        incident.folded_into = wider
        incident.save(update_fields=["folded_into"])
        note(incident, _What.FOLDED if wider else _What.UNFOLDED, quiet=True)
