"""What was measured of some columns: metrics, workloads and thread counts to choose from."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count

from benchdash.accounts.models import Project
from benchdash.regressions.comparison import Column
from benchdash.results.models import Series


@dataclass(frozen=True)
class Measured:
    """``metrics`` by how many series they have; ``workloads`` are names by id, in order of names; of
    ``threads`` None stands last, for runs of which nobody said it.
    """

    metrics: dict[str, int]
    workloads: dict[int, str]
    threads: Sequence[int | None]


def measured_of(project: Project, columns: Sequence[Column]) -> Measured:
    """A little more than that where columns of several products stand at several places; three statements."""
    series = Series.objects.filter(
        project=project,
        product__in={column.version.product_id for column in columns},
        build__in={column.version.build for column in columns},
        branch__in={column.branch for column in columns},
        hardware__in={column.hardware_id for column in columns},
        configuration__in={column.configuration_id for column in columns},
        counterpart__in={column.counterpart for column in columns},
    ).order_by()
    counts = series.filter(is_derived=False).values_list("threads", flat=True).distinct()
    return Measured(
        metrics=dict(series.values_list("metric").annotate(Count("pk"))),
        workloads=dict(
            series.values_list("workload", "workload__name").distinct().order_by("workload__name")
        ),
        threads=sorted(counts, key=lambda count: (count is None, count or 0)),
    )
