"""How often two causes near each other are two incidents: ``python -m benchmarks.causes [DRAWS] [CASE ...]``.

Workloads are measured once a night, 30 nights before the first cause and 14 after the last. Figures scatter
by 2 % of their own and by 1.5 % that all rows of a night and machine share. Each history is looked at night
by night as the product does, and the change points of each look are joined to incidents. Counted are the
confirmed incidents of the last look, and whether the range of each holds the night of the cause that most of
its members have, in that look and in all of them, and looks that had fewer incidents than the one before.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import numpy as np

from benchdash.regressions.detection.growing_tables import joint_looks
from benchdash.regressions.detection.joint import JointShift, Key
from benchdash.regressions.detection.noise import Floats
from benchdash.results.readings import HIGHER
from benchmarks.database import empty_database

if TYPE_CHECKING:
    from benchdash.regressions.analysis.clusters import Cluster, Ranks
    from benchdash.regressions.models import ChangePoint

_SEED: Final = 20261127
_BEFORE: Final = 30
_AFTER: Final = 14
_FIRST_LOOK: Final = 24
_START: Final = datetime(2026, 3, 2, 4, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Cause:
    """A loss of some rows (machine, workload) that begins so many nights after the first one."""

    loss: float
    rows: frozenset[tuple[int, int]]
    night: int = 0


@dataclass(frozen=True, slots=True)
class Case:
    """``workloads`` are measured on each of ``machines``; noise and mood are standard deviations of logs."""

    name: str
    causes: Sequence[Cause]
    workloads: int
    machines: int = 1
    noise: float = 0.02
    mood: float = 0.015

    @property
    def nights(self) -> int:
        return _BEFORE + max(cause.night for cause in self.causes) + _AFTER

    def tables(self, rng: np.random.Generator) -> list[dict[Key, Floats]]:
        """Draw the history of each machine."""
        tables: list[dict[Key, Floats]] = []
        for machine in range(self.machines):
            x = rng.normal(0, self.noise, (self.workloads, self.nights)) + rng.normal(
                0, self.mood, self.nights
            )
            for cause in self.causes:
                hit = [workload for of, workload in cause.rows if of == machine]
                x[hit, _BEFORE + cause.night :] += np.log(1 - cause.loss)
            tables.append({(at, "tps"): 1000 * np.exp(row) for at, row in enumerate(x)})
        return tables


@dataclass(slots=True)
class Outcome:
    """Histories by the number of their incidents; ranges that hold their cause, and all; incidents lost."""

    incidents: Counter[int] = field(default_factory=Counter)
    holding: int = 0
    ranges: int = 0
    nights: int = 0
    holding_ever: int = 0
    ranges_ever: int = 0
    flickering: int = 0


def rows_of(machine: int, workloads: range) -> frozenset[tuple[int, int]]:
    return frozenset((machine, workload) for workload in workloads)


def cases() -> Iterator[Case]:
    for workloads in (12, 24):
        for apart in (2, 3, 4, 5):
            causes = [Cause(0.10, rows_of(0, range(6))), Cause(0.10, rows_of(0, range(6, 12)), apart)]
            name = f"two causes, {apart} nights apart, each 10 % of 6 of {workloads} series"
            yield Case(name, causes, workloads)
    for loss in (0.05, 0.10):
        for workloads in (6, 12, 24):
            for noise in (0.02, 0.025):
                name = (
                    f"one cause, {100 * loss:.0f} % of all of {workloads} series, noise {100 * noise:.1f} %"
                )
                yield Case(name, [Cause(loss, rows_of(0, range(workloads)))], workloads, noise=noise)
    commit = Cause(0.10, rows_of(0, range(6)) | rows_of(1, range(6)))
    yield Case("one cause, 10 % of 6 of 12 series on each of two machines", [commit], 12, machines=2)
    machine, later = Cause(0.10, rows_of(0, range(12))), Cause(0.10, rows_of(1, range(6)), 2)
    name = "a machine loses 10 %, two nights later a commit 10 % of 6 of 12 series on another"
    yield Case(name, [machine, later], 12, machines=2)


def outcome(case: Case, draws: int) -> Outcome:
    from benchdash.regressions.analysis.clusters import clusters_of  # noqa: PLC0415 - Django is set up by then

    total, ranks = Outcome(), _ranks(case.nights)
    for draw in range(draws):
        tables = case.tables(np.random.default_rng([_SEED, draw]))
        looks = zip(
            *(joint_looks(table, dict.fromkeys(table, HIGHER), first_new=_FIRST_LOOK) for table in tables),
            strict=True,
        )
        before = 0
        for of_machines in looks:
            clusters = clusters_of(_change_points(of_machines), ranks, {})
            confirmed = [one for one in clusters if one.confirmed and one.for_the_worse]
            held = [_holds(one, case) for one in confirmed]
            total.holding_ever += sum(held)
            total.ranges_ever += len(held)
            total.flickering += len(confirmed) < before
            before = len(confirmed)
        total.incidents[len(confirmed)] += 1
        total.holding += sum(held)
        total.ranges += len(held)
        total.nights += sum(last - first + 1 for first, last in map(_range, confirmed))
    return total


def _holds(cluster: "Cluster", case: Case) -> bool:
    """Tell whether the range holds the night of the cause that most of the members have."""
    members = {(one.series.hardware_id, one.series.workload_id) for one in cluster.measured}
    cause = max(case.causes, key=lambda one: (len(one.rows & members), -len(one.rows)))
    first, last = _range(cluster)
    return first <= _BEFORE + cause.night <= last


def _range(cluster: "Cluster") -> tuple[int, int]:
    known = cluster.ranges[cluster.narrowest[0].pk]
    return known.earliest, known.latest


def _change_points(of_machines: Sequence[Sequence[JointShift]]) -> list["ChangePoint"]:
    from benchdash.regressions.models import ChangePoint  # noqa: PLC0415 - Django is set up by then
    from benchdash.results.models import Run, Series, ServerVersion  # noqa: PLC0415

    def run(night: int) -> Run:
        version = ServerVersion(pk=night)
        return Run(pk=night, version=version, started_at=_START + timedelta(days=night))

    found: list[ChangePoint] = []
    for machine, shifts in enumerate(of_machines):
        members = [(key, shift) for joint in shifts for key, shift in joint.members.items()]
        for (workload, metric), shift in members:
            of_place = {"project_id": 1, "product_id": 1, "configuration_id": 1, "hardware_id": machine}
            series = Series(
                **of_place,
                branch="main",
                workload_id=int(str(workload)),
                metric=str(metric),
                direction=HIGHER,
            )
            first, last = shift.began or (shift.index, None)
            found.append(
                ChangePoint(
                    pk=len(found) + 1,
                    series=series,
                    run=run(shift.index),
                    last_good=run(first - 1),
                    first_bad=None if last is None else run(last),
                    state=shift.state,
                    before=shift.before,
                    after=shift.after,
                    change=shift.change,
                )
            )
    return found


def _ranks(nights: int) -> "Ranks":
    from benchdash.regressions.analysis.clusters import Ranks  # noqa: PLC0415 - Django is set up by then

    days = [_START + timedelta(days=night) for night in range(nights)]
    of_day: Mapping[object, int] = {day.date(): night for night, day in enumerate(days)}
    return Ranks("main", of_day, [(day.timestamp(), night) for night, day in enumerate(days)])


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    with empty_database():
        sys.stdout.write(
            "| what happened | incidents: histories | ranges that hold their cause | nights in them"
            " | in all looks | looks with fewer than before |\n|---|---|---:|---:|---:|---:|\n"
        )
        every = list(cases())
        for case in [every[int(one)] for one in sys.argv[2:]] or every:
            found = outcome(case, draws)
            cells = (
                case.name,
                ", ".join(f"{number}: {times}" for number, times in sorted(found.incidents.items())),
                f"{found.holding / max(found.ranges, 1):.1%}",
                f"{found.nights / max(found.ranges, 1):.1f}",
                f"{found.holding_ever / max(found.ranges_ever, 1):.1%}",
                str(found.flickering),
            )
            sys.stdout.write(f"| {' | '.join(cells)} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
