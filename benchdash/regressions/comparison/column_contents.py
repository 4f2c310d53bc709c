"""What was measured of some columns: metrics, workloads and thread counts to choose from."""

from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple

from django.db import connection

from benchdash.accounts.models import Project
from benchdash.regressions.comparison.version_table import Column


class ColumnContents(NamedTuple):
    """``metrics`` by how many series they have; ``workloads`` are names by id, in order of names; of
    ``threads`` None stands last, for runs of which nobody said it.
    """

    metrics: dict[str, int]
    workloads: dict[int, str]
    threads: Sequence[int | None]


def contents_of(project: Project, columns: Sequence[Column]) -> ColumnContents:
    """A little more than that where columns of several products stand at several places; one statement."""
    found = ColumnContents({}, {}, threads := [])
    with connection.cursor() as cursor:
        cursor.execute(_OF_PLACES, _places(project, columns))
        for metric, workload, name, count, series, no_metric, no_workload in cursor.fetchall():
            if not no_metric:
                found.metrics[metric] = series
            elif not no_workload:
                found.workloads[workload] = name
            else:
                threads.append(count)
    return found


_OF_PLACES: Final = """
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
    columns: Sequence[Column],
    metrics: Sequence[str],
    *,
    among: Collection[int],
    threads: Sequence[int | None] = (),
) -> list[str]:
    """The names, in order, of the workloads (``among`` ids) of which runs of these columns have any of the
    metrics; one statement.

    A derived metric is of whole curves: it stands at no thread count.
    """
    asked = {
        "versions": list({column.version.pk for column in columns}),
        "metrics": list(metrics),
        "among": list(among),
        "all_threads": not threads,
        "threads": [count for count in threads if count is not None],
        "unsaid_threads": None in threads,
    }
    with connection.cursor() as cursor:
        cursor.execute(_OF_VERSIONS, _places(project, columns) | asked)
        return [name for [name] in cursor.fetchall()]


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


def _places(project: Project, columns: Sequence[Column]) -> dict[str, Any]:
    return {
        "project": project.pk,
        "products": list({column.version.product_id for column in columns}),
        "builds": list({column.version.build for column in columns}),
        "branches": list({column.branch for column in columns}),
        "hardware": list({column.hardware_id for column in columns}),
        "configurations": list({column.configuration_id for column in columns}),
        "counterparts": list({column.counterpart for column in columns}),
    }
