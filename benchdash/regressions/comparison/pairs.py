"""Two versions, or two runs, beside each other: every metric, and everything that is known to differ."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice

from benchdash.accounts.models import Project
from benchdash.regressions.comparison.cells import RowKey
from benchdash.regressions.comparison.columns import Column, column_of, names
from benchdash.regressions.comparison.comparability import (
    Doubt,
    RunScale,
    ScaleDifferences,
    SingleSessions,
    different_places,
    newest_runs,
    row_words,
)
from benchdash.regressions.comparison.rows import row_order
from benchdash.regressions.comparison.run_commands import COMMAND, told
from benchdash.regressions.comparison.table import ComparisonTable
from benchdash.regressions.comparison.version_table import compare_all_metrics, compare_runs
from benchdash.regressions.queries import Difference, differing
from benchdash.results.models import Run, run_identity

# Only the settings of longer texts are compared.
_MAX_LINES = 2000
# Runs before, and runs after, that are offered for comparison with one run.
_MAX_BESIDE = 8
_FACTS = ("environment", "configuration", "content")
_RUN_PARTS = ("project", "version__product", "hardware", "workload", *_FACTS)


@dataclass(frozen=True, slots=True)
class Side:
    """``newest`` has the latest run of each row. ``run`` where one is meant.

    ``runs`` says how many count and ``sessions`` in how many sessions they were made, 0 where nobody knows.
    """

    column: Column
    newest: Mapping[RowKey, Run]
    runs: int
    sessions: int = 0
    run: Run | None = None

    @property
    def latest(self) -> Run | None:
        return max(self.newest.values(), key=lambda run: run.pk, default=None)


@dataclass(frozen=True, slots=True)
class Known:
    """The differences between settings or facts of the latest runs; none where a side is not known."""

    differences: tuple[Difference, ...]
    base_is_known: bool
    other_is_known: bool

    @property
    def is_known(self) -> bool:
        return self.base_is_known and self.other_is_known


@dataclass(frozen=True, slots=True)
class Told:
    """A difference in what the tool was told, and in which rows; ``everywhere`` where in all."""

    difference: Difference
    rows: tuple[RowKey, ...]
    everywhere: bool


@dataclass(frozen=True, slots=True)
class Commands:
    """The command lines of a workload, of the latest runs at the first thread count where both are known."""

    row: RowKey
    base: str
    other: str


@dataclass(frozen=True, slots=True)
class Pair:
    """``tables`` has one for each metric, by name, with a single column: the other side.

    ``configuration_diff`` are the lines of a unified diff; empty where the texts are the same or not known.
    """

    base: Side
    other: Side
    tables: Sequence[ComparisonTable[Column]]
    settings: Known
    configuration_diff: Sequence[str]
    environment: Known
    hardware: Known
    told: Sequence[Told]
    commands: Sequence[Commands]
    doubts: Sequence[Doubt]


def pair_of_columns(
    project: Project,
    base: Column,
    other: Column,
    *,
    workloads: Sequence[str] = (),
    threads: Sequence[int | None] = (),
) -> Pair:
    """Lay two versions beside each other; at most three statements."""
    tables = compare_all_metrics(project, base=base, columns=[other], workloads=workloads, threads=threads)
    newest = newest_runs([base, other], ((row.key, row.sides) for table in tables for row in table.rows))
    runs = find_runs(project, (pk for rows in newest.values() for pk in rows.values()))
    of_base, of_other = (
        Side(
            column,
            {key: runs[pk] for key, pk in newest[column.key].items()},
            _count(tables, at),
            _count_sessions(tables, at),
        )
        for at, column in enumerate((base, other))
    )
    return _pair(of_base, of_other, tables)


def pair_of_runs(base: Run, other: Run) -> Pair:
    """Lay two runs, as ``find_runs`` gives them, beside each other; at most two statements."""
    row = base.workload.name, base.threads
    return _pair(
        Side(column_of(base), {row: base}, 1, 1, base),
        Side(column_of(other), {row: other}, 1, 1, other),
        compare_runs(base, other),
        _different_rows(base, other),
    )


def find_runs(project: Project, pks: Iterable[int]) -> dict[int, Run]:
    """Find runs of the project, with all that ``pair_of_runs`` wants of them; one statement."""
    return Run.objects.filter(project=project).select_related(*_RUN_PARTS).in_bulk(set(pks))


def runs_beside(run: Run) -> list[Run]:
    """List runs of the same workload and thread count, the one before it first; two statements."""
    alike = (
        Run.objects.filter(
            project=run.project_id, workload=run.workload_id, threads=run.threads, excluded_at=None
        )
        .exclude(pk=run.pk)
        .select_related(*_RUN_PARTS)
    )
    before = alike.filter(started_at__lte=run.started_at).order_by("-started_at", "-pk")
    after = alike.filter(started_at__gt=run.started_at).order_by("started_at", "pk")
    found = [*before[:_MAX_BESIDE], *after[:_MAX_BESIDE]]
    return sorted(found, key=lambda one: run_identity(one) != run_identity(run))


def side_names(pair: Pair) -> tuple[str, str]:
    """Name the sides: their versions with what else differs, and the numbers of single runs."""
    return _names(pair.base, pair.other)


def _names(*sides: Side) -> tuple[str, str]:
    base, other = (
        f"{name}, run {side.run.pk}" if side.run else name
        for name, side in zip(names([side.column for side in sides]), sides, strict=True)
    )
    return base, other


def _pair(
    base: Side, other: Side, tables: Sequence[ComparisonTable[Column]], doubts: Sequence[Doubt] = ()
) -> Pair:
    rows = [row for table in tables for row in table.rows]
    single = SingleSessions.of(rows, _names(base, other))
    return Pair(
        base=base,
        other=other,
        tables=tables,
        settings=_known(base, other, lambda run: run.content.settings if run.content else {}),
        configuration_diff=_text_diff(base.latest, other.latest),
        environment=_known(base, other, lambda run: run.environment.facts if run.environment else {}),
        hardware=_known(base, other, lambda run: run.hardware.facts),
        told=_told(base, other),
        commands=_commands(base, other),
        doubts=[
            *doubts,
            *different_places([base.column, other.column]),
            *_different_scales(base, other),
            *single.doubts,
        ],
    )


def _count(tables: Iterable[ComparisonTable[Column]], side: int) -> int:
    """Count the runs behind a side; of the metrics of one row, those of the metric that most have."""
    runs: dict[RowKey, int] = defaultdict(int)
    for table in tables:
        for row in table.rows:
            if cell := row.sides[side]:
                runs[row.key] = max(runs[row.key], cell.n)
    return sum(runs.values())


def _count_sessions(tables: Iterable[ComparisonTable[Column]], side: int) -> int:
    """Count the sessions behind a side, in which its rows were measured together."""
    cells = (cell for table in tables for row in table.rows if (cell := row.sides[side]))
    return len({session for cell in cells for session in cell.sessions})


# --- what differs -----------------------------------------------------------------------------------------


def _known(base: Side, other: Side, facts: Callable[[Run], Mapping[str, object]]) -> Known:
    of_base, of_other = (facts(side.latest) if side.latest else {} for side in (base, other))
    return Known(tuple(differing(of_base, of_other)), bool(of_base), bool(of_other))


def _text_diff(base: Run | None, other: Run | None) -> list[str]:
    texts = [(run.content.text if run and run.content else "").splitlines() for run in (base, other)]
    if not all(texts) or texts[0] == texts[1] or max(map(len, texts)) > _MAX_LINES:
        return []
    # The two lines before name files, which these have not.
    return list(islice(unified_diff(texts[0], texts[1], lineterm=""), 2, None))


def _both(base: Side, other: Side) -> list[tuple[RowKey, Run, Run]]:
    keys = sorted(base.newest.keys() & other.newest.keys(), key=row_order)
    return [(key, base.newest[key], other.newest[key]) for key in keys]


def _told(base: Side, other: Side) -> list[Told]:
    """Find what the tools were told differently, where both sides say something."""
    both = _both(base, other)
    found: dict[Difference, list[RowKey]] = defaultdict(list)
    for key, one, another in both:
        for difference in differing(told(one.options), told(another.options)):
            found[difference].append(key)
    return [Told(one, tuple(rows), everywhere=len(rows) == len(both)) for one, rows in found.items()]


def _commands(base: Side, other: Side) -> list[Commands]:
    found: dict[str, Commands] = {}
    for key, one, another in _both(base, other):
        commands = one.options.get(COMMAND), another.options.get(COMMAND)
        if all(commands):
            found.setdefault(key[0], Commands(key, str(commands[0]), str(commands[1])))
    return list(found.values())


def _different_scales(base: Side, other: Side) -> list[Doubt]:
    found = ScaleDifferences()
    for key, *runs in _both(base, other):
        one, another = (RunScale.of(run.options, run.duration_s) for run in runs)
        found.note(one, another, row_words(key))
    return found.doubts


def _different_rows(base: Run, other: Run) -> list[Doubt]:
    """Say where runs of different workloads or thread counts are laid side by side."""
    doubts = []
    if base.workload_id != other.workload_id:
        doubts.append(Doubt(f"Different workloads: {base.workload}; {other.workload}."))
    if base.threads != other.threads:
        counts = ("not said" if run.threads is None else f"{run.threads:,}" for run in (base, other))
        doubts.append(Doubt(f"Different thread counts: {'; '.join(counts)}."))
    return doubts
