"""The empirical null: how often the rule would have cried wolf in the noise of a project's own series."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import cycle

import numpy as np
from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from benchdash.accounts.models import Project
from benchdash.regressions.analysis.control_runs import control_levels
from benchdash.regressions.analysis.places import PlaceTable, confirmed_positions, place_histories, table_of
from benchdash.regressions.detection.null import FalseAlarms, false_alarms
from benchdash.regressions.models import ChangePoint, NullRun
from benchdash.regressions.watched_metrics import MetricRules, rules_of
from benchdash.results.models import Series
from benchdash.results.place import Place, all_places
from benchdash.results.pull_requests import of_pull_requests

MIN_GROUPS = 12
"""A shorter history has too little to shuffle."""

# Enough looks to see one false alarm in a thousand, within half a minute's work.
_ENOUGH_LOOKS = 3000
_MAX_VALUES = 3_000_000
_MAX_PLACES = 50
# A little less than a week: what ran late once still runs on the same day of the next.
_DUE_AFTER = timedelta(days=6, hours=12)


def null_run(project: Project, *, at: datetime | None = None) -> NullRun | None:
    """Shuffle a project's histories, look at them as analysis does, and store what was found.

    None where no history is long enough. The same histories on the same day give the same answer.
    """
    at = at or timezone.now()
    rng = np.random.default_rng([project.pk, at.toordinal()])
    places = all_places(Series.objects.filter(~of_pull_requests(), project=project))
    tables = list(_tables([places[i] for i in rng.permutation(len(places))], rules_of(project.pk)))
    if not tables:
        return None
    found = _looks(tables, rng)
    return NullRun.objects.create(
        project=project,
        at=at,
        places=min(len(tables), len(found)),
        points=sum(one.points for one in found),
        looks=sum(one.looks for one in found),
        change_points=sum(one.members for one in found),
        incidents=sum(one.shifts for one in found),
    )


def projects_due(at: datetime) -> QuerySet[Project]:
    """Find the projects with results whose last null run is a week old, or that had none."""
    recent = NullRun.objects.filter(project=OuterRef("pk"), at__gt=at - _DUE_AFTER)
    there = Project.objects.filter(deleting_since=None)
    return there.filter(~Exists(recent), Exists(Series.objects.filter(project=OuterRef("pk"))))


def next_null_run(last: NullRun | None, *, now: datetime) -> datetime:
    """Tell when beat will next run one, after the ``last``."""
    earliest = max(now, last.at + _DUE_AFTER) if last else now
    return _nightly(earliest) if _nightly(earliest) >= earliest else _nightly(earliest + timedelta(days=1))


def _nightly(day: datetime) -> datetime:
    return datetime.combine(day.astimezone(UTC).date(), settings.NULL_RUNS_AT, tzinfo=UTC)


def _tables(places: Sequence[Place], rules: MetricRules) -> Iterator[tuple[PlaceTable, frozenset[int]]]:
    """Yield tables of the first places with long enough histories, and the positions of their changes."""
    left = _MAX_PLACES
    for place in places:
        histories = place_histories(place)
        table = table_of(histories, control_levels(place, histories, rules), rules)
        if table.length >= MIN_GROUPS:
            known = ChangePoint.objects.filter(series__in=list(histories))
            yield table, confirmed_positions(known, histories)
            left -= 1
        if not left:
            return


def _looks(
    tables: Sequence[tuple[PlaceTable, frozenset[int]]], rng: np.random.Generator
) -> list[FalseAlarms]:
    """Look at each table in turn, shuffled anew each time, until there were enough looks."""
    found: list[FalseAlarms] = []
    values_left, looks_left = _MAX_VALUES, _ENOUGH_LOOKS
    for table, known in cycle(tables):
        one = false_alarms(
            table.values,
            table.directions,
            known=known,
            expected=table.expected,
            machine=table.machine,
            controls=table.controls,
            rng=rng,
        )
        found.append(one)
        looks_left -= one.looks
        values_left -= one.points * one.looks // 2
        if looks_left <= 0 or values_left <= 0:
            break
    return found
