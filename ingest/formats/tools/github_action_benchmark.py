"""data.js of github-action-benchmark: the whole history of a repository, a benchmark of a commit being a run.

window.BENCHMARK_DATA = {"entries": {"Benchmark": [{"commit": {"id": "...", "timestamp": "..."},
  "date": 1705898705284, "tool": "go", "benches": [{"name": "Parse", "value": 1250, "unit": "ns/op"}]}]}}
"""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from benchdash.results.readings import HIGHER, LOWER, Direction, Reading, known_metric
from benchdash.results.readings import reading as known_reading
from ingest.formats.jmh.results import scale_of
from ingest.formats.json_source import load
from ingest.formats.outputs import bounded, quoted
from ingest.formats.report import FormatError, ParsedReport, ParsedRun
from ingest.formats.run_values import direction_of, metric_of
from ingest.formats.source import Source

_BEGINNING = re.compile(rb"\s*window\.BENCHMARK_DATA\s*=\s*")
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_DIRECTIONS: Mapping[str, Direction] = {"customBiggerIsBetter": HIGHER, "customSmallerIsBetter": LOWER}
_TIME = "ns/op"
_VERSION_DIGITS, _UNIT_LENGTH, _NAME_LENGTH = 10, 40, 200
_BRANCH = "the file has commits and names no branch: say it in the field 'branch', so that they are in order"


def recognise(head: bytes) -> bool:
    return _BEGINNING.match(head) is not None


def parse(source: Source) -> ParsedReport:
    """Return a run for each benchmark of each commit. Raise FormatError for another shape."""
    text = source.text.encode()
    beginning = _BEGINNING.match(text)
    json = text[beginning.end() if beginning else 0 :].rstrip().removesuffix(b";")
    whole = load(Source(json, source.name, source.limits))
    entries = whole.get("entries") if isinstance(whole, dict) else None
    if not isinstance(entries, dict):
        raise FormatError("'entries' is missing: it holds the benchmarks of each commit", 1)
    runs: list[ParsedRun] = []
    warnings = [_BRANCH]
    for suite, of_suite in entries.items():
        for entry in of_suite if isinstance(of_suite, list) else ():
            try:
                for name, repetitions in _repetitions(entry).items():
                    workload = f"{suite}: {name}" if len(entries) > 1 else name
                    for number, readings in enumerate(repetitions, start=1):
                        run = _run(entry, workload, readings, key=str(len(runs) + 1))
                        runs.append(replace(run, repetition=number) if len(repetitions) > 1 else run)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                warnings.append(f"left out: an entry of {quoted(str(suite))} without {quoted(str(error))}")
    source.limits.check("runs", len(runs))
    return ParsedReport(tuple(runs), facts={"tool": "github-action-benchmark"}, warnings=bounded(warnings))


def _run(entry: Mapping[str, Any], workload: str, readings: Mapping[str, Reading], *, key: str) -> ParsedRun:
    """Raise KeyError, TypeError or ValueError where the entry lacks its commit or a time."""
    commit = str(entry["commit"]["id"])
    if not _COMMIT.fullmatch(commit):
        raise ValueError("a commit's hash")
    return ParsedRun(
        readings=tuple(readings.values()),
        key=key,
        version=commit[:_VERSION_DIGITS],
        commit=commit,
        committed_at=datetime.fromisoformat(entry["commit"]["timestamp"]),
        workload=workload,
        started_at=datetime.fromtimestamp(entry["date"] / 1000, UTC),
    )


def _repetitions(entry: Mapping[str, Any]) -> dict[str, list[dict[str, Reading]]]:
    """Return the readings of each benchmark by metric, once more for each time that it has another value.

    Metrics are ns/op, ops/s, and others as they are printed. Of Go's benchmarks there is a figure for each
    unit, whose name ends with it: ``Parse - allocs/op``. The score is their time, whatever else they count.
    """
    found: dict[str, list[dict[str, Reading]]] = {}
    for bench in entry["benches"]:
        value, unit = float(bench["value"]), str(bench["unit"]).split("\t")[0].strip()[:_UNIT_LENGTH]
        if not math.isfinite(value) or value < 0:
            raise ValueError("figures that can be compared")
        scale = scale_of(unit.replace("iter", "op").replace("/sec", "/s").replace("op/s", "ops/s"))
        of_unit = str(bench["name"]).endswith(f" - {unit}")
        if scale and (not of_unit or scale.unit == _TIME):
            reading = Reading("score", value * scale.factor, scale.unit, scale.direction)
        elif of_unit and known_metric(metric_of(unit)):
            reading = known_reading(metric_of(unit), value)
        else:
            direction = _DIRECTIONS.get(entry.get("tool", "")) or direction_of(unit)
            reading = Reading(metric_of(unit) if of_unit else "score", value, unit, direction, is_own=True)
        name = str(bench["name"]).removesuffix(f" - {unit}")
        if len(name) > _NAME_LENGTH:
            raise ValueError(f"a name of at most {_NAME_LENGTH} characters")
        of_name = found.setdefault(name, [{}])
        if of_name[-1].get(reading.metric, reading) != reading:
            of_name.append({})
        of_name[-1][reading.metric] = reading
    return found
