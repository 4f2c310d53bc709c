"""The JSON of sysbench's Lua hooks, as ``sysbench.report_json`` prints it.

    [
      {
        "time":    1,
        "threads": 4,
        "tps": 730.96,
        "qps": {
          "total": 11702.40,

``report_intermediate`` prints such an object every few seconds, ``report_cumulative`` one at the end, in
which no thread is running any more. The whole is mostly no JSON: one list stands after another.
"""

import re
from collections.abc import Iterator

from ingest.formats.outputs import MAX_THREADS
from ingest.formats.report import FormatError
from ingest.formats.sysbench.interval_lines import PERCENTILE
from ingest.formats.sysbench.report_block import ReportBlock, figure

HOOK = "JSON of a hook"
IN_HEAD = r'"threads":[ \t]*[^\s,]{1,9},\s{0,99}"tps":[ \t]*[^\s,]{1,40},\s{0,99}"qps":[ \t]*\{'

_COLUMNS = {
    "time": "time_s",
    "threads": "threads",
    "tps": "tps",
    "total": "qps",
    "reads": "reads_per_s",
    "writes": "writes_per_s",
    "other": "other_per_s",
    "errors": "errors_per_s",
    "reconnects": "reconnects_per_s",
    "latency": PERCENTILE,
}
# A decimal comma belongs to its number, which then is none.
_MEMBER = re.compile(r'"(\w{1,40})"\s*+:\s*+("[^"\n]{0,80}"|[^\s",{}\[\]]++(?:,[0-9]++)?+)')
_OBJECT = re.compile(r"\{[^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+\}")


def hook_reports(text: str, line: int, end: int) -> Iterator[ReportBlock]:
    """Yield the reports among the JSON objects from a line to another; other objects are none of sysbench.

    Raise FormatError for a key that is given twice.
    """
    for printed in _OBJECT.findall(text):
        members = _MEMBER.findall(printed)
        if _COLUMNS.keys() <= {name for name, _ in members}:
            block = ReportBlock(line, end, {HOOK})
            for name, value in members:
                block.add(name, value.strip('"'), line)
            block.end = end
            yield block


def figures_of(block: ReportBlock) -> dict[str, float]:
    """Return the figures by column, first the time and the threads; events where they made no queries.

    Raise FormatError for a figure that sysbench cannot have measured.
    """
    figures = {column: figure(*block.text(name)).value for name, column in _COLUMNS.items()}
    if not figures["threads"].is_integer() or figures["threads"] > MAX_THREADS:
        raise FormatError(f"{figures['threads']:g} is not a number of threads", block.line)
    if not figures[PERCENTILE]:
        del figures[PERCENTILE]
    if figures["tps"] and not figures["qps"]:
        names = {"time_s": "time_s", "threads": "threads", "tps": "events_per_s", PERCENTILE: PERCENTILE}
        return {names[name]: value for name, value in figures.items() if name in names}
    return figures
