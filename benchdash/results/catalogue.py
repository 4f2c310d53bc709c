"""What a project has: uses of its things for lists, names for the search, and what choosers offer."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.db import connection

from benchdash.accounts.models import Project

# The newest runs say what a project looks at now, whatever its archives hold.
_NEWEST_RUNS: Final = 2000
# From so many groups on there is a history to look at.
_A_HISTORY: Final = 3


def _rows(statement: str, wanted: Mapping[str, Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, wanted)
        found: list[Any] = cursor.fetchall()
        return found


# --- lists --------------------------------------------------------------------------------------------------


class Use(NamedTuple):
    """How much a thing was measured; ``aspects`` are its branches, thread counts or environments."""

    runs: int = 0
    last_run_at: datetime | None = None
    aspects: Sequence[Any] = ()

    @property
    def branches(self) -> list[str]:
        return sorted(self.aspects)

    @property
    def threads(self) -> Sequence[int]:
        return self.aspects

    @property
    def environments(self) -> int:
        return len(self.aspects)


def uses_of_versions(versions: Collection[int]) -> dict[int, Use]:
    """By id, with the branches that were measured; one statement."""
    return _uses(_USES_OF_VERSIONS, list(versions))


def uses_of_hardware(project: Project) -> dict[int, Use]:
    """By id, with the ids of the environments that were found; one statement."""
    return _uses(_USES_OF_HARDWARE, project.pk)


def uses_of_workloads(project: Project) -> dict[int, Use]:
    """By id, with the thread counts that were measured; one statement."""
    return _uses(_USES_OF_WORKLOADS, project.pk)


def _uses(statement: str, wanted: int | list[int]) -> dict[int, Use]:
    return {thing: Use(*use) for thing, *use in _rows(statement, {"wanted": wanted})}


# Few groups first, and what differs among those: to count what differs among all runs sorts them all.
_USES: Final = """
    SELECT thing, sum(runs)::bigint, max(last), array_remove(array_agg(DISTINCT aspect), NULL)
    FROM ({}) groups (thing, aspect, runs, last)
    GROUP BY thing
"""
_USES_OF_VERSIONS: Final = _USES.format("""
    SELECT version_id, NULLIF(branch, ''), count(*), max(started_at)
    FROM results_run WHERE version_id = ANY(%(wanted)s) GROUP BY 1, 2
""")
_USES_OF_HARDWARE: Final = _USES.format("""
    SELECT hardware_id, environment_id, runs, last_run_at
    FROM results_surroundingscount WHERE project_id = %(wanted)s
""")
_USES_OF_WORKLOADS: Final = _USES.format("""
    SELECT workload_id, threads, runs, last_run_at FROM results_workloadcount WHERE project_id = %(wanted)s
""")


class Size(NamedTuple):
    """How much a project holds; of many runs ``most`` and one are counted."""

    runs: int = 0
    versions: int = 0
    last_run_at: datetime | None = None


def sizes_of(projects: Collection[Project], *, most: int) -> dict[int, Size]:
    """By id of the project; one statement."""
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


class Named(NamedTuple):
    """What was found by a part of its name. A version is its product, version, build and commit."""

    workloads: Sequence[str]
    versions: Sequence[Sequence[str]]
    branches: Sequence[str]
    products: Sequence[str]
    hardware: Sequence[str]
    configurations: Sequence[str]


def find_named(project: Project, words: Sequence[str], *, most: int) -> Named:
    """Return what has all of the words in its name, of each kind at most so many; one statement."""
    patterns = [f"%{connection.ops.prep_for_like_query(word)}%" for word in words]
    [found] = _rows(_FOUND, {"project": project.pk, "words": patterns, "most": most})
    return Named(*found)


# Words have no space in them, so that none is found across two parts of a version. Branches are those of
# series: of a million runs all would have to be read.
_FOUND: Final = """
    SELECT
        ARRAY(
            SELECT name FROM results_workload WHERE project_id = %(project)s AND name ILIKE ALL (%(words)s)
            ORDER BY name LIMIT %(most)s
        ),
        ARRAY(
            SELECT ARRAY[product.name, version.version, version.build, version.commit]
            FROM results_serverversion version JOIN results_product product ON product.id = version.product_id
            WHERE version.project_id = %(project)s
                AND concat_ws(' ', product.name, version.version, version.build, version.commit)
                    ILIKE ALL (%(words)s)
            ORDER BY product.name, version.sort_key DESC, version.committed_at DESC LIMIT %(most)s
        ),
        ARRAY(
            SELECT DISTINCT branch FROM results_series
            WHERE project_id = %(project)s AND branch ILIKE ALL (%(words)s)
            ORDER BY branch LIMIT %(most)s
        ),
        ARRAY(
            SELECT name FROM results_product WHERE project_id = %(project)s AND name ILIKE ALL (%(words)s)
            ORDER BY name LIMIT %(most)s
        ),
        ARRAY(
            SELECT name FROM results_hardware WHERE project_id = %(project)s AND name ILIKE ALL (%(words)s)
            ORDER BY name LIMIT %(most)s
        ),
        ARRAY(
            SELECT name FROM results_configuration
            WHERE project_id = %(project)s AND name ILIKE ALL (%(words)s)
            ORDER BY name LIMIT %(most)s
        )
