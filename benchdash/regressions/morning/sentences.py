"""The morning in a sentence. Days are those of Django's current time zone."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from django.utils import timezone

from benchdash.regressions import headlines
from benchdash.regressions.models import Incident
from benchdash.regressions.morning.missing import Missing
from benchdash.regressions.morning.nights import NightSpan, Ran
from benchdash.regressions.morning.rows import Standing
from benchdash.results import wording
from benchdash.results.metrics import is_speed
from benchdash.results.wording import NO_BREAK, change, count, counted, share, some_of

MAX_NAMED: Final = 3
"""Machines, incidents or missing jobs that a sentence names."""
_WIDE: Final = 0.1


def day(time: datetime, *, now: datetime) -> str:
    """Write ``20 Nov``; of another year, ``20 Nov 2025``."""
    local = timezone.localtime(time)
    year = "" if local.year == timezone.localtime(now).year else f" {local.year}"
    return f"{local.day} {local:%b}{year}"


def listed(names: Sequence[str], noun: str) -> str:
    """Write ``a, b and c``; of many, only how many: ``5 machines``."""
    if len(names) > MAX_NAMED:
        return counted(len(names), noun)
    return wording.listed(names)


def ran_words(ran: Ran | None, *, now: datetime) -> str:
    """Write ``Last night (20 Nov): 3 of 3 workloads ran on epyc-2core-vm``."""
    if ran is None:
        return "No results yet"
    last = day(ran.newest.at, now=now)
    if not ran.is_nightly:
        return f"Newest: {ran.newest.product} {ran.newest.version}, measured {last}"
    where = f" on {listed(ran.machines, 'machine')}" if ran.machines else ""
    if ran.span == NightSpan.LATEST:
        return f"Latest night ({last}): {counted(ran.total, 'workload')} ran{where}"
    night = f"Since {day(ran.since, now=now)}"
    if ran.span == NightSpan.LAST_DAY:
        night = f"Last night ({last if ran.total else day(now, now=now)})"
    if not ran.total:
        due = f", {counted(ran.due, 'workload')} {'was' if ran.due == 1 else 'were'} due" if ran.due else ""
        return f"{night}: nothing ran{due}; the last results are of {last}"
    if not ran.due:
        return f"{night}: {counted(ran.total, 'workload')} ran{where}"
    others = ran.total - ran.came
    if not ran.came:
        due = f"none of the {count(ran.due)} that were" if ran.due > 1 else "not the one that was"
        return f"{night}: {counted(others, 'workload')} ran{where}, and {due} due"
    more = f" and {others} more" if others else ""
    return f"{night}: {ran.came} of {counted(ran.due, 'workload')}{more} ran{where}"


def incident_words(incident: Incident) -> str:
    """Write ``oltp_point_select −16.0 %, slow_query_log switched on``."""
    names: Sequence[str] = getattr(incident, "workloads", ())
    subject = names[0] if names else incident.subject
    if len(names) > 1:
        subject = f"{incident.subject} in {counted(len(names), 'workload')}"
    if incident.kind == Incident.Kind.ENVIRONMENT:
        subject = incident.subject
    if incident.kind == Incident.Kind.DRIFT:
        return f"{subject} {headlines.drift_words(incident)}"
    words = f"{subject} {headlines.figure(incident)}"
    if incident.remaining is not None:
        words += f", {headlines.recovered_words(incident)}"
    return f"{words}, {incident.cause}" if incident.cause else words


def new_words(new: Collection[Incident], recovered: int = 0, waiting: int = 0) -> str:
    """Write ``nothing new``, ``2 new: ...``, with suspicions and improvements apart.

    While series are ``waiting`` for analysis there is ``nothing new so far``.
    """
    told = confirmed(new)
    worse = [one for one in told if headlines.is_for_the_worse(one)]
    better, suspected = len(told) - len(worse), len(new) - len(told)
    parts = []
    if worse:
        parts.append(f"{len(worse)} new: {'; '.join(map(incident_words, named_new(new)))}")
    if better:
        parts.append(counted(better, "improvement"))
    if recovered:
        parts.append(f"{recovered} recovered")
    if not worse:
        parts.insert(0, f"{'nothing worse' if parts else 'nothing new'}{' so far' if waiting else ''}")
    if suspected:
        parts.append(f"{suspected} suspected, not confirmed")
    return ", ".join(parts)


def named_new(new: Collection[Incident]) -> list[Incident]:
    """Return the incidents that ``new_words`` names."""
    return _largest([one for one in confirmed(new) if headlines.is_for_the_worse(one)])[:MAX_NAMED]


def open_words(still_open: Collection[Incident], *, now: datetime) -> str:
    """Write ``1 open since 9 Nov: oltp_point_select −16.0 %``; empty where nothing is."""
    told = confirmed(still_open)
    if not told:
        return ""
    oldest = day(min(one.started_at for one in told), now=now)
    [largest] = named(told)
    if len(told) == 1:
        return f"1 open since {oldest}: {incident_words(largest)}"
    return f"{len(told)} open, the oldest since {oldest}; the largest: {incident_words(largest)}"


def named(told: Collection[Incident]) -> list[Incident]:
    """Return the incident that ``open_words`` and ``lost_words`` name."""
    return _largest(confirmed(told))[:1]


def lost_words(lost: Collection[Incident], *, now: datetime) -> str:
    """Write ``1 old loss still holds: oltp_point_select −16.0 % since 9 Nov``; empty where none does."""
    if not lost:
        return ""
    [largest, *others] = _largest(lost)
    first = f"{holding_words(lost)}{', the largest' if others else ''}"
    return f"{first}: {incident_words(largest)}, since {day(largest.started_at, now=now)}"


def waiting_words(waiting: int) -> str:
    """Write ``24 series are not analysed yet``, which holds too where analysis fails; empty where all are."""
    return (
        f"{counted(waiting, 'series')} {'is' if waiting == 1 else 'are'} not analysed yet" if waiting else ""
    )


def holding_words(lost: Collection[Incident]) -> str:
    """Write ``2 old losses still hold``; empty where none does."""
    return f"{counted(len(lost), 'old loss')} still {'holds' if len(lost) == 1 else 'hold'}" if lost else ""


def missing_words(missing: Sequence[Missing], *, now: datetime) -> str:
    """Write ``Missing: bench-03 since 17 Nov``; empty where nothing is."""
    if not missing:
        return ""
    named = (f"{missing_name(one)} since {day(one.last_at, now=now)}" for one in missing)
    return f"Missing: {some_of(named, MAX_NAMED)}"


def missing_name(missing: Missing) -> str:
    """Write ``bench-03``, or ``oltp_write of MariaDB main on bench-03`` where others of the job came."""
    if not missing.workloads:
        return missing.subject
    return f"{listed(missing.workloads, 'workload')} of {missing.subject}"


def standing(row: Standing) -> str:
    """Say how the newest figure stands against its level: ``as usual, ± 1.2 %``.

    Of a level that the machine made ``explained by its machine, since then ± 1.2 %``.
    """
    match row.verdict:
        case "same" if row.incident and row.incident.kind == Incident.Kind.DRIFT:
            return f"{headlines.drift_words(row.incident)}; around that {_usual(row)}"
        case "same" if row.is_explained_by_machine:
            return f"explained by its machine, since then {_usual(row)}"
        case "same":
            return f"as usual, {_usual(row)}"
        case "unknown":
            return f"not enough to tell: needs {counted(row.needed, 'more night')}"
    words = ("slower", "faster") if is_speed(row.metric) else ("worse", "better")
    word = words[row.verdict == "likely_better"]
    return f"{word} than usual, one night; not confirmed (usual: {_usual(row)})"


def _usual(row: Standing) -> str:
    """Write ``± 1.2 %``, or both ends of a range so wide that they differ: ``−28.6 to +40.0 %``."""
    usual = row.usual or 0.0
    if usual < _WIDE:
        return f"±{NO_BREAK}{share(usual)}"
    low, high = change(1 / (1 + usual) - 1), change(usual)
    return f"{low.partition(NO_BREAK)[0]} to {high}"


def threads_of(row: Standing) -> str:
    """Write ``4 threads``, ``8 thread counts``; nothing where no count is known."""
    if len(row.threads) > 1:
        return counted(len(row.threads), "thread count")
    return "" if row.first_threads is None else headlines.threads_words(row.first_threads)


def confirmed(incidents: Collection[Incident]) -> list[Incident]:
    return [one for one in incidents if one.status == Incident.Status.CONFIRMED]


def _largest(incidents: Collection[Incident]) -> list[Incident]:
    return sorted(incidents, key=lambda one: (-abs(one.median or 0), -one.pk))
