"""The morning in a sentence. Days are those of Django's current time zone."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from django.utils import timezone

from benchdash.regressions import headlines
from benchdash.regressions.models import Incident
from benchdash.regressions.morning.missing import Missing
from benchdash.regressions.morning.nights import NightRuns, Span
from benchdash.results.wording import counted

MAX_NAMED: Final = 3
"""Machines, incidents or missing jobs that a sentence names."""


def day(time: datetime, *, now: datetime) -> str:
    """Write ``20 Nov``; of another year, ``20 Nov 2025``."""
    local = timezone.localtime(time)
    year = "" if local.year == timezone.localtime(now).year else f" {local.year}"
    return f"{local.day} {local:%b}{year}"


def listed(names: Sequence[str], noun: str) -> str:
    """Write ``a, b and c``; of many, only how many: ``5 machines``."""
    if len(names) > MAX_NAMED:
        return counted(len(names), noun)
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def ran_words(runs: NightRuns, machines: Sequence[str], *, now: datetime) -> str:
    """Write ``Last night (20 Nov): 3 of 3 workloads ran on epyc-2core-vm``."""
    if runs.newest is None:
        return "No results yet"
    last = day(runs.newest.at, now=now)
    if not runs.is_nightly:
        return f"Newest: {runs.newest.product} {runs.newest.version}, measured {last}"
    total = len(runs.ran)
    where = f" on {listed(machines, 'machine')}" if machines else ""
    if runs.span == Span.LATEST:
        return f"Latest night ({last}): {counted(total, 'workload')} ran{where}"
    night = f"Since {day(runs.night.since, now=now)}"
    if runs.span == Span.LAST_DAY:
        night = f"Last night ({last if total else day(now, now=now)})"
    if not total:
        due = (
            f", {counted(runs.due, 'workload')} {'was' if runs.due == 1 else 'were'} due" if runs.due else ""
        )
        return f"{night}: nothing ran{due}; the last results are of {last}"
    if not runs.due:
        return f"{night}: {counted(total, 'workload')} ran{where}"
    others = f" and {len(runs.others)} more" if runs.others else ""
    return f"{night}: {len(runs.came)} of {counted(runs.due, 'workload')}{others} ran{where}"


def incident_words(incident: Incident) -> str:
    """Write ``oltp_point_select −16.0 %, slow_query_log switched on``."""
    names: Sequence[str] = getattr(incident, "workloads", ())
    subject = names[0] if names else incident.subject
    if len(names) > 1:
        subject = f"{incident.subject} in {counted(len(names), 'workload')}"
    if incident.kind == Incident.Kind.ENVIRONMENT:
        subject = incident.subject
    words = f"{subject} {headlines.figure(incident)}"
    return f"{words}, {incident.cause}" if incident.cause else words


def new_words(new: Collection[Incident], recovered: int) -> str:
    """Write ``nothing new``, ``2 new: ...``, with suspicions and improvements apart."""
    told = [one for one in new if one.status == Incident.Status.CONFIRMED]
    worse = [one for one in told if headlines.is_for_the_worse(one)]
    better, suspected = len(told) - len(worse), len(new) - len(told)
    parts = []
    if worse:
        parts.append(f"{len(worse)} new: {'; '.join(incident_words(one) for one in _largest(worse))}")
    if better:
        parts.append(counted(better, "improvement"))
    if recovered:
        parts.append(f"{recovered} recovered")
    if not worse:
        parts.insert(0, "nothing new" if not parts else "nothing worse")
    if suspected:
        parts.append(f"{suspected} suspected, not confirmed")
    return ", ".join(parts)


def open_words(still_open: Collection[Incident], *, now: datetime) -> str:
    """Write ``1 open since 9 Nov: oltp_point_select −16.0 %``; empty where nothing is."""
    told = [one for one in still_open if one.status == Incident.Status.CONFIRMED]
    if not told:
        return ""
    oldest = day(min(one.started_at for one in told), now=now)
    if len(told) == 1:
        return f"1 open since {oldest}: {incident_words(told[0])}"
    return f"{len(told)} open, the oldest since {oldest}; the largest: {incident_words(_largest(told)[0])}"


def missing_words(missing: Sequence[Missing], *, now: datetime) -> str:
    """Write ``Missing: bench-03 since 17 Nov``; empty where nothing is."""
    if not missing:
        return ""
    named = [f"{one.subject} since {day(one.last_at, now=now)}" for one in missing[:MAX_NAMED]]
    more = len(missing) - len(named)
    return f"Missing: {', '.join(named)}{f' and {more} more' if more else ''}"


def _largest(incidents: Collection[Incident]) -> list[Incident]:
    return sorted(incidents, key=lambda one: -abs(one.median or 0))[:MAX_NAMED]


def sentence(ran: str, *, new: str, still_open: str, missing: str) -> str:
    """Join the parts: ``...; nothing new. 1 open since ... Missing: ...``."""
    nothing_open = "" if still_open or not new else ", nothing open"
    first = f"{ran}; {new}{nothing_open}" if new else ran
    return " ".join(f"{part}." for part in (first, still_open, missing) if part)