"""


# --- choosers -----------------------------------------------------------------------------------------------


def recent_use(project: Project) -> list[tuple[Any, ...]]:
    """How many of the newest runs each place has, that of the newest run first; one statement.

    A row is product, build, branch, hardware, configuration, counterpart and the number of runs.
    """
    return _rows(_USE, {"project": project.pk, "newest": _NEWEST_RUNS})


# Few versions are among the newest runs: named after they are counted, not run by run.
_USE: Final = """
    SELECT product.name, version.build, recent.branch, hardware.name, configuration.name,
        recent.counterpart, sum(recent.runs)::bigint
    FROM (
        SELECT version_id, branch, hardware_id, configuration_id, counterpart, count(*) AS runs,
            min(rank) AS rank
        FROM (
            SELECT version_id, branch, hardware_id, configuration_id, counterpart,
                row_number() OVER (ORDER BY started_at DESC, id DESC) AS rank
            FROM results_run WHERE project_id = %(project)s AND excluded_at IS NULL
            ORDER BY started_at DESC, id DESC LIMIT %(newest)s
        ) newest
        GROUP BY 1, 2, 3, 4, 5
    ) recent
    JOIN results_serverversion version ON version.id = recent.version_id
    JOIN results_product product ON product.id = version.product_id
    JOIN results_hardware hardware ON hardware.id = recent.hardware_id
    JOIN results_configuration configuration ON configuration.id = recent.configuration_id
    GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY min(recent.rank)
"""


def newest_place(project: Project) -> tuple[str, ...] | None:
    """The place measured last that has a history: branch, product, hardware, configuration, counterpart and
    build; one statement.
    """
    rows = _rows(_NEWEST_PLACE, {"project": project.pk, "newest": _NEWEST_RUNS, "history": _A_HISTORY})
    return rows[0] if rows else None


# Of the places with most groups, as many as make a history at the most, that of the newest run.
_NEWEST_PLACE: Final = """
    SELECT recent.branch, product.name, hardware.name, configuration.name, recent.counterpart, version.build
    FROM (
        SELECT version_id, branch, hardware_id, configuration_id, counterpart,
            CASE WHEN branch <> '' THEN (started_at AT TIME ZONE 'UTC')::date END AS day,
            row_number() OVER (ORDER BY started_at DESC, id DESC) AS rank
        FROM results_run WHERE project_id = %(project)s AND excluded_at IS NULL
        ORDER BY started_at DESC, id DESC LIMIT %(newest)s
    ) recent
    JOIN results_serverversion version ON version.id = recent.version_id
    JOIN results_product product ON product.id = version.product_id
    JOIN results_hardware hardware ON hardware.id = recent.hardware_id
    JOIN results_configuration configuration ON configuration.id = recent.configuration_id
    GROUP BY 1, 2, 3, 4, 5, 6
    ORDER BY least(count(DISTINCT (recent.version_id, recent.day)), %(history)s) DESC, min(recent.rank)
    LIMIT 1
