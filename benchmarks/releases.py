"""How honest a handful of releases is judged: false alarms and power over simulated matrices.

    python -m benchmarks.releases [MATRICES]

A matrix has workloads as lines and releases as columns, and is looked at release by release. Noise is
log-normal: 1.5 % from run to run in the median over workloads, some workloads three times as noisy as others,
and 1 % from session to session for everything. A release is measured in one session unless repeats are named.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from benchdash.regressions.detection.growing_tables import joint_looks
from benchdash.regressions.detection.joint import JointShift, Key
from benchdash.regressions.detection.noise import Floats
from benchdash.regressions.detection.releases import find_shift_at
from benchdash.results.readings import HIGHER

_SEED = 20261122
_RUN_SD, _SPREAD = 0.015, 0.5
_MATRICES = 1000
_LOSS = 0.05

Tails = Callable[[np.random.Generator, tuple[int, ...]], Floats]


def _normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.normal(size=shape)


def _heavy(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Student's t with three degrees of freedom, scaled to the quartiles of a normal distribution."""
    return np.asarray(rng.standard_t(3, size=shape) * 0.6745 / 0.7649)


@dataclass(frozen=True, slots=True)
class Matrix:
    """``threads`` lines a workload. ``session_sd`` hits everything, ``part_sd`` a random third of the lines.

    One session in ``bad`` is 10 % slow. From release ``loss_at`` on ``share`` of the workloads lose 5 %.
    """

    name: str
    workloads: int
    releases: int
    threads: int = 1
    repeats: int = 1
    session_sd: float = 0.01
    part_sd: float = 0.0
    bad: int = 0
    tails: Tails = _normal
    loss_at: int | None = None
    share: float = 0.0

    def drawn(self, rng: np.random.Generator) -> dict[Key, list[list[float]]]:
        lines = self.workloads * self.threads
        shape = (lines, self.releases, self.repeats)
        own = _RUN_SD * np.exp(_SPREAD * rng.normal(size=(lines, 1, 1)))
        x = own * self.tails(rng, shape) + self.session_sd * self.tails(rng, shape[1:])
        if self.part_sd:
            x += (rng.random(size=shape) < 1 / 3) * self.part_sd * rng.normal(size=shape[1:])
        if self.bad:
            x += np.log(0.9) * (rng.random(size=shape[1:]) < 1 / self.bad)
        if self.loss_at is not None:
            slower = np.repeat(rng.permutation(self.workloads) < self.share * self.workloads, self.threads)
            x[slower, self.loss_at :] += np.log(1 - _LOSS)
        values = 1000 * np.exp(x)
        return {
            ((line // self.threads, 2 ** (line % self.threads)), "tps"): values[line].tolist()
            for line in range(lines)
        }


@dataclass(frozen=True, slots=True)
class Looks:
    """``confirmed`` and ``suspected`` are how many shifts were told anew in so many ``looks``."""

    looks: int
    confirmed: int
    suspected: int


def equal() -> list[Matrix]:
    small = [
        Matrix("38 workloads, 35 releases", 38, 35),
        Matrix("38 workloads, 10 releases", 38, 10),
        Matrix("10 workloads, 4 releases", 10, 4),
        Matrix("1 workload, 3 releases", 1, 3),
        Matrix("1 workload, 10 releases", 1, 10),
        Matrix("1 workload at 10 thread counts, 2 releases of 3 sessions", 1, 2, threads=10, repeats=3),
        Matrix("5 workloads at 7 thread counts, 6 releases of 2 sessions", 5, 6, threads=7, repeats=2),
    ]
    ten = small[1]
    return [
        *small,
        replace(ten, name="38 workloads, 10 releases, sessions 5 % apart", session_sd=0.05),
        replace(ten, name="38 workloads, 10 releases, heavy tails (t of 3)", tails=_heavy),
        replace(ten, name="38 workloads, 10 releases, sessions that hit a third by 3 %", part_sd=0.03),
        replace(ten, name="38 workloads, 10 releases, one session in ten 10 % slow", bad=10),
    ]


def slower() -> list[Matrix]:
    return [
        Matrix("a third of 38 lose 5 % at release 3 of 4", 38, 4, loss_at=2, share=1 / 3),
        Matrix("a third of 38 lose 5 % at release 6 of 6", 38, 6, loss_at=5, share=1 / 3),
        Matrix("a third of 38 lose 5 % at release 6 of 7", 38, 7, loss_at=5, share=1 / 3),
        Matrix("a third of 38 lose 5 % at release 6 of 10", 38, 10, loss_at=5, share=1 / 3),
        Matrix("all of 38 lose 5 % at release 6 of 6", 38, 6, loss_at=5, share=1),
        Matrix("all of 38 lose 5 % at release 6 of 10", 38, 10, loss_at=5, share=1),
        Matrix("a third of 9 lose 5 % at release 6 of 10", 9, 10, loss_at=5, share=1 / 3),
        Matrix("one of 38 loses 5 % at release 6 of 10", 38, 10, loss_at=5, share=1 / 38),
        Matrix(
            "a third of 38 lose 5 % at release 2 of 2, 3 sessions", 38, 2, repeats=3, loss_at=1, share=1 / 3
        ),
    ]


def looks(matrix: Matrix, rng: np.random.Generator) -> Looks:
    """All looks at one matrix; what is told again within five groups of itself is told once."""
    told: list[JointShift] = []
    number = 0
    for found in _found(matrix, rng):
        number += 1
        told += [shift for shift in found if not any(_is_same(shift, one) for one in told)]
    states = [shift.state for shift in told]
    return Looks(number, states.count("confirmed"), states.count("suspected"))


def state_of_the_loss(matrix: Matrix, rng: np.random.Generator) -> str | None:
    """What the last look says of it, within a release of where it began; None where nothing."""
    *_, last = _found(matrix, rng)
    states = {shift.state for shift in last if shift.worse and abs(shift.index - (matrix.loss_at or 0)) <= 1}
    return min(states, default=None)


def _found(matrix: Matrix, rng: np.random.Generator) -> Iterator[list[JointShift]]:
    sessions = matrix.drawn(rng)
    table = {key: [float(np.median(group)) for group in groups] for key, groups in sessions.items()}
    return joint_looks(table, dict.fromkeys(table, HIGHER), first_new=0, sessions=sessions.__getitem__)


def _is_same(a: JointShift, b: JointShift) -> bool:
    return (
        a.worse == b.worse and abs(a.index - b.index) <= 5 and (a.state == b.state or b.state == "confirmed")
    )


def beginnings() -> list[Matrix]:
    """Matrices whose last three releases are the first of a new line; a loss begins with it."""
    five = Matrix("5 workloads at 3 thread counts, one session each", 5, 2, threads=3)
    many = Matrix("38 workloads, six releases and one, two and three of the new line", 38, 9)
    return [
        five,
        replace(five, name=f"{five.name}, sessions 5 % apart", session_sd=0.05),
        replace(five, name=f"{five.name}, sessions 15 % apart", session_sd=0.15),
        replace(five, name="5 workloads at 3 thread counts, five sessions each", repeats=5),
        replace(
            five,
            name="5 workloads at 3 thread counts, five sessions each, 15 % apart",
            repeats=5,
            session_sd=0.15,
        ),
        many,
        replace(many, name=f"{many.name}, sessions 5 % apart", session_sd=0.05),
        replace(many, name=f"{many.name}, one session in ten 10 % slow", bad=10),
    ]


def states_of_beginning(
    matrix: Matrix, rng: np.random.Generator, *, factor: float = 1.0, share: float = 1.0
) -> list[str]:
    """Look at how the new line begins as its releases come; return what each look says, if anything."""
    sessions = matrix.drawn(rng)
    index = matrix.releases - min(3, matrix.releases - 1)
    slower = set(rng.permutation(matrix.workloads)[: round(share * matrix.workloads)].tolist())
    table = {
        key: [
            [value * (factor if at >= index and key[0][0] in slower else 1.0) for value in group]  # type: ignore[index]
            for at, group in enumerate(groups)
        ]
        for key, groups in sessions.items()
    }
    directions = dict.fromkeys(table, HIGHER)
    looks = (
        find_shift_at(index, {key: groups[:end] for key, groups in table.items()}, directions)
        for end in range(index + 1, matrix.releases + 1)
    )
    return [shift.state if shift else "" for shift in looks]


def rows_of_beginnings(matrices: int) -> Iterator[str]:
    yield "| a line begins as the line before was | beginnings | confirmed | suspected at most |"
    yield "|---|---:|---:|---:|"
    for matrix in beginnings():
        rng = np.random.default_rng(_SEED)
        states = [set(states_of_beginning(matrix, rng)) for _ in range(matrices)]
        confirmed = sum("confirmed" in one for one in states) / matrices
        suspected = sum("suspected" in one and "confirmed" not in one for one in states) / matrices
        yield f"| {matrix.name} | {matrices} | {confirmed:.1%} | {suspected:.1%} |"
    yield ""
    yield "| a line begins slower | confirmed | at least suspected |"
    yield "|---|---:|---:|"
    for matrix in beginnings():
        for loss, share in ((0.25, 1.0), (0.05, 1.0), (0.05, 1 / 3)):
            rng = np.random.default_rng(_SEED)
            last = [
                states_of_beginning(matrix, rng, factor=1 - loss, share=share)[-1]
                for _ in range(matrices // 10)
            ]
            confirmed, found = last.count("confirmed") / len(last), 1 - last.count("") / len(last)
            who = "all" if share == 1 else "a third"
            yield f"| {matrix.name}: {who} lose {loss:.0%} | {confirmed:.0%} | {found:.0%} |"


def rows(matrices: int) -> Iterator[str]:
    yield "| nothing changed | looks | confirmed per 1000 looks | suspected per 1000 looks |"
    yield "|---|---:|---:|---:|"
    for matrix in equal():
        rng = np.random.default_rng(_SEED)
        found = [looks(matrix, rng) for _ in range(matrices * 10 // matrix.releases)]
        number = sum(one.looks for one in found)
        told, suspected = sum(one.confirmed for one in found), sum(one.suspected for one in found)
        yield f"| {matrix.name} | {number} | {1000 * told / number:.2f} | {1000 * suspected / number:.1f} |"
    yield ""
    yield "| a loss | confirmed | at least suspected |"
    yield "|---|---:|---:|"
    for matrix in slower():
        rng = np.random.default_rng(_SEED)
        states = [state_of_the_loss(matrix, rng) for _ in range(matrices // 10)]
        confirmed, found_at_all = states.count("confirmed"), len(states) - states.count(None)
        yield f"| {matrix.name} | {confirmed / len(states):.0%} | {found_at_all / len(states):.0%} |"


def main() -> None:
    matrices = int(sys.argv[1]) if len(sys.argv) > 1 else _MATRICES
    for line in (*rows_of_beginnings(matrices), "", *rows(matrices)):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
