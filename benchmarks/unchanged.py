"""False verdicts on measured runs where nothing changed, by the tables of the product itself.

Two versions are made up: their sessions are drawn from the measured ones of one state of one server, and are
compared as a table of its workloads is. Whatever is called better or worse is false.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np

from benchdash.regressions.comparison.cells import Cell, RowKey
from benchdash.regressions.comparison.noise_floors import Floors, Histories, Levels
from benchdash.regressions.comparison.rows import Noise, compared_rows
from benchdash.regressions.comparison.shared_sessions import Pairs
from benchdash.regressions.detection.noise import Floats
from benchdash.regressions.detection.shifts import find_shifts
from benchdash.results.readings import HIGHER, LOWER, Direction
from benchdash.results.sessions import SESSION_TAG

_SEED: Final = 20261123
_HISTORY: Final = 36
_DAY_S: Final = 86400.0
RATE: Final = re.compile(r"transactions:\s+\d+\s+\(([\d.]+) per sec")


@dataclass(frozen=True, slots=True)
class Place:
    """``values`` are (rows, sessions, runs); ``states`` are what the server was like in each session."""

    name: str
    values: Floats
    states: Sequence[object]

    @property
    def workloads(self) -> int:
        return len(self.values)

    def states_with(self, sessions: int) -> list[list[int]]:
        """List the sessions of each stretch of one state that is long enough."""
        stretches: list[list[int]] = []
        for at, state in enumerate(self.states):
            if not at or state != self.states[at - 1]:
                stretches.append([])
            stretches[-1].append(at)
        return [one for one in stretches if len(one) >= sessions]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Cells that were compared, and what was said of them without reason."""

    cells: int
    below_5: int
    told: int
    likely: int

    def share(self, number: int) -> float:
        return number / max(self.cells, 1)

    @classmethod
    def of(cls, parts: Sequence["Outcome"]) -> "Outcome":
        return cls(*(sum(numbers) for numbers in zip(*map(_numbers, parts), strict=True)))


def _numbers(one: Outcome) -> tuple[int, int, int, int]:
    return one.cells, one.below_5, one.told, one.likely


def places(shared: Path) -> list[Place]:
    return [_nights(shared), *_labelled(shared), _beside_control(shared)]


def _nights(shared: Path) -> Place:
    [folder] = (shared / "data" / "nightly").iterdir()
    truth = json.loads((folder / "truth.json").read_text())
    values = np.array([truth["tps"][name] for name in truth["workloads"]], dtype=float)
    switches = [one["night"] for one in truth["switches"]]
    states = [sum(night >= switch for switch in switches) for night in range(values.shape[1])]
    return Place("nightly", values[:, :, None], states)


def _labelled(shared: Path) -> Iterator[Place]:
    for path in sorted((shared / "data" / "labelled").glob("*.jsonl")):
        if path.stem.startswith("nights-"):
            continue
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        values = np.array([row["tps"] for row in rows], dtype=float)
        yield Place(path.stem, values[None, :, None], [row["state"] for row in rows])


def _beside_control(shared: Path) -> Place:
    folder = shared / "control"
    truth = json.loads((folder / "truth.json").read_text())
    values = np.array(
        [
            [
                [number_in(folder / f"{night:03}" / f"{name}.test.{repeat}.txt", RATE) for repeat in (1, 2)]
                for night in range(truth["nights"])
            ]
            for name in truth["workloads"]
        ]
    )
    switches = [one["night"] for one in truth["switches"]]
    states = [sum(night >= switch for switch in switches) for night in range(truth["nights"])]
    return Place("control", values, states)


def number_in(path: Path, pattern: re.Pattern[str]) -> float:
    found = pattern.search(path.read_text())
    if found is None:
        raise ValueError(f"{path} does not have {pattern.pattern}")
    return float(found.group(1))


# --- how they are compared --------------------------------------------------------------------------------