"""


class Offered(NamedTuple):
    """What the series of a project are: their places (product, branch, line, build, hardware, configuration,
    counterpart), the names of their workloads, and their thread counts, each once.
    """

    places: Sequence[Sequence[str]]
    workloads: Sequence[str]
    threads: Sequence[int | None]


def offered_series(project: Project) -> Offered:
    """One statement."""
    rows = _rows(_OFFERED, {"project": project.pk})
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
        FROM results_series WHERE project_id = %(project)s
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


class Measured(NamedTuple):
    """``metrics`` by how many series they have; ``workloads`` are names by id, in order of names; of
    ``threads`` None stands last, for runs of which nobody said it.
    """

    metrics: dict[str, int]
    workloads: dict[int, str]
    threads: Sequence[int | None]


def measured_at(project: Project, places: Mapping[str, Sequence[Any]]) -> Measured:
    """What was measured at places of these ``products``, ``builds``, ``branches``, ``hardware``,
    ``configurations`` and ``counterparts``; one statement.
    """
    metrics: dict[str, int] = {}
    workloads: dict[int, str] = {}
    threads: list[int | None] = []
    rows = _rows(_OFFERED_AT, {"project": project.pk, **places})
    for metric, workload, name, count, series, no_metric, no_workload in rows:
        if not no_metric:
            metrics[metric] = series
        elif not no_workload:
            workloads[workload] = name
        else:
            threads.append(count)
    return Measured(metrics, workloads, threads)


_OFFERED_AT: Final = """
    SELECT metric, workload.id, workload.name, threads, count(*), grouping(metric), grouping(workload.id)
    FROM results_series series JOIN results_workload workload ON workload.id = series.workload_id
    WHERE series.project_id = %(project)s AND product_id = ANY(%(products)s) AND build = ANY(%(builds)s)
        AND branch = ANY(%(branches)s) AND hardware_id = ANY(%(hardware)s)
        AND configuration_id = ANY(%(configurations)s) AND counterpart = ANY(%(counterparts)s)
    GROUP BY GROUPING SETS ((metric), (workload.id, workload.name), (threads, is_derived))
    HAVING grouping(threads) = 1 OR NOT is_derived
    ORDER BY workload.name, threads
"""


def workloads_measured(
    project: Project,
    places: Mapping[str, Sequence[Any]],
    *,
    versions: Sequence[int],
    metrics: Sequence[str],
    among: Collection[int],
    threads: Sequence[int | None] = (),
) -> list[str]:
    """The names, in order, of the workloads (``among`` ids) of which runs of these versions at the places
    have any of the metrics; one statement.

    A derived metric is of whole curves: it stands at no thread count.
    """
    asked = {
        "project": project.pk,
        "versions": list(versions),
        "metrics": list(metrics),
        "among": list(among),
        "all_threads": not threads,
        "threads": [count for count in threads if count is not None],
        "unsaid_threads": None in threads,
        **places,
    }
    return [name for [name] in _rows(_OF_VERSIONS, asked)]


# As a lateral subquery it ends with the first run that fits; an EXISTS would read all of them.
_OF_VERSIONS: Final = """
    SELECT workload.name
    FROM results_workload workload CROSS JOIN LATERAL (
        SELECT FROM results_run run
        JOIN results_measurement measured ON measured.run_id = run.id
        JOIN results_series series ON series.id = measured.series_id
        WHERE run.workload_id = workload.id AND run.excluded_at IS NULL AND run.project_id = %(project)s
            AND run.version_id = ANY(%(versions)s) AND run.branch = ANY(%(branches)s)
            AND run.hardware_id = ANY(%(hardware)s) AND run.configuration_id = ANY(%(configurations)s)
            AND run.counterpart = ANY(%(counterparts)s) AND series.metric = ANY(%(metrics)s)
            AND (%(all_threads)s OR series.threads = ANY(%(threads)s)
                OR %(unsaid_threads)s AND series.threads IS NULL)
        LIMIT 1
    ) measured
    WHERE workload.id = ANY(%(among)s) ORDER BY workload.name
"""
