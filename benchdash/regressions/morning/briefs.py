"""The news of several projects, by a constant number of statements.

They leave out what takes a look at every run of weeks: which workloads were due, and the rows.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final

from django.db import connection
from django.utils import timezone

from benchdash.accounts.models import Project
from benchdash.regressions import queries
from benchdash.regressions.morning.missing import silent
from benchdash.regressions.morning.news import News, ToldIncidents, described, incidents_of
from benchdash.regressions.morning.nights import NIGHT, Newest, NightSpan, Ran
from benchdash.results.pull_requests import PATTERN


def mornings_of(
    projects: Collection[Project], *, now: datetime | None = None, listed: int = 0
) -> dict[int, News]:
    """Return the news of projects by id, the largest incidents first; in four statements.

    Of ``listed`` incidents of a kind, and of those that sentences name, all is there that a list shows.
    """
    now = now or timezone.now()
    ran = _ran(projects, now=now)
    nights = {one: ran.get(one.pk) for one in projects}
    found = incidents_of(
        {one: (night.since if night else now - NIGHT, night) for one, night in nights.items()}
    )
    waiting = queries.waiting_series(projects)
    told = {pk: of_project.largest_first() for pk, of_project in found.items()}
    known = described(told.values(), listed)
    news = {}
    for project, night in nights.items():
        of_project = told.get(project.pk, ToldIncidents()).known_by(known)
        news[project.pk] = News(
            project=project,
            now=now,
            night_runs=night,
            new=of_project.new,
            open=of_project.open,
            lost=of_project.lost,
            recovered=of_project.recovered,
            missing=[silent(one) for one in of_project.silences],
            waiting=waiting.get(project.pk, 0),
        )
    return news


# --- what ran -----------------------------------------------------------------------------------------------

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
