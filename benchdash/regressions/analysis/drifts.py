"""The drifts of a place as they are stored: a change point for each series, with what one group lost."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from django.utils import timezone

from benchdash.regressions.analysis.clusters import MIN_REGAINED
from benchdash.regressions.analysis.lives import note_end
from benchdash.regressions.analysis.places import History, PlaceTable
from benchdash.regressions.detection.drift import Drift, share_of_drift
from benchdash.regressions.detection.joint import Key
from benchdash.regressions.detection.noise import Floats
from benchdash.regressions.models import ChangePoint, Incident
from benchdash.regressions.options import historical_after

MIN_BACK: Final = 5
"""The newest groups that have regained the loss if a drift has ended."""
_MIN_LEFT: Final = 0.5
"""A drift of which a later look finds less than this share was none."""
_FIELDS: Final = (
    *("run_id", "last_good_id", "incident_id", "historical", "quiet", "before", "after", "change"),
    *("per_point", "noise", "groups_after"),
)


@dataclass(frozen=True, slots=True)
class StoredDrift:
    """A drift, and its change points by series."""

    drift: Drift
    rows: Mapping[Key, ChangePoint]

    @property
    def incident(self) -> Incident | None:
        return next((one.incident for one in self.rows.values() if one.incident), None)

    @property
    def is_over(self) -> bool:
        """Tell whether what follows is another drift."""
        return self.incident is not None and self.incident.state == Incident.State.FIXED


def stored_drifts(
    rows: Iterable[ChangePoint], histories: Mapping[int, History], table: PlaceTable
) -> list[StoredDrift]:
    """Return the live drifts of a place in order; those that its values no longer show are withdrawn."""
    keys = {pk: key for key, pk in table.series.items()}
    of_incident: dict[int | None, list[ChangePoint]] = defaultdict(list)
    for one in rows:
        if one.series_id in keys and one.state != ChangePoint.State.WITHDRAWN:
            of_incident[one.incident_id].append(one)
    found, gone = [], []
    for group in of_incident.values():
        members = {keys[one.series_id]: one for one in group}
        stretches = [_stretch(one, histories[one.series_id]) for one in group]
        known = [one for one in stretches if one]
        changes = {key: float(np.log1p(one.change or 0)) for key, one in members.items()}
        drift = Drift(min(known)[0], max(known, key=lambda one: one[1])[1], changes) if known else None
        stored = StoredDrift(drift, members) if drift else None
        if stored and (stored.is_over or _is_there(stored.drift, table)):
            found.append(stored)
        else:
            gone += group
    ChangePoint.objects.filter(pk__in=[one.pk for one in gone]).update(state=ChangePoint.State.WITHDRAWN)
    return sorted(found, key=lambda one: one.drift.last)


def _stretch(row: ChangePoint, history: History) -> tuple[int, int] | None:
    first = history.position_of(row.last_good_id) if row.last_good_id else None
    last = history.position_of(row.run_id)
    return None if first is None or last is None else (first, last)


def _is_there(drift: Drift, table: PlaceTable) -> bool:
    """Tell whether most series still lost at least half of what was told, along the stretch itself."""
    x = share_of_drift(drift.first, drift.last, drift.last + 1)[drift.first :]
    left = []
    for key, change in drift.changes.items():
        logs = _logs(table.values[key])[drift.first : drift.last + 1]
        known = np.isfinite(logs)
        if known.sum() > 1:
            left.append(float(np.polyfit(x[known], logs[known], 1)[0]) / change)
    return bool(left) and float(np.median(left)) >= _MIN_LEFT


def _logs(values: Floats) -> Floats:
    return np.log(np.where(values > 0, values, np.nan))


def end_regained(known: Sequence[StoredDrift], table: PlaceTable, *, quiet: bool) -> None:
    """Close the incidents whose loss the newest groups have regained."""
    for one in known:
        if one.incident is None or one.is_over:
            continue
        back = []
        for key, row in one.rows.items():
            logs = _logs(table.values[key])
            newest = logs[np.isfinite(logs)][-MIN_BACK:]
            back.append((np.median(newest) - np.log(row.after)) / -one.drift.changes[key])
        if np.median(back) >= MIN_REGAINED:
            note_end(one.incident, quiet=quiet)


def keep_drift(
    drift: Drift,
    known: Sequence[StoredDrift],
    histories: Mapping[int, History],
    table: PlaceTable,
    *,
    steps: Mapping[int, Sequence[int]],
    quiet: bool,
) -> None:
    """Store a drift: as a new one, or as the last of those that are ``known`` where that goes on.

    ``steps`` are the positions of confirmed changes by the ids of series.
    """
    before = known[-1] if known and drift.first <= known[-1].drift.last else None
    project = next(iter(histories.values())).series.project
    old_after_s = historical_after(project).total_seconds()
    changed, new = [], []
    for key, logs in drift.changes.items():
        history = histories[table.series[key]]
        first, last = history.at(drift.first), history.before(drift.last + 1)
        if last is None or history.independent(drift.first, drift.last + 1) < MIN_BACK:
            continue
        row = before.rows.get(key) if before else None
        was = row and [getattr(row, name) for name in _FIELDS]
        row = row or ChangePoint(
            series=history.series, quiet=quiet, incident=before.incident if before else None
        )
        level = _level_before(drift, logs, history.values, steps.get(history.series.pk, ()))
        there = np.isfinite(history.values[drift.first : drift.last + 1])
        row.state = ChangePoint.State.CONFIRMED
        row.confirmed_at = row.confirmed_at or timezone.now()
        row.last_good_id, row.run_id = first.run_id, last.first_run_id
        row.before, row.after, row.change = level, level * float(np.exp(logs)), float(np.expm1(logs))
        row.groups_before, row.groups_after = 0, int(there.sum())
        row.per_point = float(np.expm1(logs / row.groups_after))
        row.noise = history.noise
        at = history.runs.index_of[row.run_id]
        row.historical = bool(history.runs.recorded_at[at] - history.runs.started_at[at] > old_after_s)
        if was is None:
            new.append(row)
        elif was != [getattr(row, name) for name in _FIELDS]:
            changed.append(row)
    ChangePoint.objects.bulk_update(changed, _FIELDS, batch_size=30)
    ChangePoint.objects.bulk_create(new)


def _level_before(drift: Drift, logs: float, values: Floats, steps: Iterable[int]) -> float:
    """Return the level where a drift begins: that of its groups up to the first step, without the drift."""
    end = min((step for step in steps if step > drift.first + MIN_BACK), default=drift.last + 1)
    level = values * np.exp(-logs * share_of_drift(drift.first, drift.last, len(values)))
    return float(np.nanmedian(level[drift.first : end]))
