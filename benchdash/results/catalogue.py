"""The things of a project: lists of them with their uses, search by name, and what choosers offer."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db import connection
from django.db.models import (
    Case,
    Count,
    Exists,
    Func,
    Max,
    Model,
    OuterRef,
    Q,
    Subquery,
    Sum,
    TextField,
    When,
)
from django.db.models.functions import Collate, JSONObject

from benchdash.accounts.models import Project
from benchdash.database.ids import ids_in
from benchdash.results import metrics
from benchdash.results.models import (
    Configuration,
    Hardware,
    Measurement,
    Product,
    Run,
    Series,
    ServerVersion,
    SurroundingsCount,
    VersionPlace,
    Workload,
    WorkloadCount,
)
from benchdash.results.pull_requests import PATTERN, of_pull_requests
from benchdash.results.used_units import unit_printed

# The newest runs tell what people look at now, whatever the archives of the project hold.
_NEWEST_RUNS: Final = 2000
# A place with this many groups has a history to look at.
_A_HISTORY: Final = 3
_MAX_VERSIONS: Final = 500


def _rows(statement: str, wanted: Mapping[str, Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, wanted)
        found: list[Any] = cursor.fetchall()
        return found


# --- lists --------------------------------------------------------------------------------------------------


class Use(NamedTuple):
    """The runs of a thing; ``aspects`` are its branches, thread counts or environments, sorted."""

    runs: int = 0
    last_run_at: datetime | None = None
    aspects: Sequence[Any] = ()

    @property
    def branches(self) -> Sequence[str]:
        return self.aspects

    @property
    def threads(self) -> Sequence[int]:
        return self.aspects

    @property
    def environments(self) -> int:
        return len(self.aspects)


def uses_of_versions(versions: Collection[int]) -> dict[int, Use]:
    """Return uses by id, with the branches that were measured; one statement."""
    runs = Run.objects.filter(version__in=versions).order_by().values_list("version", "branch")
    return _uses(runs.annotate(Count("pk"), Max("started_at")))


def is_only_of_pull_requests(kind: str) -> Q:
    """Select the things of a kind that were measured for pull requests and nowhere else.

    ``kind``: ``version``, ``product``, ``hardware``, ``configuration`` or ``workload``.
    """
    model: type[Model] = Series if kind == "workload" else VersionPlace
    places = model._default_manager.filter(**{kind: OuterRef("pk")})
    return Q(Exists(places.filter(of_pull_requests()))) & ~Q(Exists(places.exclude(of_pull_requests())))


def uses_of_hardware(project: Project) -> dict[int, Use]:
    """Return uses by id, with the ids of the environments that were found; one statement."""
    counted = SurroundingsCount.objects.filter(project=project).order_by()
    return _uses(counted.values_list("hardware", "environment").annotate(Sum("runs"), Max("last_run_at")))


def uses_of_workloads(project: Project) -> dict[int, Use]:
    """Return uses by id, with the thread counts that were measured; one statement."""
    counted = WorkloadCount.objects.filter(project=project).order_by()
    return _uses(counted.values_list("workload", "threads").annotate(Sum("runs"), Max("last_run_at")))


def _uses(rows: Iterable[tuple[Any, ...]]) -> dict[int, Use]:
    """Group rows of a thing, an aspect, the runs with it, and when the last of them started."""
    groups: dict[int, list[Sequence[Any]]] = defaultdict(list)
    for thing, *group in rows:
        groups[thing].append(group)
    return {
        thing: Use(
            runs=sum(runs for _, runs, _ in found),
            last_run_at=max(last for *_, last in found),
            aspects=sorted(aspect for aspect, *_ in found if aspect not in ("", None)),
        )
        for thing, found in groups.items()
    }


class Size(NamedTuple):
    """The size of a project; of many runs only ``most`` and one are counted."""

    runs: int = 0
    versions: int = 0
    last_run_at: datetime | None = None


def sizes_of(projects: Collection[Project], *, most: int) -> dict[int, Size]:
    """Return the sizes of projects by id; one statement."""
    rows = _rows(_SIZES, {"projects": [project.pk for project in projects], "most": most + 1})
    return {project: Size(*size) for project, *size in rows}


# To count a million runs takes longer than all the rest of the page.
_SIZES: Final = """
    SELECT wanted.id,
        (SELECT count(*) FROM (
            SELECT FROM results_run WHERE project_id = wanted.id LIMIT %(most)s
        ) some_runs),
        (SELECT count(*) FROM results_serverversion WHERE project_id = wanted.id),
        (SELECT started_at FROM results_run WHERE project_id = wanted.id ORDER BY started_at DESC LIMIT 1)
    FROM unnest(%(projects)s::bigint[]) AS wanted (id)
