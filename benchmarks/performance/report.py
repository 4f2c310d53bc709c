"""The figures of one run as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.performance import goals
from benchmarks.performance.goals import Goal, Machine, verdict

BARE_VIEW = "a bare DRF view"
BARE_READ = "a bare read of 1,000 points"


@dataclass(frozen=True, slots=True)
class Figures:
    """``rows`` are those of measuring, by what was asked; ``insert`` and ``copied`` those of limits."""

    size: str
    measurements: int
    bytes_per_measurement: float
    bytes_of_database: int
    bytes_beside: Mapping[str, int]
    insert: Mapping[str, float]
    copied: Mapping[str, float]
    memory_mb: Mapping[str, Mapping[str, float]]
    rows: Mapping[str, Mapping[str, Any]]


def table(results: Sequence[Figures]) -> str:
    """A table for each size; beside each request stands its growth from the first."""
    return "\n".join(_of_size(figures, results[0]) for figures in results)


def _of_size(figures: Figures, first: Figures) -> str:
    machine = Machine.of(figures.rows[BARE_VIEW])
    head = f"\n### {figures.size}: {figures.measurements:,} measurements\n\n{_weights(figures)}\n\n"
    return (
        head
        + _how_judged(figures, machine)
        + _reads(figures, first, machine)
        + _writes(figures, first, machine)
    )


def _weights(figures: Figures) -> str:
    web, worker = (figures.memory_mb["after"][name] for name in ("web", "worker"))
    beside = ", ".join(f"{name} {size / 2**20:,.0f}" for name, size in figures.bytes_beside.items())
    each = figures.bytes_per_measurement
    return " ".join(
        [
            f"{each:.0f} bytes a measurement with its indexes",
            f"({_within(each, goals.MAX_BYTES_PER_MEASUREMENT)}).",
            f"Beside them in MiB: {beside}; the whole database {figures.bytes_of_database / 2**20:,.0f}.",
            f"The largest process after all of this: web {web:.0f} MB ({_within(web, goals.MAX_WEB_MB)}),",
            f"worker {worker:.0f} MB ({_within(worker, goals.MAX_WORKER_MB)}).",
        ]
    )


def _within(value: float, most: float) -> str:
    return f"at most {most:g}: " + ("met" if value <= most else f"missed, {value / most:.1f} x")


def _how_judged(figures: Figures, machine: Machine) -> str:
    insert, copied = figures.insert, figures.copied
    sentences = [
        f"Limits in ms are those of a quiet machine, where a bare view takes {goals.BARE_CPU_MS:g} ms of CPU",
        f"time and answers within {goals.BARE_MS:g} ms; here it took {machine.cpu:.1f} and",
        f"{machine.time:.1f} times as long, and so may everything else. Growth is of CPU time to that",
        "of the bare view. A bare insert of a row takes",
        f"{insert['cpu']:.2f} ms of CPU time",
        f"({insert['elapsed']:.2f} ms), a row of a bare COPY {1000 * copied['cpu']:.2f} µs",
        f"({1000 / copied['elapsed']:,.0f} rows a second).\n\n",
    ]
    return " ".join(sentences)


def _growth(name: str, figures: Figures, first: Figures) -> float:
    """Machines are shared, also between the sizes of one run."""
    return _to_bare_view(name, figures) / _to_bare_view(name, first)


def _to_bare_view(name: str, figures: Figures) -> float:
    return float(figures.rows[name]["cpu"] / figures.rows[BARE_VIEW]["cpu"])


# --- what is asked ------------------------------------------------------------------------------------------


def _reads(figures: Figures, first: Figures, machine: Machine) -> str:
    lines = [
        _head(
            ("request",),
            ("CPU ms, cold", "CPU ms, warm", "limit, CPU ms", "to the limit", "growth"),
            ("p50 ms", "p95 ms", "p99 ms", "1/s", "kB", "kB packed", "SQL"),
            last=("reached",),
        )
    ]
    for name, row in figures.rows.items():
        if "per_reading" in row:
            continue
        limit = _limit(figures, row)
        growth = _growth(name, figures, first)
        cold = f"{row['cold']['cpu']:.1f}" if row["cold"] else ""
        reached = "" if name in (BARE_VIEW, BARE_READ) else verdict(Goal(**row["goal"]), row, machine)
        lines.append(
            f"| {name} | {cold} | {row['cpu']:.1f} | {limit:.1f} | {row['cpu'] / limit:.1f}"
            f" | {growth:.2f} | {row['p50']:.1f} | {row['p95']:.1f} | {row['p99']:.1f} | {row['rate']:.0f}"
            f" | {row['bytes'] / 1000:.1f} | {row['packed'] / 1000:.1f} | {row['statements']}"
            f" | {reached} |\n"
        )
    return "".join(lines)


def _limit(figures: Figures, row: Mapping[str, Any]) -> float:
    """CPU ms of the bare thing that does least of the same: a view, or a read of as many points."""
    if row["points"]:
        return float(figures.rows[BARE_READ]["cpu"] * row["points"] / 1000)
    return float(figures.rows[BARE_VIEW]["cpu"])


# --- what is sent -------------------------------------------------------------------------------------------


def _writes(figures: Figures, first: Figures, machine: Machine) -> str:
    rows = {name: row for name, row in figures.rows.items() if "per_reading" in row}
    if not rows:
        return ""
    lines = [
        "\n",
        _head(
            ("upload",),
            ("CPU ms", "limit, CPU ms", "to the limit", "growth", "CPU ms a reading"),
            ("its analysis, CPU ms a reading", "p50 ms", "p95 ms", "1/s", "readings/s by CPU"),
            ("looked at after s", "SQL"),
            last=("reached",),
        ),
    ]
    for name, row in rows.items():
        # A row of the upload with its commit, and a row for each reading.
        limit = figures.insert["cpu"] + row["readings"] * figures.copied["cpu"]
        growth = _growth(name, figures, first)
        lines.append(
            f"| {name} | {row['cpu']:.1f} | {limit:.2f} | {row['cpu'] / limit:.1f}"
            f" | {growth:.2f} | {row['per_reading']:.3f} | {row['analysis_per_reading']:.3f}"
            f" | {row['p50']:.1f} | {row['p95']:.1f} | {row['rate']:.0f} | {1000 / row['per_reading']:,.0f}"
            f" | {row['seen_s']:.1f} | {row['statements']}"
            f" | {verdict(Goal(**row['goal']), row, machine)} |\n"
        )
    return "".join(lines)


def _head(words: Sequence[str], *numbers: Sequence[str], last: Sequence[str]) -> str:
    between = [name for names in numbers for name in names]
    rule = ["---"] * len(words) + ["---:"] * len(between) + ["---"] * len(last)
    return f"| {' | '.join([*words, *between, *last])} |\n|{'|'.join(rule)}|\n"
