"""From what the lines of a table tell to runs: put together, numbered, and with keys of their own."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ingest.formats.report import Fact, FormatError, ParsedRun

# Options that are part of what was measured, and so differ between repetitions.
_MEASURED = frozenset({"count", "seconds", "duration"})

_IN_KEY = ("counterpart", "build", "configuration", "threads", "repetition")
_MOST_WARNINGS = 20


@dataclass(frozen=True, slots=True)
class Entry:
    """What one line or one cell tells of a run, whose key is still empty."""

    line: int
    run: ParsedRun


def distinct_runs(entries: Iterable[Entry]) -> tuple[ParsedRun, ...]:
    """The runs of the entries, each with a unique key.

    Runs that nothing tells apart are numbered as repetitions. Raises FormatError, with the line, where one
    repetition is given twice, and where runs differ only in an option that was not measured.
    """
    numbered = _numbered(list(entries))
    keys = _keys([entry.run for entry in numbered])
    lines: dict[str, int] = {}
    for entry, key in zip(numbered, keys, strict=True):
        if key in lines:
            raise FormatError(f"the run {key!r} is on line {lines[key]} already", entry.line)
        lines[key] = entry.line
    return tuple(replace(entry.run, key=key) for entry, key in zip(numbered, keys, strict=True))


def join_metrics(entries: Iterable[Entry]) -> list[Entry]:
    """Entries of one reading each, with those of one run put together.

    The second line of a metric belongs to the second repetition of its run.
    """
    times_seen: Counter[object] = Counter()
    runs: dict[object, Entry] = {}
    for entry in entries:
        identity = (_identity(entry.run), entry.run.repetition, entry.run.started_at)
        metric = entry.run.readings[0].metric
        run = (identity, times_seen[identity, metric])
        times_seen[identity, metric] += 1
        runs[run] = _joined(runs[run], entry) if run in runs else entry
    return list(runs.values())


def refuse_copies(rows: Iterable[tuple[int, object]]) -> None:
    """Raise FormatError where a line says exactly what another says: a copy would be counted twice."""
    seen: dict[object, int] = {}
    for line, content in rows:
        if content in seen:
            raise FormatError(f"the same as line {seen[content]}; a copy is not a second measurement", line)
        seen[content] = line


def shortened(warnings: Sequence[str]) -> tuple[str, ...]:
    """The first warnings, and how many more there are."""
    more = len(warnings) - _MOST_WARNINGS
    return tuple(warnings) if more <= 0 else (*warnings[:_MOST_WARNINGS], f"{more} more such warnings")


def _joined(first: Entry, second: Entry) -> Entry:
    readings = first.run.readings + second.run.readings
    options = {**first.run.options, **second.run.options}
    return Entry(first.line, replace(first.run, readings=readings, options=options))


def _numbered(entries: Sequence[Entry]) -> list[Entry]:
    """The entries, with numbers for repetitions where several runs differ in nothing but their time."""
    alike: dict[object, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.run.repetition is None:
            alike[_identity(entry.run)].append(entry)
    repetitions = {
        id(entry): number for same in alike.values() if len(same) > 1 for number, entry in _repetitions(same)
    }
    return [
        Entry(entry.line, replace(entry.run, repetition=repetitions[id(entry)]))
        if id(entry) in repetitions
        else entry
        for entry in entries
    ]


def _repetitions(same: Sequence[Entry]) -> Iterator[tuple[int, Entry]]:
    first = same[0]
    for number, entry in enumerate(same, start=1):
        different = _differences(first.run.options, entry.run.options)
        if different and entry.run.started_at is None:
            raise FormatError(
                f"differs from line {first.line} only in {', '.join(different)}, which is taken for neither "
                "a metric nor a name; rename the column, or number the repetitions",
                entry.line,
            )
        yield number, entry


def _differences(first: Mapping[str, Fact], second: Mapping[str, Fact]) -> list[str]:
    names = dict.fromkeys([*first, *second])
    return [
        name for name in names if name.casefold() not in _MEASURED and first.get(name) != second.get(name)
    ]


def _identity(run: ParsedRun) -> tuple[object, ...]:
    """All that names a run, but its number and its time."""
    return (
        run.workload,
        run.column,
        run.product,
        run.version,
        run.build,
        run.configuration,
        run.counterpart,
        run.threads,
    )


def _keys(runs: Sequence[ParsedRun]) -> list[str]:
    """``DO 1/ConnectorJ-5.1`` for each run, with what varies in the file: ``.../threads=4/repetition=2``."""
    varying = [name for name in _IN_KEY if len({getattr(run, name) for run in runs}) > 1]
    keys = [_key(run, varying) for run in runs]
    if len(set(keys)) < len(keys):
        keys = [_key(run, [*varying, "started_at"]) for run in runs]
    return keys


def _key(run: ParsedRun, names: Sequence[str]) -> str:
    parts = [part for part in dict.fromkeys((run.workload, run.column)) if part]
    values = {name: getattr(run, name) for name in names}
    parts += [f"{name}={value}" for name, value in values.items() if value is not None]
    return "/".join(parts)
