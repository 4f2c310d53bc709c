"""What sysbench's Lua hooks print, where sysbench's banner is not before it.

Their JSON is told of in ``hook_reports``; text may stand around it.
"""

from collections.abc import Sequence

from ingest.formats import sysbench
from ingest.formats.hook_reports import PERCENTILE, PERCENTILE_UNSAID, HookRun, hold_a_report, hook_runs
from ingest.formats.report import FormatError, Intervals, ParsedReport, ParsedRun
from ingest.formats.source import Source

_MOST_WARNINGS = 20


def recognise(head: bytes) -> bool:
    return hold_a_report(head) and not sysbench.recognise(head)


def parse(source: Source) -> ParsedReport:
    """Read every run of the file; where there are several, their keys are ``1``, ``2``, ...

    Raises FormatError where nothing can be said of a run.
    """
    lines, warnings = _whole_lines(source)
    found = hook_runs(lines)
    if not found:
        raise FormatError("no report of sysbench that is complete", line=len(source.lines))
    source.limits.check_runs(len(found))
    alone = len(found) == 1
    runs: list[ParsedRun] = []
    intervals: list[Intervals] = []
    for position, hook_run in enumerate(found, start=1):
        key = "" if alone else str(position)
        try:
            run, notes = _run(hook_run, key)
        except FormatError as error:
            if position == len(found) and not runs:
                raise
            notes = [f"left out: {error.message} (line {error.line})"]
        else:
            runs.append(run)
            intervals += hook_run.intervals(key)
        warnings += notes if alone else [f"run {position}: {note}" for note in notes]
    if any(one.metric == PERCENTILE for run in runs for one in run.readings):
        warnings.append(PERCENTILE_UNSAID)
    return ParsedReport(tuple(runs), tuple(intervals), {"tool": "sysbench"}, _bounded(warnings))


def _run(hook_run: HookRun, key: str) -> tuple[ParsedRun, list[str]]:
    """Raises FormatError where the run failed or was stopped, and where its figures are impossible."""
    hook_run.check()
    run = ParsedRun(
        readings=tuple(hook_run.readings()),
        key=key,
        threads=hook_run.threads,
        duration_s=hook_run.duration_s,
    )
    return run, list(hook_run.notes())


def _whole_lines(source: Source) -> tuple[Sequence[str], list[str]]:
    """All lines, for an object ends with its bracket; a warning where the last one has no end."""
    lines = source.lines
    if source.ends_with_newline:
        return lines, []
    return lines, [f"line {len(lines)}, the last one, has no line end: the file may be cut off"]


def _bounded(warnings: Sequence[str]) -> tuple[str, ...]:
    unread = len(warnings) - _MOST_WARNINGS
    more = (f"{unread} more warnings like these",) if unread > 0 else ()
    return tuple(warnings[:_MOST_WARNINGS]) + more
