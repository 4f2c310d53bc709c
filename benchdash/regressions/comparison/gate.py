"""May this commit be merged? Its runs against those of another group, metric by metric and place by place.

Every series is judged by its own history: how much it scatters when nothing changes is known from the groups
before, so that a single run of a commit says something.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from django.db.models import Exists, OuterRef, QuerySet

from benchdash.accounts.models import Project
from benchdash.regressions.comparison.cells import RowKey, cell_of
from benchdash.regressions.comparison.noise_floors import Floors, Levels, NoiseFloor
from benchdash.regressions.comparison.rows import Noise, Row, compared_rows
from benchdash.regressions.detection.shifts import find_shifts
from benchdash.regressions.options import Margins, equivalence_margin
from benchdash.regressions.watched_metrics import MetricRules, rules_of
from benchdash.results.models import Measurement, Run, Series
from benchdash.results.place import Place
from benchdash.results.points import Point, histories
from benchdash.results.queries import find_series
from benchdash.results.versions import COMMIT
from benchdash.results.workload_groups import Grouping, grouping_of

GateVerdict = Literal["pass", "fail", "unknown"]


_SETTLED: Final = frozenset({"better", "worse", "same"})


class GateError(Exception):
    """A commit or a base that names nothing, or more than one thing: ``candidates``."""

    def __init__(self, field: str, message: str, candidates: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.field = field
        self.message = message
        self.candidates = candidates


@dataclass(frozen=True, slots=True)
class GateRow:
    """One row of a comparison; ``series`` holds the runs of the commit."""

    series: Series
    row: Row


@dataclass(frozen=True, slots=True)
class Gate:
    """``more_sessions`` of each side would settle an unknown verdict; None where that cannot be said."""

    verdict: GateVerdict
    is_analysed: bool
    rows: tuple[GateRow, ...]
    more_sessions: int | None


@dataclass(frozen=True, slots=True)
class _Pair:
    """A group of the commit in one series, what it is held against, and what came before it."""

    series: Series
    group: Point
    base: Point | None
    before: Sequence[Point]


def decide(project: Project, *, product: str, branch: str, commit: str, base: str = "") -> Gate:
    """Compare a commit on a branch (``""``: of a release) with ``base``, a commit or a released version.

    Without a base every series is held against its previous group. A commit without runs is unknown.
    ``commit`` may be the beginning of one. Raises GateError.
    """
    stream = find_series(project, product=product, branch=branch)
    is_analysed = not stream.filter(touched__isnull=False).exists()
    full = _full_commit(stream, commit, field="commit")
    rules = rules_of(project.pk)
    pairs = _pairs(project, stream, rules, product=product, commit=full, base=base) if full else []
    rows = _rows(pairs, margins=Margins(equivalence_margin(project), rules), grouping=grouping_of(project))
    verdict = _verdict(rows)
    return Gate(
        verdict=verdict,
        is_analysed=is_analysed,
        rows=tuple(rows),
        more_sessions=_more_sessions(rows) if verdict == "unknown" else 0,
    )


def _full_commit(stream: QuerySet[Series], beginning: str, *, field: str) -> str | None:
    """Complete the beginning of a commit. Raises GateError where several begin so."""
    runs = Run.objects.filter(
        measurements__series__in=stream.order_by(), version__commit__startswith=beginning
    )
    commits = runs.order_by().values_list("version__commit", flat=True).distinct()
    found = sorted(commit for commit in commits if commit)
    if len(found) > 1:
        raise GateError(field, f"{len(found)} commits begin with {beginning!r}", found)
    return found[0] if found else None


def _pairs(
    project: Project,
    stream: QuerySet[Series],
    rules: MetricRules,
    *,
    product: str,
    commit: str,
    base: str,
) -> list[_Pair]:
    series = {one.pk: one for one in _measured(stream, rules, commit=commit)}
    points = histories(series)
    is_commit = COMMIT.fullmatch(base.lower())
    base_commit = _full_commit(stream, base.lower(), field="base") if is_commit else None
    released = {} if not base or base_commit else _released(project, rules, product=product, version=base)
    pairs = []
    for pk, one in series.items():
        at = max(index for index, point in enumerate(points[pk]) if point.commit == commit)
        earlier = [point for point in points[pk][:at] if point.commit != commit]
        if base_commit:
            against = next((point for point in reversed(points[pk]) if point.commit == base_commit), None)
        elif base:
            against = released.get(_what(one))
        else:
            against = earlier[-1] if earlier else None
        pairs.append(_Pair(one, points[pk][at], against, earlier))
    return pairs


def _measured(series: QuerySet[Series], rules: MetricRules, **version: str) -> list[Series]:
    """List the watched series in which such a version has runs that count, without derived ones."""
    of_version = {f"run__version__{name}": value for name, value in version.items()}
    measured = Measurement.objects.filter(series=OuterRef("pk"), run__excluded_at=None, **of_version)
    printed = series.filter(Exists(measured), is_derived=False)
    return list(printed.exclude(rules.unwatched()))


_What = tuple[Place, int, int | None, str]


def _what(series: Series) -> _What:
    """Return what the series of a branch and of a release share where they measure the same."""
    return Place.of(series).of_every_stream, series.workload_id, series.threads, series.metric


def _released(project: Project, rules: MetricRules, *, product: str, version: str) -> Mapping[_What, Point]:
    """Find the newest group of a release at every place. Raises GateError where there is none."""
    released = find_series(project, product=product, branch="")
    series = {one.pk: one for one in _measured(released, rules, version=version)}
    if not series:
        raise GateError("base", f"there is no run of {version!r}, neither as a commit nor as a release")
    return {
        _what(series[pk]): max(
            (point for point in points if point.version.version == version), key=lambda point: point.time
        )
        for pk, points in histories(series).items()
    }


# --- verdicts ---------------------------------------------------------------------------------------------


def _rows(pairs: Iterable[_Pair], *, margins: Margins, grouping: Grouping) -> list[GateRow]:
    """Compare in one table for each metric at each place, over which p is adjusted."""
    tables: dict[tuple[Place, str], dict[RowKey, _Pair]] = defaultdict(dict)
    for pair in pairs:
        one = pair.series
        tables[Place.of(one), one.metric][one.workload.name, one.threads] = pair
    rows: list[GateRow] = []
    for (_, metric), of_table in tables.items():
        bases = {key: cell_of(pair.base, pair.series) for key, pair in of_table.items() if pair.base}
        groups = {key: cell_of(pair.group, pair.series) for key, pair in of_table.items()}
        noise = {key: _floor(pair) for key, pair in of_table.items()}
        compared = compared_rows(
            bases,
            [groups],
            noise=_by_row(noise),
            margin=margins.of(metric, (cell.value for cell in bases.values())),
            group_of=grouping.of,
        )
        rows += [GateRow(of_table[row.key].series, row) for row in compared]
    return rows


def _by_row(floors: Mapping[RowKey, NoiseFloor | None]) -> Noise:
    return lambda pairs: Floors.of(floors[row] for row, _, _ in pairs.each())


def _floor(pair: _Pair) -> NoiseFloor | None:
    values = [point.value for point in pair.before]
    starts = {shift.index for shift in find_shifts(values)} if values else set()
    times = [point.time.timestamp() for point in (pair.group, pair.base) if point]
    return Levels.of(pair.before, starts).floor((min(times), max(times)))


def _verdict(rows: Sequence[GateRow]) -> GateVerdict:
    """Only a certain loss fails, and only what is certainly no loss passes: one session decides nothing."""
    verdicts = {comparison.verdict for one in rows for comparison in one.row.comparisons if comparison}
    if "worse" in verdicts:
        return "fail"
    return "pass" if verdicts and verdicts <= _SETTLED else "unknown"


def _more_sessions(rows: Sequence[GateRow]) -> int | None:
    wanted = [comparison.more_runs for one in rows for comparison in one.row.comparisons if comparison]
    return max((number for number in wanted if number), default=None)