def with_history(place: Place, rng: np.random.Generator) -> Outcome | None:
    """One session each: a night against one of the 36 before it, which are its history."""
    stretch = _any(place.states_with(2), rng)
    if stretch is None:
        return None
    other = int(rng.choice(stretch[1:]))
    base = int(rng.choice([night for night in stretch if other - _HISTORY <= night < other]))
    left = np.setdiff1d(np.arange(max(0, other - _HISTORY), other), [base])
    floors = []
    for row in place.values:
        values = [float(np.median(row[at])) for at in left]
        starts = {shift.index for shift in find_shifts(values)}
        levels = Levels(values, (), 1, starts, [_DAY_S * at for at in left])
        span = np.array([[_DAY_S * min(base, other), _DAY_S * max(base, other)]])
        floors.append(Histories.of([levels]).floors(np.zeros(1, np.int64), span)[0])

    def noise(pairs: Pairs) -> Floors:
        return Floors.of([floors[row] for row in pairs.rows.tolist()])

    return _compared(columns(place, [base]), columns(place, [other], later=True), noise)


def with_sessions(n: int) -> Callable[[Place, np.random.Generator], Outcome | None]:
    """Each version measured in ``n`` sessions of its own."""

    def compared(place: Place, rng: np.random.Generator) -> Outcome | None:
        stretch = _any(place.states_with(2 * n), rng)
        if stretch is None:
            return None
        drawn = rng.choice(stretch, 2 * n, replace=False).tolist()
        return _compared(columns(place, drawn[:n]), columns(place, drawn[n:], later=True))

    return compared


def in_shared_sessions(n: int) -> Callable[[Place, np.random.Generator], Outcome | None]:
    """Both versions measured in the same ``n`` sessions: the two runs of each night, in random order."""

    def compared(place: Place, rng: np.random.Generator) -> Outcome | None:
        stretch = _any(place.states_with(n), rng)
        if stretch is None or place.values.shape[2] < 2:
            return None
        drawn = rng.choice(stretch, n, replace=False).tolist()
        first = rng.integers(2, size=n)
        return _compared(
            columns(place, drawn, runs=first.tolist()), columns(place, drawn, runs=(1 - first).tolist())
        )

    return compared


CASES: Final[Mapping[str, Callable[[Place, np.random.Generator], Outcome | None]]] = {
    "one session each, with a history": with_history,
    **{f"{n} sessions each": with_sessions(n) for n in (2, 3, 5)},
    **{f"the same {n} sessions": in_shared_sessions(n) for n in (2, 3, 5)},
    "one session each, nothing else": with_sessions(1),
}


def outcome(place: Place, case: str, draws: int) -> Outcome | None:
    rng = np.random.default_rng(_SEED)
    found = [CASES[case](place, rng) for _ in range(draws)]
    known = [one for one in found if one]
    return Outcome.of(known) if known else None


def _any(stretches: Sequence[list[int]], rng: np.random.Generator) -> list[int] | None:
    """Draw a stretch, a long one as often as it has sessions."""
    if not stretches:
        return None
    weights = np.array(list(map(len, stretches)), dtype=float)
    return stretches[int(rng.choice(len(stretches), p=weights / weights.sum()))]


def columns(
    place: Place, sessions: Sequence[int], *, later: bool = False, runs: Sequence[int] | None = None
) -> dict[RowKey, Cell]:
    """Make the cells of a version that was measured in these sessions; each is an evening of its own."""
    found: dict[RowKey, Cell] = {}
    for row, of_row in enumerate(place.values):
        values, names, spans = [], [], []
        for number, at in enumerate(sessions):
            measured = of_row[at] if runs is None else of_row[at][runs[number] : runs[number] + 1]
            start = _DAY_S * (1000 * later + number)
            for value in measured.tolist():
                values.append(value)
                names.append(f"{'later' if later else 'evening'} {number}")
                spans.append((start, start))
        found[f"workload {row}", None] = Cell(
            value=median(values),
            n=len(values),
            low=None,
            high=None,
            values=tuple(values),
            tool_interval=None,
            series_id=row,
            run_id=row,
            unit="1/s",
            direction=HIGHER,
            sessions=tuple(names),
            spans=tuple(spans),
        )
    return found


