"""sysbench 0.4 to 1.1: the text that ``sysbench <test> run`` prints.

A file holds one run, or several where a shell loop wrote them one after another. Each begins with the banner,
tells its options, may print interval lines, checkpoint reports and a histogram, and ends with a report.
Lua hooks may print JSON in the place of the interval lines, the report or both (``hook_reports``). A time may
stand before every line, as ``ts`` writes it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from benchdash.results.readings import Reading, percentile_metric
from ingest.formats.hook_reports import PERCENTILE, PERCENTILE_UNSAID
from ingest.formats.report import Fact, FormatError, Intervals, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.formats.sysbench_command import arguments, command_in, cpus_in, option, options_of, workload_of
from ingest.formats.sysbench_lines import FAIRNESS, Block, Output, sort
from ingest.formats.sysbench_numbers import masked, number, quoted
from ingest.formats.sysbench_report import Report

_STAMP_TEXT = (
    r"\[?(?:"
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]"
    r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
    r"|[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?"
    r"|[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?"
    r"|[0-9]{9,10}(?:\.[0-9]{1,9})?"
    r")\]?"
)
_STAMP = re.compile(rf"({_STAMP_TEXT})(?:[ \t]|$)")
_BANNER_TEXT = r"sysbench v?([0-9]+\.[0-9]+[\w.+~-]{0,60})(?: \(using ([^)\n]{1,100})\)|:[^\n]{0,100})?[ \t]*"
_BANNER = re.compile(_BANNER_TEXT)
_BANNER_IN_HEAD = re.compile(rf"^(?:{_STAMP_TEXT}[ \t])?{_BANNER_TEXT}\r?$".encode(), re.MULTILINE)

_READ_VERSIONS = ("0.4", "0.5", "1.")
_MOST_THREADS = 1_000_000
_MOST_WARNINGS = 20


def recognise(head: bytes) -> bool:
    return _BANNER_IN_HEAD.search(head) is not None


def parse(source: Source) -> ParsedReport:
    """Read every run of the file; where there are several, their keys are ``1``, ``2``, ...

    Raises FormatError where no run is complete. Of several runs an incomplete one is left out with a warning.
    """
    lines, warnings = _whole_lines(source)
    outputs = list(_outputs(lines))
    if not outputs:
        raise FormatError("no run of sysbench: no banner with a report after it", line=len(source.lines))
    tests = [output for output in outputs if output.is_a_test] or outputs[:1]
    runs, intervals, notes = _runs(tests)
    if outputs[-1] not in tests and not outputs[-1].begins_with:
        notes.append(f"line {outputs[-1].line}: the file ends with a banner, and no run behind it")
    return ParsedReport(tuple(runs), tuple(intervals), _facts(tests), _bounded(warnings + notes))


def _whole_lines(source: Source) -> tuple[Sequence[str], list[str]]:
    """The lines that have an end, and a warning where the last one has none: its number may be cut short."""
    lines = source.lines
    if source.ends_with_newline:
        return lines, []
    return lines[:-1], [
        f"line {len(lines)}, the last one, has no line end and was not read: the file may be cut off"
    ]


def _bounded(warnings: Sequence[str]) -> tuple[str, ...]:
    unread = len(warnings) - _MOST_WARNINGS
    more = (f"{unread} more warnings like these",) if unread > 0 else ()
    return tuple(warnings[:_MOST_WARNINGS]) + more


@dataclass(frozen=True, slots=True)
class _Banner:
    """``index`` is that of its line. ``stamp`` is the time before it, empty where there is none."""

    index: int
    version: str
    luajit: str
    stamp: str


def _banners(lines: Iterable[str]) -> Iterator[_Banner]:
    for index, line in [(index, line) for index, line in enumerate(lines) if "sysbench " in line]:
        stamp = _STAMP.match(line)
        if banner := _BANNER.fullmatch(line, stamp.end() if stamp else 0):
            yield _Banner(index, banner[1], banner[2] or "", stamp[1] if stamp else "")


def _outputs(lines: Sequence[str]) -> Iterator[Output]:
    banners = list(_banners(lines))
    indexes = [banner.index for banner in banners]
    previous = 0
    for banner, (index, stop) in zip(banners, pairwise([*indexes, len(lines)]), strict=True):
        before: Iterable[str] = lines[previous:index]
        after: Iterable[str] = lines[index + 1 : stop]
        if banner.stamp:
            before, after = _WithoutStamps(before), _WithoutStamps(after)
        output = Output(
            line=index + 1,
            last_line=stop,
            version=banner.version,
            luajit=banner.luajit,
            stamp=banner.stamp,
            command=command_in(before),
            cpus=cpus_in(before),
        )
        sort(output, after)
        yield output
        previous = index + 1


@dataclass(frozen=True, slots=True)
class _WithoutStamps:
    """The lines of a file behind their times."""

    lines: Iterable[str]

    def __iter__(self) -> Iterator[str]:
        return (line[stamp.end() :] if (stamp := _STAMP.match(line)) else line for line in self.lines)


def _runs(tests: Sequence[Output]) -> tuple[list[ParsedRun], list[Intervals], list[str]]:
    alone = len(tests) == 1
    runs: list[ParsedRun] = []
    intervals: list[Intervals] = []
    warnings: list[str] = []
    for position, output in enumerate(tests, start=1):
        try:
            run, tables, notes = _run(output, key="" if alone else str(position))
        except FormatError as error:
            if position == len(tests) and not runs:
                raise
            notes = [f"left out: {error.message} (line {error.line})"]
        else:
            runs.append(run)
            intervals += tables
        warnings += notes if alone else [f"run {position}: {note}" for note in notes]
    return runs, intervals, warnings


def _run(output: Output, key: str) -> tuple[ParsedRun, list[Intervals], list[str]]:
    """The run of one output, its interval lines, and what is to be known about it.

    Raises FormatError where the test failed or its report is missing, not complete or impossible.
    """
    _refuse_failures(output)
    words = arguments(output.command) if output.command else []
    options = options_of(words)
    said = _said_by_a_hook(output, options) if output.has_report_of_a_hook else _said_in_text(output)
    threads = _threads(output, options)
    if said.percentile is not None:
        options["percentile"] = said.percentile
    run = ParsedRun(
        readings=said.readings,
        key=key,
        workload=workload_of(words) or said.test,
        threads=threads,
        started_at=_in_utc(_time(output.stamp)),
        duration_s=said.duration_s,
        options=options | _header_options(output),
    )
    return run, _interval_tables(output, key, said.percentile), [*said.notes, *_notes(output)]


@dataclass(slots=True)
class _Said:
    """What a report says. ``percentile`` is 0 where none was measured, None where its rank is not known."""

    readings: tuple[Reading, ...]
    percentile: int | None
    duration_s: float | None
    test: str | None
    notes: list[str]


def _said_in_text(output: Output) -> _Said:
    report = Report(output, _final_block(output))
    elapsed = report.totals.elapsed
    return _Said(
        readings=tuple(report.readings()),
        percentile=next(iter(report.percentiles), 0),
        duration_s=elapsed.value if elapsed else None,
        test=report.test,
        notes=list(_notes_on_text(report)),
    )


def _said_by_a_hook(output: Output, options: Mapping[str, Fact]) -> _Said:
    if len(output.hook_runs) > 1:
        raise FormatError(
            "more reports follow this line without a banner before them; send one run, or runs with their "
            "banners",
            output.hook_runs[0].last_line,
        )
    hook_run = output.hook_runs[0]
    hook_run.check()
    rank = output.ticks.rank or options.get("percentile")
    percentile = rank if type(rank) is int and 1 <= rank <= 100 else None
    readings = tuple(hook_run.readings(_percentile_of_hooks(percentile)))
    notes = [*hook_run.notes()]
    if output.checkpoints:
        notes.append(_after_checkpoint(output))
    if any(one.metric == PERCENTILE for one in readings):
        notes.append(PERCENTILE_UNSAID)
    return _Said(readings, percentile, hook_run.duration_s, output.test or None, notes)


def _percentile_of_hooks(rank: int | None) -> str:
    return percentile_metric(rank) if rank and rank <= 100 else PERCENTILE


def _final_block(output: Output) -> Block:
    """The report of the whole run or, after checkpoints, of the rest of it."""
    blocks, checkpoints = output.blocks, output.checkpoints
    if len(blocks) <= len(checkpoints):
        raise FormatError(
            "no final report: sysbench was stopped, or the file is cut off after this line", output.last_line
        )
    if len(blocks) > len(checkpoints) + 1:
        raise FormatError(
            "another report begins without a banner before it; send one run, or runs with their banners",
            blocks[len(checkpoints) + 1].line,
        )
    return blocks[-1]


def _refuse_failures(output: Output) -> None:
    if not output.version.startswith(_READ_VERSIONS):
        raise FormatError(
            f"sysbench {output.version} is not read, only 0.4, 0.5, 1.0 and 1.1 are", output.line
        )
    if failed := _failures(output):
        words = "; ".join(dict.fromkeys(quoted(text) for text, _ in failed[:3]))
        raise FormatError(f"sysbench failed: {words}", failed[0][1])
    if output.error:
        raise output.error
    if not output.is_a_test:
        printed = f", only {quoted(output.begins_with)}" if output.begins_with else ""
        raise FormatError(f"no test was run: sysbench's banner{printed}", output.last_line)


def _failures(output: Output) -> list[tuple[str, int]]:
    """The FATAL lines, except the one after which sysbench still reports."""
    return [(text, line) for text, line in output.fatal if not _is_forced_shutdown(text)]


def _is_forced_shutdown(text: str) -> bool:
    return "forcing shutdown" in text


def _threads(output: Output, options: dict[str, Fact]) -> int | None:
    """What the tool itself printed, else the option of the command, which is taken out of the options."""
    asked = [options.pop(name, None) for name in ("threads", "num-threads")]
    if "threads" not in output.header:
        return next((number for number in asked if type(number) is int), None)
    text, line = output.header["threads"]
    threads = number(text, line)
    if not (threads.is_integer() and 1 <= threads <= _MOST_THREADS):
        raise FormatError(f"{text} is not a number of threads", line)
    return int(threads)


def _header_options(output: Output) -> dict[str, Fact]:
    return {
        name.replace("_", "-"): option(text) for name, (text, _) in output.header.items() if name != "threads"
    }


def _time(stamp: str) -> datetime | None:
    """The moment, where the stamp says which: ``Nov 20 15:31:13`` has no year."""
    if not stamp:
        return None
    text = stamp.strip("[]")
    try:
        if text.replace(".", "").isdecimal():
            return datetime.fromtimestamp(float(text), UTC)
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _in_utc(time: datetime | None) -> datetime | None:
    """The moment with an offset; without one it counts as UTC."""
    return time.replace(tzinfo=UTC) if time and time.tzinfo is None else time


def _notes_on_text(report: Report) -> Iterator[str]:
    """What the reader of a report must know before trusting its figures."""
    clock, elapsed = report.clock, report.totals.elapsed
    if report.output.checkpoints:
        rest = "; total_time alone covers all of it" if report.covers_less_than_its_time else ""
        yield f"{_after_checkpoint(report.output)}{rest}"
    elif elapsed and clock and abs(clock.seconds - elapsed.value) > 0.1 + 0.01 * clock.seconds:
        yield (
            f"the printed rates are those of {clock.seconds:.4g} s, "
            f"but the total time is {elapsed.value:.4g} s (line {elapsed.line})"
        )
    if not report.is_complete:
        yield f"the end of the report is missing after line {report.block.end}: '{FAIRNESS}:' is not complete"
    for rank, (_, line) in report.percentiles.items():
        if rank > 100:
            yield f"{rank} is no percentile and was left out (line {line})"


def _after_checkpoint(output: Output) -> str:
    return f"after the checkpoint in line {output.checkpoints[-1]} the report covers only the rest of the run"


def _notes(output: Output) -> Iterator[str]:
    """What the reader of a run must know, whoever printed its report."""
    for text, line in output.fatal:
        if _is_forced_shutdown(text):
            yield f"sysbench was forced to stop before its transactions were done (line {line})"
    if (time := _time(output.stamp)) and time.tzinfo is None:
        yield f"the time {output.stamp!r} has no offset and counts as UTC (line {output.line})"
    if output.ticks.strange:
        yield (
            f"{len(output.ticks.strange)} interval lines were not understood, "
            f"the first in line {output.ticks.strange[0]}"
        )
    if not output.has_report_of_a_hook:
        for error in (run.error for run in output.hook_runs if run.error):
            yield f"what a hook printed was not read in full: {error.message} (line {error.line})"


def _interval_tables(output: Output, key: str, percentile: int | None) -> list[Intervals]:
    tables = []
    if output.ticks:
        tables.append(Intervals(key, "sysbench", *output.ticks.table(percentile or 0)))
    elif len(output.hook_runs) == 1:
        tables += output.hook_runs[0].intervals(key, _percentile_of_hooks(percentile))
    if output.histogram:
        tables.append(Intervals(key, "histogram", ("latency_ms", "count"), tuple(output.histogram)))
    return tables


def _facts(outputs: Sequence[Output]) -> dict[str, Fact]:
    facts: dict[str, Fact] = {"tool": "sysbench", "tool_version": outputs[0].version}
    if outputs[0].luajit:
        facts["luajit"] = outputs[0].luajit
    if commands := [masked(output.command) for output in outputs if output.command]:
        facts["command"] = "\n".join(commands)
    if len(cpus := {output.cpus for output in outputs if output.cpus}) == 1:
        facts["cpus"] = cpus.pop()
    return facts
