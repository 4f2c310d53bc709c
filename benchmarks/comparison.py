"""How honest comparisons of versions are: false positives and coverage over equal versions.

    python -m benchmarks.comparison [PAIRS] [--shared FOLDER]

First simulated: noise is log-normal, 3 % from run to run, or 2 % from session to session and 1 % within;
where versions share sessions, these lie 15 % apart. At a nominal 5 % as many of the pairs should have
p < 0.05, and 95 % of the intervals should hold the truth. What is done the wrong way is shown beside, in
italics. Then by what was measured while nothing changed, and six measured releases, from the folder
``shared`` beside the checkout (or where ``--shared`` says); they are left out where it is not there.
"""

import argparse
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from benchdash.regressions.detection.compare import (
    SIGNIFICANT,
    Comparison,
    Sample,
    adjusted,
    compare_samples,
    compare_sides,
)
from benchdash.regressions.detection.level_scatter import level_scatter
from benchdash.regressions.detection.noise import Floats
from benchdash.regressions.detection.paired_sessions import paired_with_first
from benchdash.regressions.detection.scatter import PairedSessions, Sides
from benchdash.regressions.detection.shifts import find_shifts
from benchmarks.database import empty_database

_SEED = 20261120
_RUN_SD, _BETWEEN_SD, _WITHIN_SD = 0.03, 0.02, 0.01
_HISTORY_DF = 19
_MOOD_SD = 0.15
_MOODS = (0.02, 0.05, 0.1, 0.15, 0.2)
_ROWS = 6
_PAIRS = 4000
_PAIRS_A_DRAW = 10


@dataclass(frozen=True, slots=True)
class Case:
    """``pair`` draws two equal versions and compares them; ``is_honest`` where it is what benchdash does."""

    name: str
    pair: Callable[[np.random.Generator], Comparison]
    is_honest: bool = True


def cases() -> list[Case]:
    return [
        *(Case(f"{n} and {n} runs, history", _with_history(n)) for n in (1, 2, 3, 5)),
        *(Case(f"1 and 1 run, {nights} nights of a branch", _with_nights(nights)) for nights in (8, 24)),
        *(Case(f"{a} and {b} runs", _of_runs(a, b)) for a, b in ((2, 2), (3, 3), (5, 5), (3, 10), (1, 5))),
        *(Case(f"{n} and {n} sessions of 4 runs", _of_sessions(n)) for n in (2, 3, 5)),
        Case("1 and 1 session of 4 runs, history of sessions", _of_one_session),
        Case("3 and 3 sessions of 4 runs, taken for 12 and 12 runs", _of_sessions(3, known=False), False),
        *(
            Case(
                f"two of {versions} versions in the same {sessions} sessions",
                _in_shared_sessions(versions, sessions),
            )
            for versions, sessions in ((2, 2), (2, 3), (2, 5), (6, 3), (6, 5))
        ),
    ]


def false_positives_and_coverage(case: Case, pairs: int) -> tuple[float, float]:
    """The share with p < 0.05, and of intervals of the ratio that hold 1."""
    rng = np.random.default_rng(_SEED)
    found = [case.pair(rng) for _ in range(pairs)]
    wrong = [one.p is not None and one.p < SIGNIFICANT for one in found]
    covered = [one.low is not None and one.high is not None and one.low <= 1 <= one.high for one in found]
    return float(np.mean(wrong)), float(np.mean(covered))


def tables_with_a_difference(pairs: int, *, known: bool) -> float:
    """The share of tables of 6 thread counts in 3 and 3 shared sessions in which any adjusted p < 0.05."""
    rng = np.random.default_rng(_SEED)
    return float(np.mean([_has_difference(rng, known=known) for _ in range(pairs)]))


def _has_difference(rng: np.random.Generator, *, known: bool) -> bool:
    sessions = np.arange(3).repeat(4)
    base, other = (_BETWEEN_SD * rng.normal(size=(2, 3, 1))).repeat(4, axis=2).reshape(2, -1)
    table = []
    for _ in range(_ROWS):
        left, right = (
            Sample(_values(side + _WITHIN_SD * rng.normal(size=12)), sessions.tolist() if known else ())
            for side in (base, other)
        )
        table.append(_compare(left, right))
    return any(one.p is not None and one.p < SIGNIFICANT for one in adjusted(table, direction="higher"))


def _with_history(n: int) -> Callable[[np.random.Generator], Comparison]:
    def pair(rng: np.random.Generator) -> Comparison:
        sd = _RUN_SD * float(np.sqrt(rng.chisquare(_HISTORY_DF) / _HISTORY_DF))
        return _compare(_runs(rng, n), _runs(rng, n), sd)

    return pair


def _with_nights(nights: int) -> Callable[[np.random.Generator], Comparison]:
    """The nights are parted where steps are found in them, which are none."""

    def pair(rng: np.random.Generator) -> Comparison:
        values = _runs(rng, nights).values
        scatter = level_scatter(values, [shift.index for shift in find_shifts(values)])
        if scatter is None:
            raise ValueError(f"{nights} nights are too few")
        return _compare(_runs(rng, 1), _runs(rng, 1), *scatter)

    return pair


