"""The figures of one run as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_BARE = "a bare DRF view"


@dataclass(frozen=True, slots=True)
class Figures:
    """``rows`` are those of measuring, by what was asked."""

    size: str
    measurements: int
    bytes_per_measurement: float
    bytes_of_database: int
    insert_ms: float
    copied_rows_per_s: float
    memory_mb: Mapping[str, Mapping[str, float]]
    rows: Mapping[str, Mapping[str, Any]]


def table(results: Sequence[Figures]) -> str:
    """A table for each size; beside the last stands the growth of CPU time from the first."""
    return "\n".join(_of_size(figures, results[0]) for figures in results)


def _of_size(figures: Figures, first: Figures) -> str:
    head = (
        f"\n### {figures.size}: {figures.measurements:,} measurements\n\n"
        f"{figures.bytes_per_measurement:.0f} bytes a measurement with its indexes,"
        f" {figures.bytes_of_database / 2**20:,.0f} MiB the whole database."
        f" A bare insert of a row takes {figures.insert_ms:.2f} ms, a bare COPY"
        f" {figures.copied_rows_per_s:,.0f} rows a second. Largest process after all of it:"
        f" web {figures.memory_mb['after']['web']:.0f} MB,"
        f" worker {figures.memory_mb['after']['worker']:.0f} MB.\n\n"
    )
    return head + _reads(figures, first) + _writes(figures)


def _reads(figures: Figures, first: Figures) -> str:
    lines = [
        _head(
            ("request", "goal"),
            ("CPU ms, cold", "CPU ms, warm", "to a bare view", "growth", "p50 ms", "p95 ms", "p99 ms"),
            ("1/s", "kB", "kB packed", "SQL"),
        )
    ]
    bare = figures.rows[_BARE]["cpu"]
    for name, row in figures.rows.items():
        if "per_reading" in row:
            continue
        was = first.rows[name]["cpu"]
        cold = f"{row['cold']['cpu']:.1f}" if row["cold"] else ""
        lines.append(
            f"| {name} | {row['goal']} | {cold} | {row['cpu']:.1f} | {row['cpu'] / bare:.1f}"
            f" | {row['cpu'] / was:.2f} | {row['p50']:.1f} | {row['p95']:.1f} | {row['p99']:.1f}"
            f" | {row['rate']:.0f} | {row['bytes'] / 1000:.1f} | {row['packed'] / 1000:.1f}"
            f" | {row['statements']} |\n"
        )
    return "".join(lines)


def _writes(figures: Figures) -> str:
    rows = {name: row for name, row in figures.rows.items() if "per_reading" in row}
    if not rows:
        return ""
    lines = [
        "\n",
        _head(
            ("upload", "goal"),
            ("CPU ms", "CPU ms a reading", "its analysis, CPU ms a reading", "p50 ms", "p95 ms"),
            ("readings/s by CPU", "analysed after s", "SQL"),
        ),
    ]
    for name, row in rows.items():
        lines.append(
            f"| {name} | {row['goal']} | {row['cpu']:.1f} | {row['per_reading']:.3f}"
            f" | {row['analysis_per_reading']:.3f} | {row['p50']:.1f} | {row['p95']:.1f}"
            f" | {1000 / row['per_reading']:,.0f} | {row['analysed_s']:.1f} | {row['statements']} |\n"
        )
    return "".join(lines)


def _head(words: Sequence[str], *numbers: Sequence[str]) -> str:
    columns = [*words, *(name for names in numbers for name in names)]
    rule = ["---"] * len(words) + ["---:"] * (len(columns) - len(words))
    return f"| {' | '.join(columns)} |\n|{'|'.join(rule)}|\n"