"""


# --- search -------------------------------------------------------------------------------------------------


class NamedThings(NamedTuple):
    """Things found by a part of their names. A version is its product, version, build and commit."""

    workloads: Sequence[str]
    versions: Sequence[Sequence[str]]
    branches: Sequence[str]
    products: Sequence[str]
    hardware: Sequence[str]
    configurations: Sequence[str]


def find_named(project: Project, words: Sequence[str], *, most: int) -> NamedThings:
    """Return what has all of the words in its name, of each kind at most so many; one statement.

    Branches are those of series: of a million runs all would have to be read.
    """
    parts = ("product__name", "version", "build", "commit")
    in_version = [Q(*((f"{part}__icontains", word) for part in parts), _connector=Q.OR) for word in words]
    versions = ServerVersion.objects.filter(*in_version, project=OuterRef("pk")).annotate(
        parts=Func(*parts, template="ARRAY[%(expressions)s]", output_field=ArrayField(TextField()))
    )
    in_branch = [Q(branch__icontains=word) for word in words]
    branches = Series.objects.filter(*in_branch, project=OuterRef("pk")).order_by("branch").distinct()
    in_name = [Q(name__icontains=word) for word in words]
    return NamedThings(
        *Project.objects.values_list(
            _names(Workload, *in_name, most=most),
            ArraySubquery(
                versions.order_by("product__name", "-sort_key", "-committed_at").values("parts")[:most]
            ),
            ArraySubquery(branches.values("branch")[:most]),
            *(_names(model, *in_name, most=most) for model in (Product, Hardware, Configuration)),
        ).get(pk=project.pk)
    )


def _names(model: type[Model], *conditions: Q, most: int | None = None) -> ArraySubquery:
    """Return the names of the things of a kind in each project, sorted."""
    things = model._default_manager.filter(*conditions, project=OuterRef("pk")).order_by("name")
    return ArraySubquery(things.values("name")[:most])


# --- runs ---------------------------------------------------------------------------------------------------


class RunRow(NamedTuple):
    """A run with its main reading in the unit that people use; its metric is None where nothing was read."""

    pk: int
    started_at: datetime
    product: str
    version: str
    build: str
    commit: str | None
    branch: str
    workload: str
    threads: int | None
    hardware: str
    configuration: str
    is_excluded: bool
    has_warnings: bool
    metric: str | None
    unit: str | None
    value: float | None


_READING: Final = {
    "metric": "series__metric",
    "unit": "series__unit",
    "printed_unit": "series__printed_unit",
    "value": "value",
}


def run_rows(runs: Collection[int]) -> list[RunRow]:
    """Return the rows of these runs, the latest first; one statement."""
    telling = [When(series__metric=metric, then=rank) for rank, metric in enumerate(metrics.FIRST)]
    readings = Measurement.objects.filter(run=OuterRef("pk"), series__is_derived=False)
    main = readings.order_by(
        Case(*telling, default=len(telling)), Collate("series__metric", "C")
    ).values_list(JSONObject(**_READING))[:1]
    rows = (
        Run.objects.filter(pk__in=runs)
        .order_by("-started_at", "-pk")
        .values_list(
            *("pk", "started_at", "version__product__name", "version__version", "version__build"),
            *("version__commit", "branch", "workload__name", "threads", "hardware__name"),
            *("configuration__name", "excluded_at", "warnings", Subquery(main)),
        )
    )
    found = []
    for *row, excluded_at, warnings, read in rows:
        reading: tuple[str | None, str | None, float | None] = (None, None, None)
        if read:
            used = unit_printed(read["unit"], read["printed_unit"])
            reading = (read["metric"], used.unit, used.of(float(read["value"])))
        found.append(RunRow._make((*row, excluded_at is not None, bool(warnings), *reading)))
    return found


def run_choices(project: Project, *, product: str | None) -> dict[str, list[str]]:
    """Return the names by which runs are found, by the name of their filter; one statement.

    Versions are the newest first, of one ``product`` if it is given. What only pull requests have is left
    out; ``pull_request`` is the branch of one of them, where there are any.
    """
    wanted = {"project": project.pk, "product": product, "pull_requests": PATTERN, "most": _MAX_VERSIONS}
    [found] = _rows(_RUN_CHOICES, wanted)
    names = ("product", "workload", "hardware", "configuration", "version", "pull_request")
    return dict(zip(names, found, strict=True))


# Versions of two products may be written alike and sorted apart.
_RUN_CHOICES: Final = """
    WITH place AS MATERIALIZED (
        SELECT product_id, version_id, hardware_id, configuration_id FROM results_versionplace
        WHERE project_id = %(project)s AND branch !~ %(pull_requests)s
    )
    SELECT
        ARRAY(SELECT name FROM results_product WHERE id IN (SELECT product_id FROM place) ORDER BY name),
        ARRAY(
            SELECT name FROM results_workload WHERE id IN (
                SELECT workload_id FROM results_series
                WHERE project_id = %(project)s AND branch !~ %(pull_requests)s
            ) ORDER BY name
        ),
        ARRAY(SELECT name FROM results_hardware WHERE id IN (SELECT hardware_id FROM place) ORDER BY name),
        ARRAY(
            SELECT name FROM results_configuration WHERE id IN (SELECT configuration_id FROM place)
            ORDER BY name
        ),
        ARRAY(
            SELECT version FROM results_serverversion version
            JOIN results_product product ON product.id = version.product_id
            WHERE version.id IN (SELECT version_id FROM place)
                AND (%(product)s::text IS NULL OR product.name = %(product)s)
            GROUP BY version ORDER BY max(version.sort_key) DESC, version LIMIT %(most)s
        ),
        ARRAY(
            SELECT branch FROM results_versionplace
            WHERE project_id = %(project)s AND branch ~ %(pull_requests)s
            ORDER BY version_id DESC LIMIT 1
        )
