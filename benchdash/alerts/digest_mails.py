"""The text of the mail of a digest. Times are those of Django's current time zone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils import timezone

from benchdash.accounts.access import Viewer
from benchdash.addresses import absolute
from benchdash.alerts.digests import morning_for
from benchdash.alerts.models import Digest
from benchdash.regressions.headlines import figure, is_for_the_worse, rhythm
from benchdash.regressions.models import Incident
from benchdash.regressions.morning import sentences
from benchdash.regressions.morning.missing import Missing
from benchdash.regressions.morning.mornings import Morning
from benchdash.regressions.morning.nights import NIGHT
from benchdash.regressions.morning.rows import Standing
from benchdash.regressions.queries import of_assumed_starts
from benchdash.results.wording import change, counted, number

MAX_LISTED: Final = 20
MAX_ROWS: Final = 40


@dataclass(frozen=True, slots=True)
class IncidentLine:
    """An incident in a list. ``held`` says who has it; empty where the reader may not know."""

    figure: str
    is_worse: bool
    words: str
    since: str
    state: str
    held: str
    url: str


@dataclass(frozen=True, slots=True)
class Section:
    """A list of the mail, and how many incidents it leaves out."""

    title: str
    lines: Sequence[IncidentLine]
    more: int


@dataclass(frozen=True, slots=True)
class MissingLine:
    words: str
    url: str


@dataclass(frozen=True, slots=True)
class RowLine:
    """A workload; ``is_odd`` where its newest figure is not as usual."""

    workload: str
    place: str
    value: str
    of_level: str
    standing: str
    is_odd: bool


def digest_context(digest: Digest) -> dict[str, Any]:
    """Return what the templates of a digest show."""
    morning, project = morning_for(digest), digest.project
    lists = (("New", morning.new), ("Still open", morning.open), ("Recovered", morning.recovered))
    names_people = _may_name_people(digest)
    assumed = of_assumed_starts(one for _, found in lists for one in found[:MAX_LISTED])
    return {
        "project": project,
        "subject": f"{project.name}: {_counts(morning)} ({_span(digest)})",
        "sentence": morning.sentence,
        "sections": [
            Section(
                title=title,
                lines=[
                    _incident_line(one, names_people=names_people, start_assumed=one.pk in assumed)
                    for one in found[:MAX_LISTED]
                ],
                more=max(0, len(found) - MAX_LISTED),
            )
            for title, found in lists
            if found
        ],
        "missing": [_missing_line(one, project.slug) for one in morning.missing[:MAX_LISTED]],
        "more_missing": max(0, len(morning.missing) - MAX_LISTED),
        "rows": [_row_line(row) for row in morning.rows[:MAX_ROWS]],
        "more_rows": max(0, len(morning.rows) - MAX_ROWS),
        "zone": timezone.get_current_timezone_name(),
        "url": absolute("dashboard:overview", project.slug),
        "subscription": digest.subscription,
        "subscriptions_url": absolute("dashboard:notifications", project.slug),
        "statistics_url": absolute("statistics"),
    }


def _counts(morning: Morning) -> str:
    """``nothing new, 1 open``, ``2 new, 1 recovered, 3 open, 1 missing``."""
    worse = sum(is_for_the_worse(one) for one in morning.new)
    better = len(morning.new) - worse
    parts = [f"{worse} new" if worse else "nothing worse" if better else "nothing new"]
    if better:
        parts.append(counted(better, "improvement"))
    counts = (morning.recovered, "recovered"), (morning.open, "open"), (morning.missing, "missing")
    return ", ".join([*parts, *(f"{len(found)} {word}" for found, word in counts if found)])


def _span(digest: Digest) -> str:
    """``20 Nov``, ``13 to 20 Nov``."""
    until = timezone.localtime(digest.until)
    last = f"{until.day} {until:%b}"
    if digest.until - digest.since <= NIGHT:
        return last
    since = timezone.localtime(digest.since)
    month = "" if (since.year, since.month) == (until.year, until.month) else f" {since:%b}"
    return f"{since.day}{month} to {last}"


def _incident_line(incident: Incident, *, names_people: bool, start_assumed: bool) -> IncidentLine:
    is_worse = is_for_the_worse(incident)
    since = sentences.day(incident.started_at, now=timezone.now())
    held = f"{incident.assignee} has it" if incident.assignee else "nobody has it"
    return IncidentLine(
        figure=figure(incident),
        is_worse=is_worse,
        words=f"{incident.subject}: {sentences.incident_words(incident)}",
        since=f"{since} (start assumed)" if start_assumed else since,
        state=incident.get_state_display(),
        held=held if names_people and is_worse and incident.state in Incident.OPEN else "",
        url=absolute("dashboard:incident", incident.project.slug, incident.pk),
    )


def _missing_line(missing: Missing, slug: str) -> MissingLine:
    workloads = f" ({sentences.listed(missing.workloads, 'workload')})" if missing.workloads else ""
    since = sentences.day(missing.last_at, now=timezone.now())
    usual = f"it used to report {rhythm(missing.interval_s)}"
    incident = missing.incident
    return MissingLine(
        words=f"{missing.subject}{workloads}: no results since {since}; {usual}",
        url=absolute("dashboard:incident", slug, incident.pk) if incident else "",
    )


def _row_line(row: Standing) -> RowLine:
    threads = sentences.threads_of(row)
    value = "" if row.shown_value is None else f"{number(row.shown_value)} "
    return RowLine(
        workload=f"{row.workload}, {threads}" if threads else row.workload,
        place=str(row.place),
        value=f"{value}{row.metric_words}",
        of_level="" if row.of_level is None else change(row.of_level - 1),
        standing=sentences.standing(row),
        is_odd=row.verdict.startswith("likely"),
    )


def _may_name_people(digest: Digest) -> bool:
    """Tell whether the reader is a member, or was subscribed by one: those see who has an incident."""
    subscription = digest.subscription
    if subscription is None:
        return False
    return subscription.user is None or Viewer(user=subscription.user).is_member(digest.project)
