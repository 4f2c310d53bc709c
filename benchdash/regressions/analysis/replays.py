"""The incidents that a rule would have raised: the change points of a project's last year, judged anew.

Exact, because every rule only leaves out some of what detection stored (``options.IncidentRule``). A change
is judged by the figures that it has now; what was withdrawn counts by those that it had, for people were told
of it.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Max, Min

from benchdash.accounts.models import Project
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.options import IncidentRule
from benchdash.results.models import Run

REPLAYED: Final = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Raised:
    """The incidents that a rule raises. ``invalid`` of them are marked so, ``withdrawn`` did not last."""

    ids: frozenset[int]
    invalid: int
    withdrawn: int

    @property
    def number(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class Replay:
    """Two rules over the same stored history, from ``since`` to ``until``; None without any runs.

    ``gone`` are the incidents of ``today`` that ``tried`` does not raise, and ``come`` those that only it
    does, the newest first.
    """

    since: datetime | None
    until: datetime | None
    today: Raised
    tried: Raised
    gone: Sequence[int]
    come: Sequence[int]

    @property
    def days(self) -> int:
        return (self.until - self.since).days + 1 if self.since and self.until else 0


def replay(project: Project, *, today: IncidentRule, tried: IncidentRule) -> Replay:
    """Judge the regressions of the last year of results by two rules; two statements.

    As if all results had come in on the day that they were measured: old ones are not left out.
    """
    span = Run.objects.filter(project=project, excluded_at=None).aggregate(
        first=Min("started_at"), last=Max("started_at")
    )
    if span["last"] is None:
        nothing = Raised(frozenset(), 0, 0)
        return Replay(None, None, nothing, nothing, (), ())
    since = max(span["first"], span["last"] - REPLAYED)
    found = (
        ChangePoint.objects.filter(
            incident__project=project,
            incident__kind=Incident.Kind.REGRESSION,
            incident__folded_into=None,
            incident__started_at__gte=since,
            incident__started_at__lte=span["last"],
        )
        .exclude(confirmed_at=None)
        .select_related("series")
        .only(
            *("incident_id", "before", "after", "change", "confidence"),
            *("series__metric", "series__direction"),
        )
    )
    raised: dict[str, set[int]] = defaultdict(set)
    for one in found.iterator():
        for name, rule in (("today", today), ("tried", tried)):
            if rule.passes(one, confidence=one.confidence):
                raised[name].add(one.incident_id or 0)
    both = raised["today"] | raised["tried"]
    incidents = {
        pk: (state, status)
        for pk, state, status in Incident.objects.filter(pk__in=both)
        .order_by("-started_at", "-pk")
        .values_list("pk", "state", "status")
    }
    return Replay(
        since=since,
        until=span["last"],
        today=_raised(raised["today"], incidents),
        tried=_raised(raised["tried"], incidents),
        gone=[pk for pk in incidents if pk not in raised["tried"]],
        come=[pk for pk in incidents if pk not in raised["today"]],
    )


def _raised(ids: set[int], incidents: dict[int, tuple[str, str]]) -> Raised:
    states = [incidents[pk] for pk in ids]
    return Raised(
        frozenset(ids),
        invalid=sum(state == Incident.State.INVALID for state, _ in states),
        withdrawn=sum(status == Incident.Status.WITHDRAWN for _, status in states),
    )