"""


# --- choosers -----------------------------------------------------------------------------------------------


class RecentPlace(NamedTuple):
    """A place among those of the newest runs, with how many these are, and how many groups they make."""

    product: str
    build: str
    branch: str
    hardware: str
    configuration: str
    counterpart: str
    runs: int
    groups: int


def recent_places(project: Project) -> list[RecentPlace]:
    """Return the places of the newest runs, that of the newest run first; one statement."""
    rows = _rows(_RECENT, {"project": project.pk, "newest": _NEWEST_RUNS, "pull_requests": PATTERN})
    return list(map(RecentPlace._make, rows))


def newest_place(project: Project) -> RecentPlace | None:
    """Return the place measured last that has a history, or as much of one as there is; one statement."""
    return max(recent_places(project), key=lambda place: min(place.groups, _A_HISTORY), default=None)


# Few versions are among the newest runs: named after they are counted, not run by run.
_RECENT: Final = """
    SELECT product.name, version.build, recent.branch, hardware.name, configuration.name,
        recent.counterpart, sum(recent.runs)::bigint, count(*)
    FROM (
        SELECT version_id, branch, hardware_id, configuration_id, counterpart, day, count(*) AS runs,
            min(rank) AS rank
        FROM (
            SELECT version_id, branch, hardware_id, configuration_id, counterpart,
                CASE WHEN branch <> '' THEN (started_at AT TIME ZONE 'UTC')::date END AS day,
                row_number() OVER (ORDER BY started_at DESC, id DESC) AS rank
            FROM results_run
            WHERE project_id = %(project)s AND excluded_at IS NULL AND branch !~ %(pull_requests)s
            ORDER BY started_at DESC, id DESC LIMIT %(newest)s
        ) newest
        GROUP BY 1, 2, 3, 4, 5, 6
    ) recent
    JOIN results_serverversion version ON version.id = recent.version_id
    JOIN results_product product ON product.id = version.product_id
    JOIN results_hardware hardware ON hardware.id = recent.hardware_id
    JOIN results_configuration configuration ON configuration.id = recent.configuration_id
    GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY min(recent.rank)
"""


class Offered(NamedTuple):
    """The places, workloads and thread counts of the series of a project, each once.

    A place is product, branch, line, build, hardware, configuration and counterpart.
    """

    places: Sequence[Sequence[str]]
    workloads: Sequence[str]
    threads: Sequence[int | None]


def offered_series(project: Project, branches: Collection[str] = ()) -> Offered:
    """Return what the series of a project offer to choose from; one statement.

    What only pull requests have is left out, unless their branches are named.
    """
    rows = _rows(_OFFERED, {"project": project.pk, "pull_requests": PATTERN, "branches": [*branches]})
    return Offered(
        places=[place for *place, _, _, kind in rows if kind == _IS_PLACE],
        workloads=[workload for *_, workload, _, kind in rows if kind == _IS_WORKLOAD],
        threads=[threads for *_, threads, kind in rows if kind == _IS_THREADS],
    )


# A row is a place, a workload or a thread count: a project has thousands of all three together.
_OFFERED: Final = """
    SELECT product.name, branch, line, build, hardware.name, configuration.name, counterpart,
        workload.name, threads, kind
    FROM (
        SELECT product_id, branch, line, build, hardware_id, configuration_id, counterpart, workload_id,
            threads, grouping(product_id, workload_id, threads) AS kind
        FROM results_series
        WHERE project_id = %(project)s AND (branch !~ %(pull_requests)s OR branch = ANY(%(branches)s))
        GROUP BY GROUPING SETS (
            (product_id, branch, line, build, hardware_id, configuration_id, counterpart),
            (workload_id), (threads)
        )
    ) offered
    LEFT JOIN results_product product ON product.id = offered.product_id
    LEFT JOIN results_hardware hardware ON hardware.id = offered.hardware_id
    LEFT JOIN results_configuration configuration ON configuration.id = offered.configuration_id
    LEFT JOIN results_workload workload ON workload.id = offered.workload_id
"""
_IS_PLACE, _IS_WORKLOAD, _IS_THREADS = 0b011, 0b101, 0b110  # bits of what is not grouped by


def workload_names(project: Project, texts: Iterable[str]) -> dict[str, str]:
    """Return the names of the workloads whose ids are among the texts; no statement where none is an id."""
    ids = ids_in(texts)
    found = Workload.objects.filter(project=project, pk__in=ids).values_list("pk", "name") if ids else ()
    return {str(pk): name for pk, name in found}
