"""May this be merged, or released? A commit or release against another, by metric and place.

Every row is judged by the history of its series, or where that has none, by that of the base: how much it
scatters when nothing changes is known from the groups before, so that a single run says something.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from statistics import median
from typing import Any, Final, Literal

from django.conf import settings
from django.db.models import Exists, OuterRef, Q

from benchdash.accounts.models import Project
from benchdash.regressions.comparison.cells import Cell, RowKey, SeriesRow, cells_of_runs
from benchdash.regressions.comparison.gate_sides import GateError, GateSide, GateSides, Question, find_sides
from benchdash.regressions.comparison.noise_floors import Floors, Levels, NoiseFloor
from benchdash.regressions.comparison.rows import Noise, Row, compared_rows
from benchdash.regressions.detection.shifts import find_shifts
from benchdash.regressions.models import FailingPlace
from benchdash.regressions.options import Margins, equivalence_margin
from benchdash.regressions.release_lines import line_before
from benchdash.regressions.watched_metrics import MetricRules, rules_of
from benchdash.results.controls import control_build, is_control
from benchdash.results.models import Measurement, Run, Series
from benchdash.results.place import Place
from benchdash.results.points import Point, histories, order_of
from benchdash.results.queries import find_series
from benchdash.results.readings import LOWER
from benchdash.results.workload_groups import Grouping, grouping_of

__all__ = ["Gate", "GateError", "GateRow", "GateVerdict", "Question", "decide"]

GateVerdict = Literal["pass", "fail", "unknown"]

_SETTLED: Final = frozenset({"better", "worse", "same"})


@dataclass(frozen=True, slots=True)
class GateRow:
    """One row of a comparison; ``series`` holds the runs of what is asked about.

    ``is_of_machine``: the control that was measured beside it is worse, too, and what is lost beyond that
    is not certain. The verdict of the row is then unknown, for it may be the machine that changed.
    """

    series: Series
    row: Row
    is_of_machine: bool = False

    @property
    def verdict(self) -> str:
        """Empty where there is nothing to compare with."""
        [comparison] = self.row.comparisons
        return comparison.verdict if comparison else ""


@dataclass(frozen=True, slots=True)
class Gate:
    """``more_sessions`` of each side would settle an unknown verdict; None where that cannot be said.

    ``missing`` are series that the base has and the other side lacks, at places where it was measured.
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
    more_sessions: int | None
    set_aside: int = 0

    def while_waiting(self) -> "Gate":
        """Return the same where results are still to be read, which may make it worse."""
        verdict: GateVerdict = "unknown" if self.verdict == "pass" else self.verdict
        return replace(self, is_analysed=False, verdict=verdict)


_What = tuple[Place, int, int | None, str]


def _what(series: Series) -> _What:
    """Return what series of several branches and lines share where they measure the same."""
    return Place.of(series).of_every_stream, series.workload_id, series.threads, series.metric


@dataclass(frozen=True, slots=True)
class _Pair:
    """What one series has of the subject, what it is held against, and the history that tells its noise."""

    series: Series
    group: Point
    base: Point | None
    base_series: Series | None
    before: Sequence[Point]
    of_base: Sequence[Point]


