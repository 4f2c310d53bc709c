"""The mornings of several projects in short, by a constant number of statements.

They leave out what takes a look at every run of weeks: which workloads were due, and the rows.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any, Final

from django.db import connection
from django.db.models import BooleanField, Case, Q, When
from django.utils import timezone

from benchdash.accounts.models import Project
from benchdash.regressions import queries
from benchdash.regressions.models import Incident
from benchdash.regressions.morning import sentences
from benchdash.regressions.morning.missing import Missing, silent
from benchdash.regressions.morning.mornings import new_filter
from benchdash.regressions.morning.nights import NIGHT, Newest, NightSpan, Ran
from benchdash.regressions.queries import open_filter
from benchdash.results.pull_requests import PATTERN

MAX_INCIDENTS: Final = 10_000
_LIGHT: Final = ("project", "kind", "status", "started_at", "median", "worst")


@dataclass(frozen=True)
class Brief:
    """A morning in short. Of its incidents only the ``listed`` largest ones can be shown.

    ``newest_at`` is the start of the last run; None where there is none.
    """

    project: Project
    newest_at: datetime | None
    sentence: str
    new_count: int
    open_count: int
    new: Sequence[Incident]
    open: Sequence[Incident]
    missing: Sequence[Missing]


def mornings_of(
    projects: Collection[Project], *, now: datetime | None = None, listed: int = 0
) -> dict[int, Brief]:
    """Return the briefs of projects by id; in four statements. ``listed``: so many incidents of a kind."""
    now = now or timezone.now()
    ran = _ran(projects, now=now)
    found = _incidents(projects, ran, now=now)
    waiting = queries.waiting_series(projects)
    parts = {project.pk: _Parts.of(found.get(project.pk, ())) for project in projects}
    shown = {one.pk for each in parts.values() for one in each.shown(listed)}
    described = {
        one.pk: one
        for one in queries.described(Incident.objects.filter(pk__in=shown)).select_related(
            "silence__hardware", "silence__product", "silence__workload"
        )
    }
    return {
        project.pk: _brief(
            project,
            ran.get(project.pk),
            parts[project.pk].described(described),
            waiting=waiting.get(project.pk, 0),
            now=now,
            listed=listed,
        )
        for project in projects
    }


@dataclass(frozen=True)
class _Parts:
    new: Sequence[Incident]
    open: Sequence[Incident]
    silent: Sequence[Incident]

    @classmethod
    def of(cls, found: Collection[Incident]) -> "_Parts":
        silences = [one for one in found if one.kind == Incident.Kind.SILENCE]
        others = sorted(
            (one for one in found if one.kind != Incident.Kind.SILENCE),
            key=lambda one: (one.status != Incident.Status.CONFIRMED, -abs(one.median or 0), -one.pk),
        )
        return cls(
            new=[one for one in others if one.is_new],  # type: ignore[attr-defined]  # annotated below
            open=[one for one in others if not one.is_new],  # type: ignore[attr-defined]
            silent=silences,
        )

    def shown(self, listed: int) -> list[Incident]:
        named = [*sentences.named_new(self.new), *sentences.named_open(self.open)]
        return [*named, *self.new[:listed], *self.open[:listed], *self.silent]

    def described(self, known: Mapping[int, Incident]) -> "_Parts":
        return _Parts(
            *([known.get(one.pk, one) for one in part] for part in (self.new, self.open, self.silent))
        )


def _brief(
    project: Project, ran: Ran | None, parts: _Parts, *, waiting: int, now: datetime, listed: int
) -> Brief:
    missing = [silent(one) for one in parts.silent]
    return Brief(
        project=project,
        newest_at=ran.newest.at if ran else None,
        sentence=sentences.sentence(
            ran,
            new=parts.new,
            still_open=parts.open,
            lost=None,
            missing=missing,
            waiting=waiting,
            now=now,
        ),
        new_count=len(parts.new),
        open_count=len(parts.open),
        new=parts.new[:listed],
        open=parts.open[:listed],
        missing=missing,
    )


# --- reading ------------------------------------------------------------------------------------------------

_RAN: Final = """
    SELECT wanted.id, newest.started_at, product.name, version.version, newest.since, night.*
    FROM accounts_project wanted
    CROSS JOIN LATERAL (
        SELECT started_at, version_id, CASE
            WHEN wanted.is_sample OR started_at <= %(last_day)s THEN started_at - %(night)s
            ELSE %(last_day)s
        END AS since
        FROM results_run
        WHERE project_id = wanted.id AND started_at <= %(now)s AND branch !~ %(pull_requests)s
        ORDER BY started_at DESC, id DESC LIMIT 1
    ) newest
    JOIN results_serverversion version ON version.id = newest.version_id
    JOIN results_product product ON product.id = version.product_id
    CROSS JOIN LATERAL (
        SELECT bool_or(run.branch <> ''), array_agg(DISTINCT hardware.name),
            count(DISTINCT (of_run.product_id, of_run.build, run.branch, run.hardware_id,
                run.configuration_id, run.counterpart, run.workload_id))
        FROM results_run run
        JOIN results_serverversion of_run ON of_run.id = run.version_id
        JOIN results_hardware hardware ON hardware.id = run.hardware_id
        WHERE run.project_id = wanted.id AND run.started_at > newest.since AND run.started_at <= %(now)s
            AND run.branch !~ %(pull_requests)s
    ) night
    WHERE wanted.id = ANY(%(projects)s)
"""


def _ran(projects: Collection[Project], *, now: datetime) -> dict[int, Ran]:
    """Return what ran in the last day of each project, or in its latest one; one statement."""
    wanted: dict[str, Any] = {
        "projects": [project.pk for project in projects],
        "now": now,
        "last_day": now - NIGHT,
        "night": NIGHT,
        "pull_requests": PATTERN,
    }
    with connection.cursor() as cursor:
        cursor.execute(_RAN, wanted)
        rows = cursor.fetchall()
    return {
        pk: Ran(
            newest=Newest(at, product, version),
            span=NightSpan.LAST_DAY if since == now - NIGHT else NightSpan.LATEST,
            since=since,
            is_nightly=is_of_branch,
            machines=machines,
            total=total,
        )
        for pk, at, product, version, since, is_of_branch, machines, total in rows
    }


def _incidents(
    projects: Collection[Project], ran: Mapping[int, Ran], *, now: datetime
) -> dict[int, list[Incident]]:
    """Return the new and the open incidents of each project, with little of each; one statement."""
    since: dict[datetime, list[int]] = defaultdict(list)
    for project in projects:
        since[ran[project.pk].since if project.pk in ran else now - NIGHT].append(project.pk)
    is_new = reduce(or_, (Q(project__in=ids) & new_filter(time) for time, ids in since.items()), Q(pk=None))
    rows = (
        Incident.objects.filter(is_new | open_filter(), project__in=[project.pk for project in projects])
        .annotate(is_new=Case(When(is_new, then=True), default=False, output_field=BooleanField()))
        .only(*_LIGHT)
        .order_by("-started_at", "-pk")
    )
    found: dict[int, list[Incident]] = defaultdict(list)
    for incident in rows[:MAX_INCIDENTS]:
        found[incident.project_id].append(incident)
    return found
