"""JSON Lines with one run a line: its time, its figures, and the settings that were switched for it.

    {"index": 20, "time": "2026-11-20T15:31:13Z", "state": "performance_schema=ON", "tps": 690.3,
     "lat_avg_ms": 5.79, "lat_p95_ms": 7.7, "events": 1381, "total_time_s": 2.0009, "exit_code": 0}

Figures are named like the metrics of benchdash, or as sysbench scripts name them (``lat_p95_ms``). ``state``
holds ``name=value`` pairs parted by blanks, or ``base``. What is neither stays with the run as an option.
"""

import re
from collections.abc import Sequence
from datetime import UTC

from benchdash.results.readings import known_metric, reading
from ingest.formats.json_spec import JsonSpec
from ingest.formats.run_values import RunValues
from ingest.masking import mask_text

_LATENCY = re.compile(r"lat_(\w+)_ms")


def _take_other(run: RunValues, name: str, value: str | float) -> None:
    """Take a figure by its name, settings, or else an option."""
    latency = _LATENCY.fullmatch(name)
    metric = f"latency_{latency[1]}" if latency else name
    if known_metric(metric):
        run.take(metric, str(value), run.line, unit=reading(metric, 0.0).unit)
    elif name == "state":
        run.settings = dict(pair.split("=", 1) for pair in str(value).split() if "=" in pair)
    else:
        run.options[name] = mask_text(value) if isinstance(value, str) else value


def _finish(run: RunValues) -> Sequence[str]:
    if run.started_at and not run.started_at.tzinfo:
        run.started_at = run.started_at.replace(tzinfo=UTC)
    run.options |= run.counts
    for name, count in run.counts.items():
        if run.duration_s:
            run.add(f"{name}_per_s", count / run.duration_s)
    return ()


FORMAT = JsonSpec(
    tool="run_lines",
    lines_named_by="index",
    keys=("time|started_at", "tps|qps"),
    keys_of_others=("query",),
    failed=("exit_code", r"(?!0(?:\.0)?$).+"),
    values={
        "tps": "tps",
        "qps": "qps",
        "started_at": "time | started_at",
        "threads": "threads",
        "duration_s:s": "total_time_s",
        "total_time:s": "total_time_s",
        "total_events": "events",
        "count.errors": "errors",
        "count.reconnects": "reconnects",
    },
    take_other=_take_other,
    required={},
    finish=_finish,
)
