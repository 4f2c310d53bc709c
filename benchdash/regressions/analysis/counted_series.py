"""Series of counted events, such as stalls: each is looked at by itself, by the rules for counts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchdash.regressions.analysis.findings import Finding
from benchdash.regressions.analysis.places import History, confirmed_positions
from benchdash.regressions.detection.counts import Counts, find_count_shifts
from benchdash.regressions.models import ChangePoint
from benchdash.regressions.watched_metrics import Counted, MetricRules, run_lengths


def find_in_counts(
    histories: Mapping[int, History], stored: Mapping[int, Sequence[ChangePoint]], rules: MetricRules
) -> Iterable[Finding]:
    """Yield the changes in the counted series of a place; ``stored`` are their change points by series."""
    happened = [
        (history, what)
        for history in histories.values()
        if (what := rules.counted(history.series.metric)) and history.measured.values.any()
    ]
    if not happened:
        return
    lengths = run_lengths({pk for history, _ in happened for pk in _run_ids(history)})
    for history, what in happened:
        known = confirmed_positions(stored.get(history.series.pk, ()), histories)
        shifts = find_count_shifts(
            _counts(history, what, lengths), smallest=what.smallest, series=len(happened), known=known
        )
        for shift in shifts:
            before, after = shift.before * what.per_s, shift.after * what.per_s
            yield Finding.of(replace(shift, before=before, after=after), history)


def _run_ids(history: History) -> list[int]:
    ids: list[int] = history.runs.ids[history.measured.runs].tolist()
    return ids


def _counts(history: History, what: Counted, lengths: Mapping[int, float]) -> Counts:
    """Count events by position."""
    seconds = np.array([lengths.get(pk, what.per_s) for pk in _run_ids(history)])
    events = what.events(history.measured.values, seconds)
    positions = history.runs.positions[history.measured.runs]
    per_position = [
        np.bincount(positions, weights=each, minlength=history.length).astype(float)
        for each in (events, seconds)
    ]
    return Counts(np.where(per_position[1] > 0, per_position[0], np.nan), per_position[1])
