"""The reports of sysbench's Lua hooks, where sysbench's banner is not before it.

``hooks`` has the shape of the JSON; text may stand around it.
"""

from ingest.formats.outputs import Read, bounded, missing_line_end, read_runs
from ingest.formats.report import FormatError, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.formats.sysbench import sysbench
from ingest.formats.sysbench.hooks import PERCENTILE, PERCENTILE_UNSAID, HookRun, hold_a_report, hook_runs
from ingest.formats.sysbench.interval_lines import contradictions


def recognise(head: bytes) -> bool:
    return hold_a_report(head) and not sysbench.recognise(head)


def parse(source: Source) -> ParsedReport:
    """Read every run of the file; where there are several, their keys are ``1``, ``2``, ...

    Raise FormatError where nothing can be said of a run.
    """
    # All lines are read, for an object ends with its bracket.
    outputs = hook_runs(source.lines)
    if not outputs:
        raise FormatError("no report of sysbench that is complete", line=len(source.lines))
    source.limits.check("runs", len(outputs))
    runs, intervals, notes = read_runs(outputs, _run, source.lines)
    warnings = missing_line_end(source) + notes
    if any(one.metric == PERCENTILE for run in runs for one in run.readings):
        warnings.append(PERCENTILE_UNSAID)
    return ParsedReport(runs, intervals, {"tool": "sysbench"}, bounded(warnings))


def _run(hook_run: HookRun, key: str) -> Read:
    """Raise FormatError where the run failed or was stopped, and where its figures are impossible."""
    hook_run.check()
    run = ParsedRun(
        readings=tuple(hook_run.readings()),
        key=key,
        threads=hook_run.threads,
        duration_s=hook_run.duration_s,
    )
    tables = hook_run.intervals(key)
    return run, tables, [*hook_run.notes(), *contradictions(run, tables)]
