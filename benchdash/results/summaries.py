"""Counts of runs and the places of versions, so that lists and choosers need not read all runs.

Recording runs only adds rows, so that uploads never wait for each other: the true count of a kind is the sum
of its rows, and a job folds them into one. Whoever changes or deletes runs holds the results of the project
alone and does it within ``recounted``.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import BooleanField, ExpressionWrapper, F, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from benchdash.accounts.models import Project
from benchdash.database.locks import is_free
from benchdash.results.models import Run, ServerVersion, VersionPlace
from benchdash.results.versions import order_kind, sort_key

# The commit time of places whose version has none.
_NO_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)
# Runs as the summaries count them.
_COUNTED: Final = """
    SELECT run.project_id, version_id, branch, counterpart, hardware_id, environment_id, configuration_id,
        content_id, workload_id, threads, started_at, product_id, excluded_at IS NULL AS is_included,
        strpos(workload.name, '=') > 0 AS has_parameters
    FROM results_run run
    JOIN results_serverversion version ON version.id = version_id
    JOIN results_workload workload ON workload.id = workload_id
    WHERE {}
"""


@dataclass(frozen=True, slots=True)
class _Summary:
    """A table with rows for each kind of run.

    ``insert`` adds rows for the runs in ``counted``. ``columns`` are all that its rows depend on; ids among
    them by which rows are recounted are ``recounted_by``.
    """

    table: str
    columns: tuple[str, ...]
    recounted_by: tuple[str, ...]
    insert: str


@dataclass(frozen=True, slots=True)
class _Count(_Summary):
    """One that counts runs, whose rows of one kind can be folded into one."""

    fold: str
    projects_to_fold: str


def _count(
    table: str, kind: tuple[str, ...], *, recounted_by: tuple[str, ...], only: tuple[str, ...] = ()
) -> _Count:
    """Return a summary of runs by kind, of those for which all columns in ``only`` are true."""
    names = ", ".join(kind)
    insert = f"INSERT INTO {table} ({names}, runs, first_run_at, last_run_at)"
    return _Count(
        table,
        columns=(*kind, *only, "started_at"),
        recounted_by=recounted_by,
        insert=f"""
            {insert} SELECT {names}, count(*), min(started_at), max(started_at)
            FROM counted WHERE {" AND ".join(only) or "true"} GROUP BY {names}
        """,  # noqa: S608 - of our own names
        fold=f"""
            WITH folded AS (
                DELETE FROM {table} WHERE id IN (
                    SELECT unnest(array_agg(id)) FROM {table} WHERE project_id = %s
                    GROUP BY {names} HAVING count(*) > 1
                ) RETURNING *
            )
            {insert} SELECT {names}, sum(runs), min(first_run_at), max(last_run_at)
            FROM folded GROUP BY {names}
        """,  # noqa: S608 - of our own names
        projects_to_fold=f"SELECT project_id FROM {table} GROUP BY {names} HAVING count(*) > 1",  # noqa: S608
    )


_SURROUNDINGS: Final = ("hardware_id", "environment_id", "configuration_id", "content_id")
_SUBJECT: Final = ("project_id", "version_id", "branch", "counterpart")
_COUNTS: Final = (
    _count(
        "results_surroundingscount",
        ("project_id", "product_id", "branch", *_SURROUNDINGS),
        recounted_by=("product_id", "hardware_id", "configuration_id"),
    ),
    _count(
        "results_workloadcount",
        ("project_id", "workload_id", "threads"),
        recounted_by=("workload_id",),
    ),
    _count(
        "results_subjectcount",
        (*_SUBJECT, *_SURROUNDINGS),
        recounted_by=("version_id",),
        only=("is_included",),
    ),
    _count(
        "results_parametercount",
        (*_SUBJECT, "workload_id"),
        recounted_by=("version_id",),
        only=("is_included", "has_parameters"),
    ),
)
_PLACE: Final = ("version_id", "branch", "hardware_id", "configuration_id", "counterpart")
_ORDER: Final = ("product_id", "build", "sort_key", "committed_at", "commit")
_PLACES: Final = _Summary(
    "results_versionplace",
    columns=(*_PLACE, *_ORDER),
    recounted_by=("version_id",),
    # Wait for a transaction that is changing what a version is sorted by, but only where a place is new: most
    # uploads find all places known, and wait for nobody.
    insert=f"""
        INSERT INTO results_versionplace ({", ".join(_PLACE)}, project_id, {", ".join(_ORDER)})
        WITH place AS (
            SELECT DISTINCT {", ".join(_PLACE)} FROM counted WHERE NOT EXISTS (
                SELECT FROM results_versionplace known
                WHERE known.version_id = counted.version_id AND known.branch = counted.branch
                    AND known.hardware_id = counted.hardware_id
                    AND known.configuration_id = counted.configuration_id
                    AND known.counterpart = counted.counterpart
            )
        ), version AS (
            SELECT * FROM results_serverversion WHERE id IN (SELECT version_id FROM place)
            ORDER BY id FOR SHARE
        )
        SELECT place.*, version.project_id, version.product_id, version.build, version.sort_key,
            coalesce(version.committed_at, 'epoch'), coalesce(version.commit, '')
        FROM place JOIN version ON version.id = place.version_id
        ORDER BY {", ".join(f"place.{name}" for name in _PLACE)}
        ON CONFLICT DO NOTHING
    """,  # noqa: S608 - of our own names
)
_SUMMARIES: Final = (*_COUNTS, _PLACES)


# --- adding -----------------------------------------------------------------------------------------------

_ADD: Final = f"""
    WITH counted AS ({_COUNTED.format("run.id = ANY(%s::bigint[])")}),
    {", ".join(f"added_{number} AS ({count.insert})" for number, count in enumerate(_COUNTS))}
    {_PLACES.insert}
