"""From what the lines of a table tell to runs: put together, numbered, and with keys of their own."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from ingest.formats.report import FormatError, ParsedRun

_IN_KEY = ("counterpart", "build", "configuration", "threads", "repetition")


@dataclass(frozen=True, slots=True)
class RunEntry:
    """The facts of a run from one line or one cell; its key is still empty."""

    line: int
    run: ParsedRun


def distinct_runs(entries: Iterable[RunEntry]) -> tuple[ParsedRun, ...]:
    """Return the runs of the entries, each with a unique key.

    Runs that nothing tells apart are numbered as repetitions. Raise FormatError, with the line, where one
    repetition is given twice.
    """
    numbered = _numbered(list(entries))
    lines: dict[str, int] = {}
    for entry, key in zip(numbered, _keys([entry.run for entry in numbered]), strict=True):
        if key in lines:
            raise FormatError(f"the run {key!r} is on line {lines[key]} already", entry.line)
        lines[key] = entry.line
    return tuple(replace(entry.run, key=key) for entry, key in zip(numbered, lines, strict=True))


def join_metrics(entries: Iterable[RunEntry]) -> list[RunEntry]:
    """Join entries of one run that have different metrics.

    The second entry of a metric belongs to the second repetition of its run.
    """
    times_seen: defaultdict[object, int] = defaultdict(int)
    runs: dict[object, RunEntry] = {}
    for entry in entries:
        named = (identity(entry.run), entry.run.repetition, entry.run.started_at)
        metrics = [(named, reading.metric) for reading in entry.run.readings]
        number = max(times_seen[metric] for metric in metrics)
        times_seen.update(dict.fromkeys(metrics, number + 1))
        run = (named, number)
        if first := runs.get(run):
            readings = first.run.readings + entry.run.readings
            options = {**first.run.options, **entry.run.options}
            runs[run] = replace(first, run=replace(first.run, readings=readings, options=options))
        else:
            runs[run] = entry
    return list(runs.values())


def _numbered(entries: Sequence[RunEntry]) -> list[RunEntry]:
    """Return the entries, numbered as repetitions where runs differ in nothing but their time."""
    alike: dict[object, list[RunEntry]] = defaultdict(list)
    for entry in entries:
        if entry.run.repetition is None:
            alike[identity(entry.run)].append(entry)
    repetitions = {
        id(entry): number
        for same in alike.values()
        if len(same) > 1
        for number, entry in enumerate(same, start=1)
    }
    return [
        replace(entry, run=replace(entry.run, repetition=number))
        if (number := repetitions.get(id(entry)))
        else entry
        for entry in entries
    ]


# Facts that name a run, apart from its repetition and its time.
identity = attrgetter(
    *("workload", "column", "product", "version", "build", "commit", "configuration", "counterpart"),
    "threads",
)


def _keys(runs: Sequence[ParsedRun]) -> list[str]:
    """Return ``DO 1/ConnectorJ-5.1`` for each run, with ``/threads=4`` where threads vary in the file."""
    varying = [name for name in _IN_KEY if len({getattr(run, name) for run in runs}) > 1]
    keys = [_key(run, varying) for run in runs]
    for further in (["product", "version"], ["commit"], ["started_at"]):
        if len(set(keys)) < len(keys):
            varying += [name for name in further if len({getattr(run, name) for run in runs}) > 1]
            keys = [_key(run, varying) for run in runs]
    return keys


def _key(run: ParsedRun, names: Sequence[str]) -> str:
    parts = [part for part in dict.fromkeys((run.workload, run.column)) if part]
    values = {name: getattr(run, name) for name in names}
    parts += [f"{name}={value}" for name, value in values.items() if value is not None]
    return "/".join(parts)
