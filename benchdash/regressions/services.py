"""Opinions: change points of touched series, and the incidents that they make.

One place (product, build, branch or line, hardware, configuration, counterpart) is looked at as a whole:
its workloads and metrics are the lines of one table, its groups the positions.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from itertools import chain
from operator import or_
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.accounts.models import Project
from benchdash.accounts.services import audit
from benchdash.celery import ring
from benchdash.database.locks import hold, is_free
from benchdash.database.troubles import is_everybodys
from benchdash.heartbeat import still_at_work
from benchdash.regressions.analysis.beginnings import MAX_FIRST_GROUPS, find_beginning
from benchdash.regressions.analysis.control_runs import control_levels, touch_beside_controls
from benchdash.regressions.analysis.counted_series import find_in_counts
from benchdash.regressions.analysis.curve_series import may_have_curves, update_curve_series
from benchdash.regressions.analysis.drifts import StoredDrift, end_regained, keep_drift, stored_drifts
from benchdash.regressions.analysis.failing_places import due_touches, note_failure, note_success
from benchdash.regressions.analysis.findings import Finding, held_to_sessions
from benchdash.regressions.analysis.group_orders import keep_order
from benchdash.regressions.analysis.incidents import apply_rule, update_incidents
from benchdash.regressions.analysis.lives import withdraw
from benchdash.regressions.analysis.machines import MAX_WAIT, explain_by_machines
from benchdash.regressions.analysis.origins import Origin, origins_beside
from benchdash.regressions.analysis.places import (
    History,
    PlaceTable,
    confirmed_positions,
    derived_histories,
    in_order,
    place_histories,
    table_of,
    table_of_curves,
    whole_histories,
)
from benchdash.regressions.detection.drift import Drift
from benchdash.regressions.detection.growing_tables import newest_look
from benchdash.regressions.detection.joint import JointShift
from benchdash.regressions.models import ChangePoint, FailingPlace, Incident
from benchdash.regressions.options import (
    OF_RULE,
    IncidentRule,
    historical_after,
    rule_from,
    rule_of,
)
from benchdash.regressions.queries import LIVE
from benchdash.regressions.watched_metrics import rules_of
from benchdash.results.metric_corrections import change_metric
from benchdash.results.models import Measurement, Product, ProjectMetric, Run, Series, TouchedSeries
from benchdash.results.place import Place, all_places
from benchdash.results.pull_requests import is_of_pull_request
from benchdash.results.services import hold_results, ring_analysis

_log = logging.getLogger(__name__)

# Groups by which a shift may move as data arrive and still be the same change point.
_SAME_WITHIN = 5
# Times of the database as numbers are a quarter of a microsecond apart.
_ROUNDING_S = 1e-6
_LOCK = "analysis of product"
_OF_TOUCH = ("series_id", "touched_at", "due_since", "quiet")
_MAX_TIMES_OF_A_STATEMENT = 400
# Values that the looks at a history which is imported at once may go over in total, half a minute's work:
# of a long one only the last groups are looked at one by one.
_MAX_VALUES = 1_000_000


# Branches that are looked at when the release that they started from comes in late: the youngest ones.
_MAX_BRANCHES_OF_A_LINE = 20


@dataclass(frozen=True, slots=True)
class Progress:
    """``done`` of ``total`` places were recomputed; ``failed`` of them could not be."""

    done: int
    total: int
    failed: int

    @property
    def per_cent(self) -> int:
        return 100 * self.done // self.total


def analyse_touched() -> int:
    """Look once at every product with touched series; return how many touched series were dealt with.

    May run in several workers at once: a product that another one looks at right now is left to it. What
    was touched meanwhile is left to the next call, which is asked for: files that come in one after the
    other share a look.
    """
    done = 0
    tried: set[int] = set()
    looked_at: set[int] = set()
    while product_id := _next_touched_product(leaving_out=tried):
        tried.add(product_id)
        try:
            dealt_with = _analyse_product(product_id)
        except Exception:  # noqa: BLE001 - whatever it is, it must not hold up the other products
            # It stays due, and beat comes back to it.
            _log.exception("the analysis of product %s failed", product_id)
            continue
        if dealt_with is not None:
            looked_at.add(product_id)
            done += dealt_with
    _withdraw_incidents_without_evidence()
    _confirm_held_back()
    if due_touches().filter(series__product__in=looked_at).exists():
        ring_analysis()
    return done


def recompute(
    *, project: Project | None = None, product_id: int | None = None, set_aside_too: bool = False
) -> Iterator[Progress]:
    """Look anew at every place of a project, a product, or (of neither) everything.

    Opinions that stay keep their rows, those that differ are brought up to date, and nobody is mailed for
    it. What was touched and not yet looked at is news as ever. A place that fails holds up no other; those
    that were set aside for it are looked at where that is asked for.
    """
    series = Series.objects.all()
    if project:
        series = series.filter(project=project)
    if product_id:
        series = series.filter(product=product_id)
    places = all_places(series)
    if not set_aside_too:
        set_aside = {Place.of(row) for row in FailingPlace.objects.exclude(set_aside_at=None)}
        places = [place for place in places if place not in set_aside]
    failed = 0
    for done, place in enumerate(places, 1):
        try:
            failed += not _recompute_place(place)
        except Exception:  # noqa: BLE001 - the database's own trouble may be over at the next place
            _log.exception("the analysis of %s was given up", place)
            failed += 1
        yield Progress(done, len(places), failed)
    _withdraw_incidents_without_evidence()


@transaction.atomic
def say_of_metric(
    project: Project, name: str, wishes: Mapping[str, Any], *, by: Viewer, reason: str = ""
) -> tuple[ProjectMetric, bool]:
    """Say something of a metric as ``change_metric`` does; nobody is told of what only now begins to count.

    Its series are looked at again by a job. Raises MetricError.
    """
    before = rule_of(project)
    metric, is_new = change_metric(project, name, wishes, by=by, reason=reason)
    after = rule_of(project)
    live = ChangePoint.objects.filter(LIVE, series__project=project, series__metric=name, quiet=False)
    turned = before.metrics.direction_of(name) != after.metrics.direction_of(name)
    news = [
        one.pk
        for one in live.select_related("series").only(*_JUDGED)
        if turned or (after.tells_of(one) and not before.tells_of(one))
    ]
    ChangePoint.objects.filter(pk__in=news).update(quiet=True)
    return metric, is_new


@transaction.atomic
def change_rule(project: Project, rule: Mapping[str, object], *, by: Viewer) -> None:
    """Set the options of the rule (``options.OF_RULE``; those left out are at their default), and apply it.

    Nobody is told of what begins to count only by the new rule.
    """
    project = Project.objects.select_for_update().get(pk=project.pk)
    former = {name: project.options[name] for name in OF_RULE if name in project.options}
    if former == rule:
        return
    before = rule_of(project)
    kept = {name: value for name, value in project.options.items() if name not in OF_RULE}
    project.options = {**kept, **rule}
    project.save(update_fields=["options"])
    detail = {
        name: f"{former.get(name, 'usual')} → {rule.get(name, 'usual')}"
        for name in OF_RULE
        if former.get(name) != rule.get(name)
    }
    audit(project, by, "rule changed", project.slug, detail=detail)
    after = rule_from(project.options, before.metrics)
    if after == before:
        return
    live = ChangePoint.objects.filter(LIVE, incident__project=project).select_related("series")
    evidence: dict[int, list[ChangePoint]] = defaultdict(list)
    for one in live.only(*_JUDGED).order_by("pk"):
        evidence[one.incident_id or 0].append(one)
    news = [
        one
        for one in chain.from_iterable(evidence.values())
        if one.state == ChangePoint.State.CONFIRMED and after.tells_of(one) and not before.tells_of(one)
    ]
    for one in news:
        one.quiet = True
    ChangePoint.objects.filter(pk__in=[one.pk for one in news]).update(quiet=True)
    _apply_rule(after, evidence)


# The conditions of a rule on a change point.
_JUDGED = (
    *("incident_id", "state", "quiet", "historical", "before", "after", "change", "confidence"),
    *("series__metric", "series__direction"),
)


def _apply_rule(rule: IncidentRule, evidence: Mapping[int, Sequence[ChangePoint]]) -> None:
    """Make incidents agree with a rule; ``evidence`` are their live change points by their ids."""
    changed = []
    for incident in Incident.objects.filter(pk__in=list(evidence)):
        before = incident.left_out, incident.quiet
        confirmed = [one for one in evidence[incident.pk] if one.state == ChangePoint.State.CONFIRMED]
        apply_rule(incident, confirmed or evidence[incident.pk], rule)
        if (incident.left_out, incident.quiet) != before:
            changed.append(incident)
    Incident.objects.bulk_update(changed, ["left_out", "quiet"], batch_size=100)


def _next_touched_product(*, leaving_out: Iterable[int]) -> int | None:
    touched = due_touches().exclude(series__product__in=leaving_out).order_by("touched_at")
    return touched.values_list("series__product_id", flat=True).first()


@transaction.atomic
def _analyse_product(product_id: int) -> int | None:
    """Look at the touched places of a product; None where another worker is at it."""
    if not is_free(_LOCK, product_id):
        return None
    of_place = [f"series__{name}" for name in Place._fields]
    touch_beside_controls(due_touches().filter(series__product_id=product_id))
    due = due_touches().filter(series__product_id=product_id).values_list(*of_place).distinct()
    due_places = set(map(Place._make, due))
    touched = TouchedSeries.objects.filter(series__product_id=product_id)
    touches: dict[Place, list[TouchedSeries]] = defaultdict(list)
    # Columns, and not rows of series, of which a night touches thousands.
    for row in touched.values_list(*of_place, *_OF_TOUCH):
        touch = TouchedSeries(**dict(zip(_OF_TOUCH, row[len(of_place) :], strict=True)))
        touches[Place._make(row[: len(of_place)])].append(touch)
    streams: dict[tuple[str, str], dict[Place, list[TouchedSeries]]] = defaultdict(dict)
    for place in sorted(due_places):
        streams[place.branch, place.line][place] = touches[place]
    done = [place for stream in streams.values() for place in _look_at_stream(stream)]
    note_success(product_id, done)
    dealt_with = [row for place in done for row in touches[place]]
    _look_at_machines(done, quiet=_are_quiet(dealt_with))
    _forget(dealt_with)
    ring(settings.ALERTS_DOORBELL)
    return len(dealt_with)


@transaction.atomic
def _recompute_place(place: Place) -> bool:
    """Look at a place anew; return whether that was possible."""
    hold(_LOCK, place.product_id)
    touched = list(TouchedSeries.objects.filter(series__in=place.series()))
    if not _look_at_stream({place: touched}):
        return False
    note_success(place.product_id, [place])
    _look_at_machines([place], quiet=_are_quiet(touched))
    if touched:
        _forget(touched)
        ring(settings.ALERTS_DOORBELL)
    return True


def _look_at_stream(touches: Mapping[Place, Sequence[TouchedSeries]]) -> list[Place]:
    """Look at places of one branch or line of a product, and make the incidents agree with what is found.

    Return the places for which that went well. Of a place that failed only the reason is stored; where the
    incidents cannot be made, all places failed. Trouble of the database itself is raised. Nothing is looked
    for in pull requests: the gate judges them, and nobody is told of what may never be merged.
    """
    if all(is_of_pull_request(place.branch) for place in touches):
        return list(touches)
    failed: dict[Place, Exception] = {}
    try:
        with transaction.atomic():
            failed = _look_at_each(touches)
            streams = {
                (one.product_id, one.branch, one.line)
                for place in touches
                if place not in failed
                for one in (place, *_update_beginnings_from(place, touches[place]))
            }
            quiet = _are_quiet(chain.from_iterable(touches.values()))
            for product_id, branch, line in sorted(streams):
                update_incidents(product_id, branch=branch, line=line, quiet=quiet)
    except Exception as error:
        if is_everybodys(error):
            raise
        failed = dict.fromkeys(touches, error) | failed
    for place, why in failed.items():
        note_failure(place, why, touches[place])
    return [place for place in touches if place not in failed]


def _look_at_machines(places: Sequence[Place], *, quiet: bool) -> None:
    if places:
        explain_by_machines(places[0].project_id, {one.hardware_id for one in places}, quiet=quiet)


def _look_at_each(touches: Mapping[Place, Sequence[TouchedSeries]]) -> dict[Place, Exception]:
    """Look at places one after the other; return why that failed, by place."""
    failed: dict[Place, Exception] = {}
    for place, touched in touches.items():
        still_at_work()
        quiet = _are_quiet(touched)
        new_since = min((row.due_since for row in touched), default=None)
        try:
            with transaction.atomic():
                update_change_points(place, quiet=quiet, new_since=new_since)
        except Exception as error:
            if is_everybodys(error):
                raise
            failed[place] = error
    return failed


def _are_quiet(touched: Iterable[TouchedSeries]) -> bool:
    """One loud touch is enough: the news of a nightly run is not silenced by a correction beside it."""
    return all(row.quiet for row in touched)


def _update_beginnings_from(place: Place, touched: Iterable[TouchedSeries]) -> list[Place]:
    """Look anew at how the lines and branches begin that go on from a place; return their places."""
    # Nothing goes on from a branch.
    beside = {} if place.branch else origins_beside(place)
    all_following = [one for one, origin in beside.items() if origin.place == place]
    lines = [one for one in all_following if one.line]
    following = [*lines, *[one for one in all_following if one.branch][:_MAX_BRANCHES_OF_A_LINE]]
    for one in following:
        update_beginning(one, place_histories(one), quiet=_are_quiet(touched))
    return following


def _forget(touched: Sequence[TouchedSeries]) -> None:
    """Delete what was dealt with; what was touched again since then has a later time, and stays due."""
    by_time = defaultdict(list)
    for row in touched:
        by_time[row.touched_at].append(row.series_id)
    seen = [Q(touched_at=time, series__in=series) for time, series in by_time.items()]
    # Two parameters of a statement for each upload.
    for start in range(0, len(seen), _MAX_TIMES_OF_A_STATEMENT):
        some = seen[start : start + _MAX_TIMES_OF_A_STATEMENT]
        TouchedSeries.objects.filter(reduce(or_, some)).delete()


def _confirm_held_back() -> None:
    """Look again at the incidents that waited for other products of their machine."""
    held = Incident.objects.filter(
        status=Incident.Status.SUSPECTED,
        change_points__state=ChangePoint.State.CONFIRMED,
        historical=False,
        quiet=False,
        started_at__gt=timezone.now() - 2 * MAX_WAIT,
    )
    streams = held.order_by().values_list("product", "branch", "line", "change_points__series__hardware")
    for product_id, branch, line, hardware_id in streams.distinct():
        with transaction.atomic():
            if product_id is None or not is_free(_LOCK, product_id):
                continue
            update_incidents(product_id, branch=branch, line=line, quiet=False)
            project_id = Product.objects.values_list("project", flat=True).get(pk=product_id)
            explain_by_machines(project_id, [hardware_id], quiet=False)
            ring(settings.ALERTS_DOORBELL)


@transaction.atomic
def _withdraw_incidents_without_evidence() -> None:
    """Withdraw the incidents whose series are gone, which nothing touches any more."""
    evidence = ChangePoint.objects.filter(incident=OuterRef("pk")).exclude(state=ChangePoint.State.WITHDRAWN)
    # The incident of a machine has its evidence in those that it explains.
    withdraw(
        Incident.objects.filter(~Exists(evidence), kind__in=Incident.OF_CHANGE_POINTS)
        .exclude(status=Incident.Status.WITHDRAWN)
        .exclude(kind=Incident.Kind.ENVIRONMENT, product=None)
        .select_for_update(of=("self",))
    )


def update_change_points(place: Place, *, quiet: bool, new_since: datetime | None = None) -> None:
    """Make the stored change points of a place agree with what its history shows now. Repeatable.

    Groups with runs recorded from ``new_since`` on are looked at one by one, as they would have come.
    """
    histories = _read(place)
    stored: dict[int, list[ChangePoint]] = defaultdict(list)
    drifting: list[ChangePoint] = []
    for change_point in _to_look_at_again(place, histories):
        (drifting if change_point.is_drift else stored[change_point.series_id]).append(change_point)
    found: dict[int, list[Finding]] = defaultdict(list)
    first_new = _first_new_position(histories, new_since)
    rules = rules_of(place.project_id)
    printed = table_of(histories, control_levels(place, histories, rules), rules)
    known_drifts = stored_drifts(drifting, histories, printed)
    for table in (printed, table_of_curves(histories, rules)):
        # Change points of earlier looks keep their place while their evidence stands.
        known = confirmed_positions((one for pk in table.series.values() for one in stored[pk]), histories)
        drifts = known_drifts if table is printed else None
        shifts, drift = _look(table, known=known, first_new=first_new, drifts=drifts)
        for one in _findings(shifts, table, histories):
            found[one.history.series.pk].append(one)
        if drift:
            steps = {
                pk: [one.shift.index for one in of if one.shift.state == "confirmed"]
                for pk, of in found.items()
            }
            keep_drift(drift, known_drifts, histories, table, steps=steps, quiet=quiet)
    end_regained(known_drifts, printed, quiet=quiet)
    for one in find_in_counts(histories, stored, rules):
        found[one.history.series.pk].append(one)
    _store(
        histories, {pk: held_to_sessions(of_series) for pk, of_series in found.items()}, stored, quiet=quiet
    )
    if new_since is None or first_new < MAX_FIRST_GROUPS:
        update_beginning(place, histories, quiet=quiet)


def update_beginning(place: Place, histories: Mapping[int, History], *, quiet: bool) -> None:
    """Make the stored change points between a line or branch and what it goes on from agree with both.

    Repeatable, and the same in whatever order the releases came in.
    """
    if any(history.runs.is_cut for history in histories.values()):
        return
    origin = origins_beside(place).get(place)
    known = ChangePoint.objects.filter(series__in=place.series()).exclude(origin="").order_by("pk")
    stored: dict[int, list[ChangePoint]] = defaultdict(list)
    for change_point in known:
        stored[change_point.series_id].append(change_point)
    found: dict[int, list[Finding]] = defaultdict(list)
    for finding in _beginning(place, histories, origin) if origin else ():
        found[finding.history.series.pk].append(finding)
    if found or stored:
        _store(histories, found, stored, quiet=quiet)


def _beginning(place: Place, histories: Mapping[int, History], origin: Origin) -> list[Finding]:
    before = place_histories(origin.place)
    changed, origin_changed = (
        confirmed_positions(
            ChangePoint.objects.filter(
                series__in=of.series(), state=ChangePoint.State.CONFIRMED, origin=""
            ).order_by("pk"),
            there,
        )
        for of, there in ((place, histories), (origin.place, before))
    )
    rules = rules_of(place.project_id)
    return find_beginning(histories, changed, origin, before, origin_changed, rules)


def _store(
    histories: Mapping[int, History],
    found: Mapping[int, Sequence[Finding]],
    stored: Mapping[int, Sequence[ChangePoint]],
    *,
    quiet: bool,
) -> None:
    """Make the ``stored`` change points of some series (by their ids) those that were found."""
    news_since = _news_since(chain.from_iterable(found.values()))
    gone: list[ChangePoint] = []
    changed: list[ChangePoint] = []
    new: list[ChangePoint] = []
    for series_id, history in histories.items():
        for finding, match in _match(found.get(series_id, ()), stored.get(series_id, ()), history):
            if finding is None:
                gone += [match] if match else []
                continue
            target = match or ChangePoint(series_id=series_id, quiet=quiet)
            before = _as_stored(target)
            _describe(target, finding, news_since=news_since[finding.run_id], quiet=quiet)
            if match is None:
                new.append(target)
            elif _as_stored(target) != before:
                changed.append(target)
    # Every place is free before one is taken: two change points may have moved in the same direction.
    ChangePoint.objects.filter(pk__in=[one.pk for one in (*gone, *changed)]).update(
        state=ChangePoint.State.WITHDRAWN
    )
    ChangePoint.objects.bulk_update(changed, _FIELDS, batch_size=30)
    ChangePoint.objects.bulk_create(new)


_FIELDS = (
    "run_id",
    "last_good_id",
    "first_bad_id",
    "origin",
    "state",
    "historical",
    "quiet",
    "before",
    "after",
    "change",
    "confidence",
    "noise",
    "family_size",
    "expected_low",
    "expected_high",
    "groups_before",
    "groups_after",
    "confirmed_at",
)


def _as_stored(change_point: ChangePoint) -> list[object]:
    return [getattr(change_point, name) for name in _FIELDS]


def _read(place: Place) -> dict[int, History]:
    """Read the histories of a place as far as they are in order, its scaling curves computed anew."""
    # Derived rows hang on runs, of which none may go away meanwhile.
    hold_results(Project(pk=place.project_id), alone=False)
    histories = whole_histories(place)
    stored = list(place.series().filter(is_derived=True))
    curves: Mapping[Series, Mapping[int, float]] = {}
    if stored or may_have_curves(history.series for history in histories.values()):
        curves = update_curve_series(histories, stored)
    if histories:
        runs = next(iter(histories.values())).runs
        keep_order(place, runs)
        histories |= derived_histories(runs, curves)
    return in_order(histories)


def _to_look_at_again(place: Place, histories: Mapping[int, History]) -> list[ChangePoint]:
    """Read the stored change points of a place, without those before a cut, which stay as they are."""
    known = ChangePoint.objects.filter(series__in=place.series(), origin="").order_by("pk")
    stored = [one for one in known if one.series_id in histories]
    if not any(history.runs.is_cut for history in histories.values()):
        return stored
    unread = {
        (one.series_id, one.run_id)
        for one in stored
        if histories[one.series_id].position_of(one.run_id) is None
    }
    there = Measurement.objects.filter(
        series__in={series for series, _ in unread}, run__in={run for _, run in unread}, run__excluded_at=None
    )
    kept = unread.intersection(there.values_list("series_id", "run_id"))
    return [one for one in stored if (one.series_id, one.run_id) not in kept]


def _first_new_position(histories: Mapping[int, History], new_since: datetime | None) -> int:
    """Return the first position that analysis has not seen, or one near enough to the end."""
    history = next(iter(histories.values()), None)
    if history is None or new_since is None:
        return history.length if history else 0
    groups = history.length
    is_new = history.runs.recorded_at >= new_since.timestamp() - _ROUNDING_S
    first_new = int(history.runs.positions[is_new].min()) if is_new.any() else groups
    most_looks = _MAX_VALUES // max(1, groups * len(histories))
    return max(first_new, groups - most_looks)


def _look(
    table: PlaceTable, *, known: frozenset[int], first_new: int, drifts: Sequence[StoredDrift] | None
) -> tuple[list[JointShift], Drift | None]:
    """Look for shifts beside the ``drifts`` that are known, and for a new one; None: for shifts alone."""
    over = [one.drift.last + 1 for one in drifts or () if one.is_over]
    return newest_look(
        table.values,
        table.directions,
        first_new=first_new,
        drifts=[one.drift for one in drifts or ()],
        drift_since=table.length if drifts is None else max(over, default=0),
        known=known,
        expected=table.expected,
        machine=table.machine,
        controls=table.controls,
        sessions=table.sessions,
    )


def _findings(
    joint: Iterable[JointShift], table: PlaceTable, histories: Mapping[int, History]
) -> list[Finding]:
    found = (
        (shift, histories[table.series[key]])
        for joint_shift in joint
        for key, shift in joint_shift.members.items()
    )
    return [Finding.of(shift, history) for shift, history in found if history.has(shift.index)]


def _match(
    found: Sequence[Finding], stored: Sequence[ChangePoint], history: History
) -> list[tuple[Finding | None, ChangePoint | None]]:
    """Pair each shift with the nearest stored change point that moves the same way; both may be alone.

    A withdrawn one comes to life again where no other is near. Those that stay withdrawn are left out.
    """
    pairs: list[tuple[Finding | None, ChangePoint | None]] = []
    left = list(stored)
    for one in found:
        candidates = [
            (_is_withdrawn(change_point), distance, change_point)
            for change_point in left
            if (position := history.position_of(change_point.run_id)) is not None
            and change_point.is_fall == one.is_fall
            and (distance := abs(position - one.shift.index)) <= _SAME_WITHIN
        ]
        nearest = min(candidates, key=lambda candidate: candidate[:2])[-1] if candidates else None
        if nearest:
            left.remove(nearest)
        pairs.append((one, nearest))
    return pairs + [(None, change_point) for change_point in left if not _is_withdrawn(change_point)]


def _is_withdrawn(change_point: ChangePoint) -> bool:
    return change_point.state == ChangePoint.State.WITHDRAWN


def _news_since(found: Iterable[Finding]) -> dict[int, datetime]:
    """Return for the first run of each new level before when a change was old as the run came in."""
    findings = list(found)
    if not findings:
        return {}
    after = historical_after(Project.objects.get(pk=findings[0].history.series.project_id))
    runs = Run.objects.filter(pk__in={one.run_id for one in findings}).values_list("pk", "recorded_at")
    return {pk: recorded_at - after for pk, recorded_at in runs}


def _describe(change_point: ChangePoint, found: Finding, *, news_since: datetime, quiet: bool) -> None:
    shift, history, first = found.shift, found.history, found.first
    historical = first.time < news_since
    newly_confirmed = shift.state == "confirmed" and change_point.state != ChangePoint.State.CONFIRMED
    newly_young = change_point.historical and not historical
    change_point.run_id = first.first_run_id
    change_point.last_good_id = found.last_good.run_id if found.last_good else None
    change_point.first_bad_id = found.first_bad.first_run_id if found.first_bad else None
    change_point.origin = found.origin
    change_point.state = ChangePoint.State(shift.state)
    change_point.before, change_point.after, change_point.change = shift.before, shift.after, shift.change
    change_point.confidence = shift.confidence
    family = shift.family
    # Counts have no scatter in per cent.
    own_noise = None if shift.change is None else history.noise
    change_point.noise = family.noise if family else own_noise
    change_point.family_size = family.series if family else None
    change_point.expected_low = family.low if family else None
    change_point.expected_high = family.high if family else None
    change_point.groups_before, change_point.groups_after = found.groups
    change_point.historical = historical
    if newly_confirmed:
        change_point.confirmed_at = timezone.now()
    if newly_confirmed or newly_young:
        change_point.quiet = quiet