def _of_runs(base: int, other: int) -> Callable[[np.random.Generator], Comparison]:
    return lambda rng: _compare(_runs(rng, base), _runs(rng, other))


def _of_sessions(n: int, *, known: bool = True) -> Callable[[np.random.Generator], Comparison]:
    def side(rng: np.random.Generator) -> Sample:
        return Sample(_values(_nested(rng, n, 4).ravel()), np.arange(n).repeat(4).tolist() if known else ())

    return lambda rng: _compare(side(rng), side(rng))


def _of_one_session(rng: np.random.Generator) -> Comparison:
    """The history is of means of sessions of as many runs."""
    sd = float(np.sqrt(_BETWEEN_SD**2 + _WITHIN_SD**2 / 4))
    sd *= float(np.sqrt(rng.chisquare(_HISTORY_DF) / _HISTORY_DF))
    base, other = (Sample(_values(_nested(rng, 1, 4).ravel()), "aaaa") for _ in range(2))
    return _compare(base, other, sd)


def _in_shared_sessions(versions: int, sessions: int) -> Callable[[np.random.Generator], Comparison]:
    """The first two versions of a table of workloads, all measured in the same sessions."""

    def pair(rng: np.random.Generator) -> Comparison:
        own = _RUN_SD * rng.normal(size=(_ROWS, versions, sessions))
        x = own + _MOOD_SD * rng.normal(size=(_ROWS, 1, sessions))
        found = paired_with_first(x)
        paired = PairedSessions(found.n[:1, 0], found.means[:, :1, 0], found.variance[:1, 0], found.df[:1, 0])
        sides = Sides.of([Sample(_values(x[0, version]), range(sessions)) for version in (0, 1)])
        nothing = np.array([np.nan]), np.zeros(1)
        compared = compare_sides(sides, np.array([[0], [1]]), *nothing, paired=paired)
        return next(compared.each(["unknown"]))

    return pair


def likely(pairs: int, *, between: float, within: float = _WITHIN_SD) -> float:
    """The share of equal versions with one session of four runs each of which one is likely better."""
    rng = np.random.default_rng(_SEED)

    def side() -> Sample:
        return Sample(_values(between * rng.normal() + within * rng.normal(size=4)), "aaaa")

    return float(np.mean([_compare(side(), side()).verdict != "unknown" for _ in range(pairs)]))


def _compare(
    base: Sample, other: Sample, history_sd: float | None = None, history_df: float = _HISTORY_DF
) -> Comparison:
    return compare_samples(base, other, direction="higher", history_sd=history_sd, history_df=history_df)


def _runs(rng: np.random.Generator, n: int) -> Sample:
    return Sample(_values(_RUN_SD * rng.normal(size=n)))


def _nested(rng: np.random.Generator, groups: int, each: int) -> Floats:
    """Logs (groups, each) of runs in sessions, or of iterations in forks."""
    return _BETWEEN_SD * rng.normal(size=(groups, 1)) + _WITHIN_SD * rng.normal(size=(groups, each))


def _values(logs: Floats) -> list[float]:
    values: list[float] = np.exp(logs).tolist()
    return values


def _report(pairs: int) -> Iterator[str]:
    yield "| two equal versions | p < 0.05, nominal 5 % | intervals that hold the truth, nominal 95 % |"
    yield "|---|---|---|"
    for case in cases():
        wrong, covered = false_positives_and_coverage(case, pairs)
        name = case.name if case.is_honest else f"*{case.name}*"
        yield f"| {name} | {wrong:.1%} | {covered:.1%} |"
    for name, known in (("", True), ("*, taken for 12 and 12 runs*", False)):
        share = tables_with_a_difference(pairs // 4, known=known)
        yield f"| any of 6 thread counts in 3 and 3 shared sessions{name} | {share:.1%} | |"
    yield ""
    yield "| sessions lie apart by | one session each of two equal versions: likely better or worse |"
    yield "|---|---|"
    for between in _MOODS:
        yield f"| {between:.0%} | {likely(pairs, between=between):.1%} |"
    yield ""
    error = np.sqrt(SIGNIFICANT * (1 - SIGNIFICANT) / pairs)
    yield f"\n{pairs} pairs a row; the figures themselves have a standard error of {error:.1%}.\n"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("pairs", type=int, nargs="?", default=_PAIRS)
    arguments.add_argument("--shared", type=Path, default=Path(__file__).parents[2] / "shared")
    asked = arguments.parse_args()
    lines = [_report(asked.pairs)]
    if (asked.shared / "releases").is_dir():
        # The tables of the product stand on Django.
        with empty_database():
            measured = importlib.import_module("benchmarks.unchanged")
            alternating = importlib.import_module("benchmarks.alternating")
            lines += [
                measured.report(asked.shared, asked.pairs // 10),
                measured.releases(asked.shared),
                alternating.report(asked.shared, asked.pairs // 10),
            ]
            _print(chain(*lines))
    else:
        _print(chain(*lines))


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
