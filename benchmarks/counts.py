"""How honest counts of events are judged: false alarms over simulated and measured histories, and power.

    python -m benchmarks.counts [HISTORIES]

A history is 60 groups of a minute, and is looked at group by group as it grows. Events come as Poisson lets
expect, in bursts (negative binomial with shape k), or in waves (Poisson, whose log rate follows the group
before with a correlation of a half). Measured are runs of a shared machine that fell below four fifths of
those around them, five runs a group.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchdash.regressions.detection.counts import Counts, compare_counts, find_count_shifts
from benchdash.regressions.detection.noise import Floats, Ints

_SEED = 20261123
_HISTORIES = 500
_GROUPS = 60
_MINUTE = 60.0
_SMALLEST = 0.5 / _MINUTE
_LABELLED = Path(__file__).parents[1] / "ingest/samples/watch/labelled"
_RUNS, _AROUND = 5, 20

Drawn = Callable[[np.random.Generator, int], Floats]


def _poisson(rate: float) -> Drawn:
    return lambda rng, groups: rng.poisson(rate, groups).astype(float)


def _bursts(rate: float, k: float) -> Drawn:
    return lambda rng, groups: rng.negative_binomial(k, k / (k + rate), groups).astype(float)


def _waves(rate: float, sd: float) -> Drawn:
    def drawn(rng: np.random.Generator, groups: int) -> Floats:
        log = np.zeros(groups)
        for at in range(1, groups):
            log[at] = log[at - 1] / 2 + rng.normal() * sd * np.sqrt(0.75)
        return rng.poisson(rate * np.exp(log - sd**2 / 2)).astype(float)

    return drawn


UNCHANGED: dict[str, Drawn] = {
    **{f"Poisson, {rate:g} a group": _poisson(rate) for rate in (0.02, 0.2, 1, 4, 30)},
    **{
        f"bursts (k = {k:g}), {rate:g} a group": _bursts(rate, k)
        for rate, k in ((0.2, 0.2), (1, 0.3), (1, 1), (4, 0.5), (4, 2), (30, 1))
    },
    **{f"waves of half their rate, {rate:g} a group": _waves(rate, 0.5) for rate in (0.3, 4)},
    **{f"waves as large as their rate, {rate:g} a group": _waves(rate, 1.0) for rate in (0.3, 4)},
}


def looks(events: Floats) -> Iterator[list[str]]:
    """Yield the states of what each look shows, as the history grows."""
    known: list[int] = []
    for end in range(1, len(events) + 1):
        seconds = np.full(end, _MINUTE)
        found = find_count_shifts(Counts(events[:end], seconds), smallest=_SMALLEST, known=known)
        known = [shift.index for shift in found if shift.state == "confirmed"]
        yield [shift.state for shift in found]


def _states(events: Floats) -> set[str]:
    return {state for look in looks(events) for state in look}


def _told(events: Floats) -> int | None:
    """Return after how many groups a change was first confirmed."""
    return next((end for end, states in enumerate(looks(events), 1) if "confirmed" in states), None)


def _is_told(base: Floats, other: Floats) -> bool:
    sides = [Counts(events, np.full(len(events), _MINUTE)) for events in (base, other)]
    compared = compare_counts(*sides, smallest=_SMALLEST)
    return compared is not None and compared.p < 0.05


def _is_confirmed(events: Ints, *, series: int) -> bool:
    history = np.append(np.zeros(15), events).astype(float)
    counts = Counts(history, np.full(len(history), _MINUTE))
    found = find_count_shifts(counts, smallest=_SMALLEST, series=series)
    return any(shift.state == "confirmed" for shift in found)


def rows(histories: int) -> Iterator[str]:
    yield "| nothing changed | confirmed per 1000 points | suspected per 1000 points |"
    yield "|---|---:|---:|"
    for name, drawn in UNCHANGED.items():
        rng = np.random.default_rng(_SEED)
        states = [_states(drawn(rng, _GROUPS)) for _ in range(histories)]
        confirmed, suspected = (
            1000 * sum(state in one for one in states) / histories / _GROUPS
            for state in ("confirmed", "suspected")
        )
        yield f"| {name} | {confirmed:.2f} | {suspected:.2f} |"
    yield ""
    yield "| nothing changed, two versions of | 3 sessions each | 5 | 10 |"
    yield "|---|---:|---:|---:|"
    for name, drawn in UNCHANGED.items():
        rng = np.random.default_rng(_SEED)
        shares = [
            sum(_is_told(drawn(rng, n), drawn(rng, n)) for _ in range(histories)) / histories
            for n in (3, 5, 10)
        ]
        yield f"| {name} | {' | '.join(f'{share:.1%}' for share in shares)} |"
    yield ""
    yield "| 0 to 4, 5 or 6 a group after 15 groups without an event, beside n such series | told after 6 |"
    yield "|---|---:|"
    for series in (1, 6, 12):
        rng = np.random.default_rng(_SEED)
        told_after_six = sum(_is_confirmed(rng.integers(4, 7, 6), series=series) for _ in range(histories))
        yield f"| {series} | {told_after_six / histories:.0%} |"
    yield ""
    yield "| a rise after 46 groups without an event | told within ten groups | after, in the median |"
    yield "|---|---:|---:|"
    for name, rate in (("0.5 a group", 0.5), ("1 a group", 1.0), ("2 a group", 2.0), ("4 a group", 4.0)):
        rng = np.random.default_rng(_SEED)
        told = [
            end - 46
            for _ in range(histories // 5)
            if (end := _told(np.append(np.zeros(46), rng.poisson(rate, 10))))
        ]
        share = len(told) / (histories // 5)
        yield f"| to {name} | {share:.0%} | {np.median(told) if told else 'never':} |"
    yield ""
    yield "| measured series | groups | groups with any | confirmed | suspected |"
    yield "|---|---:|---:|---:|---:|"
    for path in sorted(_LABELLED.glob("*.jsonl")):
        events = _slow_runs(path)
        shown = _states(events)
        numbers = len(events), int((events > 0).sum()), int("confirmed" in shown), int("suspected" in shown)
        yield f"| {path.stem} | {' | '.join(map(str, numbers))} |"


def _slow_runs(path: Path) -> Floats:
    """Count the runs that fell below four fifths of those around them, in groups of five runs."""
    tps = np.array([json.loads(line)["tps"] for line in path.read_text().splitlines()], dtype=float)
    around = [np.median(tps[max(0, at - _AROUND) : at + _AROUND + 1]) for at in range(len(tps))]
    is_slow = tps < 0.8 * np.array(around)
    whole = len(tps) // _RUNS * _RUNS
    return np.asarray(is_slow[:whole].reshape(-1, _RUNS).sum(axis=1), dtype=float)


def main() -> None:
    for line in rows(int(sys.argv[1]) if len(sys.argv) > 1 else _HISTORIES):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
