"""How small a change is found in each series of a place, with the runs that it gets; stored by each look."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final

import numpy as np

from benchdash.regressions.analysis.findings import Finding
from benchdash.regressions.analysis.places import History, PlaceTable
from benchdash.regressions.detection.joint import noise_of_series
from benchdash.regressions.detection.noise import Ints
from benchdash.regressions.detection.power import MIN_BEFORE, smallest_change
from benchdash.regressions.detection.repeats import Scatter, more_than, repeat_scatter
from benchdash.regressions.models import Sensitivity
from benchdash.results.points import moment

# Each series alone is searched with a quarter of the permitted false alarms.
_TESTS_OF_A_SERIES: Final = 4
# How many runs and sessions a group has: in the newest ones.
_USUAL_OF: Final = 20
_YEAR: Final = timedelta(days=365)
_MIN_SPAN: Final = timedelta(days=7)
_DIGITS: Final = 4
_FIELDS: Final = tuple(field.attname for field in Sensitivity._meta.concrete_fields if not field.primary_key)


def keep_sensitivities(
    table: PlaceTable, histories: Mapping[int, History], found: Mapping[int, Sequence[Finding]]
) -> None:
    """Make what is stored of the series of a table agree with their histories and with what was found."""
    changes = {
        key: [one.shift.index for one in found.get(pk, ()) if one.shift.state == "confirmed"]
        for key, pk in table.series.items()
    }
    noise = noise_of_series(
        table.values, table.directions, changes=changes, machine=table.machine, controls=table.controls
    )
    rows = {}
    paces: dict[bytes, float | None] = {}
    for key, pk in table.series.items():
        history = histories[pk]
        at = np.flatnonzero(np.isfinite(history.values))
        if len(at) == 0:
            continue
        # Most series of a place have the same groups.
        if (groups := at.tobytes()) not in paces:
            paces[groups] = _a_year(history, at)
        tests = _TESTS_OF_A_SERIES * len(noise)
        rows[pk] = _sensitivity(history, at, paces[groups], noise.get(key), changes[key], tests=tests)
    known = Sensitivity.objects.filter(pk__in=list(histories)).values_list("pk", *_FIELDS)
    stored = {pk: figures for pk, *figures in known}
    gone = stored.keys() - rows.keys()
    if gone:
        Sensitivity.objects.filter(pk__in=gone).delete()
    differ = [row for pk, row in rows.items() if stored.get(pk) != _figures(row)]
    Sensitivity.objects.bulk_create(
        differ, update_conflicts=True, unique_fields=["series"], update_fields=_FIELDS, batch_size=1000
    )


def _figures(row: Sensitivity) -> list[object]:
    return [getattr(row, name) for name in _FIELDS]


def _sensitivity(
    history: History,
    at: Ints,
    groups_a_year: float | None,
    noise: tuple[float, float] | None,
    changes: Iterable[int],
    *,
    tests: int,
) -> Sensitivity:
    from benchdash.regressions.detection import modes  # noqa: PLC0415 - a page that compares needs no compiler

    runs, sessions = history.usual_repeats(int(at[-_USUAL_OF:][0]))
    row = Sensitivity(
        series_id=history.series.pk,
        groups=len(at),
        runs=runs,
        sessions=sessions,
        newest_at=history.at(int(at[-1])).time,
        groups_a_year=groups_a_year,
    )
    if noise is None or len(at) < MIN_BEFORE:
        return row
    if levels := modes.modes_of(history.values):
        row.low_mode, row.high_mode = map(_rounded, levels)
    sd, correlation = noise
    within, between = repeat_scatter(*history.sessions_of_runs)
    scatter = Scatter(sd, correlation, within, between, runs, sessions)
    before = int((at >= max(changes, default=0)).sum())

    def smallest(of: Scatter) -> float:
        return _rounded(smallest_change(of, before=before, length=len(at), tests=tests))

    row.noise = None if history.noise is None else _rounded(history.noise)
    row.smallest_change = smallest(scatter)
    if within is not None:
        row.with_more_runs = smallest(scatter.with_runs(more_than(runs)))
    if between is not None:
        row.with_more_sessions = smallest(scatter.with_sessions(more_than(sessions)))
    return row


def _a_year(history: History, at: Ints) -> float | None:
    """Return how many groups a year begin, at the pace of the last year; None for too short a time."""
    starts = np.array([history.runs.groups[one].started_at for one in at.tolist()])
    newest = moment(float(starts.max()))
    recent = starts[starts > (newest - _YEAR).timestamp()]
    span = newest - moment(float(recent.min()))
    if span < _MIN_SPAN:
        return None
    return _rounded((len(recent) - 1) * (_YEAR / span))


def _rounded(number: float) -> float:
    """Round to digits that mean something: what did not change is not written again."""
    return float(f"{number:.{_DIGITS}g}")
