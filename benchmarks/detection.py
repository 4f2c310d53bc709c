"""How well changes are found, ours beside public peers in one run: ``python -m benchmarks.detection``.

Needs the scoring program and the measured series in the folder ``shared`` beside the checkout (or where
``--shared`` says); they are imported and read there. Peers that are not installed are left out:
``make bench-detection`` installs them.
"""

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchdash.regressions.detection.shifts import find_shifts
from benchmarks import control
from benchmarks.labelled import Outcome, decide

Floats = NDArray[np.float64]
Detector = Callable[[Floats], list[int]]

SIZES = (100, 1000, 5000)
LOOKS = 10_000
_LOOKS_OF_A_SERIES = 41  # of the scoring program: from 20 to 60 points
_SECONDS = 60.0

PEERS = (
    ("apache-otava, defaults", "otava", "otava"),
    ("apache-otava, best of its grid", "otava_best", "otava"),
    ("ruptures, KernelCPD l2, tuned", "rpt_l2_best", "ruptures"),
    ("Perfherder's rule", "perfherder", "numpy"),
)
"""What the table calls it, its function among the anchors of the scoring program, the package it needs."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """``first_sign`` is what is shown before it is told; peers make no difference.

    A look on what is stored takes the time of one that has the whole series, so only the latter is timed.
    """

    name: str
    told: Detector
    first_sign: Detector
    is_timed: bool = True


class Follower:
    """Looks after every point, as the product does with what it stores. A longer series is gone on with."""

    def __init__(self) -> None:
        self._values = np.empty(0)
        self._told: list[int] = []

    def __call__(self, values: Floats) -> list[int]:
        seen = len(self._values)
        if seen >= len(values) or not np.array_equal(self._values, values[:seen]):
            self._values, self._told, seen = np.empty(0), [], 0
        for length in range(seen + 1, len(values) + 1):
            shifts = find_shifts(values[:length], known=self._told)
            self._told = [shift.index for shift in shifts if shift.state == "confirmed"]
        self._values = values.copy()
        return self._told


def told(values: Floats) -> list[int]:
    return [shift.index for shift in find_shifts(values) if shift.state == "confirmed"]


def first_sign(values: Floats) -> list[int]:
    return [shift.index for shift in find_shifts(values)]


def contestants(anchors: Any) -> Iterable[Contestant]:
    yield Contestant("benchdash", told, first_sign)
    yield Contestant("benchdash, looking after every point", Follower(), first_sign, is_timed=False)
    for name, function, package in PEERS:
        if importlib.util.find_spec(package):
            detector = getattr(anchors, function)
            yield Contestant(name, detector, detector)
        else:
            sys.stderr.write(f"{name} is left out: the package {package} is not installed.\n")


COLUMNS = (
    "detector",
    "F1",
    "precision",
    "recall",
    "false per 1000 points of no change",
    "false per 1000 looks",
    "points to the first sign, median / mean",
    "to being told, median",
    "changes missed by then",
    *(f"CPU ms at {size}" for size in SIZES),
    "measured series, F1 at false per 1000 points",
)


def row(contestant: Contestant, evaluate: Any, parameters: Mapping[str, Any], measured: list[Any]) -> str:
    series = evaluate.S
    synthetic = evaluate.score(contestant.told, series.synthetic(parameters))
    null = evaluate.null_rate(contestant.told, series.null_set(parameters))
    streams = series.stream_set(parameters, count=-(-LOOKS // _LOOKS_OF_A_SERIES))
    late = evaluate.stream(contestant.told, streams)
    early = (
        late if contestant.first_sign is contestant.told else evaluate.stream(contestant.first_sign, streams)
    )
    sizes = SIZES if contestant.is_timed else ()
    times = evaluate.timing(contestant.told, parameters, sizes, _SECONDS)
    real = evaluate.score(contestant.told, measured)
    cells = (
        contestant.name,
        _share(synthetic["f1"]),
        _share(synthetic["precision"]),
        _share(synthetic["recall"]),
        f"{null['false_per_1000']:.2f}",
        f"{late['stream_false_per_1000']:.2f}",
        f"{early['delay_median']:g} / {early['delay_mean']:.1f}",
        f"{late['delay_median']:g}",
        f"{late['missed']:.1%}",
        *(_milliseconds(times.get(size)) for size in SIZES),
        f"{_share(real['f1'])} at {real['false_per_1000']:.1f}",
    )
    return f"| {' | '.join(cells)} |\n"


def _share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _milliseconds(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def own_decision(name: str, outcome: Outcome) -> str:
    """The row of the product's own decision, which is one for each place and not one for each series."""
    known = f"{_share(outcome.f1)} at {outcome.false_per_1000:.1f}"
    return f"| {' | '.join((name, *[''] * (len(COLUMNS) - 2), known))} |\n"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument(
        "--shared", type=Path, default=Path(__file__).parents[2] / "shared", help="holds detect/ and data/"
    )
    shared = arguments.parse_args().shared.resolve()
    program, data = shared / "detect", shared / "data"
    if not (program / "evaluate.py").exists() or not (data / "labelled" / "truth.json").exists():
        sys.exit(
            f"The scoring program and the measured series are not in {shared}: "
            "name the folder that holds detect/ and data/ with --shared."
        )
    sys.path.insert(0, str(program))
    evaluate, anchors = (importlib.import_module(name) for name in ("evaluate", "anchors"))
    parameters = evaluate.S.load_params()
    measured = evaluate.S.load_jsonl(data / "labelled")
    sys.stdout.write(f"{datetime.now(UTC):%Y-%m-%d}\n\n")
    sys.stdout.write(f"| {' | '.join(COLUMNS)} |\n|---|{'---:|' * (len(COLUMNS) - 1)}\n")
    for contestant in contestants(anchors):
        sys.stdout.write(row(contestant, evaluate, parameters, measured))
        sys.stdout.flush()
    for name, follow in (("night by night", True), ("all nights at once", False)):
        for known, cpu_times in (("all it has", True), ("all but CPU times", False)):
            outcome = decide(data, measured, match=evaluate.match, follow=follow, cpu_times=cpu_times)
            sys.stdout.write(own_decision(f"benchdash, from {known}, {name}", outcome))
    sys.stdout.write("\n")
    if (shared / "control" / "truth.json").exists():
        sys.stdout.writelines(control.rows(shared / "control", match=evaluate.match))


if __name__ == "__main__":
    main()
