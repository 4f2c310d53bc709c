"""From what the lines of a table tell to runs: put together, numbered, and with keys of their own."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from ingest.formats.report import FormatError, ParsedRun

# So many rates with three decimals are no accident.
_MIN_RATES = 2
_IN_KEY = ("counterpart", "build", "configuration", "threads", "repetition")


@dataclass(frozen=True, slots=True)
class RunEntry:
    """What one line or one cell tells of a run, whose key is still empty.

    ``doubtful`` are metrics of the project's own whose numbers look like those of a setting: round and whole.
    """

    line: int
    run: ParsedRun
    doubtful: frozenset[str] = frozenset()


def distinct_runs(entries: Iterable[RunEntry]) -> tuple[ParsedRun, ...]:
    """Return the runs of the entries, each with a unique key.

    Runs that nothing tells apart are numbered as repetitions. Raise FormatError, with the line, where one
    repetition is given twice, and where runs differ only in what may be a setting.
    """
    numbered = _numbered(list(entries))
    lines: dict[str, int] = {}
    for entry, key in zip(numbered, _keys([entry.run for entry in numbered]), strict=True):
        if key in lines:
            raise FormatError(f"the run {key!r} is on line {lines[key]} already", entry.line)
        lines[key] = entry.line
    return tuple(replace(entry.run, key=key) for entry, key in zip(numbered, lines, strict=True))


def join_metrics(entries: Iterable[RunEntry]) -> list[RunEntry]:
    """Join entries of one reading each to entries of one run each.

    The second line of a metric belongs to the second repetition of its run.
    """
    times_seen: Counter[object] = Counter()
    runs: dict[object, RunEntry] = {}
    for entry in entries:
        named = (identity(entry.run), entry.run.repetition, entry.run.started_at)
        metric = entry.run.readings[0].metric
        run = (named, times_seen[named, metric])
        times_seen[named, metric] += 1
        if first := runs.get(run):
            readings = first.run.readings + entry.run.readings
            options = {**first.run.options, **entry.run.options}
            runs[run] = replace(first, run=replace(first.run, readings=readings, options=options))
        else:
            runs[run] = entry
    return list(runs.values())


def warnings_of_points(runs: Iterable[ParsedRun]) -> list[str]:
    """Return a warning where every rate is such as ``19.543``: a point may part thousands as well."""
    rates = [
        one.value for run in runs for one in run.readings if one.unit in ("1/s", "1/min") and not one.is_own
    ]
    exact = [round(rate * 1000) for rate in rates]
    has_three_decimals = any(thousandths % 10 for thousandths in exact)
    if len(rates) < _MIN_RATES or not has_three_decimals:
        return []
    if any(
        rate and (rate < 1 or rate >= 1000 or abs(rate * 1000 - whole) > 1e-6)
        for rate, whole in zip(rates, exact, strict=True)
    ):
        return []
    return [
        f"rates such as {rates[0]:.3f} are read with a decimal point; if it parts thousands, write {exact[0]}"
    ]


def _numbered(entries: Sequence[RunEntry]) -> list[RunEntry]:
    """Return the entries, numbered as repetitions where runs differ in nothing but their time."""
    alike: dict[object, list[RunEntry]] = defaultdict(list)
    for entry in entries:
        if entry.run.repetition is None:
            alike[identity(entry.run)].append(entry)
    repetitions = {
        id(entry): number for same in alike.values() if len(same) > 1 for number, entry in _repetitions(same)
    }
    return [
        replace(entry, run=replace(entry.run, repetition=repetitions.get(id(entry), entry.run.repetition)))
        for entry in entries
    ]


def _repetitions(same: Sequence[RunEntry]) -> Iterator[tuple[int, RunEntry]]:
    first = same[0]
    for number, entry in enumerate(same, start=1):
        different = [name for name in sorted(entry.doubtful) if _value(first, name) != _value(entry, name)]
        if different and entry.run.started_at is None:
            names = ", ".join(different)
            raise FormatError(
                f"differs from line {first.line} only in {names}: was it set or measured? Call the column "
                f"'configuration', or '{different[0]} [unit, lower]', or number the repetitions",
                entry.line,
            )
        yield number, entry


def _value(entry: RunEntry, metric: str) -> float | None:
    return next((reading.value for reading in entry.run.readings if reading.metric == metric), None)


# What names a run, apart from its repetition and its time.
identity = attrgetter(
    "workload", "column", "product", "version", "build", "configuration", "counterpart", "threads"
)


def _keys(runs: Sequence[ParsedRun]) -> list[str]:
    """Return ``DO 1/ConnectorJ-5.1`` for each run, with ``/threads=4`` where threads vary in the file."""
    varying = [name for name in _IN_KEY if len({getattr(run, name) for run in runs}) > 1]
    keys = [_key(run, varying) for run in runs]
    for further in (["product", "version"], ["started_at"]):
        if len(set(keys)) < len(keys):
            varying += [name for name in further if len({getattr(run, name) for run in runs}) > 1]
            keys = [_key(run, varying) for run in runs]
    return keys


def _key(run: ParsedRun, names: Sequence[str]) -> str:
    parts = [part for part in dict.fromkeys((run.workload, run.column)) if part]
    values = {name: getattr(run, name) for name in names}
    parts += [f"{name}={value}" for name, value in values.items() if value is not None]
    return "/".join(parts)
