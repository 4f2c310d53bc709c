"""Find series and runs by the names of what they are of."""

from collections.abc import Mapping, Sequence
from typing import Final

from django.db.models import Model, Q, QuerySet

from benchdash.accounts.models import Project
from benchdash.results.models import NAMED, Alias, Product, Run, Series

# The field of a run by which each filter finds it. Named things are found by their ids.
_RUN_FILTERS: Final[Mapping[str, str]] = {
    "product": "version__product__in",
    "hardware": "hardware__in",
    "configuration": "configuration__in",
    "workload": "workload__in",
    "version": "version__version",
    "build": "version__build",
    "commit": "version__commit__startswith",
    "branch": "branch",
    "counterpart": "counterpart",
    "threads": "threads",
    "tag": "tags__contains",
    "upload": "upload_id",
}


def find_series(
    project: Project, *, product: str | None = None, branch: str | None = None
) -> QuerySet[Series]:
    """Return the series of a project, by the name or an old name of their product, and by their branch.

    An empty branch means releases.
    """
    series = Series.objects.filter(project=project)
    if product is not None:
        series = series.filter(product__in=ids_called(Product, [product], project))
    if branch is not None:
        series = series.filter(branch=branch)
    return series.select_related("product", "hardware", "configuration", "workload").order_by(
        "workload__name", "metric", "product__name", "branch", "line", "threads", "pk"
    )


def find_runs(
    project: Project, *, excluded: bool | None = None, **filters: str | int | None
) -> QuerySet[Run]:
    """Return the runs of a project that pass these filters, latest first.

    A commit may be the beginning of one; threads of None were not said; things are found by name or old name.
    Raises TypeError for a filter that does not exist.
    """
    if unknown := filters.keys() - _RUN_FILTERS.keys():
        raise TypeError(f"there is no filter {min(unknown)!r}; there are {', '.join(sorted(_RUN_FILTERS))}")
    conditions = Q(project=project)
    for name, value in filters.items():
        wanted: object = value
        if name in NAMED:
            wanted = ids_called(NAMED[name], [str(value)], project)
        elif name == "tag":
            wanted = [value]
        conditions &= Q(**{_RUN_FILTERS[name]: wanted})
    if excluded is not None:
        conditions &= Q(excluded_at__isnull=not excluded)
    runs = Run.objects.filter(conditions)
    return runs.select_related("version__product", "hardware", "configuration", "workload").order_by(
        "-started_at", "-pk"
    )


def ids_called(model: type[Model], names: Sequence[str], project: Project | None = None) -> list[int]:
    """Return the ids of the things of a kind that have or had one of these names, in this project or in all.

    Known before a large table is read, they lead to an index; a condition on names in it does not.
    """
    of_project = {"project": project} if project else {}
    kind = f"{model._meta.model_name}_id"
    called = model._default_manager.filter(name__in=names, **of_project).values_list("pk")
    were_called = Alias.objects.filter(name__in=names, **{f"{kind}__isnull": False}, **of_project)
    return sorted(pk for (pk,) in called.order_by().union(were_called.values_list(kind)))
