"""JSON Lines with one run a line: its time, its figures, and the settings that were switched for it.

    {"index": 20, "time": "2026-11-20T15:31:13Z", "state": "performance_schema=ON", "tps": 690.3,
     "lat_avg_ms": 5.79, "lat_p95_ms": 7.7, "events": 1381, "total_time_s": 2.0009, "exit_code": 0}

Figures are named like the metrics of benchdash, or as sysbench scripts name them (``lat_p95_ms``). ``state``
holds ``name=value`` pairs parted by blanks, or ``base``. What is neither stays with the run as an option.
"""

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime

from benchdash.results.readings import Reading, known_metric, reading
from ingest.formats.json_source import load_lines
from ingest.formats.outputs import missing_line_end
from ingest.formats.report import FormatError, ParsedReport, ParsedRun
from ingest.formats.source import Source

_TIMES = ("time", "started_at")
_LATENCY = re.compile(r"lat_(\w+)_ms")
_COUNTS = {"events": "total_events", "total_time_s": "total_time"}
_COUNTED_IN_SECONDS = {"errors": "errors_per_s", "reconnects": "reconnects_per_s"}


def recognise(head: bytes) -> bool:
    fields = _object(head.lstrip().partition(b"\n")[0].decode("utf-8", "replace"))
    return (
        not fields.keys().isdisjoint(_TIMES)
        and bool({"tps", "qps"} & fields.keys())
        and "query" not in fields
        and not isinstance(fields.get("qps"), dict)
    )


def _object(line: str) -> Mapping[str, object]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def parse(source: Source) -> ParsedReport:
    """Return a run for each line; its key is its ``index``, or else its place in the file.

    Raise FormatError with the line that cannot be understood.
    """
    runs: list[ParsedRun] = []
    warnings: list[str] = []
    lines: dict[str, int] = {}
    for number, (line, fields) in enumerate(load_lines(source)):
        if not isinstance(fields, dict):
            raise FormatError("a run must be a JSON object", line)
        if fields.get("exit_code"):
            warnings.append(f"line {line}: left out, the tool ended with exit code {fields['exit_code']}")
            continue
        run = _run(fields, key=str(fields.get("index", number)), line=line)
        if run.key in lines:
            raise FormatError(f"index {run.key} stands on line {lines[run.key]} already", line)
        lines[run.key] = line
        runs.append(run)
    if not runs:
        raise FormatError("the file holds no run that ended well")
    warnings += missing_line_end(source)
    return ParsedReport(tuple(runs), warnings=tuple(warnings))


def _run(fields: Mapping[str, object], *, key: str, line: int) -> ParsedRun:
    time = next((fields[name] for name in _TIMES if name in fields), None)
    seconds = _number(fields.get("total_time_s"), "total_time_s", line)
    readings = _readings(fields, seconds=seconds, line=line)
    if not readings:
        raise FormatError("the run has no figure that benchdash knows", line)
    threads = _number(fields.get("threads"), "threads", line)
    used = {*_TIMES, "state", "index", "threads", "exit_code"}
    return ParsedRun(
        readings=readings,
        key=key,
        started_at=None if time is None else _time(time, line),
        duration_s=seconds,
        threads=None if threads is None else int(threads),
        settings=_settings(fields.get("state"), line),
        options={
            name: value
            for name, value in fields.items()
            if name not in used and _metric(name) is None and isinstance(value, str | int | float | bool)
        },
    )


def _readings(fields: Mapping[str, object], *, seconds: float | None, line: int) -> tuple[Reading, ...]:
    found = []
    for name, value in fields.items():
        metric, number = _metric(name), None
        if metric:
            number = _number(value, name, line)
        elif name in _COUNTED_IN_SECONDS and seconds:
            metric, count = _COUNTED_IN_SECONDS[name], _number(value, name, line)
            number = None if count is None else count / seconds
        if metric and number is not None:
            found.append(reading(metric, number))
    return tuple(found)


def _metric(name: str) -> str | None:
    """Return ``latency_p95`` of ``lat_p95_ms``; a metric's own name is itself; None for what is no metric."""
    latency = _LATENCY.fullmatch(name)
    metric = f"latency_{latency[1]}" if latency else _COUNTS.get(name, name)
    return metric if known_metric(metric) else None


def _number(value: object, name: str, line: int) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise FormatError(f"{name!r} must be a number that is not negative, not {value!r:.40}", line)
    return float(value)


def _time(value: object, line: int) -> datetime:
    try:
        time = datetime.fromisoformat(str(value))
    except ValueError:
        raise FormatError(f"{value!r:.60} is no ISO 8601 time", line) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _settings(state: object, line: int) -> dict[str, str]:
    if state is None:
        return {}
    if not isinstance(state, str):
        raise FormatError("'state' must be a text", line)
    return dict(pair.split("=", 1) for pair in state.split() if "=" in pair)
