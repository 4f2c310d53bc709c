"""The lines of measurements that go-tpc and go-ycsb print, which share them.

READ   - Takes(s): 60.0, Count: 109238, OPS: 1820.5, Avg(us): 1450, ..., 99.9th(us): 11800
"""

import re

from benchdash.results.readings import percentile_metric
from ingest.formats.outputs import measured
from ingest.formats.report import FormatError

_FIELD = re.compile(r"([A-Za-z0-9.()]{2,12}): ([^,\s]{1,30})")
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")
_STATISTICS = {"Min": "latency_min", "Avg": "latency_avg", "Max": "latency_max"}
_TIME = re.compile(r"(Min|Avg|Max|([0-9]{1,2}(?:\.[0-9]{1,4})?)th)\((?:us|ms)\)")


def go_number(text: str, line: int, tool: str) -> float:
    """Raise FormatError for what is no number."""
    return measured(text, line, f"is not a number that {tool} prints", pattern=_NUMBER)


def go_fields(text: str, line: int, tool: str) -> dict[str, float]:
    """Return the numbers of a line by their names. Raise FormatError for one that is none."""
    fields = {name: go_number(value, line, tool) for name, value in _FIELD.findall(text)}
    if not fields.keys() >= {"Takes(s)", "Count"}:
        raise FormatError(f"the line is not whole: {tool} prints 'Takes(s)', 'Count' and times", line)
    return fields


def go_times(fields: dict[str, float]) -> dict[str, float]:
    """Return the response times of a line by their metrics, in the unit that is printed."""
    times = {}
    for name, value in fields.items():
        if found := _TIME.fullmatch(name):
            times[percentile_metric(float(found[2])) if found[2] else _STATISTICS[found[1]]] = value
    return times
