"""sysbench 0.4 to 1.1: the text that ``sysbench <test> run`` prints.

A file holds one run, or several where a shell loop wrote them one after another. Each begins with the banner,
tells its options, may print interval lines, checkpoint reports and a histogram, and ends with a report.
Lua hooks may print JSON in the place of the interval lines, the report or both (``hooks``), and nothing else.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from ingest.formats.outputs import (
    MAX_THREADS,
    Read,
    bounded,
    given_twice,
    missing_line_end,
    quoted,
    read_runs,
    whole_lines,
)
from ingest.formats.report import Fact, FormatError, Intervals, ParsedReport, ParsedRun
from ingest.formats.source import Source
from ingest.formats.sysbench.command import (
    OF_SYSBENCH,
    arguments,
    command_in,
    cpus_in,
    option,
    options_of,
    workload_of,
)
from ingest.formats.sysbench.hooks import IN_HEAD
from ingest.formats.sysbench.interval_lines import MAX_RANK, contradictions
from ingest.formats.sysbench.lines import SysbenchOutput, plain_line
from ingest.formats.sysbench.report import HookReport, SysbenchReport
from ingest.formats.sysbench.report_block import number
from ingest.masking import mask_text

# A document may indent what it quotes, or have tags of HTML before it.
_BANNER_TEXT = (
    r"([ \t]*)(?:<[^<>\n]{1,80}>){0,3}"
    r"sysbench v?([0-9]+\.[0-9]+[\w.+~-]{0,60})(?: \(using ([^)\n]{1,100})\)|:[^\n]{0,100})?[ \t]*"
)
_BANNER = re.compile(_BANNER_TEXT)
_BANNER_IN_HEAD = re.compile(rf"^{_BANNER_TEXT}\r?$".encode(), re.MULTILINE)

# Without a banner: a figure that every report has, or an interval line.
_REPORT_IN_HEAD = re.compile(
    IN_HEAD.encode()
    + rb"|^[ \t\xc2\xa0]*(?:total number of events:[ \t]+[0-9]|read:[ \t]+IOPS=[0-9.]+ [0-9.]+ MiB/s \("
    rb"|\[ *[0-9.]{1,12} *s *\] ?(?:thds|threads): [0-9])",
    re.MULTILINE,
)
# The indentation, and neither a version nor a LuaJIT.
_REPORT_BEGINS = re.compile(
    r"([ \t]*)()()(?:\[ *[0-9.]+ *s *\] ?(?:thds|threads): |(?:SQL|General) statistics:)"
)
# With a bracket the JSON of a hook ends.
_CLOSING = re.compile(r".*[\]}]")
_WITH_A_LETTER = re.compile(r"[^\W\d_]")
_MAX_TITLE_LENGTH = 100

_BUILT_IN_TESTS = frozenset({"cpu", "memory", "fileio", "threads", "mutex"})
_FORCED = "forcing shutdown"
_READ_VERSIONS = ("0.4", "0.5", "1.")


def recognise(head: bytes) -> bool:
    return _BANNER_IN_HEAD.search(head) is not None or _REPORT_IN_HEAD.search(head) is not None


def parse(source: Source) -> ParsedReport:
    """Read every run of the file; where there are several, their keys are ``1``, ``2``, ...

    Raise FormatError where no run is complete. Of several runs an incomplete one is left out with a warning.
    """
    lines, warnings = whole_lines(source, closing=_CLOSING)
    warnings = warnings or missing_line_end(source)
    outputs = list(_outputs(lines, source.time_of))
    if not outputs:
        raise FormatError("no run of sysbench: neither its banner nor a report", line=len(source.lines))
    tests = [output for output in outputs if output.is_a_test] or outputs[:1]
    runs, intervals, notes = read_runs(tests, _run, lines)
    untitled = [output for output in tests if not (output.version or output.has_report_of_a_hook)]
    if len(untitled) > 1 and not any(run.heading or run.version for run in runs):
        titles = ", ".join(quoted(title) for title in dict.fromkeys(output.title for output in untitled))
        notes.append(
            f"{len(untitled)} reports without a banner: 'map' tells them apart by the text above them "
            f"({titles[:300]}); without it they are repetitions of one run"
        )
    if outputs[-1] not in tests and not outputs[-1].begins_with:
        notes.append(f"line {outputs[-1].line}: the file ends with a banner, and no run behind it")
    return ParsedReport(runs, intervals, _facts(tests), bounded(warnings + notes))


def _outputs(lines: Sequence[str], time_of: Callable[[int], str]) -> Iterator[SysbenchOutput]:
    """Yield the output of each sysbench. ``time_of`` gives the time before a line, by its number."""
    banners = [
        (index, banner)
        for index, line in enumerate(lines)
        if "sysbench " in line and (banner := _BANNER.fullmatch(plain_line(line)))
    ]
    stops = [*(index for index, _ in banners), len(lines)]
    begins: list[tuple[int, re.Match[str] | None]] = [(0, None), *banners]
    previous = 0
    for (begin, banner), stop in zip(begins, stops, strict=True):
        for output in _outputs_between(lines, begin, stop, banner):
            first_report = output.blocks[0].line - 1 if output.blocks else output.last_line
            above = lines[previous : begin if output.version else first_report]
            output.command, output.cpus = command_in(above), cpus_in(above)
            if output.version:
                output.stamp = time_of(output.begin)
            elif output.blocks and not (output.begun or output.command or output.has_report_of_a_hook):
                output.title = _title(above)
            yield output
            previous = output.blocks[-1].end if output.blocks else begin + 1


def _outputs_between(
    lines: Sequence[str], begin: int, stop: int, banner: re.Match[str] | None
) -> Iterator[SysbenchOutput]:
    """Yield the output behind a banner, if there is one, and one for each report that lost its banner."""
    whole = _sorted(lines, begin, stop, banner)
    ends = [block.end for block in whole.blocks]
    if len(ends) < 2 or whole.error or whole.checkpoints or (banner and not _has_text_between(whole, lines)):
        if banner or whole.is_a_test:
            yield whole
        return
    for start, end in zip([begin, *ends], [*ends[:-1], stop], strict=False):
        yield _sorted(lines, start, end, banner if start == begin else None)


def _sorted(lines: Sequence[str], begin: int, stop: int, banner: re.Match[str] | None) -> SysbenchOutput:
    first = banner or next(filter(None, map(_REPORT_BEGINS.match, lines[begin:stop])), None)
    indent, version, luajit = first.groups("") if first else ("", "", "")
    output = SysbenchOutput(begin + bool(banner), stop, indent, version, luajit)
    output.sort(lines[output.begin : stop])
    return output


def _has_text_between(output: SysbenchOutput, lines: Sequence[str]) -> bool:
    """Return whether something else than sysbench wrote between the first two reports."""
    first, second = output.blocks[:2]
    return not all(map(OF_SYSBENCH.match, lines[first.end : second.line - 1]))


def _title(above: Sequence[str]) -> str:
    """Return the last line of text above a report, without the marks of a heading."""
    texts = (line.strip(" \t#*=_|") for line in reversed(above) if not line.startswith("["))
    return next(filter(_WITH_A_LETTER.search, texts), "")[:_MAX_TITLE_LENGTH]


def _run(output: SysbenchOutput, key: str) -> Read:
    """Return the run of one output, its interval lines, and warnings.

    Raise FormatError where the test failed or its report is missing, not complete or impossible.
    """
    _refuse_failures(output)
    words = arguments(output.command) if output.command else []
    options = options_of(words)
    report = _report_of(output, options)
    readings = tuple(report.readings())
    metrics = [reading.metric for reading in readings]
    if repeated := next((metric for metric in metrics if metrics.count(metric) > 1), None):
        raise given_twice(repeated, output.line)
    counted = report.threads_of_events
    printed = _threads_of_header(output)
    of_command = [options.pop(name, None) for name in ("threads", "num-threads")]
    wanted = next((number for number in of_command if type(number) is int), None)
    notes = [*report.notes(), *_notes(output)]
    if reason := _is_of_another_run(words, wanted, report, printed or counted):
        notes.append(f"the command above the report was not used: {reason}")
        words, options, wanted, output.command = [], {}, None, ""
    if printed and counted and printed != counted:
        notes.append(f"the header says {printed} threads, and the events of each are those of {counted}")
    threads = printed or wanted or counted or output.interval_lines.threads
    if counted and not (printed or wanted):
        notes.append(f"no line says the threads; that there were {threads} follows from the events of each")
    if report.percentile is not None:
        options["percentile"] = report.percentile
    time = _time(output.stamp)
    if time and time.tzinfo is None:
        notes.append(f"the time {output.stamp!r} has no offset and counts as UTC (line {output.line})")
        time = time.replace(tzinfo=UTC)
    header = {
        name.replace("_", "-"): option(text) for name, (text, _) in output.header.items() if name != "threads"
    }
    run = ParsedRun(
        readings=readings,
        key=key,
        column=output.title or None,
        workload=workload_of(words) or report.test,
        threads=threads,
        started_at=time,
        duration_s=report.duration_s,
        command=mask_text(output.command).replace("'***'", "***"),
        options=options | header,
        lost=() if output.version or threads or output.has_report_of_a_hook else ("threads",),
    )
    if not (output.version or output.has_report_of_a_hook):
        notes.append(f"above the report in line {output.line} there is no banner of sysbench")
    tables = []
    if output.interval_lines:
        tables.append(Intervals(key, "sysbench", *output.interval_lines.table(report.percentile or 0)))
    if output.histogram:
        tables.append(Intervals(key, "histogram", ("latency_ms", "count"), tuple(output.histogram)))
    return run, tables, [*notes, *(() if output.checkpoints else contradictions(run, tables))]


def _report_of(output: SysbenchOutput, options: Mapping[str, Fact]) -> SysbenchReport | HookReport:
    """Return the report of the whole run or, after checkpoints, of the rest of it."""
    is_of_hook, blocks = output.has_report_of_a_hook, output.blocks
    # A hook is told of checkpoints as of intervals.
    checkpoints = 0 if is_of_hook else len(output.checkpoints)
    if len(blocks) <= checkpoints:
        raise FormatError(
            "no final report: sysbench was stopped, or the file is cut off after this line", output.last_line
        )
    if len(blocks) > checkpoints + 1:
        raise FormatError(
            "another report begins without a banner before it; send one run, or runs with their banners",
            blocks[checkpoints + 1].line,
        )
    if not is_of_hook:
        return SysbenchReport(output, blocks[-1])
    rank = output.interval_lines.rank or options.get("percentile")
    return HookReport(output, blocks[-1], rank if isinstance(rank, int) and 1 <= rank <= MAX_RANK else None)


def _refuse_failures(output: SysbenchOutput) -> None:
    if output.version and not output.version.startswith(_READ_VERSIONS):
        raise FormatError(
            f"sysbench {output.version} is not read, only 0.4, 0.5, 1.0 and 1.1 are", output.line
        )
    # After the one about a forced shutdown sysbench still reports.
    if failed := [(text, line) for text, line in output.fatal if _FORCED not in text]:
        words = "; ".join(dict.fromkeys(quoted(text) for text, _ in failed[:3]))
        raise FormatError(f"sysbench failed: {words}", failed[0][1])
    if error := output.error or output.disorder:
        raise error
    if not output.is_a_test:
        printed = f", only {quoted(output.begins_with)}" if output.begins_with else ""
        raise FormatError(
            f"no report of sysbench behind its banner{printed}; send all that a run of a test printed",
            output.last_line,
        )


def _threads_of_header(output: SysbenchOutput) -> int | None:
    """Return the threads that the tool printed."""
    if "threads" not in output.header:
        return None
    text, line = output.header["threads"]
    threads = number(text, line)
    if not (threads.is_integer() and 1 <= threads <= MAX_THREADS):
        raise FormatError(f"{text} is not a number of threads", line)
    return int(threads)


def _is_of_another_run(
    words: Sequence[str], wanted: int | None, report: SysbenchReport | HookReport, threads: int | None
) -> str:
    """Return in what a command contradicts the report below it, empty where it does not."""
    if wanted and threads and wanted != threads:
        return f"it asks for {wanted} threads, and there were {threads}"
    test, kind = workload_of(words), "queries" if report.runs_queries else report.test
    if test and kind and test != kind and not _BUILT_IN_TESTS.isdisjoint((test, kind)):
        return f"it runs {test}, and the report is one of {kind}"
    return ""


def _time(stamp: str) -> datetime | None:
    """Return the moment, where the stamp says which: ``Nov 20 15:31:13`` has no year."""
    if not stamp:
        return None
    text = stamp.strip("[]")
    try:
        if text.replace(".", "").isdecimal():
            return datetime.fromtimestamp(float(text), UTC)
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _notes(output: SysbenchOutput) -> Iterator[str]:
    """Yield the warnings that hold whoever printed the report."""
    for text, line in output.fatal:
        if _FORCED in text:
            yield f"sysbench was forced to stop before its transactions were done (line {line})"
    if output.interval_lines.strange:
        yield (
            f"{len(output.interval_lines.strange)} interval lines were not understood, "
            f"the first in line {output.interval_lines.strange[0]}"
        )


def _facts(outputs: Sequence[SysbenchOutput]) -> dict[str, Fact]:
    facts: dict[str, Fact] = {"tool": "sysbench"}
    if outputs[0].version:
        facts["tool_version"] = outputs[0].version
    if outputs[0].luajit:
        facts["luajit"] = outputs[0].luajit
    if len(cpus := {output.cpus for output in outputs if output.cpus}) == 1:
        facts["cpus"] = cpus.pop()
    return facts
