"""What the product itself decides from everything it has of the measured runs with switched settings.

A place is what was measured together: the workloads of one night, else one workload alone. Its series are
the metrics of those workloads and the CPU time that the server spent on an operation; the client's is the
speed of the machine.
"""

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchdash.regressions.detection.covariate import SERVER_COST
from benchdash.regressions.detection.growing_tables import joint_looks
from benchdash.regressions.detection.joint import JointShift, Key, find_joint_shifts
from benchdash.results.readings import Direction

Row = Mapping[str, Any]
Match = Callable[[list[int], list[int]], list[tuple[int, int]]]

METRICS: Mapping[str, Direction] = {
    "tps": "higher",
    "qps": "higher",
    "lat_avg_ms": "lower",
    "lat_p95_ms": "lower",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Switches found, told where none was, and missed, among so many positions of all places."""

    found: int
    false: int
    missed: int
    positions: int

    @property
    def f1(self) -> float:
        return 2 * self.found / (2 * self.found + self.false + self.missed)

    @property
    def false_per_1000(self) -> float:
        return 1000 * self.false / self.positions

    def __add__(self, other: "Outcome") -> "Outcome":
        return Outcome(
            self.found + other.found,
            self.false + other.false,
            self.missed + other.missed,
            self.positions + other.positions,
        )


@dataclass(frozen=True, slots=True)
class Place:
    table: Mapping[Key, list[float]]
    directions: Mapping[Key, Direction]
    machine: Mapping[Hashable, list[float]]
    switches: list[int]
    invisible: list[int]

    @property
    def positions(self) -> int:
        return max(map(len, self.table.values()))


def decide(
    data: Path, measured: Iterable[Row], *, match: Match, follow: bool, cpu_times: bool = True
) -> Outcome:
    """The confirmed joint shifts of all places held against the switches.

    ``measured`` are the single series as the scoring program reads them. It knows which switches show in
    none of them: those count neither as missed nor, if found, as false. ``cpu_times``: those of server and
    client are known.
    """
    hard = {one["name"]: set(one["hard"]) for one in measured}
    total = Outcome(0, 0, 0, 0)
    for whole in _places(data, hard):
        place = whole if cpu_times else _without_cpu_times(whole)
        told = [shift.index for shift in _shifts(place, follow=follow) if shift.state == "confirmed"]
        pairs = match(place.switches, told)
        found = len({switch for switch, _ in pairs}.difference(place.invisible))
        visible = len(place.switches) - len(place.invisible)
        total += Outcome(found, len(told) - len(pairs), visible - found, place.positions)
    return total


def _without_cpu_times(place: Place) -> Place:
    table = {key: values for key, values in place.table.items() if key[1] != SERVER_COST}
    return replace(place, table=table, machine={})


def _shifts(place: Place, *, follow: bool) -> list[JointShift]:
    if follow:
        *_, found = joint_looks(place.table, place.directions, first_new=0, machine=place.machine)
        return found
    return find_joint_shifts(place.table, place.directions, machine=place.machine)


def _places(data: Path, hard: Mapping[str, set[int]]) -> list[Place]:
    together: dict[str, list[Row]] = {}
    for one in json.loads((data / "labelled" / "truth.json").read_text())["series"]:
        night = one["series"].startswith("nights-")
        together.setdefault("nights" if night else one["series"], []).append(one)
    return [_place(data, series, hard) for series in together.values()]


def _place(data: Path, series: list[Row], hard: Mapping[str, set[int]]) -> Place:
    table: dict[Key, list[float]] = {}
    directions: dict[Key, Direction] = {}
    machine: dict[Hashable, list[float]] = {}
    for one in series:
        name, rows = one["series"], _rows(data, one)
        operations = [row.get("events") or row["tps"] for row in rows]
        columns = {metric: [row[metric] for row in rows] for metric in METRICS if metric in rows[0]}
        columns[SERVER_COST] = _ratios((row["server_cpu_s"] for row in rows), operations)
        machine[name] = _ratios((row["client_cpu_s"] for row in rows), operations)
        table |= {(name, metric): values for metric, values in columns.items()}
        directions |= {(name, metric): METRICS.get(metric, "lower") for metric in columns}
    switches = sorted({switch["index"] for one in series for switch in one["switches"]})
    unseen = [seen for name, seen in hard.items() if name.partition(":")[0] in machine]
    return Place(table, directions, machine, switches, sorted(set.intersection(*unseen)))


def _ratios(costs: Iterable[float], operations: list[float]) -> list[float]:
    """The cost of an operation; NaN where the clock was too coarse to see any."""
    return [cost / number if cost else float("nan") for cost, number in zip(costs, operations, strict=True)]


def _rows(data: Path, one: Row) -> list[Row]:
    """The runs of a series. What a night's runs cost the processors lies beside their output."""
    lines = (data / "labelled" / one["file"]).read_text().splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    if "server_cpu_s" in rows[0]:
        return rows
    # "nights-mariadb-read-only" holds the runs of oltp_read_only.
    workload = "oltp_" + one["series"].split("-", 2)[2].replace("-", "_")
    files = [next((data / "nightly").glob(f"*/{row['night']}/{workload}.meta.json")) for row in rows]
    return [row | json.loads(file.read_text())["contention"] for row, file in zip(rows, files, strict=True)]