def _compared(
    base: Mapping[RowKey, Cell], other: Mapping[RowKey, Cell], noise: Noise | None = None
) -> Outcome:
    found = [one for row in compared_rows(base, [other], noise=noise) for one in row.comparisons if one]
    verdicts = [one.verdict for one in found]
    return Outcome(
        cells=len(found),
        below_5=sum(one.p is not None and one.p < 0.05 for one in found),
        told=sum(one in ("better", "worse") for one in verdicts),
        likely=sum(one.startswith("likely") for one in verdicts),
    )


def report(shared: Path, draws: int) -> Iterator[str]:
    known = places(shared)
    yield "| measured, nothing changed | " + " | ".join(one.name for one in known) + " | all |"
    yield "|---|" + "---|" * (len(known) + 1)
    for case in CASES:
        found = [outcome(place, case, draws) for place in known]
        told = [one for one in found if one]
        cells = [_told(one, case) for one in found]
        shares = [one.share(_false(one, case)) for one in told]
        error = f" ± {np.std(shares, ddof=1) / len(shares) ** 0.5:.1%}" if len(shares) > 1 else ""
        yield f"| {case} | {' | '.join(cells)} | {np.mean(shares):.1%}{error} |"


def _false(one: Outcome, case: str) -> int:
    return one.likely if case.endswith("nothing else") else one.told


def _told(one: Outcome | None, case: str) -> str:
    if one is None:
        return ""
    if case.endswith("nothing else"):
        return f"{one.share(one.told):.1%}, likely {one.share(one.likely):.1%}"
    return f"{one.share(one.told):.1%}"


# --- six releases and a second server ---------------------------------------------------------------------

_BASE: Final = "postgresql-16.15"
_FASTER: Final = {
    (release, ("oltp_update_index", threads))
    for release in ("postgresql-17.10", "postgresql-18.4")
    for threads in (4, 16, 64)
}


def releases(shared: Path) -> Iterator[str]:
    """Count what is told of the measured releases against 16.15, in one table and in one for each."""
    folder = shared / "releases"
    names = sorted(path.name for path in folder.iterdir() if path.is_dir() and path.name != _BASE)
    yield "\n| measured releases | gains found, of 6 | false, of 90 | of these between two servers of 16.15 |"
    yield "|---|---|---|---|"
    for metric, pattern, direction in _METRICS:
        cells = {name: _release(folder / name, pattern, direction) for name in (_BASE, *names)}
        together = _told_apart(cells, names)
        alone = {one for name in names for one in _told_apart(cells, [name])}
        for how, found in (("one table", together), ("each alone", alone)):
            false = found - _FASTER
            control = sum(name == "control" for name, _ in false)
            yield f"| {metric}, {how} | {len(found & _FASTER)} | {len(false)} | {control} |"


_METRICS: Final[Sequence[tuple[str, re.Pattern[str], Direction]]] = (
    ("tps", RATE, HIGHER),
    ("latency_avg", re.compile(r"avg:\s+([\d.]+)"), LOWER),
)


def _told_apart(cells: Mapping[str, Mapping[RowKey, Cell]], names: Sequence[str]) -> set[tuple[str, RowKey]]:
    rows = compared_rows(cells[_BASE], [cells[name] for name in names])
    return {
        (name, row.key)
        for row in rows
        for name, one in zip(names, row.comparisons, strict=True)
        if one and one.verdict in ("better", "worse")
    }


def _release(folder: Path, pattern: re.Pattern[str], direction: Direction) -> dict[RowKey, Cell]:
    runs: dict[RowKey, list[tuple[float, str, float]]] = {}
    for path in sorted(folder.glob("*/session*/t*.txt")):
        meta = json.loads(path.with_suffix(".meta.json").read_text())
        start = datetime.fromisoformat(meta["started_at"]).timestamp()
        value = number_in(path, pattern)
        runs.setdefault((meta["workload"], meta["threads"]), []).append((start, meta["session"], value))
    return {
        key: Cell(
            value=median(value for *_, value in of_row),
            n=len(of_row),
            low=None,
            high=None,
            values=tuple(value for *_, value in of_row),
            tool_interval=None,
            series_id=1,
            run_id=1,
            unit="",
            direction=direction,
            sessions=tuple(f"{SESSION_TAG}{name}" for _, name, _ in of_row),
            spans=tuple((start, start) for start, *_ in of_row),
        )
        for key, of_row in runs.items()
    }
