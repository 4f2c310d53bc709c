"""May this be merged, or released? A commit or release against another, by metric and place.

Every row is judged by the history of its series, or where that has none, by that of the base: how much it
scatters when nothing changes is known from the groups before, so that a single run says something. The
base of a branch is the level of its newest groups. A row that is certainly worse fails, and what passes
excludes a loss.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from itertools import pairwise
from math import log
from statistics import fmean, median
from typing import Any, Final, Literal

import numpy as np
from django.conf import settings
from django.db.models import Exists, OuterRef, Q

from benchdash.accounts.models import Project
from benchdash.regressions.comparison.cells import (
    Cell,
    RowKey,
    SeriesRow,
    Span,
    What,
    cells_of_runs,
    with_controls,
)
from benchdash.regressions.comparison.gate_sides import GateError, GateSide, GateSides, Question, find_sides
from benchdash.regressions.comparison.noise_floors import Levels, NoiseFloors
from benchdash.regressions.comparison.rows import Row
from benchdash.regressions.comparison.table import SideCells, SidesReading
from benchdash.regressions.comparison.verdicts import of_cell
from benchdash.regressions.detection.compare import UNTESTED_BASES, Comparison
from benchdash.regressions.detection.excluded_losses import (
    MAX_SESSIONS,
    Logs,
    LossEvidence,
    RowSessions,
    evidence_of_rows,
    mean_of,
)
from benchdash.regressions.detection.level_scatter import MIN_WORTH
from benchdash.regressions.detection.noise import MIN_SD
from benchdash.regressions.detection.paired_sessions import MIN_SESSIONS
from benchdash.regressions.detection.shifts import find_shifts
from benchdash.regressions.models import FailingPlace
from benchdash.regressions.options import GateMargins, Margins, equivalence_margin, gate_margins
from benchdash.regressions.release_lines import line_before
from benchdash.regressions.watched_metrics import MetricRules, rules_of
from benchdash.results.controls import control_build, is_control
from benchdash.results.models import Measurement, Run, Series
from benchdash.results.place import Place
from benchdash.results.points import Point, first_known, histories, order_of
from benchdash.results.queries import find_series
from benchdash.results.readings import LOWER
from benchdash.results.sessions import counting, number_apart
from benchdash.results.wording import some_of
from benchdash.results.workload_groups import Grouping, grouping_of

__all__ = ["Gate", "GateError", "GateRow", "GateVerdict", "Question", "decide"]

GateVerdict = Literal["pass", "fail", "unknown"]

_MAX_NAMED: Final = 3
_SETTLED: Final = frozenset({"better", "same"})

MAX_LEVEL: Final = 20
"""Groups of a branch before a step, the newest ones, whose level is the base."""

MAX_P_OF_LEVEL: Final = 0.01
"""Against a level, which is known well, moods of a machine stand out, too: a row fails below this p."""

_MAX_HISTORY: Final = 36  # of groups that tell of the noise


@dataclass(frozen=True, slots=True)
class GateRow:
    """One row of a comparison; ``series`` holds the runs of what is asked about.

    ``is_of_machine``: the control that was measured beside it is worse, too, and what is lost beyond that
    is not certain. The verdict of the row is then unknown, for it may be the machine that changed.
    ``evidence`` says which loss is excluded, and passes where that is ``margin``; None where nothing tells.
    """

    series: Series
    row: Row
    is_of_machine: bool = False
    margin: float = 0.0
    evidence: LossEvidence | None = None

    @property
    def bound(self) -> float | None:
        """The relative change of speed that is excluded, as all below it is."""
        return self.evidence.bound if self.evidence else None

    @property
    def passes(self) -> bool:
        """Tell whether a loss is excluded; counts are judged by their verdict alone."""
        return self.verdict in _SETTLED if self.bound is None else self.bound > -self.margin

    @property
    def verdict(self) -> str:
        """Empty where there is nothing to compare with."""
        return of_cell(self.row.comparisons[0])


@dataclass(frozen=True, slots=True)
class Gate:
    """``evidence`` is that of the mean of the rows, and ``nights`` are groups in the level of a base.

    ``wanted_sessions`` more would settle an unknown verdict, one above MAX_SESSIONS for all above; None where
    that cannot be said. ``missing`` are series that the base has and the other side lacks, at places where it
    was measured.
    ``unmeasured`` are workloads that were asked for and that neither side has.
    ``bases`` name what it was held against. ``set_aside`` counts the places whose analysis fails.
    """

    sides: GateSides
    verdict: GateVerdict
    is_analysed: bool
    rows: tuple[GateRow, ...]
    missing: tuple[Series, ...]
    unmeasured: tuple[str, ...]
    bases: tuple[str, ...]
    margins: GateMargins
    evidence: LossEvidence | None
    nights: int
    excludes_losses: bool
    wanted_sessions: int | None
    set_aside: int = 0

    @property
    def more_sessions(self) -> int | None:
        """How many more sessions would settle it, where somebody would measure as many."""
        wanted = self.wanted_sessions
        return wanted if wanted is not None and wanted <= MAX_SESSIONS else None

    @property
    def bounds(self) -> dict[str, float | None]:
        """The relative changes of speed that are excluded, of any row and of the mean."""
        of_rows = [one.bound for one in self.rows if one.bound is not None]
        return {"row": min(of_rows, default=None), "mean": self.evidence.bound if self.evidence else None}

    def while_waiting(self) -> "Gate":
        """Return the same where results are still to be read, which may make it worse."""
        verdict: GateVerdict = "unknown" if self.verdict == "pass" else self.verdict
        return replace(self, is_analysed=False, verdict=verdict)


def _what(series: Series) -> What:
    """Return what series of several branches and lines share where they measure the same."""
    return Place.of(series).of_every_stream, series.metric, (series.workload.name, series.threads)


@dataclass(frozen=True, slots=True)
class _Pair:
    """The subject in one series, its base, and the history that tells its noise."""

    series: Series
    group: Point
    base: Point | None
    base_series: Series | None
    before: Sequence[Point]
    of_base: Sequence[Point]
    levels: Sequence[Sequence[Point]] = ()

    @property
    def level(self) -> Sequence[Point]:
        """The newest groups of the base that lie at one level, where it is a branch with a history."""
        return self.levels[-1][-MAX_LEVEL:] if self.levels else ()


@dataclass(frozen=True, slots=True)
class _Found:
    """``unplaced`` names versions of which nobody knows whether they come before the subject."""

    pairs: Sequence[_Pair] = ()
    missing: Sequence[Series] = ()
    controls: Sequence[Series] = ()
    unplaced: Sequence[str] = ()


def decide(project: Project, question: Question) -> Gate:
    """Answer a question, in a constant number of statements. Raises GateError."""
    sides = find_sides(project, question)
    found, is_analysed, set_aside = _Found(), True, 0
    if sides.product:
        rules = rules_of(project.pk)
        found = _found(project, sides, rules, question.workloads)
        streams = {sides.subject.branch, *([sides.base.branch] if sides.base else ())}
        of_streams = Series.objects.filter(project=project, product=sides.product, branch__in=streams)
        is_analysed = not of_streams.filter(touched__isnull=False).exists()
        if not is_analysed:
            failing = FailingPlace.objects.filter(product=sides.product, branch__in=streams)
            set_aside = failing.exclude(set_aside_at=None).count()
    rows, mean, allowed = list[GateRow](), None, gate_margins(project)
    pairs: Sequence[_Pair] = ()
    if found.pairs:
        margins = Margins(equivalence_margin(project), rules)
        reading = _reading(found, margins)
        pairs = [_without_level(pair, reading) if pair.level else pair for pair in found.pairs]
        rows = _rows(pairs, reading, allowed=allowed, grouping=grouping_of(project))
        rows, mean = _with_evidence(rows, {pair.series.pk: pair for pair in pairs})
    measured = {one.workload.name for one in (*(pair.series for pair in found.pairs), *found.missing)}
    unmeasured = tuple(name for name in dict.fromkeys(question.workloads) if name not in measured)
    if found.unplaced:
        sides = replace(sides, base_trouble=_without_order(found.unplaced))
    lacking = (*found.missing, *unmeasured, *filter(None, [sides.base_trouble]))
    excludes_losses = all(one.passes for one in rows if one.verdict)
    excludes_losses &= mean is None or mean.bound > -allowed.mean
    verdict = _verdict(rows, excludes_losses=excludes_losses, lacking=lacking)
    return Gate(
        sides=sides,
        verdict=verdict,
        is_analysed=is_analysed,
        rows=tuple(rows),
        missing=tuple(found.missing),
        unmeasured=unmeasured,
        bases=_base_names(sides, found.pairs),
        margins=allowed,
        evidence=mean,
        nights=max((len(pair.level) for pair in pairs), default=0),
        excludes_losses=excludes_losses,
        wanted_sessions=_wanted_sessions(rows, mean, allowed) if verdict == "unknown" else 0,
        set_aside=set_aside,
    )


def _without_order(names: Sequence[str]) -> str:
    return (
        f"nobody said how {some_of(names, _MAX_NAMED)} and the other releases follow each other: say on the"
        " page Versions by which number each sorts or when it was released, or ask with base"
    )


def _base_names(sides: GateSides, pairs: Iterable[_Pair]) -> tuple[str, ...]:
    branch = sides.base.branch if sides.base else sides.subject.branch
    points = {pair.base.position: pair.base for pair in pairs if pair.base}
    newest_first = sorted(points.values(), key=lambda point: order_of(point, branch), reverse=True)
    return tuple(dict.fromkeys(_side_of(point, branch).name for point in newest_first))


def _side_of(point: Point, branch: str) -> GateSide:
    if not branch:
        return GateSide(version=point.version.version)
    return GateSide(branch=branch, commit=point.commit or "")


# --- what is held against what ------------------------------------------------------------------------------


def _found(project: Project, sides: GateSides, rules: MetricRules, workloads: Sequence[str]) -> _Found:
    subject, base = sides.subject, sides.base
    series = find_series(project, branch=None).filter(product=sides.product, is_derived=False)
    series = series.exclude(rules.unwatched())
    if workloads:
        series = series.filter(workload__name__in=workloads)
    measured = [one for one in _measured(series, subject) if not is_control(one.build)]
    if not measured:
        return _Found()
    places = {Place.of(one).of_every_stream for one in measured}
    beside = [
        one
        for one in _at(series, places, {subject.branch, *([base.branch] if base else ())})
        if Place.of(one).of_every_stream in places or is_control(one.build)
    ]
    watched = [one for one in beside if not is_control(one.build)]
    lines = {Place.of(one) for one in measured}
    own = [one for one in watched if Place.of(one) in lines]
    others = _others(project, watched, lines, sides)
    # Read once: a series may be of both.
    points: Mapping[int, Sequence[Point]] = histories({one.pk: one for one in (*own, *others)})
    unplaced: Sequence[str] = ()
    if not base and not subject.branch:
        points, unplaced = _in_order(own, points, _membership(subject))
    pairs, missing = _matched(own, others, points, sides)
    return _Found(pairs, missing, [one for one in beside if is_control(one.build)], unplaced)


def _in_order(
    own: Sequence[Series], points: Mapping[int, Sequence[Point]], is_subject: Callable[[Point], bool]
) -> tuple[Mapping[int, Sequence[Point]], Sequence[str]]:
    """Leave out releases that are not known to come before the subject, or after it.

    Return with the points the names of versions that may come before it where nothing else does; or its own.
    """
    kept, unplaced = dict(points), dict[str, None]()
    for one in own:
        found = points[one.pk]
        first = first_known((point.version for point in found), "")
        kept[one.pk] = found[first:]
        before = found[:first]
        if of_subject := [point for point in before if is_subject(point)]:
            kept[one.pk], before = of_subject, of_subject
        elif not any(map(is_subject, found[first : first + 1])):
            continue
        unplaced |= {point.version.version: None for point in before}
    return kept, list(unplaced)


def _measured(series: Any, side: GateSide) -> list[Series]:
    """List the series in which a side has runs that count."""
    of_side: dict[str, str] = {}
    if side.commit:
        of_side["run__version__commit"] = side.commit
    if side.version:
        of_side["run__version__version"] = side.version
    measured = Measurement.objects.filter(series=OuterRef("pk"), run__excluded_at=None, **of_side)
    return list(series.filter(Exists(measured), branch=side.branch))


def _at(series: Any, places: Collection[Place], branches: Collection[str]) -> list[Series]:
    """List the series of these streams at places, and of the controls beside them on whatever stream."""
    anywhere = Q()
    for place in places:
        at = {
            name: value for name, value in place._asdict().items() if name not in ("branch", "line", "build")
        }
        of_streams = Q(build=place.build, branch__in=branches)
        anywhere |= Q(of_streams | Q(build=control_build(place.build)), **at)
    return list(series.filter(anywhere))


def _others(
    project: Project, watched: Sequence[Series], lines: Collection[Place], sides: GateSides
) -> list[Series]:
    """Return the series of the base, where that is not the group before in the same series.

    Of a release without a base it is the line before, at each place.
    """
    if sides.base:
        return [one for one in watched if one.branch == sides.base.branch]
    if sides.subject.branch or sides.base_trouble:
        return []
    at_place: dict[Place, set[str]] = defaultdict(set)
    for one in watched:
        at_place[Place.of(one).of_every_stream].add(one.line)
    before = {
        line._replace(line=earlier)
        for line in lines
        if (earlier := line_before(line.line, at_place[line.of_every_stream], project))
    }
    return [one for one in watched if Place.of(one) in before]


def _matched(
    own: Sequence[Series], others: Sequence[Series], points: Mapping[int, Sequence[Point]], sides: GateSides
) -> tuple[list[_Pair], list[Series]]:
    """Pair what was measured of the subject with its base, and list what only the base has."""
    subject, branch = sides.subject, sides.subject.branch
    is_subject = _membership(subject)
    groups = {one.pk: max(found) for one in own if (found := _indexes(points[one.pk], is_subject))}
    begins: dict[Place, Any] = {}
    for one in own:
        if one.pk in groups:
            order = order_of(points[one.pk][groups[one.pk]], branch)
            at = Place.of(one).of_every_stream
            begins[at] = min(order, begins.get(at, order))
    before: dict[int, list[Point]] = {}
    for one in own:
        until = points[one.pk][: groups[one.pk]] if one.pk in groups else points[one.pk]
        limit = begins.get(Place.of(one).of_every_stream)
        before[one.pk] = [
            point
            for point in until
            if not is_subject(point)
            and (one.pk in groups or limit is None or order_of(point, branch) < limit)
        ]
    held = _bases(own, others, points, before, sides, is_subject)
    pairs = []
    for one in own:
        if one.pk in groups:
            against, base = held.get(_what(one), (None, None))
            history = [p for p in points[against.pk] if not is_subject(p)] if against else []
            group = points[one.pk][groups[one.pk]]
            levels = _levels(base, history) if against and against.branch else ()
            pairs.append(_Pair(one, group, base, against, before[one.pk], history, levels))
    return pairs, _missing({_what(pair.series) for pair in pairs}, held, sides)


_Bases = Mapping[What, tuple[Series, Point]]


def _bases(
    own: Sequence[Series],
    others: Sequence[Series],
    points: Mapping[int, Sequence[Point]],
    before: Mapping[int, Sequence[Point]],
    sides: GateSides,
    is_subject: Callable[[Point], bool],
) -> _Bases:
    """Return the series and the group that everything is held against."""
    if sides.base_trouble:
        return {}
    found: dict[What, tuple[Series, Point]] = {}
    if sides.base:
        is_base = _membership(sides.base)
        for one in others:
            fitting = [point for point in points[one.pk] if is_base(point) and not is_subject(point)]
            if fitting:
                found[_what(one)] = one, fitting[-1]
        return found
    starts_line = {
        place
        for place in {Place.of(one).of_every_stream for one in own}
        if not any(before[one.pk] for one in own if Place.of(one).of_every_stream == place)
    }
    for one in others:
        if Place.of(one).of_every_stream in starts_line and points[one.pk]:
            found[_what(one)] = one, points[one.pk][-1]
    for one in own:
        if before[one.pk]:
            found[_what(one)] = one, before[one.pk][-1]
    return found


def _missing(measured: Collection[What], held: _Bases, sides: GateSides) -> list[Series]:
    """List the series of the newest group at each place of the base that were not measured of the subject."""
    branch = sides.base.branch if sides.base else sides.subject.branch
    newest: dict[Place, Point] = {}
    for (place, *_), (_, point) in held.items():
        if place not in newest or order_of(point, branch) > order_of(newest[place], branch):
            newest[place] = point
    return [
        series
        for what, (series, point) in held.items()
        if what not in measured and _group_of(point, branch) == _group_of(newest[what[0]], branch)
    ]


def _group_of(point: Point, branch: str) -> Any:
    """Return what tells a group from others, whatever the content of the configuration was."""
    return (point.commit or point.time.astimezone(UTC).date()) if branch else point.version.pk


def _membership(side: GateSide) -> Callable[[Point], bool]:
    if side.commit:
        return lambda point: point.commit == side.commit
    if side.version:
        return lambda point: point.version.version == side.version
    return lambda _: True


def _indexes(points: Sequence[Point], is_wanted: Callable[[Point], bool]) -> list[int]:
    return [index for index, point in enumerate(points) if is_wanted(point)]


# --- verdicts ---------------------------------------------------------------------------------------------


_BASE: Final = "base"
_SUBJECT: Final = "subject"


def _rows(
    pairs: Iterable[_Pair], reading: SidesReading, *, allowed: GateMargins, grouping: Grouping
) -> list[GateRow]:
    """Compare in one table for each metric at each place, over which p is adjusted."""
    tables: dict[tuple[Place, str], dict[RowKey, _Pair]] = defaultdict(dict)
    for pair in pairs:
        place, metric, key = _what(pair.series)
        tables[place, metric][key] = pair
    rows: list[GateRow] = []
    for (place, metric), of_table in tables.items():
        subject = reading.of_column(metric, (place, _SUBJECT))
        newest = reading.of_column(metric, (place, _BASE))
        base = {key: _base_cell(of_table[key], cell) for key, cell in newest.items()}
        margin = reading.margins.of(metric, (cell.value for cell in base.values()))
        table = reading.table(
            metric,
            [SideCells(_BASE, base, place=place), SideCells(_SUBJECT, subject, place=place)],
            # A level has no times of its own.
            noise=reading.floors.between([newest, subject], [None, None]) if reading.floors else None,
            margin=margin,
            grouping=grouping,
        )
        control = reading.control(metric, place)
        for row in table.rows if table else ():
            judged = _judged(of_table[row.key], row, control.get(row.key), margin)
            rows.append(replace(judged, margin=max(allowed.row, margin)))
    return rows


def _levels(base: Point | None, history: Sequence[Point]) -> Sequence[Sequence[Point]]:
    """Split the groups up to a base where the level changes; nothing where they tell too little of the noise.

    A base that is no newer than a step is a level of its own.
    """
    if base is None:
        return ()
    at = next(at for at, point in enumerate(history) if point.position == base.position)
    alike = [point for point in history[: at + 1] if point.content_id == base.content_id]
    points = alike[-_MAX_HISTORY:]
    counts = counting([point.received_at for point in points], of_branch=True).tolist()
    points = [point for point, does_count in zip(points, counts, strict=True) if does_count]
    if not points or min(min(point.values) for point in points) <= 0:
        return ()
    starts = [0, *(shift.index for shift in find_shifts([point.value for point in points]))]
    apart = number_apart([point.time.timestamp() for point in points], settings.SESSION_GAP_S)
    if apart - len(starts) < MIN_WORTH:
        return ()
    return [points[begin:end] for begin, end in pairwise([*starts, len(points)])]


def _without_level(pair: _Pair, reading: SidesReading) -> _Pair:
    """Hold a group against the base alone where both were measured in the same sessions."""
    place, metric, row = _what(pair.series)
    group, base = (reading.of_column(metric, (place, side))[row] for side in (_SUBJECT, _BASE))
    shared = {session for _, session in _near(base, group.spans)}
    return replace(pair, levels=()) if len(shared) >= MIN_SESSIONS else pair


def _base_cell(pair: _Pair, cell: Cell) -> Cell:
    """Return the level of the base for a cell, where it is the level of a branch."""
    if not pair.level:
        return cell
    values = tuple(value for point in pair.level for value in point.values)
    return cell._replace(
        value=median(point.value for point in pair.level),
        n=len(values),
        values=values,
        tool_interval=None,
        # A name may come back in another night.
        sessions=tuple(f"{at} {name}" for at, point in enumerate(pair.level) for name in point.sessions),
        forks=(),
        spans=(),
    )


def _judged(pair: _Pair, row: Row, control: Cell | None, margin: float) -> GateRow:
    """Take back that a row is worse where that is not certain.

    So it is where the control of the same sessions is worse, too, and no certain loss is left beyond it.
    A control scatters as well: in a slow hour it loses somewhat more or somewhat less than what is tested.
    So the interval of the row has to lie beyond the loss of the control, and not its middle alone.
    """
    [comparison] = row.comparisons
    [group] = row.cells
    if not (comparison and comparison.verdict == "worse" and comparison.ratio):
        return GateRow(pair.series, row)
    unsettled = comparison._replace(verdict="unknown", more_runs=None)
    if pair.level and (comparison.p or 0) >= MAX_P_OF_LEVEL:
        return GateRow(pair.series, replace(row, comparisons=(unsettled,)))
    if not control:
        return GateRow(pair.series, row)
    starts = [point.time.timestamp() for point in pair.level]
    of_base = [(start, start) for start in starts] or (row.base.spans if row.base else ())
    before, after = _beside(control, of_base), _beside(control, group.spans if group else ())
    if not before or not after:
        return GateRow(pair.series, row)
    is_lower = row.direction == LOWER
    nearest = (comparison.low if is_lower else comparison.high) or comparison.ratio
    of_control, middle, end = (
        1 / ratio if is_lower else ratio for ratio in (after / before, comparison.ratio, nearest)
    )
    if of_control >= 1 or (middle / of_control < 1 - margin and end / of_control < 1):
        return GateRow(pair.series, row)
    return GateRow(pair.series, replace(row, comparisons=(unsettled,)), is_of_machine=True)


def _beside(control: Cell, spans: Sequence[Span]) -> float | None:
    """Return the level of a control in sessions; None where it was not measured beside them."""
    near = [value for value, _ in _near(control, spans)]
    return median(near) or None if near else None


def _near(cell: Cell, spans: Sequence[Span]) -> list[tuple[float, str]]:
    """Return the values of a cell, with their sessions, that were measured around these times."""
    gap = settings.SESSION_GAP_S
    return [
        (value, session)
        for value, session, span in zip(cell.values, cell.sessions, cell.spans, strict=True)
        if any(span[1] >= began - gap and span[0] <= ended + gap for began, ended in spans)
    ]


def _row_of(series: Series) -> SeriesRow:
    values = {name: getattr(series, name) for name in SeriesRow._fields if name != "workload"}
    return SeriesRow(**values, workload=series.workload.name)


def _reading(found: _Found, margins: Margins) -> SidesReading:
    """Make the cells of both sides at each place as every comparison does, and those of controls beside.

    Their noise is what the groups before a subject tell, or else those of its base; two statements at most.
    """
    side_of: dict[tuple[int, int], str] = {}
    series = {one.pk: _row_of(one) for one in found.controls}
    for pair in found.pairs:
        sides = [(_SUBJECT, pair.series, pair.group), (_BASE, pair.base_series, pair.base)]
        for side, one, point in sides:
            if one and point:
                series[one.pk] = _row_of(one)
                side_of |= {(one.pk, run): side for run in point.run_ids}

    def placed(run: int, one: SeriesRow) -> tuple[Hashable, RowKey] | None:
        side = side_of.get((one.pk, run))
        return ((one.place, side), one.row) if side else None

    points = [point for pair in found.pairs for point in (pair.group, pair.base, *pair.level) if point]
    own, since = Q(pk__in={run for _, run in side_of}), min(point.time for point in points)
    runs = with_controls(Run.objects.filter(excluded_at=None), own, series.values(), since=since)
    cells = cells_of_runs(runs, list(series.values()), placed)
    return SidesReading(cells, _floors(found.pairs), margins)


def _floors(pairs: Iterable[_Pair]) -> NoiseFloors:
    what_of: dict[int, What] = {}
    before: dict[What, list[Levels]] = {}
    of_base: dict[What, list[Levels]] = {}
    for pair in pairs:
        what = _what(pair.series)
        for told, one, history in (
            (before, pair.series, pair.before),
            (of_base, pair.base_series, pair.of_base),
        ):
            if one:
                what_of[one.pk] = what
                starts = {shift.index for shift in find_shifts([point.value for point in history])}
                told[what] = [Levels.of(history, starts, of_branch=bool(one.branch))]
    return NoiseFloors.of(what_of, before, of_base)


# --- which loss is excluded ---------------------------------------------------------------------------------


def _with_evidence(
    rows: Sequence[GateRow], pairs: Mapping[int, _Pair]
) -> tuple[list[GateRow], LossEvidence | None]:
    """Return the rows with the evidence of each, and that of the mean of all that have any."""
    told: dict[int, LossEvidence] = {}
    parts: list[tuple[int, LossEvidence]] = []
    of_place: dict[Place, dict[int, RowSessions]] = defaultdict(dict)
    for one in rows:
        pair = pairs[one.series.pk]
        [comparison], [cell] = one.row.comparisons, one.row.cells
        if one.is_of_machine or not comparison or not cell or not one.row.base:
            continue
        if sessions := _row_sessions(pair, one.row, cell, comparison):
            of_place[Place.of(one.series).of_every_stream][one.series.pk] = sessions
        elif evidence := _evidence_of(comparison, one.row, cell, one.row.base):
            told[one.series.pk] = evidence
            parts.append((1, evidence))
    for of_rows in of_place.values():
        found, mean = evidence_of_rows(list(of_rows.values()))
        told |= zip(of_rows, found, strict=True)
        parts.append((len(of_rows), mean))
    judged = [replace(one, evidence=told.get(one.series.pk)) for one in rows]
    return judged, mean_of(parts) if parts else None


def _row_sessions(pair: _Pair, row: Row, cell: Cell, comparison: Comparison) -> RowSessions | None:
    """Return the sessions of a row whose base is the level of a branch; None for any other."""
    if not pair.level or comparison.basis not in ("history", "sessions") or min(pair.group.values) <= 0:
        return None
    from benchdash.regressions.detection import kernel  # noqa: PLC0415 - a page that compares needs no compiler

    sign = -1 if row.direction == LOWER else 1
    *others, last = pair.levels
    return RowSessions(
        measured=_logs([pair.group], sign),
        base=_logs(pair.level, sign),
        others=[_logs(one, sign) for one in (*others, last[:-MAX_LEVEL]) if one],
        min_sd=max(
            MIN_SD,
            kernel.rounding_sd(np.array([point.value for point in (*pair.level, pair.group)])),
            cell.tool_interval.sd if cell.tool_interval else 0.0,
        ),
    )


def _logs(points: Sequence[Point], sign: int) -> Logs:
    by_session: dict[Hashable, list[float]] = defaultdict(list)
    for point in points:
        for value, session in zip(point.values, point.sessions, strict=True):
            by_session[point.position, session].append(sign * log(value))
    return {session: fmean(found) for session, found in by_session.items()}


def _evidence_of(comparison: Comparison, row: Row, cell: Cell, base: Cell) -> LossEvidence | None:
    """Take the evidence of a tested comparison: of releases, or of what was measured in the same sessions."""
    if comparison.basis in UNTESTED_BASES or not comparison.low or not comparison.high:
        return None
    low, high = log(comparison.low), log(comparison.high)
    if row.direction == LOWER:
        low, high = -high, -low
    return LossEvidence.of_interval(low, high, cell.independent or cell.n, base.independent or base.n)


def _verdict(rows: Sequence[GateRow], *, excludes_losses: bool, lacking: Collection[object]) -> GateVerdict:
    """Only a certain loss fails, and only what excludes the losses that matter passes.

    What the base has and the other side lacks may be what became slower, or what crashed. A workload that
    was asked for and that nobody measured may be misspelt.
    """
    verdicts = {one.verdict for one in rows if one.verdict}
    if "worse" in verdicts:
        return "fail"
    return "pass" if verdicts and excludes_losses and not lacking else "unknown"


def _wanted_sessions(rows: Sequence[GateRow], mean: LossEvidence | None, allowed: GateMargins) -> int | None:
    """Return how many more sessions would settle all rows and the mean; see LossEvidence.more_sessions."""
    compared = [one for one in rows if one.verdict and not one.is_of_machine]
    wanted = [
        one.evidence.more_sessions(one.margin, len(compared))
        if one.evidence
        else one.row.comparisons[0].more_runs  # type: ignore[union-attr]
        for one in compared
        if not one.passes
    ]
    if mean and mean.bound <= -allowed.mean:
        wanted.append(mean.more_sessions(allowed.mean))
    return max((number for number in wanted if number), default=None)
