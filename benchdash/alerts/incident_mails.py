"""The mails about an incident: the first one, and those that follow in its thread."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from benchdash.accounts.time_zones import zone_of
from benchdash.addresses import absolute
from benchdash.alerts.models import Alert
from benchdash.alerts.one_click import ACKNOWLEDGE, SNOOZE, SNOOZED_FOR, action_url
from benchdash.charts.changes import change_picture
from benchdash.regressions.analysis.spans import Span, last_good_at, span
from benchdash.regressions.counters import COSTS, MovedCounter, moved_counters
from benchdash.regressions.headlines import (
    bare_figure,
    change_words,
    day,
    drift_words,
    figure,
    is_of_speed,
    largest_figure,
    largest_words,
    levels,
    recovered_words,
    rhythm,
    series_words,
    silence_words,
    speed_words,
    threads_words,
    what_happened,
)
from benchdash.regressions.links import compare_url
from benchdash.regressions.models import ChangePoint, Incident, IncidentEvent
from benchdash.regressions.queries import evidence, family_evidence, of_assumed_starts, what_changed
from benchdash.regressions.ranges import range_of
from benchdash.regressions.surroundings import around, level_starts
from benchdash.regressions.used_units import in_used_unit
from benchdash.results.metrics import family
from benchdash.results.points import Point, histories
from benchdash.results.wording import (
    MINUS,
    NO_BREAK,
    change,
    count,
    counted,
    metric_at_start,
    metric_name,
    unit_words,
)

MAX_SERIES: Final = 12
MAX_DIFFERENCES: Final = 12
MAX_COUNTERS: Final = 6
MAX_SUBJECT: Final = 150
_MAX_NAMED_WORKLOADS: Final = 2
_What = IncidentEvent.What


@dataclass(frozen=True, slots=True)
class ChangedSeries:
    """One changed series, as a line of the mail."""

    what: str
    metric: str
    before: str
    after: str
    change: str
    speed: str
    confidence: str
    noise: str
    expected: str
    groups: str
    sessions: str


@dataclass(frozen=True, slots=True)
class Picture:
    """The series that changed most, drawn; ``words`` say the same."""

    png: bytes
    words: str


def subject_of(incident: Incident, changed: Sequence[ChangePoint]) -> str:
    """``MariaDB 10.11.12: -8.4 % in 14 of 60 series (oltp_read_only, ...), slow_query_log was switched on``.

    In the signs of a keyboard, where the names are: programs that sort mails search for them.
    """
    if incident.kind == Incident.Kind.SILENCE:
        return _shortened(silence_words(incident))
    if incident.kind == Incident.Kind.DRIFT:
        named = f"{_share(incident, changed)} ({_named_workloads(changed)})"
        return _shortened(f"{incident.subject}: {drift_words(incident)}; {named}")
    about = str(incident.product or incident.hardware or "")
    if incident.branch:
        about = f"{about} {incident.branch}"
    where = span(incident, last_good_at=last_good_at(incident, changed))
    # Between nights of one build, and on a machine, the change is named by its day.
    is_of_days = where.build or incident.until is None
    about = " ".join(filter(None, [about, where.build, "since" if is_of_days else "", where.changed]))
    said = f"{about}: {figure(incident)} in {_share(incident, changed)} ({_named_workloads(changed)})"
    return _shortened(f"{said}, {incident.cause}" if incident.cause else said)


def _share(incident: Incident, changed: Sequence[ChangePoint]) -> str:
    """``14 of 60 series``; of a machine, ``14 series of MariaDB, PostgreSQL``."""
    if _is_of_machine(incident):
        return f"{count(len(changed))} series of {', '.join(_products(changed))}"
    return f"{count(len(changed))} of {count(incident.looked_at)} series"


def _is_of_machine(incident: Incident) -> bool:
    return incident.kind == Incident.Kind.ENVIRONMENT and incident.product is None


def _products(changed: Sequence[ChangePoint]) -> list[str]:
    return sorted({str(one.series.product) for one in changed})


def confirmed_evidence(incident: Incident) -> list[ChangePoint]:
    """Return what a mail tells of: the confirmed change points, the largest change of speed first.

    What an operation costs comes last: it explains a loss, and is none.
    """
    confirmed = [one for one in evidence(incident) if one.state == ChangePoint.State.CONFIRMED]
    return sorted(confirmed, key=lambda one: family(one.series.metric) == COSTS)


def context_of(alert: Alert) -> tuple[dict[str, Any], Picture | None]:
    """Return what the templates of a mail about an incident show, and its picture."""
    incident, zone = alert.incident, alert.subscription.zone if alert.subscription else zone_of()
    changed = confirmed_evidence(incident)
    points = histories([one.series_id for one in changed[:MAX_SERIES]])
    where = span(incident, last_good_at=last_good_at(incident, changed))
    # A drift has no two levels to draw.
    drawn = None if incident.kind == Incident.Kind.DRIFT else _picture(changed, points, where)
    differences = what_changed(changed)
    between = _between(incident)
    context = {
        "incident": incident,
        "subject": subject_of(incident, changed),
        "news": news_of(alert, changed),
        "title": _title(incident),
        "is_silence": incident.kind == Incident.Kind.SILENCE,
        "silence_facts": _silence_facts(incident, zone),
        "span": where,
        "began": time_words(incident.started_at, zone),
        "start_assumed": bool(of_assumed_starts([incident])),
        "figure": bare_figure(incident),
        "is_of_speed": is_of_speed(incident),
        "metric": metric_at_start(incident.metric),
        "headline_series": sum(one.series.metric == incident.metric for one in changed),
        "largest": _largest(incident) if len(changed) > 1 else "",
        "evidence": [_evidence(one, points[one.series_id]) for one in changed[:MAX_SERIES]],
        "more": max(0, len(changed) - MAX_SERIES),
        "share": _share(incident, changed),
        "is_of_machine": _is_of_machine(incident),
        "hardware": sorted({one.series.hardware.name for one in changed}),
        "family": family_evidence(changed),
        "differences": differences[:MAX_DIFFERENCES],
        "more_differences": max(0, len(differences) - MAX_DIFFERENCES),
        "counters": _counters(changed),
        "compare_url": compare_url(incident, incident.project),
        "between": between,
        **_actions(alert),
        "picture": drawn.words if drawn else "",
        "url": absolute("dashboard:incident", incident.project.slug, incident.pk),
        "series_ids": [one.series_id for one in changed],
        "statistics_url": absolute("statistics"),
    }
    return context, drawn


# --- news -------------------------------------------------------------------------------------------------


def news_of(alert: Alert, changed: Sequence[ChangePoint]) -> str:
    """Say what is new to somebody who was told of the incident; empty in the first mail."""
    event, incident = alert.event, alert.incident
    if event is None:
        return ""
    is_silence = incident.kind == Incident.Kind.SILENCE
    match event.what:
        case _What.SPREAD:
            return _spread(incident, changed)
        case _What.WITHDRAWN:
            return "Withdrawn: with the runs that have come in since, the change is no longer found."
        case _What.RECOVERED if is_silence:
            return f"Reports again: {silence_words(incident)}."
        case _What.RECOVERED:
            return _recovered(incident, event)
        case _What.RETURNED if is_silence:
            return f"Silent again: {silence_words(incident)}."
        case _What.RETURNED:
            return f"Returned: the {_loss(incident)} that had ended is there again ({figure(incident)})."
        case _What.CONFIRMED:
            return "Confirmed again, after it had been withdrawn."
        case _What.FOLDED:
            return "Explained by its machine: most of what runs on it changed at the same time."
        case _What.UNFOLDED:
            return "Not explained by its machine after all: what else runs on it did not change with it."
    return f"{event.get_what_display().capitalize()}."


def _spread(incident: Incident, changed: Sequence[ChangePoint]) -> str:
    if incident.kind == Incident.Kind.SILENCE:
        return f"Spread: {silence_words(incident)}."
    if incident.kind == Incident.Kind.DRIFT:
        return f"Grown to twice of what it was: by now {drift_words(incident)}."
    return f"Spread: by now {_share(incident, changed)} have changed."


def _recovered(incident: Incident, event: IncidentEvent) -> str:
    by = incident.recovered_by
    if by is None:
        return f"Recovered, found {day(event.at)}: the {_loss(incident)} has ended."
    where = span(by, last_good_at=None)
    version = "" if where.build or where.changed == "?" else f" with {where.changed}"
    when = f"{day(by.started_at)}{version}"
    if incident.remaining is not None:
        words = recovered_words(incident).capitalize()
        left = f"a step of {figure(by)} left so much of the {_loss(incident)} of {figure(incident)}"
        return f"{words}, {when}: {left}, and the incident stays open."
    return f"Recovered {when}: a step of {figure(by)} ended the {_loss(incident)} of {figure(incident)}."


def _loss(incident: Incident) -> str:
    return "gain" if incident.kind == Incident.Kind.IMPROVEMENT else "loss"


# --- words ------------------------------------------------------------------------------------------------


def time_words(time: datetime, zone: ZoneInfo) -> str:
    """``2026-11-09 02:00 UTC``, ``2026-11-09 03:00 Europe/Berlin``."""
    return f"{time.astimezone(zone):%Y-%m-%d %H:%M} {zone.key}"


def _title(incident: Incident) -> str:
    """``MariaDB on main became slower when slow_query_log was switched on``."""
    if incident.product is None or incident.kind == Incident.Kind.SILENCE:
        about = incident.subject
    else:
        name = str(incident.product)
        about = f"{name} on {incident.branch}" if incident.branch else f"{name} {incident.line}".strip()
    when = f" when {incident.cause}" if incident.cause else ""
    return f"{about} {what_happened(incident)}{when}"


def _silence_facts(incident: Incident, zone: ZoneInfo) -> list[tuple[str, str]]:
    silence = getattr(incident, "silence", None)
    if silence is None:
        return []
    facts = [
        ("Used to report", rhythm(silence.cadence_s)),
        ("Last run", time_words(silence.last_run_at, zone)),
        ("First run missed", f"was due {time_words(incident.started_at, zone)}"),
    ]
    if silence.ended_at:
        facts.append(("Reports again", f"since {time_words(silence.ended_at, zone)}"))
    return facts


def _largest(incident: Incident) -> str:
    """Say what changed most, under its name."""
    if incident.largest is None:
        return ""
    figures = f"{largest_figure(incident)} {largest_words(incident)}".rstrip()
    return f"{series_words(incident.largest.series)}, {figures}"


def _named_workloads(changed: Sequence[ChangePoint]) -> str:
    """Name the workloads that changed most: ``oltp_read_only, oltp_point_select, ...``."""
    names = list(dict.fromkeys(one.series.workload.name for one in changed))
    more = ["..."] if len(names) > _MAX_NAMED_WORKLOADS else []
    return ", ".join([*names[:_MAX_NAMED_WORKLOADS], *more])


def _shortened(text: str) -> str:
    text = " ".join(text.replace(MINUS, "-").replace(NO_BREAK, " ").split())
    if len(text) <= MAX_SUBJECT:
        return text
    return f"{text[: MAX_SUBJECT - 3].rpartition(' ')[0].rstrip(',')}..."


def _between(incident: Incident) -> str:
    """Say which versions lie in the range, and which of them to measure; empty where none is known."""
    if incident.product is None:
        return ""
    found = range_of(incident)
    if not found.between:
        return ""
    words = f"{counted(len(found.between), 'known version')} in between"
    return (
        f"{words}; measure {found.next_to_measure} next to halve the range"
        if found.next_to_measure
        else words
    )


def _counters(changed: Sequence[ChangePoint]) -> list[str]:
    """Write the counters that moved with the worst series and did not change level themselves."""
    own = {one.series_id for one in changed}
    moved = [one for one in moved_counters(changed) if one.series.pk not in own]
    return [_counter_words(one) for one in moved[:MAX_COUNTERS]]


def _counter_words(counter: MovedCounter) -> str:
    """``CPU per operation of oltp_read_only: 0.28 to 0.36 ms (+28.6 %)``."""
    series = counter.series
    # The names of such counters already say that they are per operation.
    unit = "" if series.unit == "1/op" else unit_words(series.metric, series.unit)
    levels = f"{_significant(counter.before)} to {_significant(counter.after)}"
    return (
        f"{metric_name(series.metric)}: {f'{levels} {unit}' if unit else levels} ({change(counter.change)})"
    )


def _actions(alert: Alert) -> dict[str, str]:
    """Return the addresses that acknowledge and snooze, where there is something to act on."""
    incident = alert.incident
    if incident.status != Incident.Status.CONFIRMED or incident.state not in Incident.OPEN:
        return {}
    is_new = incident.state == Incident.State.NEW
    return {
        "acknowledge_url": action_url(alert, ACKNOWLEDGE) if is_new else "",
        "snooze_url": action_url(alert, SNOOZE),
        "snooze_days": str(SNOOZED_FOR.days),
    }


def _evidence(change_point: ChangePoint, points: Sequence[Point]) -> ChangedSeries:
    change_point = in_used_unit(change_point)
    series = change_point.series
    threads = "" if series.threads is None else f", {threads_words(series.threads)}"
    return ChangedSeries(
        what=f"{series.workload.name}{threads}, {series.hardware.name}",
        metric=series.metric,
        before=_with_unit(change_point.before, series.unit),
        after=_with_unit(change_point.after, series.unit),
        change=change_words(change_point),
        # It is the same for a throughput.
        speed="" if series.higher_is_better else speed_words(change_point),
        confidence=_confidence(change_point.confidence),
        noise="" if change_point.noise is None else f"{100 * change_point.noise:.2g} %",
        expected=_expected(change_point, series.unit),
        groups=f"{change_point.groups_before} before, {change_point.groups_after} after",
        sessions=_sessions(change_point, points),
    )


def _sessions(change_point: ChangePoint, points: Sequence[Point]) -> str:
    """Count the sessions of the groups that made the two levels: ``20 before, 6 after``."""
    near, index = around(points, change_point)
    if index >= len(near):
        return ""
    before = near[max(0, index - change_point.groups_before) : index]
    after = near[index : index + change_point.groups_after]
    if not before:
        # A line or branch goes on from another place, whose sessions are not these.
        return f"{_distinct(after)} after"
    return f"{_distinct(before)} before, {_distinct(after)} after"


def _distinct(points: Sequence[Point]) -> int:
    return len({session for point in points for session in point.sessions})


def _expected(change_point: ChangePoint, unit: str) -> str:
    """Return the range that similar series predicted; empty where the series' own history was enough."""
    low, high = change_point.expected_low, change_point.expected_high
    if low is None or high is None:
        return ""
    return f"{_significant(low)} to {_with_unit(high, unit)}"


def _with_unit(value: float, unit: str) -> str:
    # The names of such metrics already say that they are per second.
    return _significant(value) if unit == "1/s" else f"{_significant(value)} {unit}"


def _significant(value: float) -> str:
    """Return four significant digits with thousands separated: 15,344, 1,052 or 6.67."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _confidence(confidence: float | None) -> str:
    if confidence is None:
        return "not known"
    return "> 99.9 %" if confidence > 0.999 else f"{100 * confidence:.3g} %"


def _picture(changed: Sequence[ChangePoint], points: dict[int, list[Point]], where: Span) -> Picture | None:
    if not changed:
        return None
    worst = changed[0]
    near, index = around(points[worst.series_id], worst)
    # One that analysis is looking at right now may have lost its run.
    if index >= len(near):
        return None
    words = (
        f"{series_words(worst.series).capitalize()} on {worst.series.hardware.name}: {levels(worst)} "
        f"between {where.good} and {where.changed}"
    )
    shown = "" if worst.change is None else f" ({change(worst.change)})"
    return Picture(
        change_picture(near, index, worst, level_starts([worst.series_id])[worst.series_id]),
        f"{words}{shown}. The picture shows {counted(len(near), 'point')}.",
    )
