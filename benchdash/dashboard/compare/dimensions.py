"""What was measured of some columns: metrics, workloads and thread counts to choose from."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from benchdash.accounts.models import Project
from benchdash.database.ids import ids_in
from benchdash.regressions.comparison import Column
from benchdash.results import catalogue
from benchdash.results.catalogue import Measured
from benchdash.results.models import Workload


def measured_of(project: Project, columns: Sequence[Column]) -> Measured:
    """A little more than that where columns of several products stand at several places; one statement."""
    return catalogue.measured_at(project, _places(columns))


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
    """
    versions = list({column.version.pk for column in columns})
    return catalogue.workloads_measured(
        project, _places(columns), versions=versions, metrics=metrics, among=among, threads=threads
    )


def workload_names(project: Project, texts: Iterable[str]) -> dict[str, str]:
    """Return the names of the workloads whose ids are among the texts; no statement where none is an id."""
    ids = ids_in(texts)
    found = Workload.objects.filter(project=project, pk__in=ids).values_list("pk", "name") if ids else ()
    return {str(pk): name for pk, name in found}


def _places(columns: Sequence[Column]) -> dict[str, list[Any]]:
    return {
        "products": list({column.version.product_id for column in columns}),
        "builds": list({column.version.build for column in columns}),
        "branches": list({column.branch for column in columns}),
        "hardware": list({column.hardware_id for column in columns}),
        "configurations": list({column.configuration_id for column in columns}),
        "counterparts": list({column.counterpart for column in columns}),
    }