"""


def add_runs(run_ids: Collection[int]) -> None:
    """Count runs that were just recorded. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(_ADD, [list(run_ids)])


def sort_again(versions: QuerySet[ServerVersion]) -> set[int]:
    """Compute anew what versions are sorted by, and return the ids of those for which that is another now.

    The caller holds the results of the project alone.
    """
    runs = Run.objects.filter(version__in=versions, excluded_at=None).order_by()
    first = dict(runs.values_list("version").annotate(Min("started_at")))
    changed = []
    for version in versions.select_related("product"):
        key = sort_key(
            version.version,
            product=version.product.name,
            commit=version.commit,
            order=version.order,
            known_at=version.released_at or version.committed_at,
            measured_at=first.get(version.pk),
        )
        if key != version.sort_key:
            version.sort_key = key
            changed.append(version)
    ServerVersion.objects.bulk_update(changed, ["sort_key"], batch_size=100)
    ids = {version.pk for version in changed}
    follow_versions(ids)
    return ids


def follow_versions(version_ids: Collection[int]) -> None:
    """Put versions that are sorted by something else now into their order at each place."""
    version = ServerVersion.objects.filter(pk=OuterRef("version_id"))
    places = VersionPlace.objects.filter(version__in=version_ids)
    places.update(
        sort_key=Subquery(version.values("sort_key")),
        committed_at=Coalesce(Subquery(version.values("committed_at")), _NO_TIME),
    )


@transaction.atomic
def fold(project: Project) -> None:
    """Fold the rows of each kind into one. The caller holds the results of the project."""
    if not is_free("summaries", project.pk):
        return
    with connection.cursor() as cursor:
        for count in _COUNTS:
            cursor.execute(count.fold, [project.pk])


def projects_to_fold() -> QuerySet[Project]:
    """Return the projects in which some kind has several rows."""
    with connection.cursor() as cursor:
        cursor.execute(" UNION ".join(count.projects_to_fold for count in _COUNTS))
        return Project.objects.filter(pk__in=[pk for (pk,) in cursor.fetchall()])


# --- recounting -------------------------------------------------------------------------------------------

_FACTS: Final = {
    **{name: F(f"version__{name}") for name in _ORDER},
    "is_included": ExpressionWrapper(Q(excluded_at=None), BooleanField()),
    "has_parameters": ExpressionWrapper(Q(workload__name__contains="="), BooleanField()),
}
_COLUMNS: Final = sorted({name for summary in _SUMMARIES for name in summary.columns})


@contextmanager
def recounted(runs: QuerySet[Run]) -> Iterator[None]:
    """Recount, after the block, what it changed of these runs, some of which may have come or gone.

    The caller's transaction holds the results of the project alone.
    """
    facts = runs.order_by().annotate(**_FACTS).values_list("pk", *_COLUMNS, named=True)
    before = list(facts.all())
    yield
    after = list(facts.all())
    # They are sorted by their first run.
    by_time = {run.version_id for run in (*before, *after) if run.sort_key and not order_kind(run.sort_key)}
    if by_time and sort_again(ServerVersion.objects.filter(pk__in=by_time)):
        after = list(facts.all())
    for summary in _SUMMARIES:
        said = attrgetter("pk", *summary.columns)
        was, became = ({said(run): run for run in found} for found in (before, after))
        if changed := was.keys() ^ became.keys():
            of_changed = [run for key, run in (was | became).items() if key in changed]
            _recount(summary, of_changed)


def _recount(summary: _Summary, changed: Sequence[Any]) -> None:
    ids = {name: sorted({getattr(run, name) for run in changed}) for name in summary.recounted_by}
    concerned = " AND ".join(f"{name} = ANY(%({name})s::bigint[])" for name in ids)
    _count_anew(summary, concerned, ids)


def recount_all(project: Project) -> None:
    """Count all runs of a project anew, for runs that were not written by ``benchdash.results.services``."""
    for summary in _SUMMARIES:
        _count_anew(summary, "run.project_id = %(project)s", {"project": project.pk})


def _count_anew(summary: _Summary, concerned: str, values: Mapping[str, Any]) -> None:
    """Count anew where ``concerned``, a condition on columns of the summary and of ``counted``, holds."""
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {summary.table} run WHERE {concerned}", values)  # noqa: S608
        cursor.execute(f"WITH counted AS ({_COUNTED.format(concerned)}) {summary.insert}", values)
