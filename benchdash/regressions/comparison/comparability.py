"""Differences between the columns of a comparison besides the version."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.contrib.postgres.aggregates import ArrayAgg

from benchdash.regressions.comparison.cells import ColumnKey, RowKey
from benchdash.regressions.comparison.columns import Column
from benchdash.regressions.comparison.rows import Row
from benchdash.regressions.comparison.run_commands import are_equally_long, data_size, seconds, told_length
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.regressions.comparison.verdict_words import (
    SESSIONS_TO_TELL,
    STARTS_ASSUMED,
    is_of_assumed_starts,
    says_nothing_between_sessions,
    session_count,
)
from benchdash.regressions.queries import Difference, differences, differing
from benchdash.results.models import Run
from benchdash.results.wording import some_of

_MAX_NAMED: Final = 4

_PLACE: Final[tuple[tuple[str, Callable[[Column], str]], ...]] = (
    ("hardware", lambda column: column.hardware),
    ("configurations", lambda column: column.configuration),
    ("counterparts", lambda column: column.counterpart or "none"),
    ("builds", lambda column: column.version.build or "plain"),
)


@dataclass(frozen=True)
class Doubt:
    """One reason why columns may not be compared as they stand; ``details`` where there is more to say."""

    text: str
    details: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class RunScale:
    """The size of the tables of a run, and the seconds that it was to last, as far as they are known."""

    size: Mapping[str, str]
    seconds: float | None

    @classmethod
    def of(cls, options: Mapping[str, Any], duration_s: float | None) -> "RunScale":
        return cls(data_size(options), seconds(options, duration_s))


def scales_of(runs: Collection[int]) -> dict[int, RunScale]:
    """Return the scales of runs by their ids; one statement."""
    # The runs of a project were told a handful of things, which are read once each.
    alike = Run.objects.filter(pk__in=runs).order_by().values_list("options")
    found = {}
    for options, ids, durations in alike.annotate(ids=ArrayAgg("pk"), took=ArrayAgg("duration_s")):
        size, (length, is_counted) = data_size(options), told_length(options)
        for pk, duration_s in zip(ids, durations, strict=True):
            found[pk] = RunScale(size, length if length or is_counted else duration_s)
    return found


@dataclass(frozen=True)
class ScaleDifferences:
    """Differences of runs in the sizes of their tables and in their durations, as far as these are known.

    Each difference has the names of the places where it was found.
    """

    sizes: dict[Difference, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    lengths: dict[Difference, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))

    def note(self, base: RunScale, other: RunScale, where: str, *, leaving_out: Collection[str] = ()) -> None:
        """Compare two runs; sizes of these names are left out."""
        known = base.size.keys() & other.size.keys() - set(leaving_out)
        for one in differing(*({name: side.size[name] for name in known} for side in (base, other))):
            self.sizes[one][where] = None
        if base.seconds and other.seconds and not are_equally_long(base.seconds, other.seconds):
            length = Difference("duration", f"{base.seconds:.3g} s", f"{other.seconds:.3g} s")
            self.lengths[length][where] = None

    @property
    def doubts(self) -> list[Doubt]:
        return [
            Doubt(
                f"Different {what}: {listed(map(str, found))}.",
                [f"{difference} ({listed(places)})" for difference, places in found.items()],
            )
            for what, found in (("sizes of tables", self.sizes), ("durations", self.lengths))
            if found
        ]


NewestRuns = Mapping[ColumnKey, Mapping[RowKey, int]]
"""The latest run of any metric, by column and row."""


def newest_runs(columns: Sequence[Column], rows: Iterable[tuple[RowKey, Sequence[Any]]]) -> NewestRuns:
    """Find the latest runs of columns in rows: keys, and for each column a cell with a ``run_id`` or None."""
    newest: dict[ColumnKey, dict[RowKey, int]] = {column.key: {} for column in columns}
    for key, cells in rows:
        for column, cell in zip(columns, cells, strict=True):
            if cell:
                of_column = newest[column.key]
                of_column[key] = max(cell.run_id, of_column.get(key, 0))
    return newest


def doubts(
    tables: Sequence[ComparisonTable[Column]],
    names: Sequence[tuple[Column, str]],
    base: Column,
    *,
    for_others: bool = False,
) -> list[Doubt]:
    """Say what makes the columns of these tables unlike each other; two statements.

    The tables have the same columns; ``names`` are what the page calls them. ``for_others`` than members,
    who see ratios alone: without settings, durations and facts of machines.
    """
    if for_others:
        places = different_places([column for column, _ in names])
        return [*places, *(single_sessions(tables, names).doubts if tables else [])]
    rows = [row for table in tables for row in table.rows]
    columns = [tables[0].base, *tables[0].columns] if tables else []
    newest = newest_runs(columns, ((row.key, row.sides) for row in rows))
    return [*doubts_of_runs(newest, names, base), *single_sessions(tables, names).doubts]


def doubts_of_runs(newest: NewestRuns, names: Sequence[tuple[Column, str]], base: Column) -> list[Doubt]:
    """Say in what else than the version the latest runs of columns differ; two statements."""
    runs = {column: rows for column, _ in names if (rows := newest.get(column.key))}
    of_base = runs.get(base, {})
    others = [(name, runs[column]) for column, name in names if column != base and column in runs]
    return [
        *different_places([column for column, _ in names]),
        *_different_scales(of_base, others),
        *_different_facts(of_base, others),
    ]


def different_places(columns: Sequence[Column]) -> list[Doubt]:
    found = ((what, list(dict.fromkeys(map(part, columns)))) for what, part in _PLACE)
    return [Doubt(f"Different {what}: {listed(values)}.") for what, values in found if len(values) > 1]


def row_words(key: RowKey) -> str:
    """Name a row: ``oltp_read_only, 4 threads``."""
    workload, threads = key
    return workload if threads is None else f"{workload}, {threads:,} thread{'' if threads == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class SingleSessions:
    """Values that one session alone carries where nothing tells how much sessions scatter.

    ``sides`` are the name of each side, the base first, how many of its values are so, and how many it has.
    ``blind`` of the ``compared`` pairs have nothing else on either side. ``subject`` is what is compared.
    ``assumed``: of some nobody said the start.
    """

    sides: Sequence[tuple[str, int, int]]
    blind: int
    compared: int
    subject: str = "version"
    assumed: bool = False

    @classmethod
    def of(cls, rows: Sequence[Row], names: Sequence[str], *, subject: str = "version") -> "SingleSessions":
        """``names`` are those of the base and then of the other columns."""
        values, alone = [0] * len(names), [0] * len(names)
        blind = compared = 0
        for row in rows:
            of_base = []
            for at, (cell, comparison) in enumerate(zip(row.cells, row.comparisons, strict=True), start=1):
                is_blind = True
                if row.base and cell and comparison and comparison.ratio is not None:
                    is_blind = says_nothing_between_sessions(comparison, row.base, cell)
                    compared, blind = compared + 1, blind + is_blind
                    of_base.append(is_blind)
                if cell:
                    values[at] += 1
                    alone[at] += is_blind and session_count(cell) == 1
            if row.base:
                values[0] += 1
                alone[0] += all(of_base) and session_count(row.base) == 1
        assumed = any(is_of_assumed_starts(one) for row in rows for one in row.comparisons)
        return cls(list(zip(names, alone, values, strict=True)), blind, compared, subject, assumed)

    @property
    def is_everything(self) -> bool:
        """Tell whether nothing can be judged."""
        return 0 < self.compared == self.blind

    @property
    def reason(self) -> str:
        """Say why nothing can be judged."""
        return f"what the machine did that hour cannot be told from what the {self.subject} does"

    @property
    def remedy(self) -> str:
        """Say what would change that; empty where ``doubts`` do."""
        if self.assumed:
            return ""
        wanted = [name for name, alone, _ in self.sides if alone]
        *first, last = wanted if len(wanted) <= _MAX_NAMED else ["each"]
        of = f"{', of '.join(first)} and of {last}" if first else last
        return f"{SESSIONS_TO_TELL - 1} more sessions of {of} would tell how much sessions scatter here."

    @property
    def headline(self) -> str:
        """Say both where nothing can be judged; else empty."""
        which = "Assumed starts" if self.assumed else "One session each"
        return f"{which}: {self.reason}. {self.remedy}".rstrip() if self.is_everything else ""

    @property
    def doubts(self) -> list[Doubt]:
        """Count the values, side by side."""
        if self.assumed:
            return [Doubt(STARTS_ASSUMED)]
        sides = [one for one in self.sides if one[1]] if self.blind else []
        if not sides:
            return []
        said = [f"{_part(alone, values)} of {name}" for name, alone, values in sides]
        if len(said) > _MAX_NAMED and all(alone == values for _, alone, values in self.sides):
            values = sum(values for *_, values in self.sides)
            said = [_part(values, values)]
        text = " and ".join(said) if len(said) < 3 else listed(said)
        text = f"{text[0].upper()}{text[1:]} are from one session{' each' if len(sides) > 1 else ''}"
        return [Doubt(f"{text}, and nothing tells how much sessions scatter here.")]


def _part(number: int, of: int) -> str:
    """``all 714 values``, ``98 of 714 values``, ``the value``."""
    if of == 1:
        return "the value"
    return f"all {of:,} values" if number == of else f"{number:,} of {of:,} values"


def single_sessions(
    tables: Sequence[ComparisonTable[Column]], names: Sequence[tuple[Column, str]]
) -> SingleSessions:
    """Find what rests on single sessions in tables of the same columns, by the ``names`` of these."""
    called = {column.key: name for column, name in names}
    columns = [tables[0].base, *tables[0].columns] if tables else []
    rows = [row for table in tables for row in table.rows]
    return SingleSessions.of(rows, [called[column.key] for column in columns])


def _different_scales(
    of_base: Mapping[RowKey, int], others: Sequence[tuple[str, Mapping[RowKey, int]]]
) -> list[Doubt]:
    """Compare row by row with the base, because workloads may be told differently."""
    scales = scales_of({run for rows in (of_base, *(rows for _, rows in others)) for run in rows.values()})
    found = ScaleDifferences()
    for name, rows in others:
        for key in sorted(rows.keys() & of_base.keys(), key=row_words):
            found.note(scales[of_base[key]], scales[rows[key]], f"{name}: {row_words(key)}")
    return found.doubts


def _different_facts(
    of_base: Mapping[RowKey, int], others: Sequence[tuple[str, Mapping[RowKey, int]]]
) -> list[Doubt]:
    """Compare settings and facts of the machine of the newest run of each column with those of the base."""
    base, *latest = [max(rows.values(), default=0) for rows in (of_base, *(rows for _, rows in others))]
    found = Run.objects.select_related("content", "environment").defer("content__text")
    runs = found.in_bulk([base, *latest])
    if base not in runs:
        return []
    by_difference: dict[Difference, list[str]] = defaultdict(list)
    for pk, (name, _) in zip(latest, others, strict=True):
        for difference in differences(runs[base], runs[pk]):
            by_difference[difference].append(name)
    if not by_difference:
        return []
    what = sorted({difference.name for difference in by_difference})
    details = [f"{difference} ({', '.join(of)})" for difference, of in by_difference.items()]
    return [Doubt(f"Different settings or environments: {listed(what)}.", details)]


def listed(names: Iterable[str]) -> str:
    """Join names, of configurations too, which may have commas in them: ``a; b; c; d and 3 more``."""
    return some_of(names, _MAX_NAMED, "; ")