@dataclass(frozen=True, slots=True)
class _Found:
    pairs: Sequence[_Pair] = ()
    missing: Sequence[Series] = ()
    controls: Sequence[Series] = ()


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
    rows: list[GateRow] = []
    if found.pairs:
        margins = Margins(equivalence_margin(project), rules)
        rows = _rows(found, margins=margins, grouping=grouping_of(project))
    measured = {one.workload.name for one in (*(pair.series for pair in found.pairs), *found.missing)}
    unmeasured = tuple(name for name in dict.fromkeys(question.workloads) if name not in measured)
    verdict = _verdict(rows, (*found.missing, *unmeasured))
    return Gate(
        sides=sides,
        verdict=verdict,
        is_analysed=is_analysed,
        rows=tuple(rows),
        missing=tuple(found.missing),
        unmeasured=unmeasured,
        bases=_base_names(sides, found.pairs),
        more_sessions=_more_sessions(rows) if verdict == "unknown" else 0,
        set_aside=set_aside,
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
    points = histories({one.pk: one for one in (*own, *others)})
    pairs, missing = _matched(own, others, points, sides)
    return _Found(pairs, missing, [one for one in beside if is_control(one.build)])


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
            pairs.append(_Pair(one, points[one.pk][groups[one.pk]], base, against, before[one.pk], history))
    return pairs, _missing({_what(pair.series) for pair in pairs}, held, sides)


_Bases = Mapping[_What, tuple[Series, Point]]


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
    found: dict[_What, tuple[Series, Point]] = {}
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


def _missing(measured: Collection[_What], held: _Bases, sides: GateSides) -> list[Series]:
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


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cells of both sides by series (of the subject), and of controls by place, metric and row."""

    groups: Mapping[int, Cell]
    bases: Mapping[int, Cell]
    controls: Mapping[tuple[Place, str], Mapping[RowKey, Cell]]


def _rows(found: _Found, *, margins: Margins, grouping: Grouping) -> list[GateRow]:
    """Compare in one table for each metric at each place, over which p is adjusted."""
    known = _cells(found)
    tables: dict[tuple[Place, str], dict[RowKey, _Pair]] = defaultdict(dict)
    for pair in found.pairs:
        one = pair.series
        tables[Place.of(one).of_every_stream, one.metric][one.workload.name, one.threads] = pair
    rows: list[GateRow] = []
    for (place, metric), of_table in tables.items():
        bases = {key: known.bases[pair.series.pk] for key, pair in of_table.items() if pair.base}
        groups = {key: known.groups[pair.series.pk] for key, pair in of_table.items()}
        beside = place._replace(build=control_build(place.build))
        control = known.controls.get((beside, metric), {})
        margin = margins.of(metric, (cell.value for cell in bases.values()))
        compared = compared_rows(
            bases,
            [groups],
            noise=_by_row({key: _floor(pair) for key, pair in of_table.items()}),
            margin=margin,
            group_of=grouping.of,
            control=control,
        )
        rows += [_judged(of_table[row.key], row, control.get(row.key), margin) for row in compared]
    return rows


def _judged(pair: _Pair, row: Row, control: Cell | None, margin: float) -> GateRow:
    """Take back that a row is worse where the control of the same sessions is, and no certain loss is left.

    A control scatters as well: in a slow hour it loses somewhat more or somewhat less than what is tested.
    So the interval of the row has to lie beyond the loss of the control, and not its middle alone.
    """
    [comparison] = row.comparisons
    [group] = row.cells
    if not (comparison and comparison.verdict == "worse" and comparison.ratio and control):
        return GateRow(pair.series, row)
    before, after = _beside(control, row.base), _beside(control, group)
    if not before or not after:
        return GateRow(pair.series, row)
    is_lower = row.direction == LOWER
    nearest = (comparison.low if is_lower else comparison.high) or comparison.ratio
    of_control, middle, end = (
        1 / ratio if is_lower else ratio for ratio in (after / before, comparison.ratio, nearest)
    )
    if of_control >= 1 or (middle / of_control < 1 - margin and end / of_control < 1):
        return GateRow(pair.series, row)
    unsettled = comparison._replace(verdict="unknown", more_runs=None)
    return GateRow(pair.series, replace(row, comparisons=(unsettled,)), is_of_machine=True)


def _beside(control: Cell, cell: Cell | None) -> float | None:
    """Return the level of a control in the sessions of a cell; None where it was not measured beside it."""
    if cell is None or not cell.spans:
        return None
    gap = settings.SESSION_GAP_S
    near = [
        value
        for value, span in zip(control.values, control.spans, strict=True)
        if any(span[1] >= began - gap and span[0] <= ended + gap for began, ended in cell.spans)
    ]
    return median(near) or None if near else None


def _row_of(series: Series) -> SeriesRow:
    values = {name: getattr(series, name) for name in SeriesRow._fields if name != "workload"}
    return SeriesRow(**values, workload=series.workload.name)


def _cells(found: _Found) -> _Cells:
    """Make the cells of pairs as every comparison does; three statements at most, one more with controls."""
    column: dict[tuple[int, int], tuple[str, int]] = {}
    series: dict[int, SeriesRow] = {}
    for pair in found.pairs:
        sides = [("group", pair.series, pair.group), ("base", pair.base_series, pair.base)]
        for side, one, point in sides:
            if one and point:
                series[one.pk] = _row_of(one)
                column |= {(one.pk, run): (side, pair.series.pk) for run in point.run_ids}
    controls = _control_runs(found)
    if controls:
        series |= {one.pk: _row_of(one) for one in found.controls}

    def place(run: int, one: SeriesRow) -> tuple[Any, RowKey] | None:
        if run in controls:
            return ("control", one.place), one.row
        at = column.get((one.pk, run))
        return (at, one.row) if at else None

    runs = Run.objects.filter(pk__in={run for _, run in column} | controls)
    cells = cells_of_runs(runs, list(series.values()), place)
    by_side: dict[str, dict[int, Cell]] = {"group": {}, "base": {}}
    of_control: dict[tuple[Place, str], Mapping[RowKey, Cell]] = {}
    for metric, of_metric in cells.items():
        for key, by_row in of_metric.items():
            if isinstance(key, tuple) and key[0] == "control":
                of_control[key[1], metric] = by_row
            elif isinstance(key, tuple):
                by_side[key[0]][key[1]] = next(iter(by_row.values()))
    return _Cells(by_side["group"], by_side["base"], of_control)


def _control_runs(found: _Found) -> set[int]:
    """Return the runs of the newest control at each place that were measured around what is compared."""
    if not found.controls:
        return set()
    points = [point for pair in found.pairs for point in (pair.group, pair.base) if point]
    gap = timedelta(seconds=settings.SESSION_GAP_S)
    measured = Measurement.objects.filter(
        series__in=[one.pk for one in found.controls],
        run__excluded_at=None,
        run__started_at__gte=min(point.time for point in points) - gap,
    )
    place_of = {one.pk: Place.of(one).of_every_stream for one in found.controls}
    # A control may be sent with the commit of each night, and keeps its version.
    version = ("run__version__sort_key", "run__version__version")
    runs: dict[Place, dict[tuple[str, str], set[int]]] = defaultdict(lambda: defaultdict(set))
    for series, run, *of_version in measured.values_list("series_id", "run_id", *version):
        runs[place_of[series]][of_version[0], of_version[1]].add(run)
    return {run for of_place in runs.values() for run in of_place[max(of_place)]}


def _by_row(floors: Mapping[RowKey, NoiseFloor | None]) -> Noise:
    return lambda pairs: Floors.of(floors[row] for row, _, _ in pairs.each())


def _floor(pair: _Pair) -> NoiseFloor | None:
    """Return what the history of the series tells of its noise, or else that of the base."""
    times = [point.time.timestamp() for point in (pair.group, pair.base) if point]
    for history in (pair.before, pair.of_base):
        values = [point.value for point in history]
        starts = {shift.index for shift in find_shifts(values)} if values else set()
        if floor := Levels.of(history, starts).floor((min(times), max(times))):
            return floor
    return None


def _verdict(rows: Sequence[GateRow], lacking: Collection[object]) -> GateVerdict:
    """Only a certain loss fails, and only what is certainly no loss passes: one session decides nothing.

    What the base has and the other side lacks may be what became slower, or what crashed. A workload that
    was asked for and that nobody measured may be misspelt.
    """
    verdicts = {one.verdict for one in rows if one.verdict}
    if "worse" in verdicts:
        return "fail"
    return "pass" if verdicts and verdicts <= _SETTLED and not lacking else "unknown"


def _more_sessions(rows: Sequence[GateRow]) -> int | None:
    wanted = [comparison.more_runs for one in rows for comparison in one.row.comparisons if comparison]
    return max((number for number in wanted if number), default=None)
