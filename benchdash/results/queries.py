"""Reading series and runs: finding them by what they are of, and where versions were measured."""

from collections.abc import Mapping, Sequence

from django.db import connection
from django.db.models import Model, Q, QuerySet

from benchdash.accounts.models import Project
from benchdash.results.models import Configuration, Hardware, Product, Run, Series, Workload

# --- places -----------------------------------------------------------------------------------------------

# Each place once, by jumping from one to the next in the index: a place has thousands of runs.
_PLACES = """
    WITH RECURSIVE place AS (
        (
            SELECT version_id, branch, hardware_id, configuration_id, counterpart FROM results_run
            WHERE project_id = %(project)s AND excluded_at IS NULL
            ORDER BY version_id, branch, hardware_id, configuration_id, counterpart LIMIT 1
        )
        UNION ALL
        SELECT next.* FROM place, LATERAL (
            SELECT version_id, branch, hardware_id, configuration_id, counterpart FROM results_run
            WHERE project_id = %(project)s AND excluded_at IS NULL
                AND (version_id, branch, hardware_id, configuration_id, counterpart)
                    > (place.version_id, place.branch, place.hardware_id, place.configuration_id,
                       place.counterpart)
            ORDER BY version_id, branch, hardware_id, configuration_id, counterpart LIMIT 1
        ) next
    )
    SELECT place.version_id, place.branch, place.hardware_id, hardware.name,
        place.configuration_id, configuration.name, place.counterpart
    FROM place
    JOIN results_hardware hardware ON hardware.id = place.hardware_id
    JOIN results_configuration configuration ON configuration.id = place.configuration_id
"""

MeasuredPlace = tuple[int, str, int, str, int, str, str]
"""Version, branch, hardware and its name, configuration and its name, counterpart."""


def measured_places(project: Project) -> list[MeasuredPlace]:
    """Where each version of the project was measured by runs that count, in no order."""
    with connection.cursor() as cursor:
        cursor.execute(_PLACES, {"project": project.pk})
        found: list[MeasuredPlace] = cursor.fetchall()
        return found


# --- finding ----------------------------------------------------------------------------------------------

_NAMED: dict[str, type[Model]] = {
    "product": Product,
    "hardware": Hardware,
    "configuration": Configuration,
    "workload": Workload,
}
_SERIES_FILTERS = {
    **{name: f"{name}__in" for name in _NAMED},
    "branch": "branch",
    "line": "line",
    "build": "build",
    "counterpart": "counterpart",
    "threads": "threads",
    "metric": "metric",
}
_RUN_FILTERS = {
    **{name: f"{name}__in" for name in ("hardware", "configuration", "workload")},
    "product": "version__product__in",
    "version": "version__version",
    "build": "version__build",
    "commit": "version__commit__startswith",
    "branch": "branch",
    "counterpart": "counterpart",
    "threads": "threads",
    "tag": "tags__contains",
    "upload": "upload_id",
}


def find_series(project: Project, **filters: str | int | None) -> QuerySet[Series]:
    """The series of a project by product, branch, line, build, hardware, configuration, counterpart,
    workload, threads (None: not said) and metric.

    Things are found by name or old name; an empty branch means releases. Raises TypeError for other filters.
    """
    return (
        Series.objects.filter(_conditions(project, filters, _SERIES_FILTERS), project=project)
        .select_related("product", "hardware", "configuration", "workload")
        .order_by("workload__name", "metric", "product__name", "branch", "line", "threads", "pk")
    )


def find_runs(
    project: Project, *, excluded: bool | None = None, **filters: str | int | None
) -> QuerySet[Run]:
    """The runs of a project, latest first, by product, version, build, commit (or its beginning), branch,
    hardware, configuration, counterpart, workload, threads (None: not said), tag and upload.

    Things are found by name or old name. Raises TypeError for other filters.
    """
    runs = Run.objects.filter(_conditions(project, filters, _RUN_FILTERS), project=project)
    if excluded is not None:
        runs = runs.filter(excluded_at__isnull=not excluded)
    return runs.select_related("version__product", "hardware", "configuration", "workload").order_by(
        "-started_at", "-pk"
    )


def _conditions(project: Project, filters: Mapping[str, str | int | None], known: Mapping[str, str]) -> Q:
    conditions = Q()
    for name, value in filters.items():
        if name not in known:
            raise TypeError(f"there is no filter {name!r}; there are {', '.join(sorted(known))}")
        if name in _NAMED:
            conditions &= Q(**{known[name]: ids_called(_NAMED[name], [str(value)], project)})
        elif value is None:
            conditions &= Q(**{f"{known[name]}__isnull": True})
        else:
            conditions &= Q(**{known[name]: [value] if name == "tag" else value})
    return conditions


def ids_called(model: type[Model], names: Sequence[str], project: Project | None = None) -> list[int]:
    """The ids of the things of a kind that have or had one of these names, in this project or in all.

    Known before a large table is read, they lead to an index; a condition on names in it does not.
    """
    table, column = model._meta.db_table, f"{model._meta.model_name}_id"
    of_project = "AND project_id = %(project)s" if project else ""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT id FROM {table} WHERE name = ANY(%(names)s) {of_project}"  # noqa: S608 - names of tables
            f" UNION SELECT {column} FROM results_alias"
            f" WHERE name = ANY(%(names)s) AND {column} IS NOT NULL {of_project}",
            {"names": list(names), "project": project.pk if project else None},
        )
        return sorted(pk for (pk,) in cursor.fetchall())
